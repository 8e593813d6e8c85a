//! What is let go of, and what is not.

use super::context::{MINUTE, Watch, begin, begun, key, next, once};
use super::handoffs::handoff;
use super::notes::{add, note, of};
use super::{failure, run};
use crate::handoff::{HandoffQuery, NewCheckpoint};
use crate::id::{CheckpointId, SessionId};
use crate::note::{NotePatch, NoteQuery};
use crate::once::KEPT;
use crate::server::{LOGGED, Logged};
use crate::session::{SILENCE, SessionStatus};
use crate::upkeep::{DAY, FAILURES_KEPT};
use crate::{
    Context, FailureKind, Failures, Forgotten, HistoryQuery, RunOutcome, Swept, Timestamp, Traffic, Upkeep,
};

/// Holds a driver to it. The driver goes by `watch`, and nobody else uses the database: what is swept is everybody's.
pub async fn upkeep<S: Context + Failures + Traffic + Upkeep>(store: &S, watch: &Watch, name: &str) {
    what_is_over_is_let_go_of_to_the_millisecond(store, watch, name).await;
    old_failures_are_forgotten(store, watch, name).await;
    old_requests_leave_the_log(store, watch).await;
    nothing_that_ended_goes_unless_it_is_told_so(store, watch, name).await;
    what_ended_too_long_ago_goes_with_what_belongs_to_it(store, watch, name).await;
    what_was_put_away_too_long_ago_goes_with_its_words(store, watch, name).await;
}

/// Lets go of all that ended before.
async fn afresh(store: &impl Upkeep, watch: &Watch) {
    watch.turn(2 * DAY);
    sweep(store, Some(1)).await;
}

async fn sweep(store: &impl Upkeep, keep_days: Option<u32>) -> Swept {
    store.sweep(keep_days).await.expect("it sweeps")
}

/// A session that was ended with a handoff and has a checkpoint.
async fn ended<S: Context>(store: &S, watch: &Watch, venture: &str, agent: &str) -> SessionId {
    let id = begun(store, watch, &key(venture, agent, "")).await.session.id;
    let new = NewCheckpoint {
        id: CheckpointId::new(watch.now(), next()),
        session: id.clone(),
        summary: "half".to_owned(),
        anchor: None,
        payload: None,
    };
    store.checkpoint(new, None).await.expect("a checkpoint is kept");
    let told = Some(handoff(watch, "done"));
    store.end(id.clone(), told, "manual".to_owned(), None).await.expect("it ends");
    id
}

/// A millisecond before nothing goes; then a session is abandoned as of its last sign of life, and a key may be used again.
pub async fn what_is_over_is_let_go_of_to_the_millisecond<S: Context + Failures + Traffic + Upkeep>(
    store: &S,
    watch: &Watch,
    name: &str,
) {
    let venture = format!("{name}-over");
    sweep(store, None).await;
    let start = watch.now();
    let key = key(&venture, "a", "");
    let same = Some(once(&venture, "key", "request"));
    let id = store.begin(begin(watch, &key), same).await.unwrap().value.session.id;
    watch.turn(SILENCE - 1);
    assert!(sweep(store, None).await.is_nothing(), "44:59.999");
    assert_eq!(store.session(id.clone()).await.unwrap().unwrap().status, SessionStatus::Active);
    watch.turn(1);
    assert_eq!(sweep(store, None).await, Swept { abandoned: 1, ..Swept::default() });
    let session = store.session(id.clone()).await.unwrap().unwrap();
    assert_eq!(
        (session.status, session.heartbeat, session.ended, session.version),
        (SessionStatus::Abandoned, start, Some(start), 2)
    );
    assert!(store.heartbeat(id).await.is_err(), "it is over");
    watch.turn(KEPT - SILENCE - 1);
    assert!(sweep(store, None).await.is_nothing(), "59:59.999");
    watch.turn(1);
    assert_eq!(sweep(store, None).await, Swept { answers: 1, ..Swept::default() });
    assert!(sweep(store, None).await.is_nothing(), "once is enough");
    // One that gives signs of life goes on for ever.
    let id = begun(store, watch, &key).await.session.id;
    for _ in 0..6 {
        watch.turn(SILENCE - 1);
        store.heartbeat(id.clone()).await.unwrap();
        assert!(sweep(store, Some(1)).await.is_nothing());
    }
    store.end(id, None, String::new(), None).await.unwrap();
}

