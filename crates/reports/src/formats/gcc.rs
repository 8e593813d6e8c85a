//! gcc and clang: text, `-fdiagnostics-format=json` (gcc 9 to 14), and what the linker says.
//!
//! Source: gcc's "Diagnostic Message Formatting Options", captured from gcc 12, clang 14 and ld 2.40.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, matched, number, part, sarif};
use crate::json;
use crate::text::lines;

static PLACE: Pattern = LazyLock::new(|| {
    regex::Regex::new(concat!(
        r"^(?P<file>[^\s:][^:]*):(?P<line>\d+)(?::(?P<column>\d+))?: ",
        r"(?P<level>fatal error|internal compiler error|error|warning|note|remark|sorry, unimplemented): ",
        r"(?P<message>.*?)(?: \[(?P<rule>-W[^\]]+|-fpermissive)\])?$"
    ))
    .ok()
});
static PROGRAM: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<program>(?:[\w.+-]*/)*(?:cc1\w*|c?c|gcc[\w.-]*|g\+\+[\w.-]*|clang[\w.+-]*|collect2|ld[\w.]*)): (?P<level>fatal error|error|warning): (?P<message>.+)$")
        .ok()
});
static LINK: Pattern = LazyLock::new(|| {
    regex::Regex::new(concat!(
        r"^(?:\S*ld\S*: )?(?P<file>[^\s:]+?)(?::(?P<line>\d+))?:(?:\(\.[\w.+$]+\+0x[0-9a-f]+\):)? ",
        r"(?P<message>(?:undefined reference to|multiple definition of) .+|cannot find .+)$"
    ))
    .ok()
});
static LD: Pattern = LazyLock::new(|| regex::Regex::new(r"^\S*\bld(?:\.\w+)?: (?P<message>.+)$").ok());

/// The lines of a compiler, one by one.
#[derive(Default)]
pub(crate) struct Compiler {
    open: Option<Finding>,
    /// Lines since the last diagnostic began: clang prints the source below it, without a margin.
    since: usize,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    for input in input.both() {
        let mut compiler = Compiler::default();
        for line in lines(input.stdout) {
            if !compiler.line(draft, &line, None) {
                draft.unread(&line);
            }
        }
        compiler.end(draft);
    }
}

impl Compiler {
    /// Takes a line; false when it is none of a compiler's. `dir` is where the compiler runs, relative to the root,
    /// when that is not where the run began.
    pub(crate) fn line(&mut self, draft: &mut Draft<'_>, line: &str, dir: Option<&str>) -> bool {
        let place = |draft: &Draft<'_>, file: &str| match dir {
            Some(dir) => draft.context.place_from(dir, file),
            None => draft.context.place(file),
        };
        if let Some(groups) = matched(&PLACE, line) {
            let level = level(part(&groups, "level"));
            if level == Level::Note
                && let Some(open) = self.open.as_mut()
            {
                // A note explains what is above it.
                self.since = 0;
                if open.help.len() < crate::MAX_DETAIL {
                    let (file, at) = (part(&groups, "file"), part(&groups, "line"));
                    open.help.push_str(&format!("{file}:{at}: {}\n", part(&groups, "message")));
                }
                return true;
            }
            self.end(draft);
            self.since = 0;
            self.open = Some(Finding {
                place: Some(place(draft, part(&groups, "file"))),
                line: number(&groups, "line"),
                column: number(&groups, "column"),
                level: Some(level),
                rule: groups.name("rule").map(|rule| rule.as_str().to_owned()),
                message: part(&groups, "message").to_owned(),
                source: Some("gcc".to_owned()),
                ..Finding::default()
            });
            return true;
        }
        if let Some(groups) = matched(&LINK, line) {
            self.end(draft);
            draft.find(Finding {
                place: Some(place(draft, part(&groups, "file"))),
                line: number(&groups, "line"),
                rule: Some("link".to_owned()),
                message: part(&groups, "message").to_owned(),
                ..Finding::default()
            });
            return true;
        }
        if let Some(groups) = matched(&PROGRAM, line) {
            let message = part(&groups, "message");
            // The linker has said why.
            let repeats = message.starts_with("ld returned") || message.starts_with("linker command failed");
            self.end(draft);
            draft.recognised();
            if !repeats {
                let level = Some(level(part(&groups, "level")));
                draft.find(Finding { level, message: message.to_owned(), ..Finding::default() });
            }
            return true;
        }
        if let Some(groups) = matched(&LD, line) {
            self.end(draft);
            let message = part(&groups, "message");
            if !message.contains(": in function `") {
                let level = if message.contains("warning: ") { Level::Warning } else { Level::Error };
                let rule = Some("link".to_owned());
                draft.find(Finding {
                    level: Some(level),
                    rule,
                    message: message.to_owned(),
                    ..Finding::default()
                });
            }
            return true;
        }
        self.since += 1;
        self.frame(line)
    }

    /// Lines that show where, and where from.
    fn frame(&self, line: &str) -> bool {
        let text = line.trim_start();
        let from = text.starts_with("In file included from ")
            || text.starts_with("In module ")
            || (line.starts_with(' ') && text.starts_with("from "));
        let inside = line.contains(": In ") || line.contains(": At ") || line.contains(": in function `");
        let why = line.contains(":   required ") || line.contains(":   recursively required ");
        let generated =
            line.ends_with(" generated.") && text.starts_with(|first: char| first.is_ascii_digit());
        let ended = line.starts_with("compilation terminated");
        let under = self.open.is_some() && (self.since == 1 || line.starts_with([' ', '\t', '|']));
        text.is_empty() || from || inside || why || generated || ended || under
    }

    /// What was said last is complete.
    pub(crate) fn end(&mut self, draft: &mut Draft<'_>) {
        if let Some(finding) = self.open.take() {
            draft.find(finding);
        }
    }
}

