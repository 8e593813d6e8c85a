//! `rustfmt -l`: names of files on standard output; what does not parse, as rustc says it, on standard error.
//!
//! Source: captured from rustfmt 1.8 of Rust 1.95 under `cargo fmt`.

use std::sync::LazyLock;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::rustc::Rustc;
use crate::formats::{Pattern, matched, part};
use crate::text::lines;

static WARNING: Pattern = LazyLock::new(|| regex::Regex::new(r"^Warning: (?P<message>.+)$").ok());
static NAME: Pattern = LazyLock::new(|| regex::Regex::new(r"^[^\x00-\x1f:]*[^\x00-\x1f:/]\.rs$").ok());

/// Where cargo goes on to tell how it is called: nothing that follows is of this run.
const USAGE: &str = "This utility formats all bin and lib files";

/// Before what it says of a manifest.
const OF_METADATA: &str = "`cargo metadata` exited with an error: ";

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    for line in lines(input.stdout) {
        match matched(&NAME, &line) {
            Some(_) => draft.find(Finding {
                place: Some(draft.context.place(&line)),
                level: Some(Level::Warning),
                rule: Some("rustfmt".to_owned()),
                message: "is not formatted as rustfmt does".to_owned(),
                fix: true,
                ..Finding::default()
            }),
            None => draft.unread(&line),
        }
    }
    let mut rustc = Rustc::default();
    for line in lines(input.stderr) {
        if line.starts_with(USAGE) {
            break;
        }
        if let Some(groups) = matched(&WARNING, &line) {
            rustc.end(draft);
            draft.find(Finding {
                level: Some(Level::Warning),
                message: part(&groups, "message").to_owned(),
                ..Finding::default()
            });
            continue;
        }
        let said = line.strip_prefix(OF_METADATA).unwrap_or(&line);
        // What could not be written follows from what could not be read, and that was said.
        if !(rustc.line(draft, said) || said.starts_with("Error writing files: ")) {
            draft.unread(&line);
        }
    }
    rustc.end(draft);
}
