//! Uses of patterns.

use super::context::{MINUTE, Watch, next, once, refused};
use crate::uses::{MAX_CONTEXT, NewUse, Used, Uses};

/// Holds a driver to all of it.
pub async fn uses(store: &dyn Uses, watch: &Watch) {
    uses_are_counted_from_what_the_file_said_first(store, watch).await;
    the_same_key_is_the_same_use(store, watch).await;
    what_does_not_fit_is_refused(store).await;
}

/// A use of a pattern that nobody else uses.
#[must_use]
pub fn a_use(pattern: &str) -> NewUse {
    NewUse {
        library: "user".to_owned(),
        pattern: format!("database/{pattern}"),
        project: Some("app".to_owned()),
        context: "a form".to_owned(),
        stated: 2,
    }
}

/// The file's count matters once: later it may have been written back.
pub async fn uses_are_counted_from_what_the_file_said_first(store: &dyn Uses, watch: &Watch) {
    let name = format!("p{}", next());
    let began = watch.now();
    let first = store.record_use(a_use(&name), None).await.unwrap();
    assert!(!first.replayed);
    watch.turn(MINUTE);
    let elsewhere = NewUse { project: Some("api".to_owned()), stated: 3, ..a_use(&name) };
    let second = store.record_use(elsewhere, None).await.unwrap().value;
    let nowhere = NewUse { project: None, ..a_use(&name) };
    let third = store.record_use(nowhere, None).await.unwrap().value;
    let expected = Used {
        library: "user".to_owned(),
        pattern: format!("database/{name}"),
        stated: 2,
        recorded: 3,
        first: began,
        last: watch.now(),
        projects: vec!["api".to_owned(), "app".to_owned()],
    };
    assert_eq!((second.recorded, &third), (2, &expected));
    assert_eq!((third.count(2), third.count(5), third.count(9)), (5, 5, 9));
    assert_eq!(
        store.used("user".to_owned(), expected.pattern.clone()).await.unwrap(),
        Some(expected.clone())
    );
    assert_eq!(
        store.used("team".to_owned(), expected.pattern.clone()).await.unwrap(),
        None,
        "another library's"
    );
    let all = store.all_used().await.unwrap();
    assert!(
        all.contains(&expected) && all.is_sorted_by_key(|used| (used.library.clone(), used.pattern.clone()))
    );
}

/// Sent again, it is counted once.
pub async fn the_same_key_is_the_same_use(store: &dyn Uses, _: &Watch) {
    let name = format!("p{}", next());
    let key = once(&format!("use-{name}"), "one", "a use");
    let first = store.record_use(a_use(&name), Some(key.clone())).await.unwrap();
    let again = store.record_use(a_use(&name), Some(key)).await.unwrap();
    assert_eq!((first.value, true), (again.value, again.replayed));
}

/// Nothing of it is stored.
pub async fn what_does_not_fit_is_refused(store: &dyn Uses) {
    let name = format!("p{}", next());
    for (what, bad) in [
        ("no pattern", NewUse { pattern: String::new(), ..a_use(&name) }),
        ("a NUL", NewUse { library: "l\0".to_owned(), ..a_use(&name) }),
        ("no project's name", NewUse { project: Some(" ".to_owned()), ..a_use(&name) }),
        ("a long story", NewUse { context: "x".repeat(MAX_CONTEXT + 1), ..a_use(&name) }),
        ("too many uses", NewUse { stated: u64::MAX, ..a_use(&name) }),
    ] {
        refused(store.record_use(bad, None).await, what);
    }
    assert_eq!(store.used("user".to_owned(), format!("database/{name}")).await.unwrap(), None);
}
