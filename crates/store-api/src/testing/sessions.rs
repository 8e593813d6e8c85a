//! Sessions: begun, resumed, over.

use std::collections::BTreeSet;

use super::context::{MINUTE, Watch, begin, begun, key, next, together};
use crate::handoff::NewCheckpoint;
use crate::history::MAX_PAGE;
use crate::id::{CheckpointId, MachineId, SessionId};
use crate::session::{Begin, LiveQuery, SILENCE, Session, SessionStatus, Speaker, Standing, Update};
use crate::{Context, Page, StoreError};

pub(super) async fn all(store: &dyn Context, watch: &Watch, name: &str) {
    beginning_again_goes_on(store, watch, name).await;
    after_45_minutes_of_silence_a_session_is_abandoned(store, watch, name).await;
    no_track_is_a_track(store, watch, name).await;
    what_is_given_replaces_and_what_is_absent_stays(store, watch, name).await;
    a_session_that_is_over_refuses(store, watch, name).await;
    a_session_that_is_sent_again_is_the_same(store, watch, name).await;
    a_change_of_another_version_changes_nothing(store, watch, name).await;
    fifty_that_begin_at_once_are_one(store, watch, name).await;
    every_other_live_session_is_returned_whatever_its_agent_is_called(store, watch, name).await;
    pages_of_live_sessions_show_everyone_once(store, watch, name).await;
    checkpoints_are_numbered(store, watch, name).await;
    what_does_not_fit_is_refused(store, watch, name).await;
}

async fn session(store: &dyn Context, id: &SessionId) -> Session {
    store.session(id.clone()).await.expect("it is read").expect("it is there")
}

/// One key, one active session; its id is the first one's.
pub async fn beginning_again_goes_on(store: &dyn Context, watch: &Watch, name: &str) {
    let key = key(&format!("{name}-again"), "a", "");
    assert_eq!(store.current(key.clone()).await.unwrap(), None);
    let first = begun(store, watch, &key).await;
    assert_eq!(
        (first.resumed, first.session.status, first.session.version),
        (false, SessionStatus::Active, 1)
    );
    assert_eq!((first.session.started, first.session.heartbeat), (watch.now(), watch.now()));
    watch.turn(10 * MINUTE);
    let second = begun(store, watch, &key).await;
    assert_eq!((second.resumed, &second.session.id), (true, &first.session.id));
    assert_eq!((second.session.heartbeat, second.session.started), (watch.now(), first.session.started));
    assert!(second.ended.is_empty() && second.session.version == 2, "{second:?}");
    assert_eq!(store.current(key).await.unwrap(), Some(second.session.clone()));
    assert_eq!(session(store, &first.session.id).await, second.session);
    assert_eq!(store.session(SessionId::new(watch.now(), next())).await.unwrap(), None);
}

/// 44:59.999 of silence is a pause, 45:00 is the end, and the end was when it fell silent.
pub async fn after_45_minutes_of_silence_a_session_is_abandoned(
    store: &dyn Context,
    watch: &Watch,
    name: &str,
) {
    let key = key(&format!("{name}-silence"), "a", "");
    let first = begun(store, watch, &key).await.session;
    watch.turn(SILENCE - 1);
    assert_eq!(store.current(key.clone()).await.unwrap().as_ref(), Some(&first));
    assert_eq!(begun(store, watch, &key).await.session.id, first.id);
    watch.turn(SILENCE - 1);
    store.heartbeat(first.id.clone()).await.expect("it is alive");
    let sign = watch.now();
    watch.turn(SILENCE);
    assert_eq!(store.current(key.clone()).await.unwrap(), None);
    let second = begun(store, watch, &key).await;
    assert_ne!(second.session.id, first.id);
    assert!(!second.resumed);
    let over: Vec<_> = second.ended.iter().map(|over| (&over.id, over.status)).collect();
    assert_eq!(over, [(&first.id, SessionStatus::Abandoned)]);
    let first = session(store, &first.id).await;
    assert_eq!((first.status, first.ended), (SessionStatus::Abandoned, Some(sign)));
    assert!(matches!(store.heartbeat(first.id).await, Err(StoreError::Closed { .. })));
}

/// Who names no track meets nobody who names one. (In the original a session without a track resumed any.)
pub async fn no_track_is_a_track(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-tracks");
    let tracks = ["", "1", "2"];
    let mut ids = BTreeSet::new();
    for track in tracks {
        let begun = begun(store, watch, &key(&venture, "a", track)).await;
        assert!(!begun.resumed, "{track:?}");
        ids.insert(begun.session.id);
    }
    assert_eq!(ids.len(), tracks.len());
    for other in [key(&venture, "b", ""), key(&format!("{venture}x"), "a", "")] {
        assert!(!begun(store, watch, &other).await.resumed, "{other:?}");
    }
    for track in tracks {
        let current = store.current(key(&venture, "a", track)).await.unwrap();
        assert!(ids.remove(&current.expect("there is one").id), "{track:?}");
    }
}

