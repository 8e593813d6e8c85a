//! What is remembered, how it is asked for, and how it is forgotten.

use std::collections::BTreeSet;

use super::table::transcript;
use super::{failure, run, test};
use crate::run::{MAX_MESSAGE, MAX_RAN};
use crate::{
    FailureHistory, FailureKind, Failures, HistoryQuery, LineState, Outcome, Page, REPLAYS, RunOutcome,
    StoreError, Timestamp, Verdict, Verdicts,
};

async fn record(store: &dyn Failures, run: RunOutcome) -> Verdicts {
    store.record(run).await.expect("the run is recorded")
}

async fn ask(store: &dyn Failures, query: HistoryQuery) -> Page<FailureHistory> {
    store.history(query).await.expect("the history is read")
}

fn failing(root: &str, branch: &str, commit: &str, ids: &[&str]) -> RunOutcome {
    let failures = ids.iter().map(|id| failure(id, FailureKind::Test)).collect();
    RunOutcome { failures, ..run(root, Some(branch), Some(commit)) }
}

fn passing(root: &str, branch: &str, commit: &str, ids: &[&str]) -> RunOutcome {
    let ran = ids.iter().map(|id| test(id, Outcome::Passed)).collect();
    RunOutcome { ran, ..run(root, Some(branch), Some(commit)) }
}

fn ids(page: &Page<FailureHistory>) -> Vec<&str> {
    page.items.iter().map(|item| item.failure.id.as_str()).collect()
}

/// What failed last comes first, and every page goes on where the one before ended, also while others record.
pub async fn pages_show_everything_once(store: &dyn Failures, name: &str) {
    let root = format!("{name}: pages");
    let names: Vec<String> = (0..25).map(|n| format!("t{n:02}")).collect();
    for some in names.chunks(10) {
        let some: Vec<&str> = some.iter().map(String::as_str).collect();
        record(store, failing(&root, "main", "c1", &some)).await;
    }
    let mut query = HistoryQuery { limit: 7, ..HistoryQuery::of(&root) };
    let (mut seen, mut pages) = (Vec::new(), 0);
    loop {
        let page = ask(store, query.clone()).await;
        pages += 1;
        seen.extend(ids(&page).iter().map(|id| (*id).to_owned()));
        if pages == 1 {
            assert_eq!((page.total, page.items.len()), (25, 7));
            assert!(
                seen.iter().all(|id| id.as_str() >= "t20" || id.as_str() < "t20" && seen.len() > 5),
                "{seen:?}"
            );
            // It moves to the front, which was shown already.
            record(store, failing(&root, "main", "c2", &["t24", "late"])).await;
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    assert_eq!(pages, 4);
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), seen.len(), "no entry comes twice: {seen:?}");
    seen.sort();
    assert_eq!(seen, names, "what comes meanwhile is at the front, and nothing is left out");
    let first = ask(store, HistoryQuery { limit: 2, ..HistoryQuery::of(&root) }).await;
    assert_eq!(ids(&first).into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(["late", "t24"]));
}

