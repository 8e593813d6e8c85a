//! `jest --json` and `vitest --reporter=json`, which follows it.
//!
//! Source: jest 30's `FormattedTestResults`, vitest 3's JSON reporter.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Outcome;
use crate::draft::{Case, Draft};
use crate::format::Input;
use crate::formats::{junit, milliseconds, trace};
use crate::json;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Results {
    num_failed_tests: Option<u64>,
    num_passed_tests: Option<u64>,
    num_total_tests: Option<u64>,
    test_results: Vec<File>,
    coverage_map: Option<BTreeMap<String, Istanbul>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: Option<String>,
    status: Option<String>,
    message: Option<String>,
    #[serde(default)]
    assertion_results: Vec<Assertion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: Option<String>,
    status: Option<String>,
    duration: Option<f64>,
    failure_messages: Option<Vec<String>>,
    location: Option<Location>,
}

#[derive(Deserialize)]
struct Location {
    #[serde(default, deserialize_with = "json::position")]
    line: Option<u32>,
}

/// Istanbul's coverage of a file: how often each statement ran.
#[derive(Deserialize)]
struct Istanbul {
    #[serde(default)]
    s: BTreeMap<String, f64>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    // jest writes its human report to standard error; it says the same in words.
    let Some(results) = json::document::<Results>(input.stdout, draft) else {
        for line in crate::text::lines(input.stdout).chain(crate::text::lines(input.stderr)) {
            draft.unread(&line);
        }
        return;
    };
    let mut broken = 0_u64;
    for file in results.test_results {
        broken += u64::from(take(file, draft));
    }
    // A file that could not be run is counted by us as an error, and by neither program as a test.
    let counted = draft.counts;
    if let Some(said) = results.num_total_tests {
        draft.claim("tests", said, counted.total - broken);
    }
    if let Some(said) = results.num_failed_tests {
        draft.claim("failed tests", said, counted.bad() - broken);
    }
    if let Some(said) = results.num_passed_tests {
        draft.claim("passed tests", said, counted.passed);
    }
    cover(results.coverage_map.unwrap_or_default(), draft);
}

/// Takes a file; true when the file itself is an error.
fn take(file: File, draft: &mut Draft<'_>) -> bool {
    let place = file.name.as_deref().map(|name| draft.context.place(name));
    let suite = place.as_ref().map(|place| place.file.clone());
    if file.assertion_results.is_empty() {
        let broken = file.status.as_deref() == Some("failed");
        if broken {
            let message = file.message.unwrap_or_default();
            let mut case = Case::new("(file)", suite, Outcome::Errored);
            case.line = trace::node(&message, draft.context).map(|spot| spot.line);
            // jest indents it and puts a headline above.
            let text: Vec<&str> =
                message.lines().filter(|line| !line.trim_start().starts_with('●')).collect();
            (case.place, case.message, case.detail) = (place, text.join("\n"), message);
            draft.test(case);
        }
        return broken;
    }
    for assertion in file.assertion_results {
        let (Some(title), Some(status)) = (assertion.title, assertion.status) else {
            draft.unread_lines(1);
            continue;
        };
        let mut outcome = match status.as_str() {
            "passed" => Outcome::Passed,
            "failed" => Outcome::Failed,
            // `pending`, `skipped`, `todo`, `disabled`, `focused`.
            _ => Outcome::Skipped,
        };
        let message = assertion.failure_messages.unwrap_or_default().join("\n\n");
        let message = crate::text::plain(&message);
        if outcome == Outcome::Failed && junit::is_late(crate::text::head(&message, 400)) {
            outcome = Outcome::TimedOut;
        }
        let name: Vec<String> = assertion.ancestor_titles.into_iter().chain([title]).collect();
        let mut case = Case::new(name.join(" > "), suite.clone(), outcome);
        case.place.clone_from(&place);
        case.line = assertion.location.and_then(|location| location.line);
        case.duration_ms = assertion.duration.and_then(milliseconds);
        if outcome.is_bad() {
            // Where it failed says more than where the test begins.
            let spot = trace::node(&message, draft.context);
            if let Some(spot) = spot.filter(|spot| Some(&spot.place) == place.as_ref()) {
                case.line = Some(spot.line);
            }
            let said = message.lines().take_while(|line| !line.trim_start().starts_with("at "));
            case.message = said.collect::<Vec<_>>().join("\n");
            if case.message == "Error: STACK_TRACE_ERROR" {
                // vitest gives a test that took too long the trace of its definition, and no message.
                "the test timed out".clone_into(&mut case.message);
                case.outcome = Outcome::TimedOut;
            }
            case.detail = message.into_owned();
        }
        draft.test(case);
    }
    false
}

#[expect(clippy::cast_precision_loss, reason = "numbers of statements are far below 2^52")]
fn cover(map: BTreeMap<String, Istanbul>, draft: &mut Draft<'_>) {
    let (mut all, mut reached) = (0_usize, 0_usize);
    for (path, file) in map {
        let ran = file.s.values().filter(|times| **times > 0.0).count();
        all += file.s.len();
        reached += ran;
        if !file.s.is_empty() {
            let name = draft.context.place(&path).file;
            draft.cover(&name, ran as f64 * 100.0 / file.s.len() as f64);
        }
    }
    if all > 0 {
        draft.cover_all(reached as f64 * 100.0 / all as f64);
    }
}