/// Of who speaks and where the work stands.
pub async fn what_is_given_replaces_and_what_is_absent_stays(store: &dyn Context, watch: &Watch, name: &str) {
    let key = key(&format!("{name}-standing"), "a", "");
    let machine = MachineId::new(watch.now(), next());
    let text = |text: &str| Some(text.to_owned());
    let first = Begin {
        speaker: Speaker { client: text("one"), client_version: text("1.0"), machine: Some(machine.clone()) },
        standing: Standing { branch: text("main"), commit: text("c1"), issue: Some(7) },
        ..begin(watch, &key)
    };
    let begun = store.begin(first.clone(), None).await.unwrap().value.session;
    assert_eq!((&begun.speaker, &begun.standing), (&first.speaker, &first.standing));
    let silent = Begin { speaker: Speaker::default(), ..begin(watch, &key) };
    let again = store.begin(silent.clone(), None).await.unwrap().value.session;
    assert_eq!((&again.speaker, &again.standing), (&first.speaker, &first.standing));
    let detached = Begin {
        speaker: Speaker { client: text("two"), ..Speaker::default() },
        standing: Standing { commit: text("c2"), ..Standing::default() },
        ..silent
    };
    let again = store.begin(detached, None).await.unwrap().value.session;
    assert_eq!(again.standing, Standing { branch: None, commit: text("c2"), issue: Some(7) });
    assert_eq!(again.started_commit, text("c1"), "where it began stays");
    assert_eq!(again.speaker, Speaker { client: text("two"), client_version: None, machine: Some(machine) });
    watch.turn(MINUTE);
    let standing = Standing { branch: text("topic"), issue: Some(8), commit: None };
    let update = Update { id: begun.id, expected: Some(again.version), standing };
    let updated = store.update(update, None).await.unwrap().value;
    assert_eq!(updated.standing, Standing { branch: text("topic"), commit: text("c2"), issue: Some(8) });
    assert_eq!((updated.version, updated.heartbeat), (again.version + 1, watch.now()));
}

/// Whatever put an end to it.
pub async fn a_session_that_is_over_refuses(store: &dyn Context, watch: &Watch, name: &str) {
    let key = key(&format!("{name}-over"), "a", "");
    let id = begun(store, watch, &key).await.session.id;
    let (ended, handoff) = store.end(id.clone(), None, "manual".to_owned(), None).await.unwrap().value;
    assert_eq!((ended.status, ended.ended, handoff), (SessionStatus::Ended, Some(watch.now()), None));
    let checkpoint = |session: &SessionId| NewCheckpoint {
        id: CheckpointId::new(watch.now(), next()),
        session: session.clone(),
        summary: "here".to_owned(),
        anchor: None,
        payload: None,
    };
    let update =
        |id: &SessionId| Update { id: id.clone(), expected: Some(99), standing: Standing::default() };
    let closed = |error: StoreError| {
        assert!(
            matches!(&error, StoreError::Closed { id: of, status: SessionStatus::Ended } if *of == id),
            "{error:?}"
        );
    };
    closed(store.heartbeat(id.clone()).await.unwrap_err());
    closed(store.update(update(&id), None).await.unwrap_err());
    closed(store.checkpoint(checkpoint(&id), None).await.unwrap_err());
    closed(store.end(id.clone(), None, "manual".to_owned(), None).await.unwrap_err());
    assert_eq!(session(store, &id).await, ended, "and nothing changed");
    let nobody = SessionId::new(watch.now(), next());
    let unknown = |error: StoreError| assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    unknown(store.heartbeat(nobody.clone()).await.unwrap_err());
    unknown(store.update(update(&nobody), None).await.unwrap_err());
    unknown(store.checkpoint(checkpoint(&nobody), None).await.unwrap_err());
    unknown(store.end(nobody, None, "manual".to_owned(), None).await.unwrap_err());
    assert!(!begun(store, watch, &key).await.resumed, "the next one is another one");
}

/// By its id, also when it is over; under another key an id is taken.
pub async fn a_session_that_is_sent_again_is_the_same(store: &dyn Context, watch: &Watch, name: &str) {
    let key = key(&format!("{name}-sent"), "a", "");
    let sent = begin(watch, &key);
    let first = store.begin(sent.clone(), None).await.unwrap().value.session;
    watch.turn(MINUTE);
    assert_eq!(store.begin(sent.clone(), None).await.unwrap().value.session, first);
    let (ended, _) = store.end(sent.id.clone(), None, String::new(), None).await.unwrap().value;
    let replayed = store.begin(sent.clone(), None).await.unwrap().value;
    assert_eq!((replayed.session, replayed.resumed), (ended, true));
    let mut other = sent;
    "other".clone_into(&mut other.key.track);
    assert!(matches!(store.begin(other, None).await, Err(StoreError::Exists { .. })));
}

