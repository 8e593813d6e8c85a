//! What a run found, as results show it: failures first, no more than fits, and where the rest is.

use contract::Truncated;
use contract::text::counted;
use exec::run::{Exit, Ran};
use kit::Answer;
use reports::{Benchmark, Counts, Coverage, Diagnostic, Failure, Levels, Outcome, Parsed, Report, TestCase};
use schemars::JsonSchema;
use serde::Serialize;

use crate::memory::Judged;

/// Most tests that did not hold, and most diagnostics, that one result shows.
const MAX_SHOWN: usize = 20;

/// Most names of tests that passed, where they are asked for.
const MAX_PASSED: usize = 100;

/// Most characters of one failure's detail.
const MAX_DETAIL: usize = 1_200;

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Findings {
    /// How much of the output was understood.
    pub parsed: Parsed,
    /// All tests by outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// Tests that did not hold, first failure first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestCase>,
    /// Names of tests that passed, when asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<String>,
    /// All diagnostics by level.
    pub levels: Levels,
    /// Diagnostics, errors first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
    /// Coverage, where measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// Results of benchmarks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub benchmarks: Vec<Benchmark>,
    /// Where the program's figures contradict each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<String>,
    /// New, known, flaky or back: each failure by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Judged>,
    /// Failures of before that held this time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recovered: Vec<String>,
}

/// An answer about a run: whether it held, in words and in fields.
pub(crate) fn answer(what: &str, ran: &Ran, report: Report, verbose: bool) -> Answer<Findings> {
    let message = message(what, ran, &report);
    let left_out = report.left_out();
    let (findings, cut) = Findings::of(report, verbose);
    let mut answer = Answer::new(message, findings);
    answer.success = ran.is_success();
    let hidden = left_out + cut;
    if hidden > 0 {
        let handle = ran.handle.as_ref().map(ToString::to_string).unwrap_or_default();
        let shown = (answer.output.tests.len() + answer.output.diagnostics.len()) as u64;
        let next = format!("run_output {{ \"run\": \"{handle}\" }}");
        answer.truncated = Some(Truncated { shown, total: shown + hidden, next });
    }
    answer
}

/// An answer without a run: there was nothing for `program` to look at.
pub(crate) fn nothing(program: &str) -> Answer<Findings> {
    let nothing = reports::read(reports::Format::Make, b"", b"", Some(0), &reports::Context::default());
    let message = format!("There is no file for `{program}` to look at.");
    Answer::new(message, Findings::of(nothing, false).0)
}

impl Findings {
    /// What fits of a report, and how many failures and diagnostics do not.
    fn of(report: Report, verbose: bool) -> (Self, u64) {
        let passed = report.tests.iter().filter(|test| verbose && test.outcome == Outcome::Passed);
        let passed = passed.take(MAX_PASSED).map(|test| test.name.clone()).collect();
        let bad: Vec<TestCase> = report.tests.into_iter().filter(|test| test.outcome.is_bad()).collect();
        let cut = bad.len().saturating_sub(MAX_SHOWN) + report.diagnostics.len().saturating_sub(MAX_SHOWN);
        let shorter =
            |test: TestCase| TestCase { detail: test.detail.map(|text| cut_to(&text, MAX_DETAIL)), ..test };
        let findings = Self {
            parsed: report.parsed,
            counts: report.counts,
            tests: bad.into_iter().take(MAX_SHOWN).map(shorter).collect(),
            passed,
            levels: report.levels,
            diagnostics: report.diagnostics.into_iter().take(MAX_SHOWN).collect(),
            coverage: report.coverage,
            benchmarks: report.benchmarks,
            disagreements: report.disagreements,
            history: Vec::new(),
            recovered: Vec::new(),
        };
        (findings, cut as u64)
    }
}

fn cut_to(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The run in words: never more than its exit code and what was understood support.
fn message(what: &str, ran: &Ran, report: &Report) -> String {
    let ended = match ran.exit {
        Exit::Code(0) => "succeeded".to_owned(),
        Exit::Code(code) => format!("failed with exit code {code}"),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
    };
    let mut text = format!("{what} {ended}.");
    if let Some(counts) = report.counts {
        let bad = counts.failed + counts.errored + counts.timed_out;
        text.push_str(&format!(" {} of {} did not hold", bad, counted(counts.total, "test")));
        if counts.skipped > 0 {
            text.push_str(&format!(", {} skipped", counts.skipped));
        }
        text.push('.');
    }
    let Levels { errors, warnings, .. } = report.levels;
    if errors + warnings > 0 {
        text.push_str(&format!(" {}, {}.", counted(errors, "error"), counted(warnings, "warning")));
    }
    if let Some(percent) = report.coverage.as_ref().and_then(|coverage| coverage.percent) {
        text.push_str(&format!(" Coverage: {percent} %."));
    }
    match report.first_failure() {
        Some(Failure::Test(first)) => {
            let place = place(first.file.as_deref(), first.line);
            let why = first.message.as_deref().unwrap_or("it says no more");
            text.push_str(&format!("\n\nFirst: `{}`{place}: {why}", first.name));
        }
        Some(Failure::Diagnostic(first)) => {
            let rule = first.rule.as_deref().map(|rule| format!(" [{rule}]")).unwrap_or_default();
            let place = place(first.file.as_deref(), first.line);
            text.push_str(&format!("\n\nFirst{place}{rule}: {}", first.message));
        }
        None => {}
    }
    match &report.parsed {
        Parsed::Fully => {}
        Parsed::Partly { unread_lines, cut } => {
            let cut = if *cut { "; it ends in the middle" } else { "" };
            let were = if *unread_lines == 1 { "was" } else { "were" };
            text.push_str(&format!(
                "\n\n{} of its output {were} not understood{cut}.",
                counted(*unread_lines, "line")
            ));
        }
        Parsed::Not { why } => {
            text.push_str(&format!(
                "\n\nIts output was not understood ({why}): only its exit code is known."
            ));
        }
    }
    text
}

fn place(file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        (Some(file), None) => format!(" ({file})"),
        _ => String::new(),
    }
}
