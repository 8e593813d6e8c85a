//! A report while it is read: everything that readers find goes through here, so that bounds, places, identities and
//! counts are the same for every format.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::{Context, Place};
use crate::id::normal;
use crate::report::{
    Benchmark, Counts, Coverage, Covered, Diagnostic, Level, Levels, MAX_DETAIL, MAX_DIAGNOSTICS, MAX_FAILED,
    MAX_FIGURES, MAX_MESSAGE, MAX_NAME, MAX_PASSED, Outcome, Parsed, Report, TestCase,
};
use crate::text::{clip, clip_middle, plain};
use crate::{FailureId, text};

/// What a format reports, which decides what silence means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Tests: a run that says nothing tells nothing.
    Tests,
    /// Findings in a document that is written in any case.
    Document,
    /// Findings as lines: silence and exit code 0 mean that there are none.
    Lines,
}

/// A diagnostic before it has its place and identity.
#[derive(Debug, Clone, Default)]
pub(crate) struct Finding {
    pub(crate) place: Option<Place>,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
    pub(crate) end_line: Option<u32>,
    pub(crate) end_column: Option<u32>,
    pub(crate) level: Option<Level>,
    pub(crate) rule: Option<String>,
    pub(crate) message: String,
    pub(crate) help: String,
    pub(crate) fix: bool,
    pub(crate) source: Option<String>,
}

/// A test before it has its identity.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) suite: Option<String>,
    pub(crate) place: Option<Place>,
    pub(crate) line: Option<u32>,
    pub(crate) outcome: Outcome,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) message: String,
    pub(crate) detail: String,
}

impl Case {
    pub(crate) fn new(name: impl Into<String>, suite: Option<String>, outcome: Outcome) -> Self {
        let (message, detail) = (String::new(), String::new());
        Self {
            name: name.into(),
            suite,
            place: None,
            line: None,
            outcome,
            duration_ms: None,
            message,
            detail,
        }
    }
}

pub(crate) struct Draft<'c> {
    pub(crate) context: &'c Context<'c>,
    source: String,
    kind: Kind,
    bad: Vec<TestCase>,
    good: Vec<TestCase>,
    pub(crate) counts: Counts,
    by_level: [Vec<Diagnostic>; 3],
    levels: Levels,
    seen: BTreeSet<(FailureId, Option<u32>, Option<u32>)>,
    equals: BTreeMap<FailureId, u32>,
    coverage: Option<Coverage>,
    benchmarks: Vec<Benchmark>,
    first: Option<FailureId>,
    disagreements: Vec<String>,
    unread: u64,
    /// Whether the output ends in the middle.
    pub(crate) cut: bool,
    /// Whether anything of the format was recognised.
    read: bool,
}

impl<'c> Draft<'c> {
    pub(crate) fn new(context: &'c Context<'c>, source: &str, kind: Kind) -> Self {
        Self {
            context,
            source: source.to_owned(),
            kind,
            bad: Vec::new(),
            good: Vec::new(),
            counts: Counts::default(),
            by_level: [Vec::new(), Vec::new(), Vec::new()],
            levels: Levels::default(),
            seen: BTreeSet::new(),
            equals: BTreeMap::new(),
            coverage: None,
            benchmarks: Vec::new(),
            first: None,
            disagreements: Vec::new(),
            unread: 0,
            cut: false,
            read: false,
        }
    }

    /// The program is another one than the format's usual.
    pub(crate) fn say_source(&mut self, source: &str) {
        self.source = clip(source, MAX_NAME);
    }

    /// Something of the format was recognised.
    pub(crate) fn recognised(&mut self) {
        self.read = true;
    }

    /// Whether something of the format was recognised.
    pub(crate) fn has_read(&self) -> bool {
        self.read
    }

    /// A line was not understood.
    pub(crate) fn unread(&mut self, line: &str) {
        if !line.trim().is_empty() {
            self.unread_lines(1);
        }
    }

    /// Some lines were not understood.
    pub(crate) fn unread_lines(&mut self, many: u64) {
        self.unread = self.unread.saturating_add(many);
    }

    /// The program states a figure; what was counted should be the same.
    pub(crate) fn claim(&mut self, what: &str, said: u64, counted: u64) {
        if said != counted {
            self.disagree(format!("it says {said} {what}, and {counted} were read"));
        }
    }

    /// Something contradicts something.
    pub(crate) fn disagree(&mut self, what: String) {
        if self.disagreements.len() < 10 && !self.disagreements.contains(&what) {
            self.disagreements.push(what);
        }
    }

