//! `yamllint -f parsable`.
//!
//! Source: yamllint 1.38.

use std::sync::LazyLock;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, matched, number, part};
use crate::text::lines;

static LINE: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?P<column>\d+): \[(?P<level>error|warning)\] (?P<message>.+?)(?: \((?P<rule>[\w-]+)\))?$")
        .ok()
});

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    for input in input.both() {
        for line in lines(input.stdout) {
            let Some(groups) = matched(&LINE, &line) else {
                draft.unread(&line);
                continue;
            };
            draft.find(Finding {
                place: Some(draft.context.place(part(&groups, "file"))),
                line: number(&groups, "line"),
                column: number(&groups, "column"),
                level: Some(if part(&groups, "level") == "error" { Level::Error } else { Level::Warning }),
                rule: Some(part(&groups, "rule").to_owned()),
                message: part(&groups, "message").to_owned(),
                ..Finding::default()
            });
        }
    }
}
