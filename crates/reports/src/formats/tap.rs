//! The Test Anything Protocol.
//!
//! Source: the TAP 14 specification, and what node, tap and mocha write. A result that sums up a subtest is no test of
//! its own; TODO and SKIP count as skipped. Of comments, those tell something in which node says how much was covered, and why a
//! file could not be run.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::Outcome;
use crate::draft::{Case, Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, junit, matched, milliseconds, number, part, trace};
use crate::text::{Kept, lines};

static RESULT: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<not>not )?ok\b(?: (?P<number>\d+))?(?: -)?(?: ?(?P<name>.*))?$").ok()
});
static DIRECTIVE: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"(?i)^(?P<name>.*?)\s*#\s*(?P<kind>skip|todo)\S*\s*(?P<reason>.*)$").ok()
});
static TIME: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<name>.*?)\s*# time=(?P<time>\d+(?:\.\d+)?)(?P<unit>ms|s)(?P<rest>.*)$").ok()
});
static PLAN: Pattern = LazyLock::new(|| regex::Regex::new(r"^1\.\.(?P<count>\d+)(?:\s*#.*)?$").ok());
static TOTAL: Pattern =
    LazyLock::new(|| regex::Regex::new(r"^# (?P<what>tests|pass|fail|cancelled) +(?P<count>\d+)$").ok());

static COVERED: Pattern =
    LazyLock::new(|| regex::Regex::new(r"^# (?P<name>\S.*?) +\| +(?P<percent>\d+\.\d+) \|").ok());
static WHY: Pattern = LazyLock::new(|| regex::Regex::new(r"^(?P<why>\w*Error(?: \[\w+\])?: .+)$").ok());

/// Lines of comments that are kept for the result after them.
const MAX_SAID: usize = 60;

/// A result that is not complete: its diagnostics follow it.
struct Open {
    /// Nothing where the result only sums up.
    case: Option<Case>,
    indent: usize,
    notes: Kept,
    yaml: bool,
}

#[derive(Default)]
struct Walk {
    open: Option<Open>,
    /// Subtests that are under way, by the indent of the line that names them.
    names: BTreeMap<usize, String>,
    /// The indent of the last result: one at a smaller indent sums up.
    deepest: usize,
    bad_below: bool,
    top: u64,
    plan: Option<u64>,
    fails: Option<u64>,
    /// Comments since the last result.
    said: Vec<String>,
    /// Whether coverage is being told.
    covers: bool,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let mut walk = Walk::default();
    for line in lines(input.stdout) {
        walk.line(draft, &line);
    }
    walk.end(draft);
    for line in lines(input.stderr) {
        draft.unread(&line);
    }
    match walk.plan {
        Some(plan) if plan != walk.top => draft.claim("tests at the top", plan, walk.top),
        // The plan may come last, so without one the end is missing.
        None if draft.has_read() => draft.cut = true,
        _ => {}
    }
    if let Some(fails) = walk.fails {
        let counted = draft.counts.bad();
        draft.claim("failed tests", fails, counted);
    }
}

