//! Out of reach: writes wait, readings are of before, and all of it arrives in order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gatewright_context::{Offline, Remote};
use store_api::handoff::{HandoffQuery, HandoffStatus, NewHandoff};
use store_api::id::{HandoffId, SessionId};
use store_api::note::{NotePatch, NoteQuery};
use store_api::session::{LiveQuery, SessionKey, SessionStatus};
use store_api::testing::Watch;
use store_api::testing::context::{begin, next, once};
use store_api::testing::notes::note;
use store_api::{Keys, Machines, Notes, Outbox, Sessions, StoreError};

use crate::{Place, Running, key, runtime};

fn whose(agent: &str) -> SessionKey {
    let text = str::to_owned;
    SessionKey {
        agent: text(agent),
        venture: text("acme"),
        repo: text("github.com/acme/app"),
        track: text(""),
    }
}

fn handoff(watch: &Watch, summary: &str) -> NewHandoff {
    NewHandoff {
        id: HandoffId::new(watch.now(), next()),
        summary: summary.to_owned(),
        status: HandoffStatus::InProgress,
        issue: None,
        anchor: None,
        payload: None,
    }
}

/// A machine of a team: its own outbox, the context, its clock.
struct Desk {
    home: Place,
    offline: Offline,
    watch: Watch,
}

impl Desk {
    async fn new(place: &Place, running: &Running) -> Self {
        let home = Place::lite();
        let own = key(place, "desk", false).await;
        let remote = Remote::new(&running.base(), Some(own.reveal()), None).unwrap();
        let watch = place.watch.clone();
        let offline = Offline::new(remote, Arc::new(home.store.clone()), watch.clock(), "desk");
        Self { home, offline, watch }
    }

