//! What is said of a failure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Where and when something was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// The commit that was checked out; none where there is no version control or no commit yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether there were changes on top of that commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dirty: bool,
    /// The branch; none when no branch was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The time, by the clock of the machine that ran it.
    pub at: Timestamp,
}

impl Mark {
    /// The commit, when what ran was exactly that commit.
    #[must_use]
    pub fn clean(&self) -> Option<&str> {
        self.commit.as_deref().filter(|_| !self.dirty)
    }
}

/// What the history says of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Verdict {
    /// It was never seen failing.
    New,
    /// It has been failing.
    Known {
        /// The first run that saw it failing, on the mark's branch.
        since: Mark,
        /// Runs that saw it failing since then on that branch, this one included when it is the same branch.
        runs: u64,
    },
    /// It fails and passes without the code changing, or keeps changing sides.
    Flaky {
        /// Clean runs that saw it failing, of the remembered ones.
        failed: u32,
        /// Clean runs that saw it either way, of the remembered ones.
        seen: u32,
        /// What makes it flaky.
        because: Flakiness,
    },
    /// It failed, was fixed, and fails again.
    FixedBefore {
        /// The first run that saw it passing, with the commit that it was fixed in. Another branch than the run's means
        /// that this branch may lack that commit.
        fixed: Mark,
        /// The first run that saw it failing before that.
        failed_since: Mark,
    },
}

/// What makes a failure flaky.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Flakiness {
    /// Both outcomes were seen at one clean commit.
    SameCommit {
        /// The commit.
        commit: String,
    },
    /// The outcome changed often among the last clean runs on the branch.
    Alternating {
        /// How often.
        changes: u32,
    },
}

/// A failure of a run, judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// The failure's id.
    pub id: String,
    /// What is said of it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// How something that failed passes now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    /// At a clean commit that was never seen on this branch before: it is fixed in that commit.
    InCommit,
    /// With changes that are not committed, or without version control: it counts as failing until a commit passes.
    Uncommitted,
    /// At a commit at which it was seen failing: that is no fix, it is flaky.
    SameCommit,
    /// At a commit at which it had passed before: the code went back.
    EarlierCommit,
}

/// A failure that passes in this run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recovery {
    /// The failure's id.
    pub id: String,
    /// The test's or the diagnostic's name.
    pub name: String,
    /// How it passes.
    pub how: Passing,
    /// The run that it passes in; when that is [in a commit](Passing::InCommit), the commit that it is fixed in.
    pub at: Mark,
    /// The first run that saw it failing.
    pub since: Mark,
}

/// What a run means in the light of those before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdicts {
    /// Every failure of the run, in the run's order; those that only the list of tests names come after.
    pub failures: Vec<Judged>,
    /// What had been failing on this branch and passes, by id.
    pub recovered: Vec<Recovery>,
    /// Tests that had been failing on this branch and that a complete run of the same scope no longer has: removed or
    /// renamed. By id.
    pub gone: Vec<String>,
    /// Whether the run had been recorded before; nothing was changed.
    #[serde(default)]
    pub repeated: bool,
}

impl Verdicts {
    /// The verdict of one failure.
    #[must_use]
    pub fn of(&self, id: &str) -> Option<&Verdict> {
        self.failures.iter().find(|judged| judged.id == id).map(|judged| &judged.verdict)
    }
}
