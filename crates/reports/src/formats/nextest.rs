//! cargo-nextest: the JUnit file of a profile, or `--message-format libtest-json[-plus]`.
//!
//! Source: nextest 0.9 and captured runs. The two name suites differently, so identities hold within each.

use serde::Deserialize;

use crate::Outcome;
use crate::draft::{Case, Draft};
use crate::format::Input;
use crate::formats::rustc::Rustc;
use crate::formats::{junit, libtest, milliseconds, trace};
use crate::json;

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    event: String,
    name: Option<String>,
    exec_time: Option<f64>,
    stdout: Option<String>,
    message: Option<String>,
    passed: Option<u64>,
    failed: Option<u64>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    if input.stdout.trim_ascii_start().starts_with(b"<") {
        junit::read(input, draft);
        return;
    }
    let (mut suites, mut passed, mut failed) = (0_i64, 0_u64, 0_u64);
    let mut begun: Vec<String> = Vec::new();
    json::each_line::<Line>(
        input.stdout,
        draft,
        |draft, line| match (line.kind.as_str(), line.event.as_str()) {
            ("suite", "started") => suites += 1,
            ("suite", _) => {
                suites -= 1;
                passed += line.passed.unwrap_or_default();
                failed += line.failed.unwrap_or_default();
            }
            ("test", "started") => begun.extend(line.name),
            ("test", _) => {
                begun.retain(|name| Some(name) != line.name.as_ref());
                take(line, draft);
            }
            _ => draft.unread_lines(1),
        },
        json::leave,
    );
    // Standard error is rustc's, and nextest's own progress, which says what the lines above say.
    let mut rustc = Rustc::default();
    for line in crate::text::lines(input.stderr) {
        rustc.line(draft, &line);
    }
    rustc.end(draft);
    if draft.has_read() {
        draft.cut |= suites > 0;
        // Of one that is ignored it says in some runs that it began, and no more.
        for begun in begun.iter().filter(|_| suites == 0) {
            let (suite, name) = names(begun);
            draft.test(Case::new(name, suite, Outcome::Skipped));
        }
        let counted = draft.counts;
        // A run that stops at the first failure says nothing of the suites that it leaves.
        if suites == 0 {
            draft.claim("passed tests", passed, counted.passed);
            draft.claim("failed tests", failed, counted.bad());
        }
    }
}

/// A suite and the test's own name, which stand in one.
fn names(name: &str) -> (Option<String>, &str) {
    name.split_once('$').map_or((None, name), |(suite, name)| (Some(suite.to_owned()), name))
}

fn take(line: Line, draft: &mut Draft<'_>) {
    let outcome = match line.event.as_str() {
        "ok" => Outcome::Passed,
        "ignored" => Outcome::Skipped,
        "timeout" => Outcome::TimedOut,
        "failed" => Outcome::Failed,
        _ => {
            draft.unread_lines(1);
            return;
        }
    };
    let name = line.name.unwrap_or_default();
    let (suite, name) = names(&name);
    let mut case = Case::new(name, suite, outcome);
    case.duration_ms = line.exec_time.and_then(|seconds| milliseconds(seconds * 1e3));
    if outcome.is_bad() {
        let said = line.stdout.unwrap_or_default();
        if let Some(spot) = trace::rust(&said, draft.context) {
            (case.place, case.line) = (Some(spot.place), Some(spot.line));
        }
        case.message = libtest::message(&said);
        if case.message.trim().is_empty() {
            case.message = line.message.unwrap_or_default();
        }
        case.detail = said;
    }
    draft.test(case);
}
