//! How what a package gives differs between two releases, in whatever language.

use std::fmt;

use serde::Serialize;

use crate::version::Bump;

/// What happened to an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "what")]
pub enum What {
    /// It has no public path of that name any more.
    Removed,
    /// It is new.
    Added,
    /// It is declared otherwise.
    Changed {
        /// What is different, in sentences' parts.
        how: Vec<String>,
    },
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiChange {
    /// The public path; of Rust's macros with `!`, of implementations `impl Trait for Type`.
    pub path: String,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
    asks: Bump,
}

impl ApiChange {
    pub(crate) const fn new(path: String, what: What, asks: Bump) -> Self {
        Self { path, what, asks }
    }

    /// What it asks of the version.
    pub const fn bump(&self) -> Bump {
        self.asks
    }
}

impl fmt::Display for ApiChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Removed => write!(f, "{} is gone", self.path),
            What::Added => write!(f, "{} is new", self.path),
            What::Changed { how } => write!(f, "{}: {}", self.path, how.join(", ")),
        }
    }
}

/// What all changes together ask of the version; `None` when there are none.
pub fn bump(changes: &[ApiChange]) -> Option<Bump> {
    changes.iter().map(ApiChange::bump).max()
}

/// How two releases differ, and what could not be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// By path.
    pub changes: Vec<ApiChange>,
    /// In sentences.
    pub undecided: Vec<String>,
}