fn level(word: &str) -> Level {
    match word {
        "warning" => Level::Warning,
        "note" | "remark" => Level::Note,
        _ => Level::Error,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Said {
    kind: Option<String>,
    message: Option<String>,
    option: Option<String>,
    #[serde(default)]
    locations: Vec<Location>,
    #[serde(default)]
    children: Vec<Said>,
    #[serde(default)]
    fixits: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Location {
    caret: Option<Point>,
    finish: Option<Point>,
}

#[derive(Deserialize)]
struct Point {
    file: Option<String>,
    #[serde(default, deserialize_with = "json::position")]
    line: Option<u32>,
    #[serde(default, deserialize_with = "json::position")]
    column: Option<u32>,
}

/// gcc writes its JSON to standard error, one list for each file that it compiles.
pub(crate) fn read_json(input: Input<'_>, draft: &mut Draft<'_>) {
    for input in input.both() {
        let bytes = input.stdout.trim_ascii_start();
        if bytes.starts_with(b"{") {
            sarif::read(input, draft);
            continue;
        }
        let mut compiler = Compiler::default();
        json::each_line::<Vec<Said>>(
            bytes,
            draft,
            |draft, list| list.into_iter().for_each(|said| take(said, draft)),
            |draft, line| {
                if !compiler.line(draft, crate::text::head(line, crate::text::MAX_LINE), None) {
                    draft.unread(line);
                }
            },
        );
        compiler.end(draft);
    }
}

fn take(said: Said, draft: &mut Draft<'_>) {
    let (Some(kind), Some(message)) = (said.kind, said.message) else {
        draft.unread_lines(1);
        return;
    };
    let first = said.locations.into_iter().next();
    let (caret, finish) = first.map_or((None, None), |location| (location.caret, location.finish));
    let (line, column) = caret.as_ref().map_or((None, None), |caret| (caret.line, caret.column));
    let finish =
        finish.map_or((None, None), |end| (end.line, end.column.and_then(|column| column.checked_add(1))));
    let notes = said.children.iter().filter_map(|child| child.message.as_deref());
    draft.find(Finding {
        place: caret.and_then(|caret| caret.file).map(|file| draft.context.place(&file)),
        line,
        column,
        end_line: finish.0,
        end_column: finish.1,
        level: Some(level(&kind)),
        rule: said.option,
        message,
        help: notes.collect::<Vec<_>>().join("\n"),
        fix: !said.fixits.is_empty(),
        source: None,
    });
}
