//! The rules by which failures are judged: what is remembered of one, and what a run does to it. Drivers load, call
//! [`judge`] and save; `docs/design/failure-history.md` says the rules in words.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::history::{FailureHistory, LineHistory, LineState};
use crate::run::{FailureKind, FailureSeen, Prepared};
use crate::time::Timestamp;
use crate::verdict::{Flakiness, Judged, Mark, Passing, Recovery, Verdict, Verdicts};

/// Clean outcomes that are remembered of a failure on each branch: what flakiness is judged by.
pub const WINDOW: usize = 20;
/// Changes of outcome among them that make a failure flaky: failed, passed, failed, passed, failed.
pub const CHANGES: u32 = 4;

/// A branch; none when no branch was checked out.
pub type Branch = Option<String>;

/// One outcome at a clean commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Glimpse {
    commit: String,
    failed: bool,
}

/// Failing without a fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    since: Mark,
    runs: u64,
}

/// The latest fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Fix {
    mark: Mark,
    since: Mark,
    run: i64,
}

/// How the branch was seen last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Last {
    Failed,
    Passed,
    Gone,
}

/// What is remembered of a failure on one branch. Drivers store it as JSON; fields that are added have a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The tool and scope that it last failed in on this branch.
    ran_by: Option<(String, String)>,
    open: Option<Open>,
    fixed: Option<Fix>,
    last: Last,
    last_mark: Mark,
    /// The latest of all times, whatever clocks said in between.
    latest: Timestamp,
    /// The run that it last failed in.
    failed_run: Option<i64>,
    glimpses: VecDeque<Glimpse>,
    failed: u64,
    passed: u64,
}

impl Line {
    fn new(mark: &Mark) -> Self {
        Self {
            ran_by: None,
            open: None,
            fixed: None,
            last: Last::Passed,
            last_mark: mark.clone(),
            latest: mark.at,
            failed_run: None,
            glimpses: VecDeque::new(),
            failed: 0,
            passed: 0,
        }
    }

    /// How it stands.
    #[must_use]
    pub fn state(&self) -> LineState {
        match (&self.open, self.last) {
            (Some(_), Last::Failed) => LineState::Open,
            (Some(_), Last::Passed) => LineState::Passing,
            (Some(_), Last::Gone) => LineState::Gone,
            (None, _) if self.fixed.is_some() => LineState::Fixed,
            (None, _) => LineState::Unaffected,
        }
    }

    /// The latest time at which it was seen: what retention goes by.
    #[must_use]
    pub fn latest(&self) -> Timestamp {
        self.latest
    }

    /// The tool and the scope whose complete runs tell of it even when they do not name it; none once it is fixed or
    /// gone.
    #[must_use]
    pub fn awaited(&self) -> Option<(&str, &str)> {
        let (tool, scope) = self.ran_by.as_ref()?;
        (self.open.is_some() && self.last != Last::Gone).then_some((tool, scope))
    }

    fn see(&mut self, mark: &Mark, last: Last) {
        self.last = last;
        self.last_mark = mark.clone();
        self.latest = self.latest.max(mark.at);
    }

    fn glimpse(&mut self, mark: &Mark, failed: bool) {
        let Some(commit) = mark.clean() else { return };
        if self.glimpses.len() == WINDOW {
            self.glimpses.pop_front();
        }
        self.glimpses.push_back(Glimpse { commit: commit.to_owned(), failed });
    }

    /// Changes of outcome from one commit to the next. Going back to a commit that was seen before is no change: what
    /// is there is known.
    fn changes(&self) -> u32 {
        let mut commits = BTreeSet::new();
        let mut last = None;
        let mut changes = 0;
        for glimpse in self.glimpses.iter().filter(|glimpse| commits.insert(glimpse.commit.as_str())) {
            changes += u32::from(last.is_some_and(|failed| failed != glimpse.failed));
            last = Some(glimpse.failed);
        }
        changes
    }

