//! The vocabulary: what any program reports, in one form.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::FailureId;

/// Passed and skipped tests that a report keeps; the counts stay whole.
pub const MAX_PASSED: usize = 1_000;
/// Failed tests that a report keeps; the counts stay whole.
pub const MAX_FAILED: usize = 2_000;
/// Diagnostics of each level that a report keeps; the counts stay whole.
pub const MAX_DIAGNOSTICS: usize = 2_000;
/// Benchmarks and parts of a coverage that a report keeps.
pub const MAX_FIGURES: usize = 2_000;
/// Bytes of a message.
pub const MAX_MESSAGE: usize = 600;
/// Bytes of a detail or a help: two thirds from its beginning, one third from its end.
pub const MAX_DETAIL: usize = 4_000;
/// Bytes of a name (of a test, suite, rule or file).
pub const MAX_NAME: usize = 400;

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// It must be mended.
    Error,
    /// It should be looked at.
    Warning,
    /// It is said by the way.
    Note,
}

/// Something that a program says about a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// File, relative to the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The file lies outside the root.
    #[serde(default, skip_serializing_if = "is_false")]
    pub outside: bool,
    /// Line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Last line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// Column after the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_column: Option<u32>,
    /// How much it matters.
    pub severity: Level,
    /// Rule, code or kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What the program advises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Program that says it.
    pub source: String,
    /// The program can fix it itself.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fix: bool,
    /// Stable identity across runs.
    pub id: FailureId,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It held.
    Passed,
    /// It did not hold.
    Failed,
    /// It was not run, or does not count.
    Skipped,
    /// It could not be run to its end.
    Errored,
    /// It took too long.
    TimedOut,
}

impl Outcome {
    /// Whether something is wrong.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::Errored | Self::TimedOut)
    }
}

/// One test of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestCase {
    /// Stable identity across runs.
    pub id: FailureId,
    /// Name within its suite.
    pub name: String,
    /// Package, file or class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// File, relative to the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line of the failure or test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How it ended.
    pub outcome: Outcome,
    /// Duration in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// First lines of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// More of the failure, bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// How many tests ended how. `total` is the sum of the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// All tests.
    pub total: u64,
    /// Tests that held.
    pub passed: u64,
    /// Tests that did not hold.
    pub failed: u64,
    /// Tests that were not run.
    pub skipped: u64,
    /// Tests that broke off.
    pub errored: u64,
    /// Tests that took too long.
    pub timed_out: u64,
}

impl Counts {
    /// Adds `many` tests that ended so.
    pub(crate) fn add(&mut self, outcome: Outcome, many: u64) {
        let field = match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::Skipped => &mut self.skipped,
            Outcome::Errored => &mut self.errored,
            Outcome::TimedOut => &mut self.timed_out,
        };
        *field = field.saturating_add(many);
        self.total = self.total.saturating_add(many);
    }

    /// These tests and those.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            total: self.total.saturating_add(other.total),
            passed: self.passed.saturating_add(other.passed),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
            errored: self.errored.saturating_add(other.errored),
            timed_out: self.timed_out.saturating_add(other.timed_out),
        }
    }

    /// Tests that did not hold, broke off or took too long.
    pub fn bad(&self) -> u64 {
        self.failed.saturating_add(self.errored).saturating_add(self.timed_out)
    }
}

/// How many diagnostics there are of each level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Levels {
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
}

/// How much of the code the tests reached, as the program says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// Per cent of all, where said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// By package or file, where said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Covered>,
}

/// The coverage of one package or file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Covered {
    /// Package or file.
    pub name: String,
    /// Per cent.
    pub percent: f64,
}

/// One line of a benchmark's results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Benchmark {
    /// Name, without the processor count.
    pub name: String,
    /// Package or file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Processors that it used, where said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// How often it ran.
    pub iterations: u64,
    /// Nanoseconds for one operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ns_per_op: Option<f64>,
    /// Bytes allocated by one operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_op: Option<f64>,
    /// Allocations of one operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocs_per_op: Option<f64>,
    /// Other figures by their unit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<String, f64>,
}

