//! What a run saw.

use std::collections::BTreeSet;

use contract::TranscriptId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::time::Timestamp;
use crate::verdict::Mark;

/// Most tests of one run.
pub const MAX_RAN: usize = 50_000;
/// Most failures of one run, those among its tests included.
pub const MAX_FAILURES: usize = 10_000;
/// Most bytes of a root, tool, scope, commit, branch or id.
pub const MAX_ID: usize = 1_024;
/// Most bytes of a name, suite or file that is kept; the rest is cut.
pub const MAX_NAME: usize = 1_024;
/// Most bytes of a message that is kept; the rest is cut.
pub const MAX_MESSAGE: usize = 4_096;

/// What a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// A test that failed. It passes when a run says so.
    Test,
    /// A compiler's or linter's finding. It is gone when a complete run of the same scope no longer reports it.
    Diagnostic,
}

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It failed, or could not run for a reason of its own.
    Failed,
    /// It did not run, which says nothing.
    Skipped,
}

/// A test that a run named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestSeen {
    /// Its identity across runs, the same as in a [`FailureSeen`].
    pub id: String,
    /// Its name.
    pub name: String,
    /// The package, file or class that it belongs to.
    pub suite: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it took, in milliseconds.
    pub duration: Option<u64>,
}

/// A failure that a run reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureSeen {
    /// Its identity across runs: it must not change when lines move, and must differ between runners.
    pub id: String,
    /// What it is.
    pub kind: FailureKind,
    /// The test's name, or the rule's.
    pub name: String,
    /// The package, file or class that a test belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// The file, from the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What the program said, redacted.
    pub message: String,
}

/// What a run saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutcome {
    /// The root's id.
    pub root: String,
    /// The tool that ran it.
    pub tool: String,
    /// What was run, such as packages and flags: two runs of one tool with the same scope run the same things.
    pub scope: String,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// Whether there were changes on top of it.
    pub dirty: bool,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// When it ran.
    pub at: Timestamp,
    /// The call's transcript: with the root, tool and scope, what makes a run the same run.
    pub transcript: Option<TranscriptId>,
    /// The tests that it named, at most [`MAX_RAN`].
    pub ran: Vec<TestSeen>,
    /// What failed, at most [`MAX_FAILURES`].
    pub failures: Vec<FailureSeen>,
    /// Whether the program came to its own end, all that it said was understood, and both lists are whole.
    pub complete: bool,
}