/// And says which version is there. Signs of life are no changes.
pub async fn a_change_of_another_version_changes_nothing(store: &dyn Context, watch: &Watch, name: &str) {
    let key = key(&format!("{name}-versions"), "a", "");
    let id = begun(store, watch, &key).await.session.id;
    let to = |branch: &str, expected| Update {
        id: id.clone(),
        expected,
        standing: Standing { branch: Some(branch.to_owned()), ..Standing::default() },
    };
    store.heartbeat(id.clone()).await.unwrap();
    assert_eq!(store.update(to("one", Some(1)), None).await.unwrap().value.version, 2);
    let stale = store.update(to("two", Some(1)), None).await.unwrap_err();
    assert!(matches!(stale, StoreError::Stale { found: 2, expected: 1 }), "{stale:?}");
    assert_eq!(session(store, &id).await.standing.branch.as_deref(), Some("one"));
    assert_eq!(store.update(to("three", None), None).await.unwrap().value.version, 3);
}

/// Whoever comes second goes on with the first one's.
pub async fn fifty_that_begin_at_once_are_one(store: &dyn Context, watch: &Watch, name: &str) {
    let key = key(&format!("{name}-fifty"), "a", "");
    let all = (0..50).map(|_| store.begin(begin(watch, &key), None)).collect();
    let begun: Vec<_> = together(all).await.into_iter().map(|begun| begun.unwrap().value).collect();
    let ids: BTreeSet<_> = begun.iter().map(|begun| &begun.session.id).collect();
    assert_eq!((begun.len(), ids.len()), (50, 1), "{ids:?}");
    assert_eq!(begun.iter().filter(|begun| !begun.resumed).count(), 1);
    let query = LiveQuery { venture: Some(key.venture.clone()), ..LiveQuery::all(10) };
    assert_eq!(store.live(query).await.unwrap().total, 1);
}

fn ids(page: &Page<Session>) -> Vec<SessionId> {
    page.items.iter().map(|session| session.id.clone()).collect()
}

/// The own one is told by its id: names are shared. (In the original others were told by their agent's name, which all had.)
pub async fn every_other_live_session_is_returned_whatever_its_agent_is_called(
    store: &dyn Context,
    watch: &Watch,
    name: &str,
) {
    let venture = format!("{name}-siblings");
    let query = |except| LiveQuery { except, venture: Some(venture.clone()), ..LiveQuery::all(20) };
    let silent = begun(store, watch, &key(&venture, "claude@unknown", "silent")).await.session.id;
    watch.turn(SILENCE - MINUTE);
    let over = begun(store, watch, &key(&venture, "claude@unknown", "over")).await.session.id;
    store.end(over, None, String::new(), None).await.unwrap();
    let mut begun_here = Vec::new();
    for (agent, track, machine) in [
        ("claude@unknown", "", 1),
        ("claude@unknown", "on another machine", 2),
        ("claude@unknown", "on a third", 3),
        ("codex@unknown", "", 1),
    ] {
        watch.turn(1);
        let of = begin(watch, &key(&venture, agent, track));
        let machine = Some(MachineId::new(watch.now(), machine));
        let of = Begin { speaker: Speaker { machine, ..of.speaker.clone() }, ..of };
        begun_here.push(store.begin(of, None).await.unwrap().value.session.id);
    }
    watch.turn(MINUTE);
    let elsewhere = begun(store, watch, &key(&format!("{venture}-2"), "claude@unknown", "")).await.session.id;
    begun_here.reverse();
    for (at, own) in begun_here.iter().enumerate() {
        let page = store.live(query(Some(own.clone()))).await.unwrap();
        let mut others = begun_here.clone();
        others.remove(at);
        assert_eq!((ids(&page), page.total), (others, 3), "all but its own, the latest first");
    }
    let everybody = store.live(LiveQuery::all(MAX_PAGE)).await.unwrap();
    let everybody: BTreeSet<SessionId> = ids(&everybody).into_iter().collect();
    assert!(everybody.contains(&elsewhere) && begun_here.iter().all(|id| everybody.contains(id)));
    assert!(!everybody.contains(&silent), "one that fell silent is not alive");
    let of_repo = LiveQuery { repo: Some(format!("github.com/{venture}-2/app")), ..LiveQuery::all(5) };
    assert_eq!(ids(&store.live(of_repo).await.unwrap()), [elsewhere]);
}

