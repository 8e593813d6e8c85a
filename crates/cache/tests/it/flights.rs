//! Equal keys are computed once, whatever happens to who computes.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use gatewright_cache::{Cache, Key, Namespace, Settings};

use crate::Disk;

const IN: Namespace = Namespace::ProjectDetection;

#[test]
fn a_cold_key_is_computed_once_by_many_that_ask() {
    let cache = Cache::new(Settings::default());
    let (computed, warm) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let together = Barrier::new(16);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                together.wait();
                let answer = cache
                    .get_or(IN, &Key::of(&[b"k"]), &Disk::default(), |_| {
                        computed.fetch_add(1, Ordering::SeqCst);
                        thread::sleep(Duration::from_millis(100));
                        Ok::<_, ()>(7)
                    })
                    .unwrap();
                assert_eq!(*answer.value, 7);
                warm.fetch_add(usize::from(answer.warm), Ordering::SeqCst);
            });
        }
    });
    assert_eq!((computed.into_inner(), warm.into_inner()), (1, 15));
    assert_eq!((cache.metrics().hits, cache.metrics().misses), (15, 1));
}

#[test]
fn an_error_is_given_to_whom_it_happened_and_not_kept() {
    let cache = Cache::new(Settings::default());
    let asked = |fails: bool| {
        cache.get_or(IN, &Key::of(&[b"k"]), &Disk::default(), |_| if fails { Err("no") } else { Ok(1) })
    };
    assert_eq!(asked(true).unwrap_err(), "no");
    assert!(!asked(false).unwrap().warm);
    assert!(asked(true).unwrap().warm);
}

#[test]
fn a_panic_wakes_those_who_wait() {
    let cache = Arc::new(Cache::new(Settings::default()));
    let begun = Arc::new(Barrier::new(2));
    let first = {
        let (cache, begun) = (cache.clone(), begun.clone());
        thread::spawn(move || {
            let _ = cache.get_or(IN, &Key::of(&[b"k"]), &Disk::default(), |_| -> Result<u8, ()> {
                begun.wait();
                thread::sleep(Duration::from_millis(50));
                panic!("on purpose")
            });
        })
    };
    begun.wait();
    let answer = cache.get_or(IN, &Key::of(&[b"k"]), &Disk::default(), |_| Ok::<u8, ()>(2)).unwrap();
    assert_eq!(*answer.value, 2);
    assert!(first.join().is_err());
}

#[test]
fn who_waited_does_not_get_what_changed_meanwhile() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("a");
    fs::write(&file, "old").unwrap();
    let cache = Cache::new(Settings::default());
    let (read, changed) = (Barrier::new(2), Barrier::new(2));
    let ask = |first: bool| {
        cache
            .get_or(IN, &Key::of(&[b"k"]), &Disk::default(), |depends| {
                depends.on(&file);
                let text = fs::read_to_string(&file).unwrap();
                if first {
                    read.wait();
                    changed.wait();
                    // The other has asked by now, and waits.
                    thread::sleep(Duration::from_millis(100));
                }
                Ok::<_, ()>(text)
            })
            .unwrap()
    };
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(*ask(true).value, "old"));
        read.wait();
        fs::write(&file, "new").unwrap();
        changed.wait();
        assert_eq!(*ask(false).value, "new");
    });
}

#[test]
fn a_computation_may_ask_for_others_and_for_itself() {
    let cache = Cache::new(Settings::default());
    let disk = Disk::default();
    let (outer, inner) = (Key::of(&[b"outer"]), Key::of(&[b"inner"]));
    let answer = cache
        .get_or(IN, &outer, &disk, |_| {
            let other = cache.get_or(IN, &inner, &disk, |_| Ok::<_, ()>(1))?;
            let same = cache.get_or(IN, &outer, &disk, |_| Ok::<_, ()>(2))?;
            Ok::<_, ()>(*other.value + *same.value)
        })
        .unwrap();
    assert_eq!(*answer.value, 3);
}
