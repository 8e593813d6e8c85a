//! What tsc prints, with `--pretty` or without.
//!
//! Source: captured from TypeScript 7; 5 and 6 write the same.

use std::sync::LazyLock;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, matched, number, part};
use crate::text::lines;

static PLAIN: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<file>\S[^(]*(?:\([^\d][^(]*)*)\((?P<line>\d+),(?P<column>\d+)\): (?P<level>error|warning|message) (?P<rule>TS\d+): (?P<message>.*)$")
        .ok()
});
static PRETTY: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<file>\S[^:]*):(?P<line>\d+):(?P<column>\d+) - (?P<level>error|warning|message) (?P<rule>TS\d+): (?P<message>.*)$")
        .ok()
});
static BARE: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<level>error|warning|message) (?P<rule>TS\d+): (?P<message>.*)$").ok()
});
static RELATED: Pattern =
    LazyLock::new(|| regex::Regex::new(r"^  (?P<place>\S.*:\d+):\d+ - (?P<message>.+)$").ok());
static FOUND: Pattern = LazyLock::new(|| regex::Regex::new(r"^Found (?P<count>\d+) errors?\b").ok());

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let (mut errors, mut said) = (0_u64, None);
    for input in input.both() {
        let mut open: Option<Finding> = None;
        let (mut framed, mut pretty) = (false, false);
        for line in lines(input.stdout) {
            let head =
                matched(&PLAIN, &line).or_else(|| matched(&PRETTY, &line)).or_else(|| matched(&BARE, &line));
            if let Some(groups) = head {
                flush(draft, &mut open);
                framed = false;
                pretty |= line.contains(" - ");
                let level = match part(&groups, "level") {
                    "error" => Level::Error,
                    "warning" => Level::Warning,
                    _ => Level::Note,
                };
                errors += u64::from(level == Level::Error);
                open = Some(Finding {
                    place: groups.name("file").map(|file| draft.context.place(file.as_str())),
                    line: number(&groups, "line"),
                    column: number(&groups, "column"),
                    level: Some(level),
                    rule: Some(part(&groups, "rule").to_owned()),
                    message: part(&groups, "message").to_owned(),
                    ..Finding::default()
                });
            } else if let Some(groups) = matched(&FOUND, &line) {
                flush(draft, &mut open);
                said = number::<u64>(&groups, "count").or(said);
            } else if line.trim().is_empty() {
                // Below an empty line comes the source.
                framed = true;
            } else if let Some(open) = open.as_mut().filter(|_| line.starts_with(' ') || framed) {
                let text = line.trim();
                let related = matched(&RELATED, &line);
                if let Some(groups) = related.filter(|_| open.help.len() < crate::MAX_DETAIL) {
                    open.help.push_str(&format!(
                        "{}: {}\n",
                        part(&groups, "place"),
                        part(&groups, "message")
                    ));
                } else if !framed && open.message.len() < crate::MAX_MESSAGE {
                    // A message goes on in indented lines.
                    open.message.push('\n');
                    open.message.push_str(text);
                } else if !(pretty || text.is_empty()) {
                    draft.unread(text);
                }
            } else if !(line.starts_with("Errors  Files") || pretty && line.starts_with(' ')) {
                draft.unread(&line);
            }
        }
        flush(draft, &mut open);
    }
    if let Some(said) = said {
        draft.claim("errors", said, errors);
    }
}

fn flush(draft: &mut Draft<'_>, open: &mut Option<Finding>) {
    if let Some(finding) = open.take() {
        draft.find(finding);
    }
}