impl Walk {
    fn line(&mut self, draft: &mut Draft<'_>, line: &str) {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        if self.note(line, text, indent) {
            return;
        }
        let text = text.trim_end();
        if let Some(groups) = matched(&RESULT, text).filter(|_| indent.is_multiple_of(4)) {
            self.end(draft);
            self.result(&groups, indent);
        } else if let Some(name) = text.strip_prefix("# Subtest: ").or_else(|| text.strip_prefix("# Subtest"))
        {
            self.end(draft);
            draft.recognised();
            self.names.retain(|at, _| *at < indent);
            self.names.insert(indent, name.trim().replace("\\#", "#"));
        } else if let Some(groups) = matched(&PLAN, text) {
            self.end(draft);
            draft.recognised();
            if indent == 0 {
                self.plan = number(&groups, "count");
            }
        } else if let Some(reason) = text.strip_prefix("Bail out!") {
            self.end(draft);
            draft.cut = true;
            draft.find(Finding {
                rule: Some("bail-out".into()),
                message: format!("Bail out!{reason}"),
                ..Finding::default()
            });
        } else if let Some(groups) = matched(&TOTAL, text) {
            let count: u64 = number(&groups, "count").unwrap_or_default();
            if matches!(part(&groups, "what"), "fail" | "cancelled") {
                self.fails = Some(self.fails.unwrap_or_default().saturating_add(count));
            }
        } else if text.starts_with("TAP version ") {
            draft.recognised();
        } else if let Some(comment) = text.strip_prefix('#') {
            self.comment(draft, text, comment.strip_prefix(' ').unwrap_or(comment));
        } else if text.starts_with("pragma ") {
            // It tells nothing.
        } else {
            draft.unread(text);
        }
    }

    /// Comments tell nothing by themselves: node says in them what was covered, and what a file that could not be run wrote.
    fn comment(&mut self, draft: &mut Draft<'_>, line: &str, text: &str) {
        if text.ends_with("of coverage report") {
            self.covers = text.starts_with("start");
        } else if self.covers {
            let Some(groups) = matched(&COVERED, line) else { return };
            let Some(percent) = number(&groups, "percent") else { return };
            match part(&groups, "name") {
                "all files" => draft.cover_all(percent),
                // Below a folder, newer ones indent what is in it, and name it by itself.
                name => draft.cover(&draft.context.place(name).file, percent),
            }
        } else {
            self.end(draft);
            if self.said.len() < MAX_SAID {
                self.said.push(text.to_owned());
            }
        }
    }

    /// Lines that belong to the result above them.
    fn note(&mut self, line: &str, text: &str, indent: usize) -> bool {
        let Some(open) = self.open.as_mut() else { return false };
        if open.yaml && indent == open.indent + 2 && text.trim_end() == "..." {
            open.yaml = false;
            return true;
        }
        if !open.yaml && indent == open.indent + 2 && text.trim_end() == "---" {
            open.yaml = true;
            return true;
        }
        // Without a block, as mocha writes it, the lines of a failure are indented by two.
        let loose = open.case.as_ref().is_some_and(|case| case.outcome.is_bad())
            && indent >= open.indent + 2
            && !text.starts_with("# Subtest");
        let result = indent.is_multiple_of(4) && matched(&RESULT, text).is_some();
        if open.yaml || (loose && !result) {
            let content = line.get(open.indent + 2..).unwrap_or(text);
            open.notes.line(content);
            return true;
        }
        false
    }

    fn result(&mut self, groups: &regex::Captures<'_>, indent: usize) {
        let mut name = part(groups, "name").trim().to_owned();
        let mut duration_ms = None;
        if let Some(groups) = matched(&TIME, &name) {
            let time: Option<f64> = number(&groups, "time");
            let scale = if part(&groups, "unit") == "s" { 1e3 } else { 1.0 };
            duration_ms = time.and_then(|time| milliseconds(time * scale));
            name = format!("{}{}", part(&groups, "name"), part(&groups, "rest"));
        }
        let mut outcome = if groups.name("not").is_some() { Outcome::Failed } else { Outcome::Passed };
        let mut message = String::new();
        // An escaped sign is part of the name.
        let masked = name.replace("\\#", "\u{0}");
        let mut shown = masked.clone();
        if let Some(groups) = matched(&DIRECTIVE, &masked) {
            outcome = Outcome::Skipped;
            part(&groups, "reason").trim_matches(['-', ' ']).clone_into(&mut message);
            part(&groups, "name").clone_into(&mut shown);
        }
        let name = shown.replace('\u{0}', "#").trim_start_matches("- ").to_owned();
        let parent = self.deepest > indent;
        // A subtest is named at the indent of its own result, or at that of the results in it.
        self.names.retain(|at, named| *at < indent || *at == indent && !parent && *named != name);
        self.deepest = indent;
        if indent == 0 {
            self.top = self.top.saturating_add(1);
        }
        self.open = Some(Open { case: None, indent, notes: Kept::default(), yaml: false });
        if parent && (self.bad_below || outcome != Outcome::Failed) {
            self.bad_below &= indent > 0;
            return;
        }
        let path: Vec<&str> = self.names.values().map(String::as_str).collect();
        let mut case = Case::new(name, (!path.is_empty()).then(|| path.join(" > ")), outcome);
        (case.message, case.duration_ms) = (message, duration_ms);
        self.open = Some(Open { case: Some(case), indent, notes: Kept::default(), yaml: false });
    }

    /// The open result is complete.
    fn end(&mut self, draft: &mut Draft<'_>) {
        let Some(open) = self.open.take() else { return };
        let comments = std::mem::take(&mut self.said);
        let Open { case: Some(mut case), notes, .. } = open else { return };
        let notes = notes.text();
        let fields = Fields { text: &notes };
        if let Some(time) = fields.value("duration_ms").and_then(|time| time.parse().ok()) {
            case.duration_ms = milliseconds(time);
        }
        if case.outcome.is_bad() {
            self.bad_below = true;
            if fields.value("failureType").as_deref() == Some("testTimeoutFailure") {
                case.outcome = Outcome::TimedOut;
            }
            let said = ["error", "message", "diff"].iter().find_map(|key| fields.value(key));
            case.message = said.unwrap_or_else(|| notes.clone());
            if junit::is_late(crate::text::head(&case.message, 400)) {
                case.outcome = Outcome::TimedOut;
            }
            let named = fields.value("fileName").zip(fields.value("lineNumber"));
            if let Some((file, line)) = named {
                (case.place, case.line) = (Some(draft.context.place(&file)), line.parse().ok());
            } else if let Some(spot) = trace::node(&notes, draft.context) {
                (case.place, case.line) = (Some(spot.place), Some(spot.line));
            } else if let Some((file, line)) = fields.value("location").as_deref().and_then(location) {
                (case.place, case.line) = (Some(draft.context.place(file)), Some(line));
            }
            case.detail = notes;
            unrun(&mut case, &comments, draft);
        }
        draft.test(case);
    }
}

