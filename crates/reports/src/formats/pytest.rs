//! pytest's terminal report.
//!
//! Source: captured from pytest 9 with `-rA --tb=short`, `--tb=line`, `-vv`, `-q` and without. Names of what passed are
//! in it only with `-rA` or `-v`; counts come from the last line. Files are relative to pytest's `rootdir`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::LazyLock;

use regex::Captures;

use crate::Outcome;
use crate::draft::{Case, Draft};
use crate::format::Input;
use crate::formats::{Pattern, junit, matched, number, part, trace};
use crate::text::{Kept, lines};

static TITLE: Pattern = LazyLock::new(|| regex::Regex::new(r"^={3,} (?P<title>.+?) ={3,}$").ok());
static BLOCK: Pattern = LazyLock::new(|| regex::Regex::new(r"^_{3,} (?P<title>.+?) _{3,}$").ok());
static VERBOSE: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<node>\S+::.+?) (?P<end>PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)(?: \((?P<why>.*)\))?(?:\s+\[ *\d+%\])?$")
        .ok()
});
static DOTS: Pattern =
    LazyLock::new(|| regex::Regex::new(r"^(?:\S+\.py )?[.FsxXEpP]+(?:\s+\[ *\d+%\])?$").ok());
static SUMMED: Pattern =
    LazyLock::new(|| regex::Regex::new(r"^(?P<end>PASSED|FAILED|XFAIL|XPASS|ERROR) (?P<rest>\S.*)$").ok());
static SKIPPED: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^SKIPPED \[(?P<count>\d+)\] (?P<file>[^:]+)(?::(?P<line>\d+))?: (?P<why>.*)$").ok()
});
static TOTALS: Pattern = LazyLock::new(|| {
    regex::Regex::new(
        r"^(?:=+ )?(?P<counts>(?:\d+ [a-z]+(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:]+\))?(?: =+)?$",
    )
    .ok()
});
static COVERED: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<name>\S.*?)\s+\d+\s+\d+(?:\s+\d+\s+\d+)?\s+(?P<percent>\d+(?:\.\d+)?)%").ok()
});

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Before,
    Progress,
    Failures,
    Passes,
    Coverage,
    Summary,
    Other,
}

struct Walk {
    section: Section,
    rootdir: Option<String>,
    /// Blocks of failures by their title, in the order of their coming.
    blocks: BTreeMap<String, VecDeque<Kept>>,
    block: Option<(String, Kept)>,
    order: Vec<String>,
    /// What became of each test that was named, and why.
    ends: BTreeMap<String, (usize, Outcome, String)>,
    skipped: Vec<Case>,
    skips: u64,
    totals: Option<String>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let mut walk = Walk {
        section: Section::Before,
        rootdir: None,
        blocks: BTreeMap::new(),
        block: None,
        order: Vec::new(),
        ends: BTreeMap::new(),
        skipped: Vec::new(),
        skips: 0,
        totals: None,
    };
    for line in lines(input.stdout) {
        walk.line(draft, &line);
    }
    lines(input.stderr).for_each(|line| draft.unread(&line));
    walk.end_block();
    walk.finish(draft);
}

fn outcome(word: &str) -> Outcome {
    match word {
        "PASSED" | "XPASS" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        "ERROR" => Outcome::Errored,
        _ => Outcome::Skipped,
    }
}

impl Walk {
    fn line(&mut self, draft: &mut Draft<'_>, line: &str) {
        let line = line.trim_end();
        if let Some(groups) = matched(&TOTALS, line) {
            self.end_block();
            draft.recognised();
            self.totals = Some(part(&groups, "counts").to_owned());
            self.section = Section::Other;
            return;
        }
        if let Some(groups) = matched(&TITLE, line) {
            self.end_block();
            draft.recognised();
            self.section = match part(&groups, "title") {
                "test session starts" => Section::Progress,
                "ERRORS" | "FAILURES" => Section::Failures,
                "PASSES" | "XPASSES" => Section::Passes,
                "tests coverage" => Section::Coverage,
                "short test summary info" => Section::Summary,
                _ => Section::Other,
            };
            return;
        }
        match self.section {
            Section::Before | Section::Progress => self.progress(draft, line),
            Section::Failures | Section::Passes => self.failure(line),
            Section::Summary => self.summary(draft, line),
            Section::Coverage => {
                if let Some(groups) = matched(&COVERED, line) {
                    let percent = number(&groups, "percent").unwrap_or_default();
                    match part(&groups, "name") {
                        "TOTAL" => draft.cover_all(percent),
                        name => {
                            let name = self.place(draft, name).file;
                            draft.cover(&name, percent);
                        }
                    }
                }
            }
            Section::Other => {}
        }
    }

