//! What a check says.

use serde::{Deserialize, Serialize};

/// How much a failed check weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Those who install it will have trouble: the release is not made.
    Error,
    /// Worth changing; the release can be made.
    Warning,
    /// Worth knowing.
    Note,
}

/// One thing that was looked at, and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Stable: `ecosystem.part` or `ecosystem.part.CODE`.
    pub id: String,
    /// Whether nothing is wrong.
    pub passed: bool,
    /// What it weighs when it failed.
    pub severity: Severity,
    /// What was found, in a sentence.
    pub detail: String,
    /// What to do about it.
    pub fix: Option<String>,
    /// The files it is about, as they are packed.
    pub files: Vec<String>,
}

impl Check {
    /// A check that found nothing wrong.
    pub fn passed(id: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            passed: true,
            severity: Severity::Note,
            detail: detail.into(),
            fix: None,
            files: Vec::new(),
        }
    }

    /// A check that found something.
    pub fn failed(id: impl Into<String>, severity: Severity, detail: impl Into<String>) -> Self {
        Self { id: id.into(), passed: false, severity, detail: detail.into(), fix: None, files: Vec::new() }
    }

    /// With what to do about it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// With a file that it is about.
    #[must_use]
    pub fn about(mut self, file: impl Into<String>) -> Self {
        self.files.push(file.into());
        self
    }
}