/// Ninety days after they were last seen, to the millisecond.
pub async fn old_failures_are_forgotten<S: Context + Failures + Traffic + Upkeep>(
    store: &S,
    watch: &Watch,
    name: &str,
) {
    let root = format!("{name}: swept");
    let seen = |id: &str, at: Timestamp| RunOutcome {
        failures: vec![failure(id, FailureKind::Test)],
        at,
        ..run(&root, Some("main"), Some("c1"))
    };
    let now = watch.now();
    let ago = |millis: i64| Timestamp::from_millis(now.as_millis() - millis);
    store.record(seen("old", ago(FAILURES_KEPT + 1))).await.unwrap();
    store.record(seen("kept", ago(FAILURES_KEPT))).await.unwrap();
    let forgotten = Forgotten { runs: 1, failures: 1, tests: 0 };
    assert_eq!(sweep(store, None).await, Swept { failures: forgotten, ..Swept::default() });
    let left = store.history(HistoryQuery::of(&root)).await.unwrap();
    assert_eq!(left.items.iter().map(|item| item.failure.id.as_str()).collect::<Vec<_>>(), ["kept"]);
    watch.turn(1);
    assert_eq!(sweep(store, None).await.failures, forgotten);
}

/// A week after they were asked, to the millisecond.
pub async fn old_requests_leave_the_log<S: Context + Failures + Traffic + Upkeep>(store: &S, watch: &Watch) {
    let asked = Logged {
        at: watch.now(),
        correlation: "corr".to_owned(),
        key: None,
        method: "GET".to_owned(),
        route: "/v1/notes".to_owned(),
        status: 200,
        millis: 1,
    };
    store.log(vec![asked]).await.unwrap();
    watch.turn(LOGGED);
    assert_eq!(sweep(store, None).await.requests, 0);
    watch.turn(1);
    assert_eq!(sweep(store, None).await.requests, 1);
    assert_eq!(store.logged(10).await.unwrap(), []);
}

/// Without a number of days, and with none, what a team did is kept for ever.
pub async fn nothing_that_ended_goes_unless_it_is_told_so<S: Context + Failures + Traffic + Upkeep>(
    store: &S,
    watch: &Watch,
    name: &str,
) {
    let venture = format!("{name}-for-ever");
    afresh(store, watch).await;
    let before = watch.now();
    let id = ended(store, watch, &venture, "a").await;
    let away = add(store, note(watch, Some(&venture), "away", "needle")).await;
    let patch = NotePatch { archived: Some(true), ..NotePatch::of(away.id.clone(), "x") };
    store.change_note(patch, None).await.unwrap();
    watch.turn(3_650 * DAY);
    for keep_days in [None, Some(0), Some(3_650), Some(u32::MAX)] {
        let swept = sweep(store, keep_days).await;
        assert_eq!((swept.sessions, swept.handoffs, swept.checkpoints, swept.notes), (0, 0, 0, 0));
        assert!(store.session(id.clone()).await.unwrap().is_some());
        assert!(store.note(away.id.clone()).await.unwrap().is_some());
    }
    watch.turn(1);
    let swept = sweep(store, Some(3_650)).await;
    assert!(swept.sessions >= 1 && swept.handoffs >= 1 && swept.checkpoints >= 1 && swept.notes >= 1);
    assert_eq!(store.session(id).await.unwrap(), None);
    watch.set(before);
}

/// Thirty days: ended, abandoned and superseded ones alike, never one that goes on, and no younger one's belongings.
pub async fn what_ended_too_long_ago_goes_with_what_belongs_to_it<
    S: Context + Failures + Traffic + Upkeep,
