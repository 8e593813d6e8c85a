//! commitlint: what its command prints, or the JSON of the formatter package commitlint-format-json.
//!
//! Source: captured from @commitlint/cli 20 and commitlint-format-json 1.1.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, matched, number, part};
use crate::json;
use crate::text::lines;

static PROBLEM: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<sign>[✖⚠])\s+(?P<message>.+?)(?: \[(?P<rule>[\w/@-]+)\])?$").ok()
});
static FOUND: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^[✖⚠✔]\s+found (?P<errors>\d+) problems?, (?P<warnings>\d+) warnings?$").ok()
});

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Results {
    error_count: Option<u64>,
    warning_count: Option<u64>,
    results: Vec<Linted>,
}

#[derive(Deserialize)]
struct Linted {
    #[serde(default)]
    errors: Vec<Problem>,
    #[serde(default)]
    warnings: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    name: Option<String>,
    message: Option<String>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    if input.stdout.trim_ascii_start().starts_with(b"{") {
        read_json(input, draft);
        return;
    }
    for input in input.both() {
        let (mut errors, mut warnings, mut quoted) = (0_u64, 0_u64, false);
        for line in lines(input.stdout) {
            let line = line.trim_end();
            if line.starts_with('⧗') {
                draft.recognised();
                (quoted, errors, warnings) = (true, 0, 0);
            } else if let Some(groups) = matched(&FOUND, line) {
                draft.recognised();
                quoted = false;
                draft.claim("problems", number(&groups, "errors").unwrap_or_default(), errors);
                draft.claim("warnings", number(&groups, "warnings").unwrap_or_default(), warnings);
            } else if let Some(groups) = matched(&PROBLEM, line) {
                quoted = false;
                let error = part(&groups, "sign") == "✖";
                if error {
                    errors += 1;
                } else {
                    warnings += 1;
                }
                find(part(&groups, "rule"), part(&groups, "message"), error, draft);
            } else if !quoted && !line.starts_with('ⓘ') {
                // Between the first line and the first sign stands the message that was checked.
                draft.unread(line);
            }
        }
    }
}

fn read_json(input: Input<'_>, draft: &mut Draft<'_>) {
    let results: Option<Results> = json::document(input.stdout, draft);
    if results.is_none() {
        lines(input.stdout).for_each(|line| draft.unread(&line));
    }
    lines(input.stderr).for_each(|line| draft.unread(&line));
    let Some(results) = results else { return };
    let (mut errors, mut warnings) = (0, 0);
    for linted in results.results {
        for (problems, error) in [(linted.errors, true), (linted.warnings, false)] {
            for problem in problems {
                let Some(message) = problem.message else {
                    draft.unread_lines(1);
                    continue;
                };
                if error {
                    errors += 1;
                } else {
                    warnings += 1;
                }
                find(problem.name.as_deref().unwrap_or_default(), &message, error, draft);
            }
        }
    }
    draft.claim("problems", results.error_count.unwrap_or(errors), errors);
    draft.claim("warnings", results.warning_count.unwrap_or(warnings), warnings);
}

fn find(rule: &str, message: &str, error: bool, draft: &mut Draft<'_>) {
    draft.find(Finding {
        level: Some(if error { Level::Error } else { Level::Warning }),
        rule: Some(rule.to_owned()),
        message: message.to_owned(),
        ..Finding::default()
    });
}
