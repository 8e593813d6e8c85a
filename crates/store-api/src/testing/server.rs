//! What a server of contexts keeps for itself, through the traits alone.

use contract::Digest;

use super::context::{MINUTE, Watch, next};
use crate::StoreError;
use crate::id::KeyId;
use crate::server::{Keys, LOGGED, Logged, NewKey, NewText, TextKind, Texts, Traffic};

/// Holds a driver to all of it.
pub async fn server<S: Keys + Texts + Traffic>(store: &S, watch: &Watch) {
    a_key_is_known_until_it_is_revoked_and_after(store, watch).await;
    requests_are_counted_by_the_minute(store, watch).await;
    the_log_keeps_seven_days_and_says_when_a_key_was_used(store, watch).await;
    a_text_has_versions_and_the_same_again_is_no_change(store).await;
}

fn new_key(watch: &Watch, name: &str, admin: bool) -> NewKey {
    NewKey {
        id: KeyId::new(watch.now(), next()),
        name: name.to_owned(),
        admin,
        hash: Digest::of(name.as_bytes()),
    }
}

/// Revoking is for good, and the key stays where it can be seen.
pub async fn a_key_is_known_until_it_is_revoked_and_after(store: &dyn Keys, watch: &Watch) {
    let (one, two) = (new_key(watch, "one", false), new_key(watch, "two", true));
    let kept = store.add_key(one.clone()).await.expect("it is kept");
    assert_eq!((&kept.id, kept.admin, kept.hash, kept.created), (&one.id, false, one.hash, watch.now()));
    watch.turn(MINUTE);
    store.add_key(two.clone()).await.expect("it is kept");
    let names: Vec<_> = store.keys().await.unwrap().into_iter().map(|key| (key.name, key.admin)).collect();
    assert_eq!(names, [("two".to_owned(), true), ("one".to_owned(), false)], "the newest first");
    assert!(store.revoke(one.id.clone()).await.unwrap());
    let revoked = store.key(one.id.clone()).await.unwrap().expect("it is there");
    assert_eq!(revoked.revoked, Some(watch.now()));
    watch.turn(MINUTE);
    assert!(!store.revoke(one.id.clone()).await.unwrap(), "once");
    assert_eq!(store.key(one.id).await.unwrap(), Some(revoked));
    assert!(!store.revoke(KeyId::new(watch.now(), next())).await.unwrap());
    assert!(store.add_key(new_key(watch, "", false)).await.is_err());
}

/// Owners do not meet, and a new minute begins at nothing.
pub async fn requests_are_counted_by_the_minute(store: &dyn Traffic, watch: &Watch) {
    let count = |owner: &str| store.count(owner.to_owned());
    for expected in 1..=3 {
        assert_eq!(count("a").await.unwrap(), expected);
    }
    assert_eq!(count("b").await.unwrap(), 1);
    watch.turn(MINUTE);
    assert_eq!(count("a").await.unwrap(), 1);
}

/// What is older goes, what is younger stays.
pub async fn the_log_keeps_seven_days_and_says_when_a_key_was_used<S: Keys + Traffic>(
    store: &S,
    watch: &Watch,
) {
    let key = new_key(watch, "logged", false);
    store.add_key(key.clone()).await.unwrap();
    let request = |status, key: Option<&KeyId>| Logged {
        at: watch.now(),
        correlation: format!("corr-{status}"),
        key: key.cloned(),
        method: "POST".to_owned(),
        route: "/sod".to_owned(),
        status,
        millis: 7,
    };
    let old = request(200, Some(&key.id));
    store.log(vec![old.clone()]).await.unwrap();
    watch.turn(LOGGED);
    assert_eq!(store.sweep_traffic().await.unwrap(), 0, "not older than seven days");
    let (young, stranger) = (request(409, Some(&key.id)), request(401, None));
    store.log(vec![young.clone(), stranger.clone()]).await.unwrap();
    assert_eq!(store.logged(10).await.unwrap(), [stranger.clone(), young.clone(), old]);
    watch.turn(1);
    assert_eq!(store.sweep_traffic().await.unwrap(), 1);
    assert_eq!(store.logged(10).await.unwrap(), [stranger, young]);
    let used = store.key(key.id).await.unwrap().and_then(|key| key.used).expect("it was used");
    assert!((0..MINUTE).contains(&(watch.now().as_millis() - used.as_millis())), "{used}");
}

/// By kind and name.
pub async fn a_text_has_versions_and_the_same_again_is_no_change(store: &dyn Texts) {
    let new = |kind, content: &str, expected| NewText {
        kind,
        name: "setup.sh".to_owned(),
        content: content.to_owned(),
        expected,
    };
    let put = |content: &str, expected| store.put_text(new(TextKind::Script, content, expected));
    let one = put("echo 1", Some(0)).await.unwrap();
    assert_eq!((one.version, one.sha256.as_str()), (1, Digest::of(b"echo 1").to_string().as_str()));
    assert_eq!(put("echo 1", None).await.unwrap(), one);
    assert!(matches!(put("echo 2", Some(0)).await, Err(StoreError::Stale { found: 1, expected: 0 })));
    assert_eq!(put("echo 2", Some(1)).await.unwrap().version, 2);
    store.put_text(new(TextKind::Requirement, "{}", None)).await.unwrap();
    assert_eq!(store.texts(TextKind::Script).await.unwrap().len(), 1);
    let text = |kind| store.text(kind, "setup.sh".to_owned());
    assert_eq!(text(TextKind::Requirement).await.unwrap().expect("it is there").content, "{}");
    assert!(store.remove_text(TextKind::Script, "setup.sh".to_owned()).await.unwrap());
    assert!(!store.remove_text(TextKind::Script, "setup.sh".to_owned()).await.unwrap());
    assert_eq!(text(TextKind::Script).await.unwrap(), None);
    for name in ["", "../x", "a b"] {
        let bad = NewText { name: name.to_owned(), ..new(TextKind::Script, "", None) };
        assert!(store.put_text(bad).await.is_err(), "{name:?}");
    }
}
