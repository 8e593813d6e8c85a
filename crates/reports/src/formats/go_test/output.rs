//! What a Go test or package says: assertions, panics, races, benchmarks, coverage.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::draft::{Case, Draft, Finding};
use crate::formats::{Pattern, matched, number, part, trace};
use crate::text::{Kept, MAX_LINE, head};
use crate::{Benchmark, Context, Outcome};

static ASSERTION: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^\s*(?P<file>[\w./@+-]+\.go):(?P<line>\d+): ?(?P<message>.*)$").ok()
});
static TESTIFY: Pattern =
    LazyLock::new(|| regex::Regex::new(r"^\s*Error Trace:\s+(?P<file>\S+\.go):(?P<line>\d+)$").ok());
static COVERAGE: Pattern =
    LazyLock::new(|| regex::Regex::new(r"coverage: (?P<percent>\d+(?:\.\d+)?)% of statements").ok());
static BENCHMARK: Pattern = LazyLock::new(|| {
    regex::Regex::new(
        r"^(?P<name>Benchmark\S*?)(?:-(?P<cpus>\d+))?\s+(?P<times>\d+)\s+(?P<figures>\d.*/op.*)$",
    )
    .ok()
});

const RACE_END: &str = "==================";

/// What was said, bounded.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a thing of its own that was or was not said")]
pub(super) struct Said {
    kept: Kept,
    /// A line that is not complete: one print of a test is one event.
    line: String,
    /// The first assertion: whether Go marked it, file, line, and its message, with lines that continue it.
    assertion: Option<(bool, String, u32, String)>,
    testify: Option<(String, u32)>,
    panic: Option<String>,
    race: Option<Vec<String>>,
    pub(super) timed_out: bool,
    pub(super) benchmarked: bool,
    pub(super) unbuilt: bool,
    pub(super) coverage: Option<f64>,
    continues: bool,
    marked: bool,
}

impl Said {
    /// Takes a piece of output, and each line that it completes.
    pub(super) fn push(&mut self, draft: &mut Draft<'_>, package: &str, piece: &str, kind: &str) {
        // Frames (`=== RUN`, `--- FAIL`, `ok`) tell nothing that events do not, but for what is read below.
        self.marked = kind == "error";
        let mut rest = piece;
        while let Some((line, after)) = rest.split_once('\n') {
            self.add(line);
            self.end_line(draft, package);
            rest = after;
        }
        self.add(rest);
    }

    fn add(&mut self, piece: &str) {
        self.line.push_str(head(piece, MAX_LINE.saturating_sub(self.line.len())));
    }

    /// The line is complete.
    pub(super) fn end_line(&mut self, draft: &mut Draft<'_>, package: &str) {
        if self.line.is_empty() {
            return;
        }
        let line = crate::text::plain(&std::mem::take(&mut self.line)).into_owned();
        let trimmed = line.trim();
        if let Some(groups) = matched(&COVERAGE, trimmed) {
            self.coverage = number(&groups, "percent");
        }
        if let Some(benchmark) = benchmark(package, trimmed) {
            self.benchmarked = true;
            draft.benchmark(benchmark);
            return;
        }
        if trimmed.ends_with("[build failed]") || trimmed.ends_with("[setup failed]") {
            self.unbuilt = true;
        }
        self.race(draft, trimmed);
        if frame(&line) {
            return;
        }
        if trimmed.starts_with("panic: ") || trimmed.starts_with("fatal error: ") {
            self.timed_out |= trimmed.starts_with("panic: test timed out");
            self.panic.get_or_insert_with(|| trimmed.to_owned());
        }
        self.assertion(&line);
        self.kept.line(&line);
    }

    fn assertion(&mut self, line: &str) {
        if let Some(groups) = matched(&TESTIFY, line) {
            let found = (part(&groups, "file").to_owned(), number(&groups, "line").unwrap_or_default());
            self.testify.get_or_insert(found);
        }
        if let Some(groups) = matched(&ASSERTION, line) {
            let better = self.assertion.as_ref().is_none_or(|(marked, ..)| self.marked && !marked);
            self.continues = better;
            if better {
                // What the testing package says itself has no place of the test's.
                let own = part(&groups, "file") != "testing.go";
                let file = if own { part(&groups, "file").to_owned() } else { String::new() };
                let at = number(&groups, "line").unwrap_or_default();
                self.assertion = Some((self.marked, file, at, part(&groups, "message").to_owned()));
            }
        } else if self.continues
            && let Some((.., message)) = self.assertion.as_mut()
            && line.starts_with("        ")
            && message.len() < crate::MAX_MESSAGE
        {
            message.push('\n');
            message.push_str(line.trim());
        }
    }

