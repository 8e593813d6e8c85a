//! `bandit -f json`.
//!
//! Source: bandit 1.9. Its columns are from 0; what it cannot parse is in `errors`.

use serde::Deserialize;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::json;
use crate::text::lines;

#[derive(Deserialize)]
struct Said {
    results: Vec<Issue>,
    #[serde(default)]
    errors: Vec<Failed>,
}

#[derive(Deserialize)]
struct Issue {
    filename: Option<String>,
    issue_text: Option<String>,
    issue_severity: Option<String>,
    issue_confidence: Option<String>,
    issue_cwe: Option<Weakness>,
    test_id: Option<String>,
    #[serde(default, deserialize_with = "json::position")]
    line_number: Option<u32>,
    col_offset: Option<i64>,
    end_col_offset: Option<i64>,
    more_info: Option<String>,
}

#[derive(Deserialize)]
struct Weakness {
    id: Option<u64>,
}

#[derive(Deserialize)]
struct Failed {
    filename: Option<String>,
    reason: Option<String>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let said: Option<Said> = json::document(input.stdout, draft);
    let Some(said) = said else {
        for input in input.both() {
            lines(input.stdout).for_each(|line| draft.unread(&line));
        }
        return;
    };
    // What it logs while it looks; `-q` leaves warnings.
    lines(input.stderr).for_each(|line| draft.unread(&line));
    let column = |at: Option<i64>| at.and_then(|at| u32::try_from(at.saturating_add(1)).ok());
    for issue in said.results {
        let Some(message) = issue.issue_text else {
            draft.unread_lines(1);
            continue;
        };
        let level = match issue.issue_severity.as_deref() {
            Some("HIGH") => Level::Error,
            Some("MEDIUM") => Level::Warning,
            _ => Level::Note,
        };
        let weakness = issue.issue_cwe.and_then(|cwe| cwe.id).map(|id| format!("CWE-{id}"));
        let sure = issue.issue_confidence.map(|sure| format!("confidence {}", sure.to_lowercase()));
        let help: Vec<String> = weakness.into_iter().chain(sure).chain(issue.more_info).collect();
        draft.find(Finding {
            place: issue.filename.map(|file| draft.context.place(&file)),
            line: issue.line_number,
            column: column(issue.col_offset),
            end_column: column(issue.end_col_offset),
            level: Some(level),
            rule: issue.test_id,
            message,
            help: help.join("\n"),
            ..Finding::default()
        });
    }
    for failed in said.errors {
        draft.find(Finding {
            place: failed.filename.map(|file| draft.context.place(&file)),
            level: Some(Level::Error),
            rule: Some("not-checked".to_owned()),
            message: failed.reason.unwrap_or_else(|| "it could not be checked".to_owned()),
            ..Finding::default()
        });
    }
}
