//! `vermin -f parsable --violations`: what of a file needs a Python that is not among the targets.
//!
//! Source: vermin 1.9, `vermin/formats/parsable_format.py`: `file:line:column:python2:python3:feature`, and a line without feature
//! for each file and for all.

use std::sync::LazyLock;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, matched, number, part};
use crate::text::lines;

static LINE: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<file>[^:]*):(?P<line>\d*):(?P<column>\d*):(?P<two>|!2|~?\d(?:\.\d+)?):(?P<three>|!3|~?\d(?:\.\d+)?):(?P<feature>.*)$")
        .ok()
});

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    for input in input.both() {
        for line in lines(input.stdout) {
            let Some(groups) = matched(&LINE, &line) else {
                draft.unread(&line);
                continue;
            };
            let feature = part(&groups, "feature");
            draft.recognised();
            // The minimum of a file, or of all.
            if feature.is_empty() {
                continue;
            }
            if let Some(error) = feature.strip_prefix("error: ") {
                draft.find(Finding {
                    place: Some(draft.context.place(part(&groups, "file"))),
                    line: number(&groups, "line"),
                    column: number(&groups, "column"),
                    level: Some(Level::Error),
                    rule: Some("syntax".to_owned()),
                    message: error.to_owned(),
                    ..Finding::default()
                });
                continue;
            }
            let needs = match part(&groups, "three") {
                "!3" => "works with Python 2 alone".to_owned(),
                needed => format!("needs Python {needed}"),
            };
            draft.find(Finding {
                place: Some(draft.context.place(part(&groups, "file"))),
                line: number(&groups, "line"),
                column: number(&groups, "column"),
                level: Some(Level::Error),
                message: format!("{feature} {needs}"),
                ..Finding::default()
            });
        }
    }
}