    fn history(&self, branch: &Branch) -> LineHistory {
        LineHistory {
            branch: branch.clone(),
            state: self.state(),
            since: self.open.as_ref().map(|open| open.since.clone()),
            runs: self.open.as_ref().map_or(0, |open| open.runs),
            fixed: self.fixed.as_ref().map(|fix| fix.mark.clone()),
            last: self.last_mark.clone(),
            failed: self.failed,
            passed: self.passed,
        }
    }
}

/// What is remembered of one failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// As it was last reported.
    pub failure: FailureSeen,
    /// By branch.
    pub lines: BTreeMap<Branch, Line>,
    /// The branches that [`judge`] changed.
    pub changed: BTreeSet<Branch>,
    /// Whether [`judge`] changed [`failure`](Self::failure).
    pub reported: bool,
}

impl Memory {
    /// A failure as it is remembered.
    #[must_use]
    pub const fn new(failure: FailureSeen, lines: BTreeMap<Branch, Line>) -> Self {
        Self { failure, lines, changed: BTreeSet::new(), reported: false }
    }

    /// As it is shown.
    #[must_use]
    pub fn history(&self) -> FailureHistory {
        FailureHistory {
            failure: self.failure.clone(),
            branches: self.lines.iter().map(|(branch, line)| line.history(branch)).collect(),
            flaky: self.flakiness(None),
        }
    }

    fn line(&mut self, mark: &Mark) -> &mut Line {
        self.changed.insert(mark.branch.clone());
        self.lines.entry(mark.branch.clone()).or_insert_with(|| Line::new(mark))
    }

    fn failed_at(&self, commit: &str) -> bool {
        self.glimpses().any(|glimpse| glimpse.failed && glimpse.commit == commit)
    }

    fn glimpses(&self) -> impl Iterator<Item = &Glimpse> {
        self.lines.values().flat_map(|line| &line.glimpses)
    }

    /// What was seen last on any other branch.
    fn elsewhere(&self) -> Option<Verdict> {
        let known = |line: &Line| {
            let open = line.open.as_ref()?;
            Some((line.failed_run?, Verdict::Known { since: open.since.clone(), runs: open.runs }))
        };
        let fixed = |line: &Line| {
            let Fix { mark, since, run } = line.fixed.as_ref()?;
            Some((*run, Verdict::FixedBefore { fixed: mark.clone(), failed_since: since.clone() }))
        };
        let of = |line: &Line| if line.open.is_some() { known(line) } else { fixed(line) };
        self.lines.values().filter_map(of).max_by_key(|(run, _)| *run).map(|(_, verdict)| verdict)
    }

    /// Why it is flaky; of several commits with both outcomes the first by name.
    fn flakiness(&self, branch: Option<&Branch>) -> Option<Flakiness> {
        let outcome = |failed| self.glimpses().filter(move |g| g.failed == failed).map(|g| g.commit.as_str());
        let (failed, passed): (BTreeSet<&str>, BTreeSet<&str>) =
            (outcome(true).collect(), outcome(false).collect());
        if let Some(commit) = failed.intersection(&passed).next() {
            return Some(Flakiness::SameCommit { commit: (*commit).to_owned() });
        }
        let lines = self.lines.iter().filter(|(name, _)| branch.is_none_or(|wanted| wanted == *name));
        let changes = lines.map(|(_, line)| line.changes()).max().unwrap_or(0);
        (changes >= CHANGES).then_some(Flakiness::Alternating { changes })
    }

    fn fail(&mut self, run: &Prepared, number: i64, mixed: bool) -> Verdict {
        let mark = &run.mark;
        // What a branch says of itself counts; only where it says nothing are others asked.
        let elsewhere = match self.lines.get(&mark.branch) {
            Some(line) if line.open.is_some() || line.fixed.is_some() => None,
            _ => self.elsewhere(),
        };
        let line = self.line(mark);
        if mixed {
            line.glimpse(mark, false);
        }
        line.glimpse(mark, true);
        line.see(mark, Last::Failed);
        line.failed += 1;
        line.failed_run = Some(number);
        line.ran_by = Some((run.tool.clone(), run.scope.clone()));
        let own = match (&mut line.open, &line.fixed) {
            (Some(open), _) => {
                open.runs += 1;
                Some(Verdict::Known { since: open.since.clone(), runs: open.runs })
            }
            (None, fixed) => {
                line.open = Some(Open { since: mark.clone(), runs: 1 });
                let back = |fix: &Fix| Verdict::FixedBefore {
                    fixed: fix.mark.clone(),
                    failed_since: fix.since.clone(),
                };
                fixed.as_ref().map(back)
            }
        };
        if let Some(because) = self.flakiness(Some(&mark.branch)) {
            let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            let failed = count(self.glimpses().filter(|glimpse| glimpse.failed).count());
            return Verdict::Flaky { failed, seen: count(self.glimpses().count()), because };
        }
        own.or(elsewhere).unwrap_or(Verdict::New)
    }