impl RunOutcome {
    /// Cuts both lists to what a store takes. A run that was cut is not complete.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let failed = self.ran.iter().filter(|test| test.outcome == Outcome::Failed).count();
        if self.ran.len() > MAX_RAN || self.failures.len() + failed > MAX_FAILURES {
            self.failures.truncate(MAX_FAILURES);
            let named: BTreeSet<&str> = self.failures.iter().map(|failure| failure.id.as_str()).collect();
            // What failed goes first: it is what is asked about.
            self.ran.sort_by_key(|test| test.outcome != Outcome::Failed);
            let mut room = MAX_FAILURES - self.failures.len();
            self.ran.retain(|test| {
                let fits = test.outcome != Outcome::Failed || named.contains(test.id.as_str()) || room > 0;
                if test.outcome == Outcome::Failed && !named.contains(test.id.as_str()) {
                    room = room.saturating_sub(1);
                }
                fits
            });
            self.ran.truncate(MAX_RAN);
            self.complete = false;
        }
        self
    }

    /// Checks and sorts what the run saw, as [`judge`](crate::rules::judge) takes it.
    pub fn prepare(self) -> Result<Prepared, StoreError> {
        within("tests of one run", self.ran.len(), MAX_RAN)?;
        within("failures of one run", self.failures.len(), MAX_FAILURES)?;
        for (what, text) in [("root", &self.root), ("tool", &self.tool), ("scope", &self.scope)] {
            identifier(what, text)?;
        }
        for (what, text) in [("commit", &self.commit), ("branch", &self.branch)] {
            text.as_ref().map_or(Ok(()), |text| identifier(what, text))?;
        }
        let (mut named, mut passed, mut failing) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        let mut failed = BTreeSet::new();
        for failure in self.failures {
            identifier("id of a failure", &failure.id)?;
            if failed.insert(failure.id.clone()) {
                failing.push(failure.cut());
            }
        }
        let ran_any = !self.ran.is_empty();
        for test in self.ran {
            identifier("id of a test", &test.id)?;
            match test.outcome {
                Outcome::Passed => {
                    passed.insert(test.id.clone());
                }
                Outcome::Failed if failed.insert(test.id.clone()) => {
                    failing.push(test.as_failure().cut());
                }
                Outcome::Failed | Outcome::Skipped => {}
            }
            named.insert(test.id);
        }
        within("failures of one run", failing.len(), MAX_FAILURES)?;
        let mixed = passed.intersection(&failed).cloned().collect();
        passed.retain(|id| !failed.contains(id));
        named.append(&mut failed);
        let diagnosed = failing.iter().any(|failure| failure.kind == FailureKind::Diagnostic);
        Ok(Prepared {
            root: self.root,
            tool: self.tool,
            scope: self.scope,
            mark: Mark { commit: self.commit, dirty: self.dirty, branch: self.branch, at: self.at },
            transcript: self.transcript,
            failing,
            mixed,
            passed,
            named,
            misses_diagnostics: self.complete,
            misses_tests: self.complete && ran_any && !diagnosed,
        })
    }
}

impl TestSeen {
    fn as_failure(&self) -> FailureSeen {
        FailureSeen {
            id: self.id.clone(),
            kind: FailureKind::Test,
            name: self.name.clone(),
            suite: self.suite.clone(),
            file: None,
            line: None,
            message: String::new(),
        }
    }
}

impl FailureSeen {
    fn cut(self) -> Self {
        Self {
            name: cut(self.name, MAX_NAME),
            suite: self.suite.map(|text| cut(text, MAX_NAME)),
            file: self.file.map(|text| cut(text, MAX_NAME)),
            message: cut(self.message, MAX_MESSAGE),
            ..self
        }
    }
}

/// A run, checked: no id twice, what failed apart from what passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The root's id.
    pub root: String,
    /// The tool.
    pub tool: String,
    /// What was run.
    pub scope: String,
    /// Where and when.
    pub mark: Mark,
    /// What makes it the same run.
    pub transcript: Option<TranscriptId>,
    /// What failed, in the run's order.
    pub failing: Vec<FailureSeen>,
    /// Of those, what also passed within the run.
    pub mixed: BTreeSet<String>,
    /// What passed and did not fail.
    pub passed: BTreeSet<String>,
    /// Every id that the run named, skipped tests included.
    pub named: BTreeSet<String>,
    /// Whether a diagnostic of the same scope that is not named is gone.
    pub misses_diagnostics: bool,
    /// Whether a test of the same scope that is not named is no more. A run that reports a diagnostic may have run
    /// fewer tests because of it.
    pub misses_tests: bool,
}

fn within(what: &'static str, got: usize, most: usize) -> Result<(), StoreError> {
    if got > most { Err(StoreError::TooLarge { what, got, most }) } else { Ok(()) }
}

/// What is compared must be stored as it is.
pub(crate) fn identifier(what: &'static str, text: &str) -> Result<(), StoreError> {
    within(what, text.len(), MAX_ID)?;
    if text.is_empty() && what != "scope" {
        return Err(StoreError::Invalid { what, why: "it is empty" });
    }
    // PostgreSQL cannot store it in a text, and both databases take the same.
    if text.contains('\0') {
        return Err(StoreError::Invalid { what, why: "it has a NUL character" });
    }
    Ok(())
}

/// The front of `text`, at most `most` bytes, without what no database stores.
fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
    if text.contains('\0') { text.replace('\0', "\u{2400}") } else { text }
}
