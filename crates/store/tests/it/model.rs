//! The rules again, the slow way: a model that keeps every run and looks through all of them for each question. What
//! the store says of random sequences of runs must be what the model says.
#![allow(clippy::ref_option, reason = "a branch is an option, and compared as one")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use store_api::testing::{failure, run, table::transcript, test};
use store_api::{
    FailureKind, Failures, Flakiness, HistoryQuery, LineState, Mark, Outcome, Passing, RunOutcome, Timestamp,
    Verdict, Verdicts,
};

use crate::{Place, runtime};

const TESTS: [&str; 2] = ["t1", "t2"];
const DIAGNOSTIC: &str = "d";

fn outcomes() -> impl Strategy<Value = Vec<Outcome>> {
    let one =
        prop_oneof![4 => Just(Outcome::Failed), 4 => Just(Outcome::Passed), 1 => Just(Outcome::Skipped)];
    vec(one, 0..3)
}

prop_compose! {
    fn runs()(
        branch in prop_oneof![3 => Just(Some("main")), 2 => Just(Some("topic")), 1 => Just(None)],
        commit in prop_oneof![8 => (0..5_u8).prop_map(|n| Some(format!("c{n}"))), 1 => Just(None)],
        dirty in prop::bool::weighted(0.25),
        complete in prop::bool::weighted(0.8),
        narrow in prop::bool::weighted(0.2),
        at in 0..50_i64,
        call in prop::option::weighted(0.3, 0..6_u64),
        tests in [outcomes(), outcomes()],
        diagnostic in prop::bool::weighted(0.2),
    ) -> RunOutcome {
        let mut seen = run("root", branch, commit.as_deref());
        seen.dirty = dirty;
        seen.complete = complete;
        if narrow {
            "./one".clone_into(&mut seen.scope);
        }
        seen.at = Timestamp::from_millis(at);
        seen.transcript = call.map(transcript);
        for (id, outcomes) in TESTS.iter().zip(tests) {
            seen.ran.extend(outcomes.into_iter().map(|outcome| test(id, outcome)));
        }
        if diagnostic {
            seen.failures.push(failure(DIAGNOSTIC, FailureKind::Diagnostic));
        }
        seen
    }
}

/// What one run says of one id.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Says {
    Failed { passed_too: bool },
    Passed,
    Gone,
}

#[derive(Clone)]
struct Event {
    says: Says,
    mark: Mark,
    scope: String,
}

/// All events of one id, in order.
#[derive(Default)]
struct Life(Vec<Event>);

fn clean(mark: &Mark) -> Option<&str> {
    if mark.dirty { None } else { mark.commit.as_deref() }
}

impl Life {
    fn failed_once(&self) -> Option<usize> {
        self.0.iter().position(|event| matches!(event.says, Says::Failed { .. }))
    }

    /// The events that count: from the first failure on, and the last clean pass before it.
    fn known(&self) -> Vec<&Event> {
        let Some(first) = self.failed_once() else { return Vec::new() };
        let before = self.0[..first].iter().rfind(|e| e.says == Says::Passed && clean(&e.mark).is_some());
        before.into_iter().chain(&self.0[first..]).collect()
    }

