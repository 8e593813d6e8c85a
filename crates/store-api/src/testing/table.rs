//! The rules as a table: runs in order, and what is said of the failure after each.

use contract::TranscriptId;

use super::{failure, run, test};
use crate::verdict::{Flakiness, Mark, Passing, Verdict};
use crate::{FailureKind, Failures, Outcome, RunOutcome, Timestamp, Verdicts};

/// Runs in order. Each is `BRANCH COMMIT OUTCOME…`, where `-` is no branch and no commit, `c1*` is changes on top of `c1`,
/// and an outcome is `fail`, `pass`, `both` (within one run), `skip`, `absent`, or `diag` and `clear` for a diagnostic
/// that is reported or not. Beside it `partial` (not complete), `narrow` (another scope), `other` (a second test that
/// passes), `broken` (another diagnostic), `at=SECONDS`, `call=N` (a transcript).
type Rows = &'static [(&'static str, &'static str)];

/// Every rule, by name.
const TABLE: &[(&str, Rows)] = &[
    (
        "a failure is new once, then known since its first commit",
        &[
            ("main c1 fail", "new"),
            ("main c1 fail", "known since c1 x2"),
            ("main c2 fail", "known since c1 x3"),
        ],
    ),
    (
        "a pass at another commit is a fix in it, and failing again is a regression",
        &[
            ("main c1 fail", "new"),
            ("main c2 pass", "fixed in c2"),
            ("main c3 pass", "-"),
            ("main c4 fail", "back after c2"),
            ("main c4 fail", "known since c4 x2"),
            ("main c5 pass", "fixed in c5"),
            ("main c6 fail", "flaky 4/7 by 4 changes"),
        ],
    ),
    (
        "both outcomes at one clean commit are flaky, and no fix",
        &[
            ("main c1 fail", "new"),
            ("main c1 pass", "passes at the same commit"),
            ("main c1 pass", "-"),
            ("main c1 fail", "flaky 2/4 at c1"),
            ("main c2* fail", "flaky 2/4 at c1"),
        ],
    ),
    (
        "a test that passed at the commit that it first fails at is flaky at once",
        &[("main c1 pass", "-"), ("main c1 fail", "flaky 1/2 at c1")],
    ),
    (
        "of the passes before a first failure only the last one counts",
        &[("main c1 pass", "-"), ("main c2 pass", "-"), ("main c1 fail", "new")],
    ),
    (
        "both outcomes in one run are flaky where the commit is clean, and failing everywhere",
        &[("main c1* both", "new"), ("main c2 both", "flaky 1/2 at c2")],
    ),
    (
        "changing sides four times is flaky at any commits",
        &[
            ("main c1 fail", "new"),
            ("main c2 pass", "fixed in c2"),
            ("main c3 fail", "back after c2"),
            ("main c4 pass", "fixed in c4"),
            ("main c5 fail", "flaky 3/5 by 4 changes"),
        ],
    ),
    (
        "flakiness leaves with the clean runs that showed it: twenty on a branch",
        &[
            ("main c1 fail", "new"),
            ("main c1 pass", "passes at the same commit"),
            ("main c2 fail", "flaky 2/3 at c1"),
            ("main d03 fail", "flaky 3/4 at c1"),
            ("main d04 fail", "flaky 4/5 at c1"),
            ("main d05 fail", "flaky 5/6 at c1"),
            ("main d06 fail", "flaky 6/7 at c1"),
            ("main d07 fail", "flaky 7/8 at c1"),
            ("main d08 fail", "flaky 8/9 at c1"),
            ("main d09 fail", "flaky 9/10 at c1"),
            ("main d10 fail", "flaky 10/11 at c1"),
            ("main d11 fail", "flaky 11/12 at c1"),
            ("main d12 fail", "flaky 12/13 at c1"),
            ("main d13 fail", "flaky 13/14 at c1"),
            ("main d14 fail", "flaky 14/15 at c1"),
            ("main d15 fail", "flaky 15/16 at c1"),
            ("main d16 fail", "flaky 16/17 at c1"),
            ("main d17 fail", "flaky 17/18 at c1"),
            ("main d18 fail", "flaky 18/19 at c1"),
            ("main d19 fail", "flaky 19/20 at c1"),
            ("main d20 fail", "known since c1 x20"),
        ],
    ),
    (
        "a pass in a dirty tree is no fix in a commit",
        &[
            ("main c1 fail", "new"),
            ("main c1* pass", "passes uncommitted"),
            ("main c1* pass", "-"),
            ("main c1* fail", "known since c1 x2"),
            ("main c1* pass", "passes uncommitted"),
            ("main c2 pass", "fixed in c2"),
        ],
    ),
    (
        "a failure of a dirty tree says so, and dirty outcomes make nothing flaky",
        &[
            ("main c1* fail", "new"),
            ("main c1* pass", "passes uncommitted"),
            ("main c1* fail", "known since c1* x2"),
            ("main c1* pass", "passes uncommitted"),
            ("main c1* fail", "known since c1* x3"),
        ],
    ),
    (
        "without version control nothing is ever fixed in a commit",
        &[("- - fail", "new"), ("- - pass", "passes uncommitted"), ("- - fail", "known since - x2")],
    ),
    (
        "going back to a commit that passed is no fix",
        &[
            ("main c1 fail", "new"),
            ("main c2 pass", "fixed in c2"),
            ("main c3 fail", "back after c2"),
            ("main c2 pass", "passes at an earlier commit"),
            ("main c3 fail", "known since c3 x2"),
            ("main c4 pass", "fixed in c4"),
        ],
    ),
    (
        "a partial run fixes nothing that it did not run",
        &[
            ("main c1 fail", "new"),
            ("main c2 absent other narrow", "-"),
            ("main c2 absent other partial", "-"),
            ("main c3 fail", "known since c1 x2"),
        ],
    ),
    (
        "a test that an interrupted run saw passing did pass",
        &[("main c1 fail", "new"), ("main c2 pass partial", "fixed in c2")],
    ),
    (
        "a skipped test neither passes nor goes",
        &[("main c1 fail", "new"), ("main c2 skip other", "-"), ("main c3 fail", "known since c1 x2")],
    ),
    (
        "a renamed or removed test is gone, and no fix",
        &[
            ("main c1 fail", "new"),
            ("main c2 absent other", "gone"),
            ("main c3 absent other", "-"),
            ("main c4 fail", "known since c1 x2"),
        ],
    ),
    (
        "a test that is gone and comes back passing is fixed",
        &[("main c1 fail", "new"), ("main c2 absent other", "gone"), ("main c3 pass", "fixed in c3")],
    ),
    (
        "a run that did not compile, or named no test, says nothing of tests",
        &[
            ("main c1 fail", "new"),
            ("main c2 absent broken other", "-"),
            ("main c3 absent", "-"),
            ("main c4 fail", "known since c1 x2"),
        ],
    ),
    (
        "a diagnostic is fixed when a complete run of the same scope no longer has it",
        &[
            ("main c1 diag", "new"),
            ("main c2 clear narrow", "-"),
            ("main c2 clear partial", "-"),
            ("main c2 diag", "known since c1 x2"),
            ("main c3 clear", "fixed in c3"),
            ("main c4 clear", "-"),
            ("main c5 diag", "back after c3"),
        ],
    ),
    (
        "a diagnostic that another scope reported too awaits that one",
        &[
            ("main c1 diag", "new"),
            ("main c1 diag narrow", "known since c1 x2"),
            ("main c2 clear", "-"),
            ("main c2 clear narrow", "fixed in c2"),
        ],
    ),
    (
        "branches have histories of their own",
        &[
            ("main c1 pass", "-"),
            ("topic c2 fail", "new"),
            ("main c1 pass", "-"),
            ("topic c2 fail", "known since c2 x2"),
            ("main c3 pass", "-"),
            ("topic c4 pass", "fixed in c4"),
            ("main c5 fail", "back after c4 on topic"),
        ],
    ),
    (
        "a branch that says nothing asks what was seen last on others",
        &[
            ("main c1 fail", "new"),
            ("topic c2 fail", "known on main since c1 x1"),
            ("topic c3 pass", "fixed in c3"),
            ("later c4 fail", "back after c3 on topic"),
            ("main c5 fail", "known since c1 x2"),
            ("third c6 fail", "known on main since c1 x2"),
            ("- c7 fail", "known on third since c6 x1"),
            ("- c7 fail", "known since c7 x2"),
        ],
    ),
    (
        "one commit on two branches is one commit",
        &[("main c1 pass", "-"), ("topic c1 fail", "flaky 1/2 at c1"), ("topic c2 pass", "fixed in c2")],
    ),
    (
        "changing sides is counted on one branch: two that differ are not flaky",
        &[
            ("main c1 fail", "new"),
            ("topic c2 pass", "-"),
            ("main c3 fail", "known since c1 x2"),
            ("topic c4 pass", "-"),
            ("main c5 fail", "known since c1 x3"),
            ("topic c6 pass", "-"),
            ("main c7 fail", "known since c1 x4"),
        ],
    ),
    (
        "a clock that goes backwards changes no order",
        &[
            ("main c1 fail at=900", "new"),
            ("main c2 pass at=100", "fixed in c2"),
            ("main c3 fail at=50", "back after c2"),
            ("main c4 fail at=0", "known since c3 x2"),
        ],
    ),
    (
        "a run that is recorded twice counts once and is answered the same",
        &[
            ("main c1 fail call=1", "new"),
            ("main c1 fail call=1", "again: new"),
            ("main c1 fail call=2", "known since c1 x2"),
            ("main c1 fail call=1", "again: new"),
            ("main c2 pass call=3", "fixed in c2"),
            ("main c2 pass call=3", "again: fixed in c2"),
            ("main c3 fail call=4", "back after c2"),
        ],
    ),
    (
        "two runs of one call are two runs when they run different things",
        &[("main c1 fail call=5", "new"), ("main c1 fail call=5 narrow", "known since c1 x2")],
    ),
];

