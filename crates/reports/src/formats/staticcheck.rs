//! `staticcheck -f json`: one finding on each line; or its text.
//!
//! Source: staticcheck's "Formatters" document, captured from 2023.1.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, matched, number, part};
use crate::json;

static LINE: Pattern = LazyLock::new(|| {
    regex::Regex::new(
        r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?P<column>\d+): (?P<message>.+) \((?P<rule>[A-Za-z]+\d*)\)$",
    )
    .ok()
});

#[derive(Deserialize)]
struct Said {
    code: Option<String>,
    severity: Option<String>,
    location: Option<Spot>,
    end: Option<Spot>,
    message: Option<String>,
    #[serde(default)]
    related: Option<Vec<Related>>,
}

#[derive(Deserialize)]
struct Related {
    message: Option<String>,
}

#[derive(Deserialize)]
struct Spot {
    file: Option<String>,
    #[serde(default, deserialize_with = "json::position")]
    line: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    column: Option<u32>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    for input in input.both() {
        json::each_line::<Said>(
            input.stdout,
            draft,
            |draft, said| take(said, draft),
            |draft, line| {
                let Some(groups) = matched(&LINE, crate::text::head(line, crate::text::MAX_LINE)) else {
                    draft.unread(line);
                    return;
                };
                draft.find(Finding {
                    place: Some(draft.context.place(part(&groups, "file"))),
                    line: number(&groups, "line"),
                    column: number(&groups, "column"),
                    rule: Some(part(&groups, "rule").to_owned()),
                    message: part(&groups, "message").to_owned(),
                    ..Finding::default()
                });
            },
        );
    }
}

fn take(said: Said, draft: &mut Draft<'_>) {
    let (Some(message), Some(at)) = (said.message, said.location) else {
        draft.unread_lines(1);
        return;
    };
    let level = match said.severity.as_deref() {
        // Ignored by a directive, and shown only on demand.
        Some("ignored") => Level::Note,
        Some("warning") => Level::Warning,
        _ => Level::Error,
    };
    let related = said.related.unwrap_or_default().into_iter().filter_map(|related| related.message);
    draft.find(Finding {
        place: at.file.as_deref().filter(|file| !file.is_empty()).map(|file| draft.context.place(file)),
        line: at.line,
        column: at.column,
        end_line: said.end.as_ref().and_then(|end| end.line),
        end_column: said.end.as_ref().and_then(|end| end.column),
        level: Some(level),
        rule: said.code,
        message,
        help: related.collect::<Vec<_>>().join("\n"),
        ..Finding::default()
    });
}
