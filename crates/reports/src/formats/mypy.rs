//! mypy's lines, `--show-column-numbers` or without, each on its own (`--no-pretty`).
//!
//! Source: mypy 2.4. A note belongs to the error before it where both are of one line; else it is a finding of its own.

use std::sync::LazyLock;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, matched, number, part};
use crate::text::lines;

static LINE: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<file>[^\s:][^:]*):(?:(?P<line>\d+):)?(?:(?P<column>\d+):)?(?:(?P<endline>\d+):(?P<endcolumn>\d+):)? (?P<level>error|warning|note): (?P<message>.+?)(?:  \[(?P<rule>[\w-]+)\])?$")
        .ok()
});

/// What it says at the end, whatever it found.
static LAST: Pattern = LazyLock::new(|| {
    regex::Regex::new(
        r"^(?:Success: no issues found in \d+ source files?|Found \d+ errors? in \d+ files? \(.*\))$",
    )
    .ok()
});

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    for input in input.both() {
        let mut before: Option<Finding> = None;
        for line in lines(input.stdout) {
            let Some(groups) = matched(&LINE, &line) else {
                if matched(&LAST, &line).is_some() {
                    draft.recognised();
                } else {
                    draft.unread(&line);
                }
                continue;
            };
            let level = match part(&groups, "level") {
                "error" => Level::Error,
                "warning" => Level::Warning,
                _ => Level::Note,
            };
            let finding = Finding {
                place: Some(draft.context.place(part(&groups, "file"))),
                line: number(&groups, "line"),
                column: number(&groups, "column"),
                end_line: number(&groups, "endline"),
                end_column: number(&groups, "endcolumn"),
                level: Some(level),
                rule: Some(part(&groups, "rule").to_owned()),
                message: part(&groups, "message").to_owned(),
                ..Finding::default()
            };
            let belongs = |error: &Finding| {
                let file = |finding: &Finding| finding.place.as_ref().map(|place| place.file.clone());
                level == Level::Note && error.line == finding.line && file(error) == file(&finding)
            };
            match &mut before {
                Some(error) if belongs(error) => {
                    if !error.help.is_empty() {
                        error.help.push('\n');
                    }
                    error.help.push_str(&finding.message);
                }
                _ => before.replace(finding).into_iter().for_each(|error| draft.find(error)),
            }
        }
        if let Some(error) = before {
            draft.find(error);
        }
    }
}
