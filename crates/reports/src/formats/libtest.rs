//! What `cargo test` prints: the lines of libtest on standard output, cargo's and rustc's on standard error.
//!
//! Source: library/test of Rust 1.95 and captured runs. Which binary a test is of stands only on standard error
//! (`Running …`): the n-th `running N tests` is of the n-th of these.

use std::collections::{BTreeMap, VecDeque};
use std::sync::LazyLock;

use crate::draft::{Case, Draft};
use crate::format::Input;
use crate::formats::rustc::Rustc;
use crate::formats::{Pattern, matched, milliseconds, number, part, trace};
use crate::text::{Kept, lines};
use crate::{Benchmark, Outcome};

static RUNNING: Pattern = LazyLock::new(|| regex::Regex::new(r"^running \d+ tests?$").ok());
static BINARY: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^ +(?:Running (?P<target>.+) \((?P<path>.+)\)|Doc-tests (?P<doc>\S+))$").ok()
});
static TEST: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^test (?P<name>.+?)(?: - should panic)?(?: - compile(?: fail)?)? \.\.\. (?P<end>.*)$")
        .ok()
});
static END: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<end>ok|FAILED|ignored|failed)(?:, (?P<reason>.+?))?(?: <(?P<time>[\d.]+)s>)?$")
        .ok()
});
static BENCH: Pattern =
    LazyLock::new(|| regex::Regex::new(r"^bench: +(?P<ns>[\d,.]+) ns/iter \(\+/- (?P<off>[\d,.]+)\)").ok());
static BLOCK: Pattern =
    LazyLock::new(|| regex::Regex::new(r"^---- (?P<name>.+) (?:stdout|stderr) ----$").ok());
static RESULT: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^test result: (?:ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored; (?P<measured>\d+) measured;")
        .ok()
});

#[derive(Default)]
struct Walk {
    binaries: VecDeque<String>,
    suite: Option<String>,
    /// Tests of the binary that failed, in their order, and what they said.
    failed: Vec<(String, Option<u64>, Kept)>,
    /// Where in `failed` each name stands.
    places: BTreeMap<String, usize>,
    /// Whose output is being read, by its place in `failed`.
    block: Option<usize>,
    listed: bool,
    /// A test whose line is not complete: it printed something itself.
    pending: Option<String>,
    tally: (u64, u64, u64),
    open: bool,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let mut walk = Walk::default();
    let mut rustc = Rustc::default();
    for line in lines(input.stderr) {
        if let Some(groups) = matched(&BINARY, &line) {
            walk.binaries.push_back(binary(&groups));
        } else if !rustc.line(draft, &line) {
            // Tests print to standard error too: that is no report.
            draft.unread(&line);
        }
    }
    rustc.end(draft);
    for line in lines(input.stdout) {
        if !walk.line(draft, &line) && !rustc.line(draft, &line) {
            draft.unread(&line);
        }
    }
    rustc.end(draft);
    // A binary that began and printed nothing of a harness: it was cut off, or has a harness of its own.
    draft.cut |= !walk.binaries.is_empty();
    if walk.open {
        draft.cut = true;
        walk.flush(draft);
    }
}

/// The package or binary and the target that it was built from.
fn binary(groups: &regex::Captures<'_>) -> String {
    if let Some(doc) = groups.name("doc") {
        return format!("{} doc-tests", doc.as_str());
    }
    let target = part(groups, "target");
    let target = target.strip_prefix("unittests ").unwrap_or(target);
    let file = part(groups, "path").rsplit('/').next().unwrap_or_default();
    let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
    format!("{name} ({target})")
}