    /// Takes a diagnostic. One that was said before of the same place is passed over.
    pub(crate) fn find(&mut self, finding: Finding) {
        self.read = true;
        let severity = finding.level.unwrap_or(Level::Error);
        let slot = severity as usize;
        let full = self.by_level.get(slot).is_none_or(|kept| kept.len() >= MAX_DIAGNOSTICS);
        let count = match severity {
            Level::Error => &mut self.levels.errors,
            Level::Warning => &mut self.levels.warnings,
            Level::Note => &mut self.levels.notes,
        };
        *count = count.saturating_add(1);
        if full {
            return;
        }
        let source = finding.source.unwrap_or_else(|| self.source.clone());
        let message = clip(self.clean(&finding.message).trim(), MAX_MESSAGE);
        let (file, outside) = match finding.place {
            Some(place) => (Some(clip(&place.file, MAX_NAME)), place.outside),
            None => (None, false),
        };
        let rule = finding.rule.filter(|rule| !rule.is_empty()).map(|rule| clip(&plain(&rule), MAX_NAME));
        let normal = normal(&message);
        // What lies outside the root lies elsewhere on another machine: its name alone identifies it.
        let known =
            file.as_deref().map(|file| if outside { file.rsplit('/').next().unwrap_or(file) } else { file });
        let base = FailureId::stable(&source, rule.as_deref(), known, &normal, 0);
        let (line, column) = (finding.line.filter(|at| *at > 0), finding.column.filter(|at| *at > 0));
        if line.is_some() && !self.seen.insert((base.clone(), line, column)) {
            match severity {
                Level::Error => self.levels.errors -= 1,
                Level::Warning => self.levels.warnings -= 1,
                Level::Note => self.levels.notes -= 1,
            }
            return;
        }
        let occurrence = self.equals.entry(base.clone()).or_default();
        let id = match *occurrence {
            0 => base,
            nth => FailureId::stable(&source, rule.as_deref(), known, &normal, nth),
        };
        *occurrence = occurrence.saturating_add(1);
        if severity == Level::Error && self.first.is_none() {
            self.first = Some(id.clone());
        }
        let help = clip_middle(self.clean(&finding.help).trim(), MAX_DETAIL);
        let diagnostic = Diagnostic {
            file,
            outside,
            line,
            column,
            end_line: finding.end_line.filter(|at| *at > 0),
            end_column: finding.end_column.filter(|at| *at > 0),
            severity,
            rule,
            message,
            help: (!help.is_empty()).then_some(help),
            source,
            fix: finding.fix,
            id,
        };
        if let Some(kept) = self.by_level.get_mut(slot) {
            kept.push(diagnostic);
        }
    }

    /// Takes a test.
    pub(crate) fn test(&mut self, case: Case) {
        self.read = true;
        self.counts.add(case.outcome, 1);
        let (kept, max) =
            if case.outcome.is_bad() { (self.bad.len(), MAX_FAILED) } else { (self.good.len(), MAX_PASSED) };
        if kept >= max {
            return;
        }
        let name = clip(&plain(&case.name), MAX_NAME);
        let suite = case.suite.filter(|suite| !suite.is_empty()).map(|suite| clip(&plain(&suite), MAX_NAME));
        // The identity is of the whole name, also where a shorter one is shown.
        let id = FailureId::test(&self.source, suite.as_deref(), &plain(&case.name));
        let (message, detail) = (self.clean(&case.message), self.clean(&case.detail));
        let message = clip(&text::first_lines(&message, 6), MAX_MESSAGE);
        let detail = clip_middle(detail.trim_matches('\n'), MAX_DETAIL);
        if case.outcome.is_bad() && self.first.is_none() {
            self.first = Some(id.clone());
        }
        let test = TestCase {
            id,
            name,
            suite,
            file: case.place.map(|place| clip(&place.file, MAX_NAME)),
            line: case.line.filter(|at| *at > 0),
            outcome: case.outcome,
            duration_ms: case.duration_ms,
            message: (!message.is_empty()).then_some(message),
            detail: (!detail.trim().is_empty()).then_some(detail),
        };
        if test.outcome.is_bad() { self.bad.push(test) } else { self.good.push(test) }
    }

    /// Takes the coverage of a package or file.
    pub(crate) fn cover(&mut self, name: &str, percent: f64) {
        self.read = true;
        let coverage = self.coverage.get_or_insert_default();
        let name = clip(name, MAX_NAME);
        if percent.is_finite() && coverage.parts.len() < MAX_FIGURES {
            match coverage.parts.last_mut().filter(|last| last.name == name) {
                Some(last) => last.percent = percent,
                None => coverage.parts.push(Covered { name, percent }),
            }
        }
    }

    /// Takes the coverage of all.
    pub(crate) fn cover_all(&mut self, percent: f64) {
        if percent.is_finite() {
            self.coverage.get_or_insert_default().percent = Some(percent);
        }
    }

    /// Takes a benchmark.
    pub(crate) fn benchmark(&mut self, benchmark: Benchmark) {
        self.read = true;
        if self.benchmarks.len() < MAX_FIGURES {
            self.benchmarks.push(benchmark);
        }
    }

    fn clean(&self, text: &str) -> String {
        self.context.without_root(&plain(text)).into_owned()
    }

    /// The report. `exit` is the program's exit code; nothing when it was killed.
    pub(crate) fn finish(mut self, exit: Option<i32>) -> Report {
        let bad = self.counts.bad();
        let found = self.levels.errors + self.levels.warnings;
        let silent = !self.read && self.unread == 0 && !self.cut;
        let parsed = if silent && self.kind == Kind::Lines && exit == Some(0) {
            Parsed::Fully
        } else if silent {
            let code = exit.map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}"));
            Parsed::Not { why: format!("no output of this format ({code})") }
        } else if !(self.read || self.kind == Kind::Lines && exit == Some(0)) {
            Parsed::Not { why: "there is output, and none of this format".to_owned() }
        } else if self.unread > 0 || self.cut {
            Parsed::Partly { unread_lines: self.unread, cut: self.cut }
        } else {
            Parsed::Fully
        };
        match exit {
            Some(0) if bad > 0 => self.disagree(format!("exit code 0, and {bad} tests did not hold")),
            Some(code) if code != 0 && bad == 0 && found == 0 && !matches!(parsed, Parsed::Not { .. }) => {
                self.disagree(format!("exit code {code}, and no failure was read"));
            }
            _ => {}
        }
        let tests = self.kind == Kind::Tests && !matches!(parsed, Parsed::Not { .. });
        self.bad.append(&mut self.good);
        Report {
            source: self.source,
            parsed,
            first: self.first,
            diagnostics: self.by_level.into_iter().flatten().collect(),
            levels: self.levels,
            tests: self.bad,
            counts: tests.then_some(self.counts),
            coverage: self.coverage,
            benchmarks: self.benchmarks,
            disagreements: self.disagreements,
        }
    }
}