    /// Sends what waits, once nobody rests any more.
    async fn catch_up(&self) {
        let watched = Instant::now();
        while !self.offline.deliver(Duration::from_secs(10)).await.unwrap() {
            assert!(watched.elapsed() < Duration::from_secs(30), "it does not arrive");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

fn handed(place: &str) -> HandoffQuery {
    HandoffQuery {
        venture: Some(place.to_owned()),
        repo: Some("github.com/acme/app".to_owned()),
        ..HandoffQuery::all(10)
    }
}

#[test]
fn a_day_goes_on_without_the_context_and_arrives_in_order() {
    for place in Place::all() {
        runtime().block_on(async {
            let running = Running::start(&place, u64::MAX).await;
            let address = running.address;
            let desk = Desk::new(&place, &running).await;
            let (offline, watch) = (&desk.offline, &desk.watch);
            let begun = offline.begin(begin(watch, &whose("a")), None).await.unwrap().value;
            let kept =
                offline.add_note(note(watch, Some("acme"), "before", "text"), None).await.unwrap().value;
            offline.for_day("acme".to_owned(), 10, 1_000).await.unwrap();
            offline.handoffs(handed("acme")).await.unwrap();
            offline.live(LiveQuery::all(10)).await.unwrap();
            running.end().await;

            watch.turn(60_000);
            let watched = Instant::now();
            let again = offline.begin(begin(watch, &whose("a")), None).await.unwrap().value;
            assert!(watched.elapsed() < Duration::from_millis(1_500), "{:?}", watched.elapsed());
            assert_eq!((again.resumed, &again.session.id), (true, &begun.session.id), "it is known here");
            let watched = Instant::now();
            let day = offline.for_day("acme".to_owned(), 10, 1_000).await.unwrap();
            assert!(watched.elapsed() < Duration::from_millis(200), "nobody is asked for a while");
            assert_eq!(day.notes[0].title, "before");
            let added =
                offline.add_note(note(watch, Some("acme"), "meanwhile", "new"), None).await.unwrap().value;
            assert_eq!(offline.note(added.id.clone()).await.unwrap().unwrap().content, "new");
            let patch = NotePatch {
                title: Some("after".to_owned()),
                expected: Some(1),
                ..NotePatch::of(kept.id.clone(), "me")
            };
            assert_eq!(offline.change_note(patch, None).await.unwrap().value.version, 2);
            let day = offline.for_day("acme".to_owned(), 10, 1_000).await.unwrap();
            assert_eq!(day.notes[0].title, "meanwhile");
            let words = NoteQuery { q: Some("new".to_owned()), limit: 5, ..NoteQuery::default() };
            assert!(matches!(offline.notes(words).await, Err(StoreError::Unreachable(_))));
            offline.heartbeat(begun.session.id.clone()).await.unwrap();
            let ended = offline.end(
                begun.session.id.clone(),
                Some(handoff(watch, "offline")),
                "handoff".to_owned(),
                None,
            );
            let (session, _) = ended.await.unwrap().value;
            assert_eq!(session.status, SessionStatus::Ended);
            let shown = offline.handoffs(handed("acme")).await.unwrap();
            assert_eq!(shown.items[0].summary, "offline", "what was handed over is seen here at once");
            let closed = offline.heartbeat(begun.session.id.clone()).await;
            assert!(matches!(closed, Err(StoreError::Closed { .. })), "{closed:?}");
            let next_day = offline.begin(begin(watch, &whose("a")), None).await.unwrap().value;
            assert!(!next_day.resumed);
            let link = offline.link().await.unwrap();
            assert_eq!((link.line.waiting, link.line.failed), (5, 0), "{link:?}");
            assert!(link.offline_since.is_some() && link.shown_from.is_some());

            let running = Running::at(address, &place, u64::MAX).await;
            desk.catch_up().await;
            let link = offline.link().await.unwrap();
            assert_eq!((link.offline_since, link.line.waiting, link.line.failed), (None, 0, 0));
            let there = &place.store;
            assert_eq!(
                there.session(begun.session.id.clone()).await.unwrap().unwrap().status,
                SessionStatus::Ended
            );
            assert_eq!(there.note(kept.id).await.unwrap().unwrap().title, "after");
            assert_eq!(there.note(added.id).await.unwrap().unwrap().content, "new");
            let now = there.current(whose("a")).await.unwrap().unwrap();
            assert_eq!(now.id, next_day.session.id, "the id of here is the id of there");
            let handoffs = there.handoffs(handed("acme")).await.unwrap();
            assert_eq!((handoffs.total, handoffs.items[0].summary.as_str()), (1, "offline"));
            running.end().await;
        });
    }
}

#[test]
fn a_session_that_the_context_resumed_in_place_of_ours_is_called_by_its_name() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, u64::MAX).await;
        let address = running.address;
        let desk = Desk::new(&place, &running).await;
        let (offline, watch) = (&desk.offline, &desk.watch);
        let there = place.store.begin(begin(watch, &whose("a")), None).await.unwrap().value.session;
        running.end().await;
        let here = offline.begin(begin(watch, &whose("a")), None).await.unwrap().value.session;
        assert_ne!(here.id, there.id);
        offline.end(here.id.clone(), Some(handoff(watch, "mine")), "handoff".to_owned(), None).await.unwrap();
        let running = Running::at(address, &place, u64::MAX).await;
        desk.catch_up().await;
        assert_eq!(offline.link().await.unwrap().line.failed, 0);
        let ended = place.store.session(there.id.clone()).await.unwrap().unwrap();
        assert_eq!(ended.status, SessionStatus::Ended, "it was handed over as the one of there");
        assert_eq!(offline.session(here.id).await.unwrap().unwrap().id, there.id, "by its old name too");
        running.end().await;
    });
}