    fn progress(&mut self, draft: &mut Draft<'_>, line: &str) {
        const HEADER: [&str; 9] = [
            "platform ",
            "cachedir: ",
            "plugins: ",
            "collected ",
            "collecting ",
            "configfile: ",
            "timeout",
            "asyncio: ",
            "testpaths: ",
        ];
        if let Some(groups) = matched(&VERBOSE, line) {
            draft.recognised();
            self.named(part(&groups, "node"), part(&groups, "end"), part(&groups, "why"));
        } else if let Some(dir) = line.strip_prefix("rootdir: ") {
            // Older versions append the configuration file.
            let dir = dir.split(", ").next().unwrap_or(dir);
            self.rootdir = draft.context.directory(dir);
        } else if matched(&DOTS, line).is_none() && !HEADER.iter().any(|start| line.starts_with(start)) {
            draft.unread(line);
        }
    }

    fn failure(&mut self, line: &str) {
        if let Some(groups) = matched(&BLOCK, line) {
            self.end_block();
            if self.section == Section::Failures {
                self.block = Some((part(&groups, "title").to_owned(), Kept::default()));
            }
        } else if let Some((_, said)) = self.block.as_mut() {
            said.line(line);
        }
    }

    fn end_block(&mut self) {
        if let Some((title, said)) = self.block.take() {
            self.order.push(title.clone());
            self.blocks.entry(title).or_default().push_back(said);
        }
    }

    fn summary(&mut self, draft: &mut Draft<'_>, line: &str) {
        if let Some(groups) = matched(&SKIPPED, line) {
            self.skip(draft, &groups);
        } else if let Some(groups) = matched(&SUMMED, line) {
            let (node, why) = split(part(&groups, "rest"));
            self.named(node, part(&groups, "end"), why);
        } else if !line.starts_with([' ', '!']) {
            draft.unread(line);
        }
    }

    fn named(&mut self, node: &str, end: &str, why: &str) {
        let next = self.ends.len();
        let (_, outcome_now, why_now) =
            self.ends.entry(node.to_owned()).or_insert_with(|| (next, outcome(end), String::new()));
        // A test that passed and whose teardown failed is named twice.
        if outcome(end).is_bad() && !outcome_now.is_bad() {
            *outcome_now = outcome(end);
        }
        if why_now.is_empty() {
            why.clone_into(why_now);
        }
    }

    fn skip(&mut self, draft: &Draft<'_>, groups: &Captures<'_>) {
        let count = number::<u64>(groups, "count").unwrap_or(1);
        self.skips = self.skips.saturating_add(count);
        // The names of what is skipped are only in the verbose list; here is where and why.
        let place = self.place(draft, part(groups, "file"));
        let why = part(groups, "why");
        let mut case = Case::new(format!("(skipped) {why}"), Some(place.file.clone()), Outcome::Skipped);
        case.line = number(groups, "line");
        why.clone_into(&mut case.message);
        case.place = Some(place);
        self.skipped.push(case);
    }

    fn place(&self, draft: &Draft<'_>, file: &str) -> crate::context::Place {
        draft.context.place_from(self.rootdir.as_deref().unwrap_or(draft.context.dir), file)
    }

    /// The context that pytest's own paths are of.
    fn context<'a>(&'a self, draft: &Draft<'a>) -> crate::Context<'a> {
        crate::Context { dir: self.rootdir.as_deref().unwrap_or(draft.context.dir), ..*draft.context }
    }