>(
    store: &S,
    watch: &Watch,
    name: &str,
) {
    let venture = format!("{name}-ended");
    afresh(store, watch).await;
    let start = watch.now();
    let old = ended(store, watch, &venture, "old").await;
    let silent = begun(store, watch, &key(&venture, "silent", "")).await.session.id;
    watch.turn(1);
    let young = ended(store, watch, &venture, "young").await;
    let going = begun(store, watch, &key(&venture, "going", "")).await.session.id;
    watch.set(Timestamp::from_millis(start.as_millis() + 30 * DAY));
    store.heartbeat(going.clone()).await.unwrap();
    let swept = sweep(store, Some(30)).await;
    assert_eq!(swept, Swept { abandoned: 1, ..Swept::default() }, "thirty days are kept");
    watch.turn(1);
    let swept = sweep(store, Some(30)).await;
    // The one that was abandoned fell silent when the old one ended.
    assert_eq!(swept, Swept { sessions: 2, handoffs: 1, checkpoints: 1, ..Swept::default() });
    for (id, is_there) in [(&old, false), (&silent, false), (&young, true), (&going, true)] {
        assert_eq!(store.session(id.clone()).await.unwrap().is_some(), is_there, "{id}");
    }
    let query = HandoffQuery { venture: Some(venture.clone()), ..HandoffQuery::all(10) };
    let left = store.handoffs(query).await.unwrap();
    assert_eq!(left.items.iter().map(|told| &told.session).collect::<Vec<_>>(), [&young]);
    for (id, number) in [(old, 0), (young, 1)] {
        assert_eq!(store.checkpoints(id, 10, None).await.unwrap().total, number);
    }
    // The key is free, and the next one is a new one.
    let begun = begun(store, watch, &key(&venture, "old", "")).await;
    assert!(!begun.resumed && begun.ended.is_empty());
    store.end(begun.session.id, None, String::new(), None).await.unwrap();
    store.end(going, None, String::new(), None).await.unwrap();
}

/// By when it was put away. Whatever was not, stays, however old; what is gone is not found, and what is left still is.
pub async fn what_was_put_away_too_long_ago_goes_with_its_words<S: Context + Failures + Traffic + Upkeep>(
    store: &S,
    watch: &Watch,
    name: &str,
) {
    let venture = format!("{name}-away");
    afresh(store, watch).await;
    let mut ids = Vec::new();
    for title in ["old", "young", "kept"] {
        let mut new = note(watch, Some(&venture), title, "a needle in the hay");
        new.tags = vec!["tag".to_owned()];
        ids.push(add(store, new).await.id);
        watch.turn(MINUTE);
    }
    let put_away = |id: &crate::id::NoteId| {
        store.change_note(NotePatch { archived: Some(true), ..NotePatch::of(id.clone(), "x") }, None)
    };
    put_away(&ids[0]).await.unwrap();
    watch.turn(MINUTE);
    put_away(&ids[1]).await.unwrap();
    watch.turn(30 * DAY);
    assert_eq!(sweep(store, Some(30)).await, Swept { notes: 1, ..Swept::default() });
    let there = async |archived: bool, q: Option<&str>, tag: Option<&str>| {
        let query =
            NoteQuery { archived, q: q.map(str::to_owned), tag: tag.map(str::to_owned), ..of(&venture, 10) };
        let page = store.notes(query).await.unwrap();
        (page.total, page.items.into_iter().map(|hit| hit.title).collect::<Vec<_>>())
    };
    for (q, tag) in [(None, None), (Some("needle"), None), (None, Some("tag")), (Some("hay"), Some("tag"))] {
        assert_eq!(there(true, q, tag).await, (1, vec!["young".to_owned()]), "{q:?} {tag:?}");
        assert_eq!(there(false, q, tag).await, (1, vec!["kept".to_owned()]), "{q:?} {tag:?}");
    }
    assert_eq!(store.note(ids[0].clone()).await.unwrap(), None);
    watch.turn(3_650 * DAY);
    sweep(store, Some(30)).await;
    assert_eq!(there(false, Some("needle"), None).await, (1, vec!["kept".to_owned()]));
}