/// Also while others give signs of life and begin.
pub async fn pages_of_live_sessions_show_everyone_once(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-pages");
    let mut all = BTreeSet::new();
    for n in 0..12 {
        // Some at the same moment.
        watch.turn(n % 2);
        all.insert(begun(store, watch, &key(&venture, "a", &n.to_string())).await.session.id);
    }
    let mut query = LiveQuery { venture: Some(venture.clone()), ..LiveQuery::all(5) };
    let (mut seen, mut pages) = (Vec::new(), 0);
    loop {
        let page = store.live(query.clone()).await.unwrap();
        pages += 1;
        seen.extend(ids(&page));
        if pages == 1 {
            assert_eq!(page.total, 12);
            watch.turn(1);
            store.heartbeat(seen[2].clone()).await.unwrap();
            begun(store, watch, &key(&venture, "a", "late")).await;
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    assert_eq!((pages, seen.len()), (3, 12));
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), all);
}

/// In the order in which they came, by session.
pub async fn checkpoints_are_numbered(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-checkpoints");
    let one = begun(store, watch, &key(&venture, "a", "")).await.session.id;
    let other = begun(store, watch, &key(&venture, "b", "")).await.session.id;
    let new = |session: &SessionId, summary: &str| NewCheckpoint {
        id: CheckpointId::new(watch.now(), next()),
        session: session.clone(),
        summary: summary.to_owned(),
        anchor: None,
        payload: Some(serde_json::json!({ "step": summary })),
    };
    for n in 1..=5_u64 {
        watch.turn(MINUTE);
        let sent = new(&one, &format!("step {n}"));
        let kept = store.checkpoint(sent.clone(), None).await.unwrap().value;
        assert_eq!((kept.ordinal, kept.at, &kept.payload), (n, watch.now(), &sent.payload));
        assert_eq!(store.checkpoint(sent, None).await.unwrap().value, kept, "sent again it is the same");
    }
    assert_eq!(session(store, &one).await.heartbeat, watch.now(), "it is a sign of life");
    let of_other = new(&other, "first");
    assert_eq!(store.checkpoint(of_other.clone(), None).await.unwrap().value.ordinal, 1);
    let taken = NewCheckpoint { session: one.clone(), ..of_other };
    assert!(matches!(store.checkpoint(taken, None).await, Err(StoreError::Exists { .. })));
    let together_ = (0..10).map(|n| store.checkpoint(new(&other, &format!("{n}")), None)).collect();
    let mut ordinals: Vec<_> =
        together(together_).await.into_iter().map(|kept| kept.unwrap().value.ordinal).collect();
    ordinals.sort_unstable();
    assert_eq!(ordinals, (2..=11).collect::<Vec<_>>());
    let first = store.checkpoints(one.clone(), 3, None).await.unwrap();
    let rest = store.checkpoints(one, 3, first.next).await.unwrap();
    let told: Vec<_> = first.items.iter().chain(&rest.items).map(|kept| kept.summary.as_str()).collect();
    assert_eq!(told, ["step 1", "step 2", "step 3", "step 4", "step 5"]);
    assert_eq!((first.total, rest.next), (5, None));
}

/// Empty, too long, NUL, no number; and nothing is there of it.
pub async fn what_does_not_fit_is_refused(store: &dyn Context, watch: &Watch, name: &str) {
    let fine = key(&format!("{name}-refused"), "a", "");
    let mut cases: Vec<Begin> = Vec::new();
    let mut case = |change: &dyn Fn(&mut Begin)| {
        let mut begin = begin(watch, &fine);
        change(&mut begin);
        cases.push(begin);
    };
    case(&|begin| " ".clone_into(&mut begin.key.agent));
    case(&|begin| begin.key.repo = String::new());
    case(&|begin| "a\0b".clone_into(&mut begin.key.track));
    case(&|begin| begin.key.agent = "x".repeat(201));
    case(&|begin| begin.by = String::new());
    case(&|begin| begin.standing.issue = Some(0));
    case(&|begin| begin.standing.issue = Some(u64::MAX));
    case(&|begin| begin.standing.branch = Some("y".repeat(2_000)));
    case(&|begin| begin.speaker.client = Some("z".repeat(201)));
    for begin in cases {
        super::context::refused(store.begin(begin, None).await, "a session");
    }
    let query = LiveQuery { venture: Some(fine.venture.clone()), ..LiveQuery::all(5) };
    assert_eq!(store.live(query.clone()).await.unwrap().total, 0);
    for limit in [0, MAX_PAGE + 1] {
        super::context::refused(store.live(LiveQuery { limit, ..query.clone() }).await, "a limit");
    }
    let most = crate::session::SessionKey { agent: "\u{e9}".repeat(100), track: "t".repeat(200), ..fine };
    assert_eq!(begun(store, watch, &most).await.session.key, most);
}