#[test]
fn what_the_context_refuses_steps_aside_and_the_rest_goes_on() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, u64::MAX).await;
        let address = running.address;
        let desk = Desk::new(&place, &running).await;
        let (offline, watch) = (&desk.offline, &desk.watch);
        let kept = offline.add_note(note(watch, None, "one", "text"), None).await.unwrap().value;
        running.end().await;
        let change = |title: &str| NotePatch {
            title: Some(title.to_owned()),
            expected: Some(1),
            ..NotePatch::of(kept.id.clone(), "me")
        };
        offline.change_note(change("here"), None).await.unwrap();
        let stale = offline.change_note(change("again"), None).await;
        assert!(matches!(stale, Err(StoreError::Stale { found: 2, expected: 1 })), "{stale:?}");
        offline.add_note(note(watch, None, "two", "text"), None).await.unwrap();
        // Meanwhile somebody else was faster.
        place.store.change_note(change("there"), None).await.unwrap();
        let running = Running::at(address, &place, u64::MAX).await;
        desk.catch_up().await;
        let link = offline.link().await.unwrap();
        assert_eq!((link.line.waiting, link.line.failed), (0, 1));
        let all = desk.home.store.line(10).await.unwrap();
        assert!(all[0].why.as_deref().is_some_and(|why| why.contains("version 2 is there")), "{all:?}");
        assert_eq!(place.store.note(kept.id.clone()).await.unwrap().unwrap().title, "there");
        assert_eq!(
            place.store.notes(NoteQuery { limit: 10, ..NoteQuery::default() }).await.unwrap().total,
            2
        );
        running.end().await;
    });
}

#[test]
fn what_waits_for_one_context_is_seen_by_no_other() {
    let (one, other) = (Place::lite(), Place::lite());
    runtime().block_on(async {
        let running = Running::start(&one, u64::MAX).await;
        let desk = Desk::new(&one, &running).await;
        let kept =
            desk.offline.add_note(note(&desk.watch, None, "of one", "text"), None).await.unwrap().value;
        desk.offline.notes(NoteQuery { limit: 10, ..NoteQuery::default() }).await.unwrap();
        running.end().await;
        desk.offline.add_note(note(&desk.watch, None, "secret of one", "text"), None).await.unwrap();
        let there = Running::start(&other, u64::MAX).await;
        let own = key(&other, "desk", false).await;
        let remote = Remote::new(&there.base(), Some(own.reveal()), None).unwrap();
        let elsewhere = Offline::new(remote, Arc::new(desk.home.store.clone()), one.watch.clock(), "desk");
        assert!(elsewhere.deliver(Duration::from_secs(5)).await.unwrap(), "nothing waits for it");
        assert_eq!(
            other.store.notes(NoteQuery { limit: 10, ..NoteQuery::default() }).await.unwrap().total,
            0
        );
        there.end().await;
        let shown = elsewhere.note(kept.id).await;
        assert!(matches!(shown, Err(StoreError::Unreachable(_))), "{shown:?}");
        assert!(elsewhere.notes(NoteQuery { limit: 10, ..NoteQuery::default() }).await.is_err());
        assert_eq!(desk.offline.link().await.unwrap().line.waiting, 1);
    });
}

#[test]
fn whoever_answers_and_is_no_context_takes_nothing_out_of_the_line() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, u64::MAX).await;
        let address = running.address;
        let desk = Desk::new(&place, &running).await;
        let offline = &desk.offline;
        let kept = offline.add_note(note(&desk.watch, None, "one", "text"), None).await.unwrap().value;
        running.end().await;
        offline.add_note(note(&desk.watch, None, "two", "text"), None).await.unwrap();
        for status in ["200 OK", "404 Not Found", "500 Oops", "302 Found"] {
            let portal = portal(address, status).await;
            let rested = Instant::now();
            while offline.link().await.unwrap().offline_since.is_some()
                && rested.elapsed() < Duration::from_millis(5_100)
            {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            assert!(!offline.deliver(Duration::from_secs(3)).await.unwrap(), "{status}");
            assert_eq!(
                offline.note(kept.id.clone()).await.unwrap().unwrap().title,
                "one",
                "{status}: what was known is shown"
            );
            let line = offline.link().await.unwrap().line;
            assert_eq!((line.waiting, line.failed), (1, 0), "{status}");
            portal.abort();
            let _ = portal.await;
        }
        let running = Running::at(address, &place, u64::MAX).await;
        place.store.revoke(place.store.keys().await.unwrap()[0].id.clone()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(5_100)).await;
        assert!(!offline.deliver(Duration::from_secs(3)).await.unwrap(), "without a key that counts");
        let line = offline.link().await.unwrap().line;
        assert_eq!((line.waiting, line.failed), (1, 0), "it waits for a key that does");
        running.end().await;
    });
}

