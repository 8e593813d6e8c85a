//! Size, memory, lifetimes, and the figures about them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use gatewright_cache::{Cache, Key, Namespace, NamespaceMetrics, Settings};

use crate::{Disk, Hand};

fn settings(json: &str) -> Settings {
    serde_json::from_str(json).unwrap()
}

fn cache(json: &str) -> (Cache, Arc<Hand>) {
    let hand = Arc::new(Hand::new());
    (Cache::with_clock(settings(json), hand.clone()), hand)
}

/// Asks; whether the answer was warm.
fn ask(cache: &Cache, namespace: Namespace, key: &str, value: &str) -> bool {
    let key = Key::of(&[key.as_bytes()]);
    let answer =
        cache.get_or(namespace, &key, &Disk::default(), |_| Ok::<_, Infallible>(value.to_owned())).unwrap();
    assert_eq!(*answer.value, value);
    answer.warm
}

fn of(cache: &Cache, namespace: Namespace) -> NamespaceMetrics {
    cache.metrics().namespaces.into_iter().find(|n| n.namespace == namespace).unwrap()
}

#[test]
fn the_least_recently_used_goes_first_over_all_namespaces() {
    let (cache, _) = cache(r#"{"maxSize":3}"#);
    let (git, lists) = (Namespace::GitReads, Namespace::FileLists);
    assert!(!ask(&cache, git, "a", "1"));
    assert!(!ask(&cache, lists, "a", "2"));
    assert!(!ask(&cache, git, "b", "3"));
    assert!(ask(&cache, git, "a", "1"));
    assert!(!ask(&cache, git, "c", "4"));
    assert!(ask(&cache, git, "a", "1") && ask(&cache, git, "b", "3") && ask(&cache, git, "c", "4"));
    assert!(!ask(&cache, lists, "a", "2"));
    let metrics = cache.metrics();
    assert_eq!((metrics.entries, metrics.max_entries), (3, 3));
    assert_eq!((of(&cache, lists).evictions, of(&cache, git).evictions), (1, 1));
    assert_eq!((metrics.hits, metrics.misses), (4, 5));
    assert!((metrics.hit_rate - 4.0 / 9.0).abs() < 1e-9);
}

#[test]
fn five_hundred_are_kept_by_default() {
    let (cache, _) = cache("{}");
    for n in 0..600 {
        ask(&cache, Namespace::FailureAnalysis, &n.to_string(), "x");
    }
    assert_eq!(cache.metrics().entries, 500);
    assert_eq!(of(&cache, Namespace::FailureAnalysis).evictions, 100);
}

#[test]
fn memory_is_bounded_by_what_values_weigh() {
    let (cache, _) = cache(r#"{"maxMemoryMB":1}"#);
    let value = "x".repeat(300 * 1024);
    for n in 0..10 {
        ask(&cache, Namespace::FileLists, &n.to_string(), &value);
        let metrics = cache.metrics();
        assert!(metrics.bytes <= metrics.max_bytes && metrics.bytes >= 300 * 1024);
    }
    assert_eq!(cache.metrics().entries, 3);
    assert!(ask(&cache, Namespace::FileLists, "9", &value));
    // What alone is too large is given, and does not push the others out.
    ask(&cache, Namespace::FileLists, "huge", &"x".repeat(2 * 1024 * 1024));
    assert_eq!((cache.metrics().entries, of(&cache, Namespace::FileLists).rejected), (3, 1));
    cache.clear(None);
    assert_eq!((cache.metrics().entries, cache.metrics().bytes), (0, 0));
}

#[test]
fn every_namespace_lasts_as_long_as_the_catalogue_says() {
    for (namespace, seconds) in [
        (Namespace::ProjectDetection, 300),
        (Namespace::GoProjectInfo, 7_200),
        (Namespace::FileLists, 300),
        (Namespace::GitReads, 30),
        (Namespace::CommandAvailability, 3_600),
        (Namespace::FailureAnalysis, 300),
    ] {
        let (cache, hand) = cache("{}");
        ask(&cache, namespace, "a", "1");
        hand.forward(Duration::from_millis(seconds * 1_000 - 1));
        assert!(ask(&cache, namespace, "a", "1"), "{namespace:?}");
        hand.forward(Duration::from_millis(1));
        assert!(!ask(&cache, namespace, "a", "1"), "{namespace:?}");
        assert_eq!(of(&cache, namespace).expirations, 1);
    }
}

#[test]
fn a_configured_lifetime_counts_and_zero_keeps_nothing() {
    let (cache, hand) = cache(r#"{"ttl":{"git-reads":1000,"file-lists":0}}"#);
    ask(&cache, Namespace::GitReads, "a", "1");
    hand.forward(Duration::from_millis(999));
    assert!(ask(&cache, Namespace::GitReads, "a", "1"));
    hand.forward(Duration::from_millis(1));
    assert!(!ask(&cache, Namespace::GitReads, "a", "1"));
    ask(&cache, Namespace::FileLists, "a", "1");
    assert!(!ask(&cache, Namespace::FileLists, "a", "1"));
    assert_eq!(of(&cache, Namespace::GitReads).ttl, 1_000);
}

#[test]
fn switched_off_it_keeps_nothing() {
    for off in [r#"{"enabled":false}"#, r#"{"maxSize":0}"#, r#"{"maxMemoryMB":0}"#] {
        let (cache, _) = cache(off);
        for _ in 0..3 {
            assert!(!ask(&cache, Namespace::GitReads, "a", "1"), "{off}");
        }
        assert_eq!(cache.metrics().entries, 0);
    }
}

#[test]
fn namespaces_keys_and_types_are_kept_apart() {
    let (cache, _) = cache("{}");
    ask(&cache, Namespace::GitReads, "a", "1");
    assert!(!ask(&cache, Namespace::FileLists, "a", "2"));
    let of_parts = |parts: &[&[u8]]| Key::of(parts);
    assert_ne!(of_parts(&[b"ab", b"c"]), of_parts(&[b"a", b"bc"]));
    // The same key asked for with another type is computed, never misread.
    let key = Key::of(&[b"a"]);
    let number =
        cache.get_or(Namespace::GitReads, &key, &Disk::default(), |_| Ok::<_, Infallible>(7_u32)).unwrap();
    assert_eq!((*number.value, number.warm), (7, false));
    cache.clear(Some(Namespace::GitReads));
    assert_eq!(of(&cache, Namespace::GitReads).entries, 0);
    assert!(ask(&cache, Namespace::FileLists, "a", "2"));
}