    fn race(&mut self, draft: &mut Draft<'_>, line: &str) {
        match self.race.as_mut() {
            None if line == "WARNING: DATA RACE" => self.race = Some(Vec::new()),
            Some(_) if line == RACE_END => {
                let lines = self.race.take().unwrap_or_default();
                draft.find(race(&lines, draft.context));
            }
            Some(lines) if lines.len() < 200 => lines.push(line.to_owned()),
            _ => {}
        }
    }

    /// Whether it panicked.
    pub(super) fn panicked(&self) -> bool {
        self.panic.is_some()
    }

    /// The test that said all this.
    pub(super) fn case(
        &self,
        context: &Context<'_>,
        package: &str,
        test: &str,
        outcome: Outcome,
        duration_ms: Option<u64>,
    ) -> Case {
        let mut case = Case::new(test, Some(package.to_owned()), outcome);
        case.duration_ms = duration_ms;
        if outcome == Outcome::Passed {
            return case;
        }
        if outcome.is_bad() {
            case.detail = self.kept.text();
        }
        if let Some(panic) = &self.panic {
            panic.clone_into(&mut case.message);
            if let Some(spot) = trace::go(&self.kept.text(), context) {
                (case.place, case.line) = (Some(spot.place), Some(spot.line));
            }
            return case;
        }
        if let Some((_, file, line, message)) = &self.assertion {
            message.clone_into(&mut case.message);
            if !file.is_empty() {
                (case.place, case.line) = (Some(context.of_package(package, file)), Some(*line));
            }
        }
        if let Some((file, line)) = &self.testify {
            (case.place, case.line) = (Some(context.of_package(package, file)), Some(*line));
        }
        if case.message.trim().is_empty() {
            case.message = self.kept.text();
        }
        case
    }
}

/// Lines that only frame what tests say.
fn frame(line: &str) -> bool {
    let line = line.trim_start();
    const STARTS: [&str; 9] = [
        "=== RUN ",
        "=== PAUSE ",
        "=== CONT ",
        "=== NAME ",
        "--- PASS: ",
        "--- FAIL: ",
        "--- SKIP: ",
        "--- BENCH: ",
        "FAIL\t",
    ];
    STARTS.iter().any(|start| line.starts_with(start)) || matches!(line, "PASS" | "FAIL")
}

/// `BenchmarkName-8   1000   47.05 ns/op   0 B/op   0 allocs/op   3.5 widgets/op`.
fn benchmark(package: &str, line: &str) -> Option<Benchmark> {
    let groups = line.starts_with("Benchmark").then(|| matched(&BENCHMARK, line))??;
    let mut benchmark = Benchmark {
        name: crate::text::clip(part(&groups, "name"), crate::MAX_NAME),
        suite: Some(package.to_owned()).filter(|package| !package.is_empty()),
        processors: number(&groups, "cpus"),
        iterations: number(&groups, "times")?,
        ns_per_op: None,
        bytes_per_op: None,
        allocs_per_op: None,
        extra: BTreeMap::new(),
    };
    let mut words = part(&groups, "figures").split_whitespace();
    while let (Some(value), Some(unit)) = (words.next(), words.next()) {
        let value: f64 = value.parse().ok().filter(|value: &f64| value.is_finite())?;
        match unit {
            "ns/op" => benchmark.ns_per_op = Some(value),
            "B/op" => benchmark.bytes_per_op = Some(value),
            "allocs/op" => benchmark.allocs_per_op = Some(value),
            unit => {
                benchmark.extra.insert(crate::text::clip(unit, 60), value);
            }
        }
    }
    Some(benchmark)
}

/// The report of the race detector as a diagnostic at the first frame of its own code.
fn race(lines: &[String], context: &Context<'_>) -> Finding {
    let text: Vec<String> = lines.iter().map(|line| format!("\t{line}")).collect();
    let spot = trace::go(&text.join("\n"), context);
    // `Read at 0x… by goroutine 9:` is followed by the function.
    let accesses: Vec<String> = lines
        .windows(2)
        .filter_map(|pair| match pair {
            [access, function] => {
                let (kind, _) = access.split_once(" at 0x")?;
                Some(format!("{} in {function}", kind.to_lowercase()))
            }
            _ => None,
        })
        .collect();
    let message = if accesses.is_empty() { String::new() } else { format!(": {}", accesses.join(", ")) };
    Finding {
        line: spot.as_ref().map(|spot| spot.line),
        place: spot.map(|spot| spot.place),
        rule: Some("data-race".to_owned()),
        message: format!("data race{message}"),
        help: lines.join("\n"),
        ..Finding::default()
    }
}