impl Walk {
    fn line(&mut self, draft: &mut Draft<'_>, line: &str) -> bool {
        if let Some(groups) = matched(&BINARY, line) {
            self.binaries.push_back(binary(&groups));
            return true;
        }
        if matched(&RUNNING, line).is_some() {
            if self.open {
                draft.cut = true;
                self.flush(draft);
            }
            draft.recognised();
            self.suite = self.binaries.pop_front();
            (self.open, self.listed, self.tally) = (true, false, (0, 0, 0));
            return true;
        }
        if let Some(groups) = matched(&RESULT, line) {
            self.result(draft, &groups);
            return true;
        }
        if let Some(groups) = matched(&BLOCK, line) {
            let name = part(&groups, "name");
            self.block = self.places.get(name).copied();
            return true;
        }
        if line == "failures:" {
            // The second list only repeats names.
            self.listed = self.block.is_some();
            self.block = None;
            return true;
        }
        if let Some((_, _, said)) = self.block.and_then(|at| self.failed.get_mut(at)) {
            said.line(line);
            return true;
        }
        if let Some(groups) = matched(&TEST, line) {
            let (name, end) = (part(&groups, "name").to_owned(), part(&groups, "end"));
            if !self.end(draft, &name, end) {
                // What stands here is the test's own output; its end comes on a line of its own.
                self.pending = Some(name);
            }
            return true;
        }
        if let Some(name) = self.pending.take() {
            if self.end(draft, &name, line) {
                return true;
            }
            self.pending = Some(name);
            return self.open;
        }
        (self.listed && line.starts_with("    "))
            || line.is_empty()
            || line.starts_with("all doctests ran in ")
    }

    fn end(&mut self, draft: &mut Draft<'_>, name: &str, end: &str) -> bool {
        if let Some(groups) = matched(&BENCH, end) {
            let value = |group| part(&groups, group).replace(',', "").parse::<f64>().ok();
            let off = value("off").map(|off| ("ns/iter (+/-)".to_owned(), off));
            draft.benchmark(Benchmark {
                name: name.to_owned(),
                suite: self.suite.clone(),
                processors: None,
                iterations: 0,
                ns_per_op: value("ns"),
                bytes_per_op: None,
                allocs_per_op: None,
                extra: off.into_iter().collect(),
            });
            return true;
        }
        let Some(groups) = matched(&END, end) else { return false };
        let duration = number::<f64>(&groups, "time").and_then(|seconds| milliseconds(seconds * 1e3));
        let outcome = match part(&groups, "end") {
            "ok" => Outcome::Passed,
            "ignored" => Outcome::Skipped,
            _ => {
                self.tally.1 += 1;
                self.places.insert(name.to_owned(), self.failed.len());
                self.failed.push((name.to_owned(), duration, Kept::default()));
                return true;
            }
        };
        if outcome == Outcome::Passed {
            self.tally.0 += 1;
        } else {
            self.tally.2 += 1;
        }
        let mut case = Case::new(name, self.suite.clone(), outcome);
        case.duration_ms = duration;
        part(&groups, "reason").clone_into(&mut case.message);
        draft.test(case);
        true
    }

    fn result(&mut self, draft: &mut Draft<'_>, groups: &regex::Captures<'_>) {
        self.flush(draft);
        let (passed, failed, ignored) = self.tally;
        for (what, group, counted) in [
            ("passed tests", "passed", passed),
            ("failed tests", "failed", failed),
            ("ignored tests", "ignored", ignored),
        ] {
            draft.claim(what, number(groups, group).unwrap_or_default(), counted);
        }
        self.open = false;
    }

    fn flush(&mut self, draft: &mut Draft<'_>) {
        self.block = None;
        self.places.clear();
        for (name, duration, said) in std::mem::take(&mut self.failed) {
            let text = said.text();
            let mut case = Case::new(name, self.suite.clone(), Outcome::Failed);
            case.duration_ms = duration;
            if let Some(spot) = trace::rust(&text, draft.context) {
                (case.place, case.line) = (Some(spot.place), Some(spot.line));
            }
            case.message = message(&text);
            case.detail = text;
            draft.test(case);
        }
    }
}

/// What a panicking test says, without its own prints and the trace.
pub(crate) fn message(text: &str) -> String {
    let expected =
        text.lines().skip_while(|line| !line.starts_with("note: panic did not contain expected string"));
    let expected: Vec<&str> =
        expected.map(|line| line.strip_prefix("note: ").unwrap_or(line)).take(3).collect();
    if !expected.is_empty() {
        return expected.join("\n");
    }
    let mut lines = text.lines().skip_while(|line| !line.contains(" panicked at "));
    if lines.next().is_none() {
        return text.to_owned();
    }
    let said = lines.take_while(|line| {
        !line.starts_with("stack backtrace:") && !line.starts_with("note: ") && !line.starts_with("test ")
    });
    said.collect::<Vec<_>>().join("\n")
}
