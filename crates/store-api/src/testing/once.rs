//! Writes that are sent again.

use super::context::{Watch, begin, key, next, once, refused, together};
use super::handoffs::handoff;
use super::notes::{note, of};
use crate::id::NoteId;
use crate::note::{NewNote, NotePatch};
use crate::once::{KEPT, Once};
use crate::session::{Standing, Update};
use crate::{Context, StoreError, Timestamp};

pub(super) async fn all(store: &dyn Context, watch: &Watch, name: &str) {
    every_write_is_done_once(store, watch, name).await;
    an_idempotency_key_expires_by_the_clock_and_not_by_its_spelling(store, watch, name).await;
    a_key_is_its_owners_and_of_one_request(store, watch, name).await;
    ten_that_come_at_once_are_one_write(store, watch, name).await;
    what_was_refused_is_not_remembered(store, watch, name).await;
}

/// And answered as the first time, whatever became of it since.
pub async fn every_write_is_done_once(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-once");
    let same = |key: &str| Some(once(&venture, key, key));
    let new = begin(watch, &key(&venture, "a", ""));
    let first = store.begin(new.clone(), same("begin")).await.unwrap();
    // An id of its own each time: it is the key that makes it the same.
    let again = begin(watch, &new.key);
    let second = store.begin(again, same("begin")).await.unwrap();
    assert_eq!((second.value, second.replayed, first.replayed), (first.value.clone(), true, false));
    let update = Update {
        id: new.id.clone(),
        expected: Some(1),
        standing: Standing { issue: Some(3), ..Standing::default() },
    };
    let first = store.update(update.clone(), same("update")).await.unwrap().value;
    let second = store.update(update, same("update")).await.unwrap();
    assert_eq!((second.value, second.replayed), (first, true), "and not stale");
    let told = Some(handoff(watch, "told"));
    let first = store.end(new.id.clone(), told.clone(), String::new(), same("end")).await.unwrap().value;
    let told = Some(handoff(watch, "another id"));
    let second = store.end(new.id, told, String::new(), same("end")).await.unwrap();
    assert_eq!((second.value, second.replayed), (first, true), "and not closed");
    let add = || note(watch, Some(&venture), "title", "text");
    let kept = store.add_note(add(), same("note")).await.unwrap().value;
    let patch = NotePatch {
        expected: Some(1),
        content: Some("other".to_owned()),
        ..NotePatch::of(kept.id.clone(), "x")
    };
    let changed = store.change_note(patch.clone(), same("change")).await.unwrap().value;
    let again = store.change_note(patch, same("change")).await.unwrap();
    assert_eq!((again.value, again.replayed), (changed, true));
    let again = store.add_note(add(), same("note")).await.unwrap();
    assert_eq!((again.value, again.replayed), (kept, true), "as it was then");
    assert_eq!(store.notes(of(&venture, 5)).await.unwrap().total, 1);
}

/// 59:59.999 later it is the same, 60:00 later another one: also where a number gets a digit, and over midnight and a year's end.
/// (In the original times were compared as texts of two spellings.)
pub async fn an_idempotency_key_expires_by_the_clock_and_not_by_its_spelling(
    store: &dyn Context,
    watch: &Watch,
    name: &str,
) {
    let before = watch.now();
    let venture = format!("{name}-expires");
    for (at, start) in [
        999_i64,
        999_000,
        1_000_000 - KEPT,
        9_999_999_999,
        999_999_999_999 - KEPT / 2,
        // 2025-12-31T23:00:00Z, 2026-02-28T23:30:00.500Z, 2025-10-26T00:59:59.999Z (Europe sets its clocks back).
        1_767_222_000_000,
        1_772_321_400_500,
        1_761_440_399_999,
        -1,
    ]
    .into_iter()
    .enumerate()
    {
        watch.set(Timestamp::from_millis(start));
        let add = || {
            store.add_note(
                note(watch, Some(&venture), "t", "text"),
                Some(once(&venture, &format!("k{at}"), "r")),
            )
        };
        let first = add().await.unwrap();
        watch.turn(KEPT - 1);
        let again = add().await.unwrap();
        assert_eq!(
            (&again.value.id, again.replayed),
            (&first.value.id, true),
            "{start}: a millisecond before"
        );
        watch.turn(1);
        let later = add().await.unwrap();
        assert!(!later.replayed && later.value.id != first.value.id, "{start}: an hour later");
        watch.turn(KEPT - 1);
        assert_eq!(add().await.unwrap().value.id, later.value.id, "{start}: kept anew");
    }
    watch.set(before);
}

/// Nobody meets another's; another request, or another kind of write, is told so and changes nothing.
pub async fn a_key_is_its_owners_and_of_one_request(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-owners");
    let add = |once: Once| store.add_note(note(watch, Some(&venture), "t", "text"), Some(once));
    let own = once(&venture, "key", "request");
    let first = add(own.clone()).await.unwrap();
    for other in [once(&format!("{venture}2"), "key", "request"), once(&venture, "KEY", "request")] {
        assert!(!add(other.clone()).await.unwrap().replayed, "{other:?}");
    }
    let reused = add(once(&venture, "key", "another request")).await;
    assert!(matches!(reused, Err(StoreError::OnceReused)), "{reused:?}");
    let patch = NotePatch { title: Some("x".to_owned()), ..NotePatch::of(first.value.id.clone(), "x") };
    let reused = store.change_note(patch, Some(own.clone())).await;
    assert!(matches!(reused, Err(StoreError::OnceReused)), "{reused:?}");
    assert_eq!(store.note(first.value.id.clone()).await.unwrap(), Some(first.value));
    assert_eq!(store.notes(of(&venture, 1)).await.unwrap().total, 3);
    for key in ["", "a b", "\u{e9}", &"k".repeat(129), "a\0"] {
        refused(add(Once { key: key.to_owned(), ..own.clone() }).await, "a key");
    }
    assert!(!add(Once { key: "k-_9".repeat(32), ..own }).await.unwrap().replayed);
}

/// Whoever comes second waits for the first.
pub async fn ten_that_come_at_once_are_one_write(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-at-once");
    let add = |_| store.add_note(note(watch, Some(&venture), "t", "text"), Some(once(&venture, "key", "r")));
    let done: Vec<_> = together((0..10).map(add).collect()).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(done.iter().filter(|done| !done.replayed).count(), 1);
    assert!(done.iter().all(|one| one.value == done[0].value));
    assert_eq!(store.notes(of(&venture, 1)).await.unwrap().total, 1);
}

/// Neither what did not fit nor what was stale: sent again, and right, it is done.
pub async fn what_was_refused_is_not_remembered(store: &dyn Context, watch: &Watch, name: &str) {
    let venture = format!("{name}-refused-once");
    let same = Some(once(&venture, "key", "r"));
    let wrong = NewNote { title: String::new(), ..note(watch, Some(&venture), "t", "text") };
    refused(store.add_note(wrong, same.clone()).await, "a note");
    let unknown = NotePatch::of(NoteId::new(watch.now(), next()), "x");
    assert!(matches!(store.change_note(unknown, same.clone()).await, Err(StoreError::NotFound { .. })));
    let right = store.add_note(note(watch, Some(&venture), "t", "text"), same).await.unwrap();
    assert!(!right.replayed);
}