/// Somebody who answers everything with the same page.
async fn portal(address: std::net::SocketAddr, status: &'static str) -> tokio::task::JoinHandle<()> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let mut request = vec![0; 64 << 10];
            let _ = near.read(&mut request).await;
            let page = "<html>Accept our terms</html>";
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", page.len());
            let _ = near.write_all(format!("{head}{page}").as_bytes()).await;
        }
    })
}

#[test]
fn what_was_done_long_after_the_context_gave_a_session_up_arrives_in_another() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, u64::MAX).await;
        let address = running.address;
        let desk = Desk::new(&place, &running).await;
        let (offline, watch) = (&desk.offline, &desk.watch);
        let first = offline.begin(begin(watch, &whose("a")), None).await.unwrap().value.session;
        running.end().await;
        let minutes = |n: i64| watch.turn(n * 60_000);
        minutes(30);
        offline.heartbeat(first.id.clone()).await.unwrap();
        minutes(30);
        let again = offline.begin(begin(watch, &whose("a")), None).await.unwrap().value;
        assert_eq!((again.resumed, &again.session.id), (true, &first.id));
        // Somebody with the same key began over there meanwhile, and ended: the one of here was given up.
        let rival = place.store.begin(begin(watch, &whose("a")), None).await.unwrap().value.session;
        place.store.end(rival.id.clone(), None, "manual".to_owned(), None).await.unwrap();
        offline
            .end(first.id.clone(), Some(handoff(watch, "late")), "handoff".to_owned(), None)
            .await
            .unwrap();
        let running = Running::at(address, &place, u64::MAX).await;
        desk.catch_up().await;
        let link = offline.link().await.unwrap();
        assert_eq!((link.line.waiting, link.line.failed), (0, 0), "{:?}", desk.home.store.line(5).await);
        let there = place.store.handoffs(handed("acme")).await.unwrap();
        assert_eq!((there.total, there.items[0].summary.as_str()), (1, "late"));
        assert_ne!(there.items[0].session, first.id);
        // And it is not brought back to life by what was known of it.
        running.end().await;
        let next = offline.begin(begin(watch, &whose("a")), None).await.unwrap().value;
        assert!(!next.resumed, "{next:?}");
    });
}

#[test]
fn two_changes_in_a_row_are_both_refused_where_somebody_was_faster() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, u64::MAX).await;
        let address = running.address;
        let desk = Desk::new(&place, &running).await;
        let (offline, watch) = (&desk.offline, &desk.watch);
        let kept = offline.add_note(note(watch, None, "one", "text"), None).await.unwrap().value;
        running.end().await;
        let change = |content: &str, expected| NotePatch {
            content: Some(content.to_owned()),
            expected: Some(expected),
            ..NotePatch::of(kept.id.clone(), "me")
        };
        offline.change_note(change("here 1", 1), None).await.unwrap();
        offline.change_note(change("here 2", 2), None).await.unwrap();
        place.store.change_note(change("there", 1), None).await.unwrap();
        let running = Running::at(address, &place, u64::MAX).await;
        desk.catch_up().await;
        assert_eq!(offline.link().await.unwrap().line.failed, 2);
        let there = place.store.note(kept.id.clone()).await.unwrap().unwrap();
        assert_eq!((there.content.as_str(), there.version), ("there", 2), "what somebody else wrote stays");
        running.end().await;
    });
}