    fn on<'a>(&'a self, branch: &Option<String>) -> Vec<&'a Event> {
        self.known().into_iter().filter(|event| event.mark.branch == *branch).collect()
    }

    /// Clean outcomes on a branch, the last twenty.
    fn window(&self, branch: &Option<String>) -> Vec<(String, bool)> {
        let mut all = Vec::new();
        for event in self.on(branch) {
            let Some(commit) = clean(&event.mark) else { continue };
            match event.says {
                Says::Failed { passed_too } => {
                    if passed_too {
                        all.push((commit.to_owned(), false));
                    }
                    all.push((commit.to_owned(), true));
                }
                Says::Passed => all.push((commit.to_owned(), false)),
                Says::Gone => {}
            }
        }
        all.split_off(all.len().saturating_sub(20))
    }

    fn branches(&self) -> BTreeSet<Option<String>> {
        self.known().into_iter().map(|event| event.mark.branch.clone()).collect()
    }

    fn everywhere(&self) -> Vec<(String, bool)> {
        self.branches().iter().flat_map(|branch| self.window(branch)).collect()
    }

    /// Whether the last event, a pass, fixes its branch: found by looking at the life before it.
    fn how(&self) -> Passing {
        let (last, before) = self.0.split_last().unwrap();
        let before = Life(before.to_vec());
        match clean(&last.mark) {
            None => Passing::Uncommitted,
            Some(commit) if before.everywhere().contains(&(commit.to_owned(), true)) => Passing::SameCommit,
            Some(commit) if before.window(&last.mark.branch).contains(&(commit.to_owned(), false)) => {
                Passing::EarlierCommit
            }
            Some(_) => Passing::InCommit,
        }
    }

    /// Indices of the failures on a branch since its last fix, and the fix with the first failure before it.
    fn standing(&self, branch: &Option<String>) -> (Vec<usize>, Option<(usize, usize)>) {
        let (mut open, mut fixed) = (Vec::new(), None);
        for (at, event) in self.0.iter().enumerate().filter(|(_, event)| event.mark.branch == *branch) {
            match event.says {
                Says::Failed { .. } => open.push(at),
                Says::Passed
                    if !open.is_empty() && Life(self.0[..=at].to_vec()).how() == Passing::InCommit =>
                {
                    fixed = Some((at, open[0]));
                    open.clear();
                }
                Says::Passed | Says::Gone => {}
            }
        }
        (open, fixed)
    }

    fn flaky(&self, branches: &[Option<String>]) -> Option<Flakiness> {
        let all = self.everywhere();
        let both = all.iter().filter(|(commit, failed)| *failed && all.contains(&(commit.clone(), false)));
        if let Some((commit, _)) = both.min() {
            return Some(Flakiness::SameCommit { commit: commit.clone() });
        }
        let most = branches.iter().map(|branch| {
            let window = self.window(branch);
            let first = |at: usize| window[..at].iter().all(|(commit, _)| *commit != window[at].0);
            let kept: Vec<bool> = (0..window.len()).filter(|at| first(*at)).map(|at| window[at].1).collect();
            kept.windows(2).filter(|pair| pair[0] != pair[1]).count()
        });
        let changes = u32::try_from(most.max().unwrap_or(0)).unwrap();
        (changes >= 4).then_some(Flakiness::Alternating { changes })
    }

    /// What is said of the last event, a failure.
    fn verdict(&self) -> Verdict {
        let (last, before) = self.0.split_last().unwrap();
        let branch = &last.mark.branch;
        if let Some(because) = self.flaky(std::slice::from_ref(branch)) {
            let all = self.everywhere();
            let failed = all.iter().filter(|(_, failed)| *failed).count();
            let count = |n: usize| u32::try_from(n).unwrap();
            return Verdict::Flaky { failed: count(failed), seen: count(all.len()), because };
        }
        let before = Life(before.to_vec());
        let said = |branch: &Option<String>| {
            let (open, fixed) = before.standing(branch);
            if let Some(first) = open.first() {
                let since = before.0[*first].mark.clone();
                return Some((*open.last().unwrap(), Verdict::Known { since, runs: open.len() as u64 }));
            }
            let (at, first) = fixed?;
            let (fixed, failed_since) = (before.0[at].mark.clone(), before.0[first].mark.clone());
            Some((at, Verdict::FixedBefore { fixed, failed_since }))
        };
        match said(branch) {
            Some((_, Verdict::Known { since, runs })) => Verdict::Known { since, runs: runs + 1 },
            Some((_, verdict)) => verdict,
            None => before
                .branches()
                .iter()
                .filter_map(said)
                .max_by_key(|(at, _)| *at)
                .map_or(Verdict::New, |(_, verdict)| verdict),
        }
    }
}

#[derive(Default)]
struct Model {
    lives: BTreeMap<&'static str, Life>,
    answered: BTreeMap<(String, String), Verdicts>,
}

/// What is compared: verdicts by id, recoveries by id, what is gone.
type Said = (BTreeMap<String, Verdict>, BTreeMap<String, (Passing, Mark, Mark)>, Vec<String>, bool);

fn said(verdicts: Verdicts) -> Said {
    (
        verdicts.failures.into_iter().map(|judged| (judged.id, judged.verdict)).collect(),
        verdicts.recovered.into_iter().map(|r| (r.id, (r.how, r.at, r.since))).collect(),
        verdicts.gone,
        verdicts.repeated,
    )
}