/// Tries every row. Roots are named after the rules.
pub async fn every_row_holds(store: &dyn Failures, name: &str) {
    for (rule, rows) in TABLE {
        let root = format!("{name}: {rule}");
        for (at, (given, expected)) in rows.iter().enumerate() {
            let (run, id) = parse(&root, given);
            let branch = run.branch.clone();
            let verdicts = store.record(run).await.expect("the run is recorded");
            let said = say(&verdicts, id, branch.as_deref());
            assert_eq!(said, *expected, "{rule}: row {}, {given}", at + 1);
        }
    }
}

fn parse(root: &str, row: &str) -> (RunOutcome, &'static str) {
    let mut words = row.split(' ');
    let mut word = || words.next().filter(|word| *word != "-");
    let (branch, commit) = (word(), word());
    let mut seen = run(root, branch, commit.map(|commit| commit.trim_end_matches('*')));
    seen.dirty = commit.is_some_and(|commit| commit.ends_with('*'));
    let mut id = "t";
    for word in words {
        match word {
            "fail" => seen.failures.push(failure("t", FailureKind::Test)),
            "pass" => seen.ran.push(test("t", Outcome::Passed)),
            "both" => seen.ran.extend([test("t", Outcome::Passed), test("t", Outcome::Failed)]),
            "skip" => seen.ran.push(test("t", Outcome::Skipped)),
            "absent" => {}
            "diag" => seen.failures.push(failure("d", FailureKind::Diagnostic)),
            "clear" => {}
            "partial" => seen.complete = false,
            "narrow" => "./one".clone_into(&mut seen.scope),
            "other" => seen.ran.push(test("other", Outcome::Passed)),
            "broken" => seen.failures.push(failure("broken", FailureKind::Diagnostic)),
            _ => match word.split_once('=').expect("a word of the table") {
                ("at", seconds) => {
                    seen.at = Timestamp::from_millis(1_000 * seconds.parse::<i64>().expect("a number"));
                }
                ("call", number) => seen.transcript = Some(transcript(number.parse().expect("a number"))),
                _ => panic!("{word} is no word of the table"),
            },
        }
        if matches!(word, "diag" | "clear") {
            id = "d";
        }
    }
    (seen, id)
}

