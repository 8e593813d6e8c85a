//! `ruff check --output-format=json` and `ruff format --check --output-format=json`.
//!
//! Source: ruff 0.17.

use serde::Deserialize;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::json;
use crate::text::lines;

#[derive(Deserialize)]
struct Said {
    code: Option<String>,
    message: Option<String>,
    filename: Option<String>,
    location: Option<At>,
    end_location: Option<At>,
    severity: Option<String>,
    fix: Option<Fix>,
}

#[derive(Deserialize)]
struct At {
    #[serde(default, deserialize_with = "json::position")]
    row: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    column: Option<u32>,
}

#[derive(Deserialize)]
struct Fix {
    applicability: Option<String>,
    message: Option<String>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let found: Option<Vec<Said>> = json::document(input.stdout, draft);
    if found.is_none() {
        lines(input.stdout).for_each(|line| draft.unread(&line));
    }
    // Warnings about the configuration, and what it cannot open.
    lines(input.stderr).for_each(|line| draft.unread(&line));
    for said in found.unwrap_or_default() {
        let Some(message) = said.message else {
            draft.unread_lines(1);
            continue;
        };
        let is_safe = said.fix.as_ref().is_some_and(|fix| fix.applicability.as_deref() == Some("safe"));
        let (from, to) = (said.location, said.end_location);
        draft.find(Finding {
            place: said.filename.map(|file| draft.context.place(&file)),
            line: from.as_ref().and_then(|at| at.row),
            column: from.and_then(|at| at.column),
            end_line: to.as_ref().and_then(|at| at.row),
            end_column: to.and_then(|at| at.column),
            level: Some(if said.severity.as_deref() == Some("warning") {
                Level::Warning
            } else {
                Level::Error
            }),
            rule: said.code,
            message,
            help: said.fix.and_then(|fix| fix.message).unwrap_or_default(),
            // What is unsafe, ruff does not do unless it is told to.
            fix: is_safe,
            source: None,
        });
    }
}