impl Model {
    fn record(&mut self, run: &RunOutcome, store_said: &Verdicts) -> Said {
        let key = run.transcript.as_ref().map(|transcript| (transcript.to_string(), run.scope.clone()));
        if let Some(first) = key.as_ref().and_then(|key| self.answered.get(key)) {
            return said(Verdicts { repeated: true, ..first.clone() });
        }
        let mark =
            Mark { commit: run.commit.clone(), dirty: run.dirty, branch: run.branch.clone(), at: run.at };
        let mut answer: Said = Said::default();
        for id in [DIAGNOSTIC, TESTS[0], TESTS[1]] {
            let life = self.lives.entry(id).or_default();
            let Some(says) = Self::says(run, id, life) else { continue };
            let (_, since, last) = {
                let (open, _) = life.standing(&mark.branch);
                let last = life.on(&mark.branch).last().map(|event| event.says);
                (open.len(), open.first().map(|at| life.0[*at].mark.clone()), last)
            };
            life.0.push(Event { says, mark: mark.clone(), scope: run.scope.clone() });
            match says {
                Says::Failed { .. } => {
                    answer.0.insert(id.to_owned(), life.verdict());
                }
                Says::Passed => {
                    let how = life.how();
                    if let Some(since) = since
                        && (how == Passing::InCommit || last != Some(Says::Passed))
                    {
                        answer.1.insert(id.to_owned(), (how, mark.clone(), since));
                    }
                }
                Says::Gone => answer.2.push(id.to_owned()),
            }
        }
        if let Some(key) = key {
            self.answered.insert(key, store_said.clone());
        }
        answer
    }

    fn says(run: &RunOutcome, id: &str, life: &Life) -> Option<Says> {
        let outcomes: Vec<Outcome> =
            run.ran.iter().filter(|test| test.id == id).map(|test| test.outcome).collect();
        let passed = outcomes.contains(&Outcome::Passed);
        if outcomes.contains(&Outcome::Failed) || run.failures.iter().any(|failure| failure.id == id) {
            return Some(Says::Failed { passed_too: passed });
        }
        if passed {
            return Some(Says::Passed);
        }
        // Nothing is said of it. That means something when a complete run of what it last failed in leaves it out.
        let (open, _) = life.standing(&run.branch);
        let failed_in = open.last().map(|at| life.0[*at].scope.as_str());
        let last = life.on(&run.branch).last().map(|event| event.says);
        if !outcomes.is_empty()
            || !run.complete
            || failed_in != Some(run.scope.as_str())
            || last == Some(Says::Gone)
        {
            return None;
        }
        if id == DIAGNOSTIC {
            return Some(Says::Passed);
        }
        (run.failures.is_empty() && !run.ran.is_empty()).then_some(Says::Gone)
    }

    fn state(&self, id: &str, branch: &Option<String>) -> LineState {
        let life = &self.lives[id];
        let (open, fixed) = life.standing(branch);
        match life.on(branch).last().map(|event| event.says) {
            Some(Says::Gone) if !open.is_empty() => LineState::Gone,
            Some(Says::Passed) if !open.is_empty() => LineState::Passing,
            _ if !open.is_empty() => LineState::Open,
            _ if fixed.is_some() => LineState::Fixed,
            _ => LineState::Unaffected,
        }
    }
}

async fn holds(place: &Place, sequence: Vec<RunOutcome>) -> Result<(), TestCaseError> {
    let store = place.store();
    let mut model = Model::default();
    for (at, run) in sequence.into_iter().enumerate() {
        let verdicts = store.record(run.clone()).await.unwrap();
        let expected = model.record(&run, &verdicts);
        prop_assert_eq!(said(verdicts), expected, "run {}: {:?}", at + 1, run);
    }
    for entry in store.history(HistoryQuery::of("root")).await.unwrap().items {
        let life = &model.lives[entry.failure.id.as_str()];
        for line in &entry.branches {
            prop_assert_eq!(line.state, model.state(&entry.failure.id, &line.branch), "{:?}", line);
            let (open, _) = life.standing(&line.branch);
            prop_assert_eq!(line.runs, open.len() as u64);
            prop_assert_eq!(&line.since, &open.first().map(|at| life.0[*at].mark.clone()));
        }
        let branches: Vec<_> = life.branches().into_iter().collect();
        prop_assert_eq!(entry.flaky, life.flaky(&branches));
    }
    store.close().await;
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_says_what_a_model_says_that_remembers_every_run(sequence in vec(runs(), 1..60)) {
        runtime().block_on(holds(&Place::new(), sequence))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn so_does_the_store_in_postgresql(sequence in vec(runs(), 1..60)) {
        if let Some(place) = Place::in_postgres() {
            runtime().block_on(holds(&place, sequence))?;
        }
    }
}
