//! GNU make: which target could not be built, and what compilers said on the way.
//!
//! Source: captured from GNU Make 4.3. Make's own lines go to standard error, those of the programs that it runs to
//! either stream; lines of programs that are not compilers are not read. Which directory a line is of is known where both
//! streams come in one; apart, only where one directory was entered at a depth.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Captures;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::gcc::Compiler;
use crate::formats::{Pattern, matched, number, part};
use crate::text::lines;

static FAILED: Pattern = LazyLock::new(|| {
    regex::Regex::new(concat!(
        r"^g?make(?:\[(?P<depth>\d+)\])?: (?P<stars>\*\*\* )?\[(?:(?P<file>[^:\]]+):(?P<line>\d+): )?(?P<target>[^\]]+)\] ",
        r"(?P<why>.+?)(?P<ignored> \(ignored\))?$"
    ))
    .ok()
});
static STOPPED: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^g?make(?:\[\d+\])?: \*\*\* (?P<message>.+?)(?:\.  Stop\.|\.\.\.\.)?$").ok()
});
static SYNTAX: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+): \*\*\* (?P<message>.+?)\.?(?:  Stop\.)?$").ok()
});
static DIRECTORY: Pattern = LazyLock::new(|| {
    regex::Regex::new(
        r"^g?make(?:\[(?P<depth>\d+)\])?: (?P<way>Entering|Leaving) directory [`'](?P<dir>.+)'$",
    )
    .ok()
});
static OWN: Pattern = LazyLock::new(|| regex::Regex::new(r"^g?make(?:\[\d+\])?: ").ok());
static GO: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?:vet: )?(?P<file>[^\s:]+\.go):(?P<line>\d+):(?P<column>\d+): (?P<message>.+)$")
        .ok()
});

/// The directories that make runs in.
#[derive(Default)]
struct Directories {
    /// Those that were entered and not left, relative to the root; nothing for one outside.
    open: Vec<Option<String>>,
    /// The directory of each depth, where there was only one: what is on standard error does not say its own.
    by_depth: BTreeMap<u32, Option<String>>,
}

impl Directories {
    fn take(&mut self, groups: &Captures<'_>, draft: &Draft<'_>) {
        if part(groups, "way") == "Leaving" {
            self.open.pop();
            return;
        }
        let dir = draft.context.directory(part(groups, "dir"));
        let depth = number(groups, "depth").unwrap_or_default();
        self.by_depth
            .entry(depth)
            .and_modify(|known| *known = known.take().filter(|known| Some(known) == dir.as_ref()))
            .or_insert_with(|| dir.clone());
        self.open.push(dir);
    }

    fn now(&self) -> Option<&str> {
        self.open.last()?.as_deref()
    }

    /// The directory of a make that says its depth.
    fn of<'s>(&'s self, groups: &Captures<'_>, draft: &Draft<'s>) -> &'s str {
        let known = number(groups, "depth").and_then(|depth: u32| self.by_depth.get(&depth)?.as_deref());
        self.now().or(known).unwrap_or(draft.context.dir)
    }
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let mut directories = Directories::default();
    for input in input.both() {
        let mut compiler = Compiler::default();
        directories.open.clear();
        for line in lines(input.stdout) {
            if let Some(groups) = matched(&DIRECTORY, &line) {
                draft.recognised();
                compiler.end(draft);
                directories.take(&groups, draft);
                continue;
            }
            if own(draft, &mut compiler, &line, &directories)
                || compiler.line(draft, &line, directories.now())
            {
                continue;
            }
            if let Some(groups) = matched(&GO, &line) {
                let dir = directories.now().unwrap_or(draft.context.dir);
                draft.find(Finding {
                    place: Some(draft.context.place_from(dir, part(&groups, "file"))),
                    line: number(&groups, "line"),
                    column: number(&groups, "column"),
                    message: part(&groups, "message").to_owned(),
                    source: Some("go".to_owned()),
                    ..Finding::default()
                });
                continue;
            }
            draft.unread(&line);
        }
        compiler.end(draft);
    }
}

/// Takes a line of make itself.
fn own(draft: &mut Draft<'_>, compiler: &mut Compiler, line: &str, directories: &Directories) -> bool {
    let finding = if let Some(groups) = matched(&FAILED, line) {
        let ignored = groups.name("ignored").is_some() || groups.name("stars").is_none();
        Finding {
            place: groups
                .name("file")
                .map(|file| draft.context.place_from(directories.of(&groups, draft), file.as_str())),
            line: number(&groups, "line"),
            level: Some(if ignored { Level::Note } else { Level::Error }),
            rule: Some("target-failed".to_owned()),
            message: format!("target {}: {}", part(&groups, "target"), part(&groups, "why")),
            ..Finding::default()
        }
    } else if let Some(groups) = matched(&STOPPED, line) {
        let message = part(&groups, "message");
        if message.starts_with("Waiting for unfinished jobs") {
            compiler.end(draft);
            return true;
        }
        let rule = if message.starts_with("No rule to make target") { "no-rule" } else { "stopped" };
        Finding { rule: Some(rule.to_owned()), message: message.to_owned(), ..Finding::default() }
    } else if let Some(groups) = matched(&SYNTAX, line) {
        Finding {
            place: Some(draft.context.place_from(directories.of(&groups, draft), part(&groups, "file"))),
            line: number(&groups, "line"),
            rule: Some("makefile".to_owned()),
            message: part(&groups, "message").to_owned(),
            ..Finding::default()
        }
    } else if matched(&OWN, line).is_some() {
        // `Nothing to be done`, `is up to date`, `not remade because of errors`.
        compiler.end(draft);
        draft.recognised();
        return true;
    } else {
        return false;
    };
    compiler.end(draft);
    draft.find(Finding { source: Some("make".to_owned()), ..finding });
    true
}