/// A transcript's id that is made from a number.
#[must_use]
pub fn transcript(number: u64) -> TranscriptId {
    format!("00000000-0000-4000-8000-{number:012x}").parse().expect("it has the form")
}

fn say(verdicts: &Verdicts, id: &str, branch: Option<&str>) -> String {
    let on = |mark: &Mark| match &mark.branch {
        there if there.as_deref() == branch => String::new(),
        there => format!(" on {}", there.as_deref().unwrap_or("-")),
    };
    let commit = |mark: &Mark| {
        format!("{}{}", mark.commit.as_deref().unwrap_or("-"), if mark.dirty { "*" } else { "" })
    };
    let said = if let Some(verdict) = verdicts.of(id) {
        match verdict {
            Verdict::New => "new".to_owned(),
            Verdict::Known { since, runs } => format!("known{} since {} x{runs}", on(since), commit(since)),
            Verdict::Flaky { failed, seen, because: Flakiness::SameCommit { commit } } => {
                format!("flaky {failed}/{seen} at {commit}")
            }
            Verdict::Flaky { failed, seen, because: Flakiness::Alternating { changes } } => {
                format!("flaky {failed}/{seen} by {changes} changes")
            }
            Verdict::FixedBefore { fixed, .. } => format!("back after {}{}", commit(fixed), on(fixed)),
        }
    } else if let Some(recovery) = verdicts.recovered.iter().find(|recovery| recovery.id == id) {
        match recovery.how {
            Passing::InCommit => format!("fixed in {}", recovery.at.clean().unwrap_or("nothing")),
            Passing::Uncommitted => "passes uncommitted".to_owned(),
            Passing::SameCommit => "passes at the same commit".to_owned(),
            Passing::EarlierCommit => "passes at an earlier commit".to_owned(),
        }
    } else if verdicts.gone.iter().any(|gone| gone == id) {
        "gone".to_owned()
    } else {
        "-".to_owned()
    };
    if verdicts.repeated { format!("again: {said}") } else { said }
}
