//! What is remembered, as it is asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::run::{FailureSeen, identifier};
use crate::verdict::{Flakiness, Mark};

/// Most entries of a page.
pub const MAX_PAGE: u32 = 1_000;

/// Which failures are asked for. Every condition that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryQuery {
    /// The root's id.
    pub root: String,
    /// Those with these ids; none given means all.
    pub ids: Vec<String>,
    /// Those that are remembered on this branch.
    pub branch: Option<String>,
    /// Those in this state: on the given branch, else on any.
    pub state: Option<LineState>,
    /// Most entries, from 1 to [`MAX_PAGE`].
    pub limit: u32,
    /// Goes on after a page.
    pub after: Option<Cursor>,
}

impl HistoryQuery {
    /// All of a root, a hundred at a time.
    #[must_use]
    pub fn of(root: impl Into<String>) -> Self {
        Self { root: root.into(), ids: Vec::new(), branch: None, state: None, limit: 100, after: None }
    }

    /// Whether it can be asked.
    pub fn check(&self) -> Result<(), StoreError> {
        identifier("root", &self.root)?;
        check_limit(self.limit)?;
        self.ids.iter().chain(&self.branch).try_for_each(|text| identifier("id or branch", text))
    }
}

/// Whether a page may have so many entries: 1 to [`MAX_PAGE`].
pub fn check_limit(limit: u32) -> Result<(), StoreError> {
    if limit == 0 || limit > MAX_PAGE {
        Err(StoreError::Invalid { what: "limit", why: "it is not between 1 and 1000" })
    } else {
        Ok(())
    }
}

/// Where a page ended. It stays good while others write: no entry comes twice; one that changes meanwhile moves to the front of
/// the list, before every cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// What the list is ordered by, of the last entry: the run that it last failed in, when it was changed, its place among the best.
    pub rank: i64,
    /// The last entry's number.
    pub number: i64,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries.
    pub items: Vec<T>,
    /// Goes on after them; none at the end.
    pub next: Option<Cursor>,
    /// How many there are on all pages, at the time of this one.
    pub total: u64,
}

/// How a failure stands on a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineState {
    /// It fails.
    Open,
    /// It passes, in no commit yet.
    Passing,
    /// A complete run no longer has the test.
    Gone,
    /// It is fixed in a commit.
    Fixed,
    /// It fails on other branches only.
    Unaffected,
}

impl LineState {
    /// As it is stored.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Passing => "passing",
            Self::Gone => "gone",
            Self::Fixed => "fixed",
            Self::Unaffected => "unaffected",
        }
    }
}

/// A failure on one branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineHistory {
    /// The branch; none when no branch was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// How it stands.
    pub state: LineState,
    /// While it is not fixed: the first run that saw it failing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Mark>,
    /// While it is not fixed: runs that saw it failing since then.
    pub runs: u64,
    /// The latest fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Mark>,
    /// The run that last saw it either way.
    pub last: Mark,
    /// Runs that saw it failing.
    pub failed: u64,
    /// Runs that saw it passing, after its first failure on any branch.
    pub passed: u64,
}

/// A failure and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureHistory {
    /// As it was last reported.
    #[serde(flatten)]
    pub failure: FailureSeen,
    /// By branch.
    pub branches: Vec<LineHistory>,
    /// Why it is flaky, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flaky: Option<Flakiness>,
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Forgotten {
    /// Runs.
    pub runs: u64,
    /// Failures that are remembered on no branch any more.
    pub failures: u64,
    /// Tests.
    pub tests: u64,
}
