//! `pyright --outputjson`.
//!
//! Source: pyright's documentation, "Command-line", and 1.1.414. Its lines and columns are from 0.

use serde::Deserialize;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::json;
use crate::text::lines;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    general_diagnostics: Vec<Diagnostic>,
    summary: Option<Summary>,
}

#[derive(Deserialize)]
struct Diagnostic {
    file: Option<String>,
    severity: Option<String>,
    message: Option<String>,
    rule: Option<String>,
    range: Option<Range>,
}

#[derive(Deserialize)]
struct Range {
    start: At,
    end: At,
}

#[derive(Deserialize)]
struct At {
    line: u32,
    character: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    error_count: Option<u64>,
    warning_count: Option<u64>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let said: Option<Said> = json::document(input.stdout, draft);
    let Some(said) = said else {
        for input in input.both() {
            lines(input.stdout).for_each(|line| draft.unread(&line));
        }
        return;
    };
    lines(input.stderr).for_each(|line| draft.unread(&line));
    let (mut errors, mut warnings) = (0, 0);
    for diagnostic in said.general_diagnostics {
        let Some(message) = diagnostic.message else {
            draft.unread_lines(1);
            continue;
        };
        let level = match diagnostic.severity.as_deref() {
            Some("warning") => Level::Warning,
            Some("information") => Level::Note,
            _ => Level::Error,
        };
        match level {
            Level::Error => errors += 1,
            Level::Warning => warnings += 1,
            Level::Note => {}
        }
        let from = |at: Option<u32>| at.map(|at| at.saturating_add(1));
        let (start, end) = match diagnostic.range {
            Some(range) => (Some(range.start), Some(range.end)),
            None => (None, None),
        };
        draft.find(Finding {
            place: diagnostic.file.map(|file| draft.context.place(&file)),
            line: from(start.as_ref().map(|at| at.line)),
            column: from(start.map(|at| at.character)),
            end_line: from(end.as_ref().map(|at| at.line)),
            end_column: from(end.map(|at| at.character)),
            level: Some(level),
            rule: diagnostic.rule,
            message,
            ..Finding::default()
        });
    }
    if let Some(summary) = said.summary {
        summary.error_count.into_iter().for_each(|said| draft.claim("errors", said, errors));
        summary.warning_count.into_iter().for_each(|said| draft.claim("warnings", said, warnings));
    }
}