#[test]
fn a_call_sends_what_waits_before_it_asks() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, u64::MAX).await;
        let address = running.address;
        let desk = Desk::new(&place, &running).await;
        let (offline, watch) = (&desk.offline, &desk.watch);
        running.end().await;
        let here = offline.begin(begin(watch, &whose("a")), None).await.unwrap().value.session;
        let running = Running::at(address, &place, u64::MAX).await;
        tokio::time::sleep(Duration::from_millis(5_100)).await;
        let session = offline.session(here.id.clone()).await.unwrap().unwrap();
        assert_eq!(session.id, here.id, "it is there, and it is asked for after it arrived");
        offline
            .end(here.id.clone(), Some(handoff(watch, "at once")), "handoff".to_owned(), None)
            .await
            .unwrap();
        assert_eq!(offline.link().await.unwrap().line.waiting, 0);
        assert_eq!(place.store.handoffs(handed("acme")).await.unwrap().total, 1);
        running.end().await;
    });
}

#[test]
fn a_write_that_was_sent_and_not_answered_is_done_once() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, u64::MAX).await;
        let own = key(&place, "desk", false).await;
        // In between stands somebody who passes requests on and loses the first answers.
        let losing = losing(running.address, 2).await;
        let home = Place::lite();
        let remote = Remote::new(&format!("http://{losing}"), Some(own.reveal()), None).unwrap();
        let offline = Offline::new(remote, Arc::new(home.store.clone()), place.watch.clock(), "desk");
        let same = once("me", "k", "x");
        let begun = offline.begin(begin(&place.watch, &whose("a")), None).await.unwrap().value.session;
        let update = |branch: &str| store_api::session::Update {
            id: begun.id.clone(),
            expected: None,
            standing: store_api::session::Standing { branch: Some(branch.to_owned()), ..Default::default() },
        };
        let watched = Instant::now();
        while offline.link().await.unwrap().line.waiting > 0 {
            offline.deliver(Duration::from_secs(5)).await.unwrap();
            assert!(watched.elapsed() < Duration::from_secs(30));
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        offline.update(update("one"), Some(same.clone())).await.unwrap();
        let again = offline.update(update("one"), Some(same)).await.unwrap();
        assert!(again.replayed);
        let there = place.store.session(begun.id.clone()).await.unwrap().unwrap();
        assert_eq!(there.version, 2, "one beginning and one change, however often they were sent");
        running.end().await;
    });
}

#[test]
fn without_a_key_nothing_waits_for_ever_and_what_to_do_is_said() {
    let place = Place::lite();
    runtime().block_on(async {
        let running = Running::start(&place, u64::MAX).await;
        let home = Place::lite();
        for key in [None, Some("gwk_wrong".to_owned())] {
            let remote = Remote::new(&running.base(), key, None).unwrap();
            let offline = Offline::new(remote, Arc::new(home.store.clone()), place.watch.clock(), "desk");
            for error in [
                offline.begin(begin(&place.watch, &whose("a")), None).await.unwrap_err(),
                offline.session(SessionId::new(place.watch.now(), next())).await.unwrap_err(),
                offline.machines().await.unwrap_err(),
            ] {
                assert!(error.to_string().contains("gatewright context login"), "{error}");
            }
            assert_eq!(offline.link().await.unwrap().line.waiting, 0);
        }
        running.end().await;
        for bad in ["http://context.example", "https://u:p@h/", "https://h/?key=x", "ftp://h/", ""] {
            assert!(Remote::new(bad, None, None).is_err(), "{bad}");
        }
    });
}

/// A server that passes connections on to another one, and cuts the first few when the answer comes.
async fn losing(to: std::net::SocketAddr, count: usize) -> std::net::SocketAddr {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut left = count;
        while let Ok((mut near, _)) = listener.accept().await {
            let loses = left > 0;
            left = left.saturating_sub(1);
            tokio::spawn(async move {
                let mut far = tokio::net::TcpStream::connect(to).await.unwrap();
                if loses {
                    let mut request = vec![0; 64 << 10];
                    let n = near.read(&mut request).await.unwrap();
                    far.write_all(&request[..n]).await.unwrap();
                    let _ = far.read(&mut request).await;
                    return;
                }
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    address
}
