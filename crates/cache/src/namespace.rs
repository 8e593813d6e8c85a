//! What is kept apart: how long it lasts, and how it is counted.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Namespace {
    /// What a project is: 5 minutes.
    ProjectDetection,
    /// A Go module and its packages: 2 hours.
    GoProjectInfo,
    /// Lists of files: 5 minutes.
    FileLists,
    /// Reads of git: 30 seconds.
    GitReads,
    /// Which programs are installed: 1 hour.
    CommandAvailability,
    /// Analyses of failed runs: 5 minutes.
    FailureAnalysis,
}

impl Namespace {
    /// All of them, in order.
    pub const ALL: [Self; 6] = [
        Self::ProjectDetection,
        Self::GoProjectInfo,
        Self::FileLists,
        Self::GitReads,
        Self::CommandAvailability,
        Self::FailureAnalysis,
    ];

    /// How long an answer lasts where nothing else is configured.
    #[must_use]
    pub fn default_ttl(self) -> Duration {
        Duration::from_secs(match self {
            Self::ProjectDetection | Self::FileLists | Self::FailureAnalysis => 5 * 60,
            Self::GoProjectInfo => 2 * 60 * 60,
            Self::GitReads => 30,
            Self::CommandAvailability => 60 * 60,
        })
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_follow_the_order() {
        assert!(Namespace::ALL.iter().enumerate().all(|(at, namespace)| namespace.index() == at));
    }
}