    fn pass(&mut self, run: &Prepared, number: i64) -> Option<Recovery> {
        let mark = &run.mark;
        let at_failed = mark.clean().is_some_and(|commit| self.failed_at(commit));
        if !self.lines.contains_key(&mark.branch) && mark.clean().is_none() {
            return None;
        }
        let line = self.line(mark);
        let at_passed =
            mark.clean().is_some_and(|commit| line.glimpses.iter().any(|g| !g.failed && g.commit == commit));
        let before = line.last;
        line.glimpse(mark, false);
        line.see(mark, Last::Passed);
        line.passed += 1;
        let since = line.open.as_ref()?.since.clone();
        let how = match mark.clean() {
            None => Passing::Uncommitted,
            Some(_) if at_failed => Passing::SameCommit,
            Some(_) if at_passed => Passing::EarlierCommit,
            Some(_) => Passing::InCommit,
        };
        if how == Passing::InCommit {
            line.open = None;
            line.fixed = Some(Fix { mark: mark.clone(), since: since.clone(), run: number });
        } else if before == Last::Passed {
            // It was said before that it passes.
            return None;
        }
        Some(Recovery {
            id: self.failure.id.clone(),
            name: self.failure.name.clone(),
            how,
            at: mark.clone(),
            since,
        })
    }

    fn vanish(&mut self, mark: &Mark) {
        self.line(mark).see(mark, Last::Gone);
    }
}

/// Judges a run and changes what is remembered.
///
/// `number` is the run's place in the order of recording, the only order that counts. `memories` holds whatever is
/// remembered of the ids that the run names, and of those that [await](Line::awaited) its tool and scope on its
/// branch; what fails for the first time is added. `passed` has the last clean pass of tests that never failed.
pub fn judge(
    run: &Prepared,
    number: i64,
    memories: &mut BTreeMap<String, Memory>,
    passed: &BTreeMap<String, Mark>,
) -> Verdicts {
    let mut verdicts = Verdicts::default();
    for failure in &run.failing {
        let memory = memories.entry(failure.id.clone()).or_insert_with(|| {
            let mut memory = Memory::new(failure.clone(), BTreeMap::new());
            if let Some(mark) = passed.get(&failure.id) {
                memory.line(mark).glimpse(mark, false);
            }
            memory
        });
        memory.report(failure);
        let verdict = memory.fail(run, number, run.mixed.contains(&failure.id));
        verdicts.failures.push(Judged { id: failure.id.clone(), verdict });
    }
    for (id, memory) in memories.iter_mut() {
        if run.passed.contains(id) {
            verdicts.recovered.extend(memory.pass(run, number));
        } else if !run.named.contains(id) {
            let line = memory.lines.get(&run.mark.branch);
            let awaited = line.and_then(Line::awaited) == Some((run.tool.as_str(), run.scope.as_str()));
            match memory.failure.kind {
                FailureKind::Diagnostic if awaited && run.misses_diagnostics => {
                    verdicts.recovered.extend(memory.pass(run, number));
                }
                FailureKind::Test if awaited && run.misses_tests => {
                    memory.vanish(&run.mark);
                    verdicts.gone.push(id.clone());
                }
                _ => {}
            }
        }
    }
    verdicts
}

impl Memory {
    /// The latest report counts, but a list of tests knows neither place nor message.
    fn report(&mut self, failure: &FailureSeen) {
        let from_list = failure.message.is_empty() && failure.file.is_none();
        if !from_list {
            self.failure = failure.clone();
        }
        self.reported = true;
    }
}