/// A file that node could not run is a test that failed, and what it wrote stands in the comments above.
fn unrun(case: &mut Case, said: &[String], draft: &Draft<'_>) {
    if case.message != "test failed" || case.suite.is_some() {
        return;
    }
    let why = said
        .iter()
        .filter_map(|line| matched(&WHY, line))
        .find_map(|groups| groups.name("why").map(|why| why.as_str().to_owned()));
    let Some(why) = why else { return };
    case.message = why;
    if let Some((file, line)) = said.first().and_then(|first| first.rsplit_once(':')) {
        let place = draft.context.place(file);
        let is_file = case.place.as_ref().is_some_and(|known| *known == place);
        if let (true, Ok(line)) = (is_file, line.parse()) {
            case.line = Some(line);
        }
    }
    case.detail = said.join("\n");
}

/// `file:line:column`.
fn location(text: &str) -> Option<(&str, u32)> {
    let (rest, _) = text.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

/// The simple fields of a diagnostic block: `key: value`, quoted or as a block of lines.
struct Fields<'t> {
    text: &'t str,
}

impl Fields<'_> {
    fn value(&self, key: &str) -> Option<String> {
        let mut lines = self.text.lines();
        let (value, indent) = lines.by_ref().find_map(|line| {
            let text = line.trim_start();
            let value = text.strip_prefix(key)?.strip_prefix(':')?;
            Some((value.trim(), line.len() - text.len()))
        })?;
        if value.starts_with(['|', '>']) {
            let inside = lines
                .take_while(|line| line.trim().is_empty() || line.len() - line.trim_start().len() > indent);
            return Some(inside.map(str::trim).collect::<Vec<_>>().join("\n").trim().to_owned());
        }
        let bare = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
        let bare = bare.or_else(|| value.strip_prefix('"').and_then(|value| value.strip_suffix('"')));
        Some(bare.unwrap_or(value).to_owned())
    }
}
