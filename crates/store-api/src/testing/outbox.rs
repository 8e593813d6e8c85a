//! What is kept for a server that cannot be reached, through the traits alone.

use contract::Digest;

use super::context::{MINUTE, Watch};
use crate::StoreError;
use crate::outbox::{Letter, Line, MAX_MIRRORED, MAX_WAITING_BYTES, MIRRORED, Outbox};

/// Holds a driver to all of it. The line must be empty before.
pub async fn outbox(store: &dyn Outbox, watch: &Watch) {
    letters_leave_in_order_and_once(store).await;
    a_session_is_renamed_in_all_that_waits(store).await;
    a_line_has_an_end(store).await;
    answers_are_kept_for_a_while(store, watch).await;
    a_lease_is_one_holders_until_it_ends(store, watch).await;
}

fn letter(key: &str, body: &str) -> Letter {
    Letter {
        key: key.to_owned(),
        request: Digest::of(body.as_bytes()),
        path: "/sod".to_owned(),
        body: body.to_owned(),
    }
}

/// What was refused steps aside, and comes back when it is tried again.
pub async fn letters_leave_in_order_and_once(store: &dyn Outbox) {
    assert_eq!(store.first().await.unwrap(), None);
    let one = store.post(letter("one", "1")).await.unwrap();
    let two = store.post(letter("two", "2")).await.unwrap();
    assert_eq!(store.post(letter("one", "1")).await.unwrap(), one, "kept once");
    assert_eq!(store.first().await.unwrap().expect("one waits").body, "1");
    store.refuse(one, "no".to_owned()).await.unwrap();
    assert_eq!(store.first().await.unwrap().expect("two waits").number, two);
    assert_eq!(store.length().await.unwrap(), Line { waiting: 1, failed: 1 });
    let whys: Vec<_> = store.line(10).await.unwrap().into_iter().map(|waiting| waiting.why).collect();
    assert_eq!(whys, [Some("no".to_owned()), None]);
    assert_eq!(store.retry().await.unwrap(), 1);
    assert_eq!(store.first().await.unwrap().expect("one waits again").number, one);
    assert!(store.take_out(one).await.unwrap() && store.take_out(two).await.unwrap());
    assert!(!store.take_out(one).await.unwrap());
    assert_eq!(store.length().await.unwrap(), Line::default());
}

/// In bodies, and for whoever asks by the old name.
pub async fn a_session_is_renamed_in_all_that_waits(store: &dyn Outbox) {
    let number = store.post(letter("end", r#"{"session_id":"sess_old"}"#)).await.unwrap();
    assert_eq!(store.named_now("sess_old".to_owned()).await.unwrap(), None);
    store.rename("sess_old".to_owned(), "sess_new".to_owned()).await.unwrap();
    assert_eq!(store.first().await.unwrap().expect("it waits").body, r#"{"session_id":"sess_new"}"#);
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