    fn finish(mut self, draft: &mut Draft<'_>) {
        let mut ends: Vec<(String, (usize, Outcome, String))> =
            std::mem::take(&mut self.ends).into_iter().collect();
        ends.sort_by_key(|(_, (nth, ..))| *nth);
        // Skips that the verbose list named are not told again.
        let named = ends.iter().filter(|(_, (_, outcome, _))| *outcome == Outcome::Skipped).count() as u64;
        for (node, (_, outcome, why)) in ends {
            let case = self.case(draft, &node, outcome, why);
            draft.test(case);
        }
        // Blocks that no line names: the summary is off, or missing.
        for title in std::mem::take(&mut self.order) {
            if let Some(said) = self.blocks.get_mut(&title).and_then(VecDeque::pop_front) {
                let (name, outcome) = untitled(&title);
                // The first frame is the test's own, and so its file is the one that the summary would name.
                let text = said.text();
                let file = text.lines().find_map(|line| trace::python(line, &self.context(draft)));
                let mut case = Case::new(name, file.map(|spot| spot.place.file), outcome);
                self.explain(draft, &mut case, &said);
                draft.test(case);
            }
        }
        let Some(totals) = self.totals.take() else {
            draft.cut |= draft.has_read();
            return;
        };
        let (mut said, mut xfailed) = (crate::Counts::default(), 0);
        for item in totals.split(", ") {
            let Some((count, word)) = item.split_once(' ') else { continue };
            let count: u64 = count.parse().unwrap_or_default();
            match word {
                "passed" | "xpassed" => said.add(Outcome::Passed, count),
                "failed" => said.add(Outcome::Failed, count),
                "error" | "errors" => said.add(Outcome::Errored, count),
                "skipped" => said.add(Outcome::Skipped, count),
                "xfailed" => xfailed += count,
                _ => {}
            }
        }
        if named < said.skipped + xfailed {
            for case in std::mem::take(&mut self.skipped) {
                draft.test(case);
            }
        }
        said.add(Outcome::Skipped, xfailed);
        let counted = draft.counts;
        draft.claim("failed tests and errors", said.bad(), counted.bad());
        if counted.passed > 0 {
            draft.claim("passed tests", said.passed, counted.passed);
        }
        // What was not named is counted all the same; a time-out is a failure by pytest's count.
        let late = counted.timed_out.min(said.failed);
        said.failed -= late;
        said.timed_out = late;
        draft.counts = said;
    }

    fn case(&mut self, draft: &Draft<'_>, node: &str, outcome: Outcome, why: String) -> Case {
        let (file, name) = node.split_once("::").unwrap_or((node, ""));
        let place = self.place(draft, file);
        let name = if name.is_empty() { "(file)" } else { name };
        let mut case = Case::new(name, Some(place.file.clone()), outcome);
        case.place = Some(place);
        case.message = why;
        if !outcome.is_bad() {
            return case;
        }
        let dotted = name.replace("::", ".");
        let titles = [
            dotted.clone(),
            format!("ERROR at setup of {dotted}"),
            format!("ERROR at teardown of {dotted}"),
            format!("ERROR collecting {file}"),
        ];
        let wanted = if outcome == Outcome::Failed { titles.get(..1) } else { titles.get(1..) };
        let said =
            wanted.unwrap_or_default().iter().find_map(|title| self.blocks.get_mut(title)?.pop_front());
        if let Some(said) = said {
            self.explain(draft, &mut case, &said);
        }
        case
    }

    /// What a block says: its `E` lines, and the last place in it that is below the root.
    fn explain(&self, draft: &Draft<'_>, case: &mut Case, said: &Kept) {
        let text = said.text();
        // What the test printed comes after what pytest says.
        let own = text.split("\n-----").next().unwrap_or(&text);
        let lines = own.lines().filter_map(|line| line.strip_prefix("E  ")).map(str::trim_start);
        let message: Vec<&str> = lines.take(6).collect();
        if !message.is_empty() {
            case.message = message.join("\n");
        }
        if let Some(spot) = trace::python(own, &self.context(draft)) {
            (case.place, case.line) = (Some(spot.place), Some(spot.line));
        }
        if junit::is_late(crate::text::head(&case.message, 400)) {
            case.outcome = Outcome::TimedOut;
        }
        case.detail = text;
    }
}

/// A node id and the reason behind it: ` - ` divides them, and may be within the brackets of a parameter.
fn split(rest: &str) -> (&str, &str) {
    let from = match (rest.find('['), rest.find(" - ")) {
        (Some(bracket), Some(dash)) if bracket < dash => rest.find("] - ").map_or(dash, |at| at + 1),
        (_, Some(dash)) => dash,
        _ => return (rest, ""),
    };
    let (node, why) = rest.split_at_checked(from).unwrap_or((rest, ""));
    (node, why.strip_prefix(" - ").unwrap_or(why))
}

/// The test of a block's title.
fn untitled(title: &str) -> (String, Outcome) {
    let error = ["ERROR at setup of ", "ERROR at teardown of "];
    if title.starts_with("ERROR collecting ") {
        return ("(file)".to_owned(), Outcome::Errored);
    }
    let (name, outcome) = match error.iter().find_map(|start| title.strip_prefix(start)) {
        Some(name) => (name, Outcome::Errored),
        None => (title, Outcome::Failed),
    };
    // As in node ids, classes and functions are divided by two colons; a parameter stays as it is.
    let (path, parameter) = name.split_at_checked(name.find('[').unwrap_or(name.len())).unwrap_or((name, ""));
    (format!("{}{parameter}", path.replace('.', "::")), outcome)
}
