//! What one session tells the next.

use serde_json::json;

use super::context::{MINUTE, Watch, begun, key, next, refused};
use crate::handoff::{
    Anchor, Change, Dirty, HandoffQuery, HandoffStatus, MAX_DIRTY, MAX_FILES, MAX_HANDOFF, NewHandoff,
    Touched, Upstream,
};
use crate::id::{HandoffId, SessionId};
use crate::session::SessionStatus;
use crate::{Context, Page, StoreError};

pub(super) async fn all(store: &dyn Context, watch: &Watch, name: &str) {
    a_handoff_comes_back_as_it_was(store, watch, name).await;
    an_end_is_one_write(store, watch, name).await;
    handoffs_of_every_track_are_shown(store, watch, name).await;
    pages_of_handoffs_show_everything_once(store, watch, name).await;
    what_does_not_fit_is_refused(store, watch, name).await;
}

/// A handoff with an id of its own.
#[must_use]
pub fn handoff(watch: &Watch, summary: &str) -> NewHandoff {
    NewHandoff {
        id: HandoffId::new(watch.now(), next()),
        summary: summary.to_owned(),
        status: HandoffStatus::InProgress,
        issue: None,
        anchor: None,
        payload: None,
    }
}

fn touched(path: &str) -> Touched {
    Touched { path: path.to_owned(), change: Change::Modified, sha256: Some("9d".repeat(32)) }
}

async fn end(store: &dyn Context, id: &SessionId, handoff: NewHandoff) -> crate::handoff::Handoff {
    let ended = store.end(id.clone(), Some(handoff), "manual".to_owned(), None).await;
    ended.expect("it ends").value.1.expect("it hands over")
}

/// Quotes, other scripts, numbers, nothing at all.
pub async fn a_handoff_comes_back_as_it_was(store: &dyn Context, watch: &Watch, name: &str) {
    let key = key(&format!("{name}-told"), "a", "t");
    let id = begun(store, watch, &key).await.session.id;
    let new = NewHandoff {
        status: HandoffStatus::Blocked,
        issue: Some(i64::MAX.unsigned_abs()),
        anchor: Some(Anchor {
            head: Some("c1".to_owned()),
            branch: Some("main".to_owned()),
            detached: false,
            start: None,
            upstream: Some(Upstream { name: "origin/main".to_owned(), ahead: Some(2), behind: None }),
            dirty: Dirty { staged: 1, paths: vec![touched("a b/\u{e9}'\".rs")], ..Dirty::default() },
            files: vec![touched("src/lib.rs")],
            more: 3,
        }),
        payload: Some(
            json!({ "nul": "a\0b", "number": 1.5, "list": [null, u64::MAX], "\u{1f600}": "'\\\"" }),
        ),
        ..handoff(watch, "# Done\n\n'; DROP TABLE handoffs; -- $1 ?1 \u{4e16}\u{754c}\r\n")
    };
    watch.turn(MINUTE);
    let kept = end(store, &id, new.clone()).await;
    assert_eq!((&kept.summary, kept.status, kept.issue), (&new.summary, new.status, new.issue));
    assert_eq!((&kept.anchor, &kept.payload), (&new.anchor, &new.payload));
    assert_eq!((&kept.session, kept.at, &kept.from.agent), (&id, watch.now(), &key.agent));
    assert_eq!((&kept.venture, &kept.repo, &kept.track), (&key.venture, &key.repo, &key.track));
    let query = HandoffQuery { session: Some(id), ..HandoffQuery::all(1) };
    assert_eq!(store.handoffs(query).await.unwrap(), Page { items: vec![kept], next: None, total: 1 });
}

/// Neither without the other; sent again it is the same; a name that is taken leaves the session as it was.
pub async fn an_end_is_one_write(store: &dyn Context, watch: &Watch, name: &str) {
    let key = key(&format!("{name}-end"), "a", "");
    let id = begun(store, watch, &key).await.session.id;
    let new = handoff(watch, "first");
    let kept = end(store, &id, new.clone()).await;
    let session = store.session(id.clone()).await.unwrap().unwrap();
    assert_eq!((session.status, session.ended), (SessionStatus::Ended, Some(watch.now())));
    watch.turn(MINUTE);
    let again = store.end(id.clone(), Some(new.clone()), "manual".to_owned(), None).await.unwrap();
    assert_eq!(again.value, (session, Some(kept)));
    let another = store.end(id, Some(handoff(watch, "another")), String::new(), None).await;
    assert!(matches!(another, Err(StoreError::Closed { .. })), "{another:?}");

    let second = begun(store, watch, &key).await.session;
    let taken = store.end(second.id.clone(), Some(new), String::new(), None).await;
    assert!(matches!(taken, Err(StoreError::Exists { .. })), "{taken:?}");
    assert_eq!(store.session(second.id.clone()).await.unwrap(), Some(second.clone()));
    assert_eq!(store.handoffs(of(&key.venture)).await.unwrap().total, 1);
}

fn of(venture: &str) -> HandoffQuery {
    HandoffQuery { venture: Some(venture.to_owned()), ..HandoffQuery::all(10) }
}