/// Ids, branch and state narrow, together too; the total is that of what is asked for.
pub async fn conditions_narrow(store: &dyn Failures, name: &str) {
    let root = format!("{name}: conditions");
    record(store, failing(&root, "main", "c1", &["a", "b", "c"])).await;
    record(store, failing(&root, "topic", "c2", &["b", "x"])).await;
    record(store, passing(&root, "main", "c3", &["a", "b"])).await;
    let base = HistoryQuery::of(&root);
    type Case = (Option<&'static str>, Option<LineState>, &'static [&'static str], &'static [&'static str]);
    let cases: &[Case] = &[
        (None, None, &[], &["a", "b", "c", "x"]),
        (Some("main"), None, &[], &["a", "b", "c"]),
        (Some("topic"), None, &[], &["b", "x"]),
        (Some("other"), None, &[], &[]),
        (None, Some(LineState::Open), &[], &["b", "x"]),
        (Some("topic"), Some(LineState::Open), &["a", "x"], &["x"]),
        (Some("main"), Some(LineState::Fixed), &[], &["a", "b"]),
        (Some("main"), Some(LineState::Fixed), &["b", "c", "nothing"], &["b"]),
        (None, Some(LineState::Gone), &[], &["c"]),
    ];
    for (branch, state, wanted, expected) in cases {
        let query = HistoryQuery {
            branch: branch.map(str::to_owned),
            state: *state,
            ids: wanted.iter().map(|id| (*id).to_owned()).collect(),
            ..base.clone()
        };
        let page = ask(store, query).await;
        let mut found = ids(&page);
        found.sort_unstable();
        assert_eq!(found, *expected, "{branch:?} {state:?} {wanted:?}");
        assert_eq!((page.total, page.next), (expected.len() as u64, None));
    }
}

/// Marks, counts and states of each branch.
pub async fn a_history_says_what_became_of_a_failure(store: &dyn Failures, name: &str) {
    let root = format!("{name}: what became");
    let at = |seconds: i64| Timestamp::from_millis(1_760_000_000_000 + seconds * 1_000);
    record(store, RunOutcome { at: at(1), ..failing(&root, "main", "c1", &["t"]) }).await;
    record(store, RunOutcome { at: at(2), dirty: true, ..failing(&root, "main", "c1", &["t"]) }).await;
    record(store, RunOutcome { at: at(3), ..failing(&root, "topic", "c2", &["t"]) }).await;
    record(store, RunOutcome { at: at(4), ..passing(&root, "main", "c3", &["t"]) }).await;
    record(store, RunOutcome { at: at(5), dirty: true, ..passing(&root, "topic", "c2", &["t"]) }).await;
    record(store, RunOutcome { at: at(6), ..passing(&root, "quiet", "c4", &["t"]) }).await;
    let page = ask(store, HistoryQuery::of(&root)).await;
    let [entry] = page.items.as_slice() else { panic!("one failure: {page:?}") };
    assert_eq!(entry.failure, failure("t", FailureKind::Test));
    assert_eq!(entry.flaky, None);
    let [main, quiet, topic] = entry.branches.as_slice() else { panic!("three branches: {entry:?}") };
    assert_eq!((main.branch.as_deref(), main.state), (Some("main"), LineState::Fixed));
    assert_eq!((main.failed, main.passed, main.runs, &main.since), (2, 1, 0, &None));
    let fixed = main.fixed.as_ref().expect("it is fixed");
    assert_eq!((fixed.commit.as_deref(), fixed.dirty, fixed.at), (Some("c3"), false, at(4)));
    assert_eq!((topic.state, topic.failed, topic.passed, topic.runs), (LineState::Passing, 1, 1, 1));
    assert_eq!(topic.since.as_ref().map(|since| since.at), Some(at(3)));
    assert_eq!((topic.last.at, topic.last.dirty, &topic.fixed), (at(5), true, &None));
    assert_eq!((quiet.state, quiet.failed, quiet.passed), (LineState::Unaffected, 0, 1));
}

/// The last answers are given again; before them a run is only known to have been.
pub async fn answers_are_kept_for_the_last_runs(store: &dyn Failures, name: &str) {
    let root = format!("{name}: answers");
    let of = |n: u32| RunOutcome {
        transcript: Some(transcript(n.into())),
        ..failing(&root, "main", "c1", &["t"])
    };
    for n in 0..=REPLAYS {
        assert!(!record(store, of(n)).await.repeated);
    }
    assert!(matches!(store.record(of(0)).await, Err(StoreError::AlreadyRecorded)));
    let second = record(store, of(1)).await;
    assert!(second.repeated && matches!(second.of("t"), Some(Verdict::Known { runs: 2, .. })), "{second:?}");
    let page = ask(store, HistoryQuery::of(&root)).await;
    assert_eq!(
        page.items.first().map(|item| item.branches.iter().map(|b| b.failed).sum()),
        Some(u64::from(REPLAYS) + 1)
    );
}

/// The same ids, transcripts and scopes in two roots are different things.
pub async fn roots_know_nothing_of_each_other(store: &dyn Failures, name: &str) {
    for root in ["one", "two"] {
        let root = format!("{name}: roots: {root}");
        let call = Some(transcript(77));
        let verdicts =
            record(store, RunOutcome { transcript: call, ..failing(&root, "main", "c1", &["t"]) }).await;
        assert_eq!((verdicts.of("t"), verdicts.repeated), (Some(&Verdict::New), false), "{root}");
    }
    let cleared = run(&format!("{name}: roots: one"), Some("main"), Some("c2"));
    assert_eq!(
        record(store, RunOutcome { ran: vec![test("z", Outcome::Passed)], ..cleared }).await.gone,
        ["t"]
    );
    let other = ask(store, HistoryQuery::of(format!("{name}: roots: two"))).await;
    assert_eq!(other.items.first().map(|item| item.branches[0].state), Some(LineState::Open));
}

/// Quotes, controls, other scripts; what is too long is cut at a character, and NUL becomes its picture.
pub async fn texts_come_back_as_they_were(store: &dyn Failures, name: &str) {
    let root = format!("{name}: texts ' \" \\ %_ \u{1f600}");
    let id = "pkg::t[\"a'b\\c\", \u{4e16}\u{754c}, \u{7f}\n\t$1 ?1 %s]";
    let mut seen = failing(&root, "feature/\u{e9}'\"", "c1", &[id]);
    seen.failures[0].message = format!("a\0b{}", "\u{20ac}".repeat(MAX_MESSAGE));
    record(store, seen.clone()).await;
    let verdicts = record(store, seen).await;
    assert!(matches!(verdicts.of(id), Some(Verdict::Known { runs: 2, .. })), "{verdicts:?}");
    let query = HistoryQuery {
        ids: vec![id.to_owned()],
        branch: Some("feature/\u{e9}'\"".to_owned()),
        ..HistoryQuery::of(&root)
    };
    let page = ask(store, query).await;
    let kept = &page.items[0].failure;
    assert_eq!((kept.id.as_str(), kept.line), (id, Some(7)));
    assert!(
        kept.message.starts_with("a\u{2400}b\u{20ac}") && kept.message.ends_with('\u{20ac}'),
        "{}",
        kept.message
    );
    assert!(kept.message.len() <= MAX_MESSAGE + 2, "{}", kept.message.len());
}

/// Too much, too long, empty, NUL: an error, and nothing is remembered of the run.
pub async fn what_does_not_fit_is_refused_and_changes_nothing(store: &dyn Failures, name: &str) {
    let root = format!("{name}: refused");
    let fine = failing(&root, "main", "c1", &["t"]);
    let mut cases: Vec<RunOutcome> = Vec::new();
    let mut case = |change: &dyn Fn(&mut RunOutcome)| {
        let mut run = fine.clone();
        change(&mut run);
        cases.push(run);
    };
    case(&|run| run.failures.push(failure("", FailureKind::Test)));
    case(&|run| run.failures.push(failure("a\0b", FailureKind::Test)));
    case(&|run| run.failures.push(failure(&"x".repeat(2_000), FailureKind::Test)));
    case(&|run| run.tool = String::new());
    case(&|run| run.branch = Some(String::new()));
    case(&|run| run.commit = Some("\0".to_owned()));
    case(&|run| run.scope = "y".repeat(2_000));
    case(&|run| run.failures = vec![failure("many", FailureKind::Diagnostic); 10_001]);
    for run in cases {
        let refused = store.record(run).await;
        assert!(
            matches!(refused, Err(StoreError::Invalid { .. } | StoreError::TooLarge { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(ask(store, HistoryQuery::of(&root)).await.total, 0);
    for limit in [0, 1_001] {
        let refused = store.history(HistoryQuery { limit, ..HistoryQuery::of(&root) }).await;
        assert!(matches!(refused, Err(StoreError::Invalid { what: "limit", .. })), "{refused:?}");
    }
}

/// As many tests as one run may have, and a run that was cut to that.
pub async fn a_large_run_is_taken_whole(store: &dyn Failures, name: &str) {
    let root = format!("{name}: large");
    let outcome = |n: usize| if n.is_multiple_of(10) { Outcome::Failed } else { Outcome::Passed };
    let ran = (0..MAX_RAN + 1_000).map(|n| test(&format!("pkg/t{n}"), outcome(n))).collect();
    let large = RunOutcome { ran, ..run(&root, Some("main"), Some("c1")) };
    assert!(matches!(store.record(large.clone()).await, Err(StoreError::TooLarge { .. })));
    let cut = large.bounded();
    let began = std::time::Instant::now();
    assert_eq!((cut.ran.len(), cut.complete), (MAX_RAN, false));
    let verdicts = record(store, cut.clone()).await;
    assert_eq!(verdicts.failures.len(), (MAX_RAN + 1_000) / 10);
    assert!(verdicts.failures.iter().all(|judged| judged.verdict == Verdict::New));
    let ran = cut.ran.into_iter().map(|test| crate::TestSeen { outcome: Outcome::Passed, ..test }).collect();
    let verdicts = record(store, RunOutcome { ran, ..run(&root, Some("main"), Some("c2")) }).await;
    assert_eq!(verdicts.recovered.len(), (MAX_RAN + 1_000) / 10);
    // A second at most when each list is gone through once; a minute when one is gone through for each entry of another.
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

/// By the latest time at which a thing was seen, whatever clocks said in between.
pub async fn old_things_are_forgotten(store: &dyn Failures, name: &str) {
    let root = format!("{name}: forgetting");
    let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
    record(store, RunOutcome { at: at(10), ..failing(&root, "main", "c1", &["old", "kept", "split"]) }).await;
    record(store, RunOutcome { at: at(200), ..failing(&root, "main", "c1", &["kept"]) }).await;
    record(store, RunOutcome { at: at(20), ..failing(&root, "main", "c2", &["kept"]) }).await;
    record(store, RunOutcome { at: at(300), ..failing(&root, "topic", "c2", &["split"]) }).await;
    record(store, RunOutcome { at: at(5), ..passing(&root, "main", "c2", &["calm"]) }).await;
    let forgotten = store.forget(at(100)).await.expect("it forgets");
    assert!(forgotten.failures >= 1 && forgotten.runs >= 3 && forgotten.tests >= 1, "{forgotten:?}");
    let page = ask(store, HistoryQuery::of(&root)).await;
    assert_eq!(ids(&page).into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(["kept", "split"]));
    let again = failing(&root, "main", "c3", &["old", "kept", "split"]);
    let verdicts = record(store, again).await;
    assert_eq!(verdicts.of("old"), Some(&Verdict::New));
    assert!(matches!(verdicts.of("kept"), Some(Verdict::Known { runs: 4, .. })), "{verdicts:?}");
    assert!(
        matches!(verdicts.of("split"), Some(Verdict::Known { since, .. }) if since.branch.as_deref() == Some("topic"))
    );
}
