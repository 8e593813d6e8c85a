//! `prettier --list-different`: names of files on standard output, what is wrong with others on standard error.
//!
//! Source: captured from prettier 3.10. Every line on standard error begins with its level; the frame of a source follows what is
//! said of its file.

use std::sync::LazyLock;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, matched, number, part};
use crate::text::lines;

/// A file's name has an ending, or is hidden: whatever else is printed has neither.
static NAME: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^[^\[\x00-\x1f](?:.*[/\\])?[^/\\]*\.[A-Za-z][\w-]*$|^(?:.*/)?\.[A-Za-z][\w-]*$").ok()
});
static SAID: Pattern = LazyLock::new(|| regex::Regex::new(r"^\[(?P<level>error|warn)\] (?P<text>.*)$").ok());
static FRAME: Pattern = LazyLock::new(|| regex::Regex::new(r"^(?:>? *\d+ \||  +\|)").ok());
static PLACED: Pattern = LazyLock::new(|| {
    regex::Regex::new(
        r"^(?P<file>[^:]+): (?P<rule>\w*Error): (?P<message>.+?)(?: \((?P<line>\d+):(?P<column>\d+)\))?$",
    )
    .ok()
});
static IN_FILE: Pattern = LazyLock::new(|| {
    regex::Regex::new("^(?P<message>Invalid configuration) for file \"(?P<file>[^\"]+)\":$").ok()
});

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    for line in lines(input.stdout) {
        match matched(&NAME, &line) {
            Some(_) => draft.find(Finding {
                place: Some(draft.context.place(&line)),
                level: Some(Level::Warning),
                rule: Some("prettier".to_owned()),
                message: "is not formatted as prettier does".to_owned(),
                fix: true,
                ..Finding::default()
            }),
            None => draft.unread(&line),
        }
    }
    let mut open: Option<Finding> = None;
    for line in lines(input.stderr) {
        let Some(groups) = matched(&SAID, &line) else {
            draft.unread(&line);
            continue;
        };
        let text = part(&groups, "text").trim_end();
        if text.trim().is_empty() || matched(&FRAME, text).is_some() {
            continue;
        }
        let level = if part(&groups, "level") == "error" { Level::Error } else { Level::Warning };
        let placed = matched(&PLACED, text).or_else(|| matched(&IN_FILE, text));
        if let Some(finding) = open.as_mut().filter(|_| placed.is_none()) {
            // It goes on until the next file is named.
            if finding.help.len() < crate::MAX_DETAIL {
                finding.help.push_str(text);
                finding.help.push('\n');
            }
            continue;
        }
        if let Some(finding) = open.take() {
            draft.find(finding);
        }
        let finding = match placed {
            Some(groups) => Finding {
                place: Some(draft.context.place(part(&groups, "file"))),
                line: number(&groups, "line"),
                column: number(&groups, "column"),
                level: Some(level),
                rule: groups.name("rule").map(|rule| rule.as_str().to_owned()),
                message: part(&groups, "message").to_owned(),
                ..Finding::default()
            },
            None => Finding { level: Some(level), message: text.to_owned(), ..Finding::default() },
        };
        // What has no place is one line, unless the next says where.
        match finding.place {
            Some(_) => open = Some(finding),
            None => draft.find(finding),
        }
    }
    if let Some(finding) = open {
        draft.find(finding);
    }
}
