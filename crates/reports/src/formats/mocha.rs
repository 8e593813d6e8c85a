//! `mocha --reporter json`.
//!
//! Source: mocha 12's JSON reporter. Tests are listed without their outcome: it is in which other lists they stand.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::Outcome;
use crate::draft::{Case, Draft};
use crate::format::Input;
use crate::formats::{junit, milliseconds, trace};
use crate::json;

#[derive(Deserialize)]
struct Results {
    stats: Option<Stats>,
    tests: Option<Vec<Test>>,
    #[serde(default)]
    pending: Vec<Test>,
    #[serde(default)]
    failures: Vec<Test>,
    #[serde(default)]
    passes: Vec<Test>,
}

#[derive(Deserialize)]
struct Stats {
    passes: Option<u64>,
    pending: Option<u64>,
    failures: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    full_title: Option<String>,
    file: Option<String>,
    duration: Option<f64>,
    #[serde(default)]
    err: Thrown,
}

#[derive(Deserialize, Default)]
struct Thrown {
    message: Option<String>,
    stack: Option<String>,
    code: Option<serde_json::Value>,
}

impl Test {
    fn key(&self) -> (Option<String>, Option<String>) {
        (self.file.clone(), self.full_title.clone())
    }
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let results: Option<Results> = json::document(input.stdout, draft).filter(|results: &Results| {
        // Any object would be read as one without lists.
        results.stats.is_some() || results.tests.is_some()
    });
    for line in crate::text::lines(input.stderr) {
        draft.unread(&line);
    }
    let Some(results) = results else {
        for line in crate::text::lines(input.stdout) {
            draft.unread(&line);
        }
        return;
    };
    if draft.cut {
        // The lists that say how tests ended come after the list of tests.
        let known: BTreeSet<_> =
            results.pending.iter().chain(&results.failures).chain(&results.passes).map(Test::key).collect();
        let open = results.tests.iter().flatten().filter(|test| !known.contains(&test.key())).count();
        draft.unread_lines(open as u64);
    }
    for (tests, outcome) in [
        (results.failures, Outcome::Failed),
        (results.pending, Outcome::Skipped),
        (results.passes, Outcome::Passed),
    ] {
        for test in tests {
            take(test, outcome, draft);
        }
    }
    let counted = draft.counts;
    if let Some(stats) = results.stats {
        for (what, said, counted) in [
            ("passed tests", stats.passes, counted.passed),
            ("pending tests", stats.pending, counted.skipped),
            ("failed tests", stats.failures, counted.bad()),
        ] {
            if let Some(said) = said {
                draft.claim(what, said, counted);
            }
        }
    }
}

fn take(test: Test, outcome: Outcome, draft: &mut Draft<'_>) {
    let Some(name) = test.full_title else {
        draft.unread_lines(1);
        return;
    };
    let place = test.file.as_deref().map(|file| draft.context.place(file));
    let mut case = Case::new(name, place.as_ref().map(|place| place.file.clone()), outcome);
    case.duration_ms = test.duration.and_then(milliseconds);
    if outcome.is_bad() {
        case.message = test.err.message.unwrap_or_default();
        case.detail = test.err.stack.unwrap_or_default();
        let code = test.err.code.as_ref().and_then(serde_json::Value::as_str);
        if code == Some("ERR_MOCHA_TIMEOUT") || junit::is_late(crate::text::head(&case.message, 400)) {
            case.outcome = Outcome::TimedOut;
        } else if case.name.contains("\" hook for \"") || case.name.contains("\" hook in \"") {
            case.outcome = Outcome::Errored;
        }
        if let Some(spot) = trace::node(&case.detail, draft.context) {
            (case.place, case.line) = (Some(spot.place), Some(spot.line));
        }
    }
    case.place = case.place.or(place);
    draft.test(case);
}