/// Whoever asks for no track gets all; who asks for the empty one gets that. (In the original the first track alone was looked at.)
pub async fn handoffs_of_every_track_are_shown(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-every");
    let began = watch.now();
    for track in ["", "1", "2", "later"] {
        watch.turn(MINUTE);
        let id = begun(store, watch, &key(&venture, "a", track)).await.session.id;
        end(store, &id, handoff(watch, track).named(track)).await;
    }
    let mut elsewhere = key(&venture, "a", "");
    "github.com/other/app".clone_into(&mut elsewhere.repo);
    let id = begun(store, watch, &elsewhere).await.session.id;
    end(store, &id, handoff(watch, "elsewhere")).await;
    let told = async |query: HandoffQuery| {
        let page = store.handoffs(query).await.unwrap();
        assert_eq!(page.total, page.items.len() as u64);
        page.items.into_iter().map(|kept| kept.summary).collect::<Vec<_>>()
    };
    let repo = Some(format!("github.com/{venture}/app"));
    let here = HandoffQuery { repo: repo.clone(), ..of(&venture) };
    assert_eq!(told(of(&venture)).await, ["elsewhere", "later", "2", "1", "none"], "the newest first");
    assert_eq!(told(here.clone()).await, ["later", "2", "1", "none"]);
    assert_eq!(told(HandoffQuery { track: Some(String::new()), ..here.clone() }).await, ["none"]);
    assert_eq!(told(HandoffQuery { track: Some("2".to_owned()), ..here.clone() }).await, ["2"]);
    assert_eq!(told(HandoffQuery { venture: None, ..here.clone() }).await, ["later", "2", "1", "none"]);
    let since = crate::Timestamp::from_millis(began.as_millis() + 3 * MINUTE);
    assert_eq!(
        told(HandoffQuery { since: Some(since), ..here }).await,
        ["later", "2"],
        "and that moment too"
    );
    assert_eq!(told(of(&format!("{venture}%"))).await, [""; 0], "a venture is no pattern");
}

impl NewHandoff {
    /// With a summary, which may not be empty.
    fn named(self, summary: &str) -> Self {
        let summary = if summary.is_empty() { "none" } else { summary };
        Self { summary: summary.to_owned(), ..self }
    }
}

/// Also of the same moment, and also while others hand over.
pub async fn pages_of_handoffs_show_everything_once(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-told-pages");
    for n in 0..9 {
        let id = begun(store, watch, &key(&venture, "a", "")).await.session.id;
        end(store, &id, handoff(watch, &n.to_string())).await;
    }
    for by_place in [false, true] {
        let repo = by_place.then(|| format!("github.com/{venture}/app"));
        let mut query = HandoffQuery { repo, limit: 4, ..of(&venture) };
        let mut seen: Vec<String> = Vec::new();
        loop {
            let page = store.handoffs(query.clone()).await.unwrap();
            seen.extend(page.items.into_iter().map(|kept| kept.summary));
            let id = begun(store, watch, &key(&venture, "a", "")).await.session.id;
            end(store, &id, handoff(watch, "late")).await;
            match page.next {
                Some(next) => query.after = Some(next),
                None => break,
            }
        }
        seen.retain(|summary| summary != "late");
        assert_eq!(seen, ["8", "7", "6", "5", "4", "3", "2", "1", "0"]);
    }
}

/// At the limit it fits, one byte over it does not; and the session goes on.
pub async fn what_does_not_fit_is_refused(store: &dyn Context, watch: &Watch, name: &str) {
    let key = key(&format!("{name}-told-large"), "a", "");
    let id = begun(store, watch, &key).await.session.id;
    let files = |n: usize| (0..n).map(|n| touched(&n.to_string())).collect::<Vec<_>>();
    let dirty = Dirty { paths: files(MAX_DIRTY + 1), ..Dirty::default() };
    let cases = [
        handoff(watch, ""),
        handoff(watch, "a\0b"),
        handoff(watch, &"x".repeat(MAX_HANDOFF + 1)),
        NewHandoff { payload: Some(json!("y")), ..handoff(watch, &"x".repeat(MAX_HANDOFF - 2)) },
        NewHandoff { issue: Some(0), ..handoff(watch, "no issue") },
        NewHandoff {
            anchor: Some(Anchor { files: files(MAX_FILES + 1), ..Anchor::default() }),
            ..handoff(watch, "files")
        },
        NewHandoff { anchor: Some(Anchor { dirty, ..Anchor::default() }), ..handoff(watch, "dirty") },
    ];
    for case in cases {
        refused(store.end(id.clone(), Some(case), String::new(), None).await, "a handoff");
    }
    refused(store.end(id.clone(), None, "r".repeat(1_025), None).await, "a reason");
    assert_eq!(store.heartbeat(id.clone()).await.unwrap().status, SessionStatus::Active);
    let summary = "\u{e9}".repeat((MAX_HANDOFF - 3) / 2);
    let most = NewHandoff { payload: Some(json!("y")), ..handoff(watch, &summary) };
    assert_eq!(end(store, &id, most).await.summary.len(), summary.len());
}
