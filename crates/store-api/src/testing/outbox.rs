//! What is kept for a server that cannot be reached, through the traits alone.

use contract::Digest;

use super::context::{MINUTE, Watch};
use crate::StoreError;
use crate::outbox::{Letter, Line, MAX_MIRRORED, MAX_WAITING_BYTES, MIRRORED, Outbox};

/// Holds a driver to all of it. The line must be empty before.
pub async fn outbox(store: &dyn Outbox, watch: &Watch) {
    letters_leave_in_order_and_once(store).await;
    a_letter_is_for_one_context_alone(store).await;
    what_was_made_of_a_refused_change_is_refused_with_it(store).await;
    a_session_is_renamed_in_all_that_waits(store).await;
    a_line_has_an_end(store).await;
    answers_are_kept_for_a_while(store, watch).await;
    a_lease_is_one_holders_until_it_ends(store, watch).await;
}

/// A context.
const HERE: &str = "https://context.example";

fn letter(key: &str, body: &str) -> Letter {
    Letter {
        key: key.to_owned(),
        request: Digest::of(body.as_bytes()),
        context: HERE.to_owned(),
        path: "/sod".to_owned(),
        body: body.to_owned(),
    }
}

/// What was refused steps aside, and comes back when it is tried again.
pub async fn letters_leave_in_order_and_once(store: &dyn Outbox) {
    assert_eq!(store.first(HERE.to_owned()).await.unwrap(), None);
    let one = store.post(letter("one", "1")).await.unwrap();
    let two = store.post(letter("two", "2")).await.unwrap();
    assert_eq!(store.post(letter("one", "1")).await.unwrap(), one, "kept once");
    assert_eq!(store.first(HERE.to_owned()).await.unwrap().expect("one waits").body, "1");
    store.refuse(one, "no".to_owned()).await.unwrap();
    assert_eq!(store.first(HERE.to_owned()).await.unwrap().expect("two waits").number, two);
    assert_eq!(store.length(HERE.to_owned()).await.unwrap(), Line { waiting: 1, failed: 1 });
    let whys: Vec<_> = store.line(10).await.unwrap().into_iter().map(|waiting| waiting.why).collect();
    assert_eq!(whys, [Some("no".to_owned()), None]);
    assert_eq!(store.retry(HERE.to_owned()).await.unwrap(), 1);
    assert_eq!(store.first(HERE.to_owned()).await.unwrap().expect("one waits again").number, one);
    assert!(store.take_out(one).await.unwrap() && store.take_out(two).await.unwrap());
    assert!(!store.take_out(one).await.unwrap());
    assert_eq!(store.length(HERE.to_owned()).await.unwrap(), Line::default());
}

/// Another one neither gets it nor counts it.
pub async fn a_letter_is_for_one_context_alone(store: &dyn Outbox) {
    let there = "https://other.example".to_owned();
    let own = store.post(letter("own", "1")).await.unwrap();
    let other = store.post(Letter { context: there.clone(), ..letter("other", "2") }).await.unwrap();
    assert_eq!(store.first(there.clone()).await.unwrap().expect("it waits").number, other);
    assert_eq!(store.length(there.clone()).await.unwrap().waiting, 1);
    store.refuse(own, "no".to_owned()).await.unwrap();
    assert_eq!(store.retry(there).await.unwrap(), 0);
    assert_eq!(store.length(HERE.to_owned()).await.unwrap(), Line { waiting: 0, failed: 1 });
    assert_eq!(store.line(10).await.unwrap().len(), 2, "whoever looks sees both");
    assert!(store.take_out(own).await.unwrap() && store.take_out(other).await.unwrap());
}

/// Its version would be somebody else's.
pub async fn what_was_made_of_a_refused_change_is_refused_with_it(store: &dyn Outbox) {
    let change = |key: &str, note: &str| Letter { path: format!("/notes/{note}/update"), ..letter(key, key) };
    let first = store.post(change("first", "note_a")).await.unwrap();
    for (key, note) in [("second", "note_a"), ("third", "note_b")] {
        store.post(change(key, note)).await.unwrap();
    }
    store.refuse(first, "stale".to_owned()).await.unwrap();
    let line = store.line(10).await.unwrap();
    let whys: Vec<_> = line.iter().map(|waiting| waiting.why.as_deref()).collect();
    assert_eq!(whys, [Some("stale"), Some("stale"), None]);
    for waiting in line {
        store.take_out(waiting.number).await.unwrap();
    }
}

/// In bodies, and for whoever asks by the old name.
pub async fn a_session_is_renamed_in_all_that_waits(store: &dyn Outbox) {
    let number = store.post(letter("end", r#"{"session_id":"sess_old"}"#)).await.unwrap();
    assert_eq!(store.named_now("sess_old".to_owned()).await.unwrap(), None);
    store.rename("sess_old".to_owned(), "sess_new".to_owned()).await.unwrap();
    assert_eq!(
        store.first(HERE.to_owned()).await.unwrap().expect("it waits").body,
        r#"{"session_id":"sess_new"}"#
    );
    assert_eq!(store.named_now("sess_old".to_owned()).await.unwrap().as_deref(), Some("sess_new"));
    store.take_out(number).await.unwrap();
}

/// What has no room is refused before anybody is told that it was kept.
pub async fn a_line_has_an_end(store: &dyn Outbox) {
    let much = "x".repeat(usize::try_from(MAX_WAITING_BYTES / 8).unwrap());
    for n in 0..8 {
        store.post(letter(&format!("much-{n}"), &much)).await.unwrap();
    }
    let refused = store.post(letter("more", "x")).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })), "{refused:?}");
    for waiting in store.line(10).await.unwrap() {
        store.take_out(waiting.number).await.unwrap();
    }
    let kept = store.post(letter("more", "x")).await.unwrap();
    store.take_out(kept).await.unwrap();
}

/// Seven days, and of many the newest.
pub async fn answers_are_kept_for_a_while(store: &dyn Outbox, watch: &Watch) {
    let ask = |question: &str| store.mirrored(question.to_owned());
    store.mirror("q".to_owned(), "1".to_owned()).await.unwrap();
    let at = watch.now();
    watch.turn(MINUTE);
    assert_eq!(ask("q").await.unwrap(), Some((at, "1".to_owned())));
    store.mirror("q".to_owned(), "2".to_owned()).await.unwrap();
    assert_eq!(ask("q").await.unwrap(), Some((watch.now(), "2".to_owned())));
    for n in 0..MAX_MIRRORED {
        watch.turn(1);
        store.mirror(format!("q{n}"), "x".to_owned()).await.unwrap();
    }
    assert_eq!(ask("q").await.unwrap(), None, "the oldest went");
    assert!(ask("q0").await.unwrap().is_some());
    watch.turn(MIRRORED + 1);
    assert_eq!(ask("q7").await.unwrap(), None, "it is too old");
}

/// Nobody else has it meanwhile.
pub async fn a_lease_is_one_holders_until_it_ends(store: &dyn Outbox, watch: &Watch) {
    let lease = |holder: &str| store.lease("courier".to_owned(), holder.to_owned(), MINUTE);
    assert!(lease("a").await.unwrap() && !lease("b").await.unwrap());
    watch.turn(MINUTE - 1);
    assert!(lease("a").await.unwrap(), "it may be kept");
    watch.turn(MINUTE - 1);
    assert!(!lease("b").await.unwrap());
    watch.turn(1);
    assert!(lease("b").await.unwrap() && !lease("a").await.unwrap());
}