/// How much of the output was understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Parsed {
    /// All of it.
    Fully,
    /// Some of it: the rest may hold more.
    Partly {
        /// Lines that were not understood.
        unread_lines: u64,
        /// The output ends in the middle.
        cut: bool,
    },
    /// Nothing of it: nothing is known.
    Not {
        /// Why nothing was understood.
        why: String,
    },
}

/// What a program reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Program that reported.
    pub source: String,
    /// How much was understood.
    pub parsed: Parsed,
    /// Identity of the first failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FailureId>,
    /// Errors, then warnings, then notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
    /// All diagnostics by level.
    pub levels: Levels,
    /// Failures as they happened, then others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestCase>,
    /// All tests; absent without tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Coverage, where measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// Results of benchmarks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub benchmarks: Vec<Benchmark>,
    /// Where its figures contradict each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<String>,
}

/// A failure of either kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure<'a> {
    /// A test that did not hold.
    Test(&'a TestCase),
    /// An error.
    Diagnostic(&'a Diagnostic),
}

impl Failure<'_> {
    /// Its identity.
    pub fn id(&self) -> &FailureId {
        match self {
            Self::Test(test) => &test.id,
            Self::Diagnostic(diagnostic) => &diagnostic.id,
        }
    }
}

impl Report {
    /// The failure that happened first: a bad test or a diagnostic of level error. Warnings are no failures.
    pub fn first_failure(&self) -> Option<Failure<'_>> {
        let first = self.first.as_ref()?;
        let test = self.tests.iter().find(|test| test.id == *first && test.outcome.is_bad());
        let diagnostic = || self.diagnostics.iter().find(|diagnostic| diagnostic.id == *first);
        test.map(Failure::Test).or_else(|| diagnostic().map(Failure::Diagnostic))
    }

    /// The bad tests that are kept, in the order in which they failed.
    pub fn failures(&self) -> impl Iterator<Item = &TestCase> {
        self.tests.iter().filter(|test| test.outcome.is_bad())
    }

    /// This report and that of another run beside it, such as of tests that a runner leaves to another.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.parsed = match (self.parsed, other.parsed) {
            (Parsed::Fully, Parsed::Fully) => Parsed::Fully,
            (Parsed::Not { why }, _) | (_, Parsed::Not { why }) => Parsed::Not { why },
            (one, another) => {
                let of = |parsed: &Parsed| match parsed {
                    Parsed::Partly { unread_lines, cut } => (*unread_lines, *cut),
                    _ => (0, false),
                };
                let ((lines, cut), (more, also)) = (of(&one), of(&another));
                Parsed::Partly { unread_lines: lines.saturating_add(more), cut: cut || also }
            }
        };
        self.first = self.first.or(other.first);
        self.diagnostics.extend(other.diagnostics);
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.severity);
        self.levels = Levels {
            errors: self.levels.errors.saturating_add(other.levels.errors),
            warnings: self.levels.warnings.saturating_add(other.levels.warnings),
            notes: self.levels.notes.saturating_add(other.levels.notes),
        };
        self.tests.extend(other.tests);
        self.tests.sort_by_key(|test| !test.outcome.is_bad());
        self.counts = match (self.counts, other.counts) {
            (Some(one), Some(another)) => Some(one.and(another)),
            (one, another) => one.or(another),
        };
        self.coverage = self.coverage.or(other.coverage);
        self.benchmarks.extend(other.benchmarks);
        self.disagreements.extend(other.disagreements);
        self
    }

    /// Tests and diagnostics that were counted and not kept.
    pub fn left_out(&self) -> u64 {
        let levels = self.levels;
        let counted = self.counts.map_or(0, |counts| counts.total)
            + levels.errors.saturating_add(levels.warnings).saturating_add(levels.notes);
        counted.saturating_sub(self.tests.len() as u64 + self.diagnostics.len() as u64)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
fn is_false(value: &bool) -> bool {
    !*value
}
