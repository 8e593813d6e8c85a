//! Lines at the end of files that others write to as well.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use contract::{Code, Fault};
use gatewright_exec::lines::Lines;
use gatewright_exec::{Rights, Root};
use rustix::fs::FlockOperation;

use super::{Place, path};

fn put(root: &Root, name: &str, line: &str) -> Result<(), Fault> {
    Lines::default().append(root, &path(name), |_| Ok(Some(line.to_owned())))
}

#[test]
fn a_file_and_its_folder_are_made_and_lines_follow_one_another() {
    let place = Place::new(&[]);
    let root = place.view().root().clone();
    put(&root, ".memory/deep/notes.jsonl", "one").unwrap();
    put(&root, ".memory/deep/notes.jsonl", "two").unwrap();
    assert_eq!(place.read(".memory/deep/notes.jsonl").as_deref(), Some("one\ntwo\n"));
    let mode = fs::metadata(place.path(".memory/deep/notes.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0, "{mode:o}");
}

#[test]
fn a_torn_line_of_another_is_ended_and_whoever_decides_sees_what_is_there() {
    let place = Place::new(&[("notes", "whole\n{\"torn\": ")]);
    let root = place.view().root().clone();
    let mut saw = Vec::new();
    Lines::default()
        .append(&root, &path("notes"), |there| {
            saw = there.to_vec();
            Ok(Some("ours".to_owned()))
        })
        .unwrap();
    assert_eq!(saw, b"whole\n{\"torn\": ");
    assert_eq!(place.read("notes").as_deref(), Some("whole\n{\"torn\": \nours\n"));
    Lines::default().append(&root, &path("notes"), |_| Ok(None)).unwrap();
    assert_eq!(place.read("notes").as_deref(), Some("whole\n{\"torn\": \nours\n"));
    let no = Lines::default().append(&root, &path("notes"), |_| Err(Fault::invalid("no")));
    assert_eq!(no.unwrap_err().code, Code::InvalidArgument);
    let no = put(&root, "notes", "two\nlines").unwrap_err();
    assert_eq!((no.code, place.read("notes").unwrap().lines().count()), (Code::Internal, 3));
}

#[test]
fn links_second_names_other_kinds_own_files_and_read_roots_are_refused() {
    let place = Place::new(&[("real", "x\n"), ("folder/in", "")]);
    fs::write(place.outside().join("secret"), "canary\n").unwrap();
    symlink("../secret", place.path("link")).unwrap();
    symlink("real", place.path("near")).unwrap();
    symlink(place.outside(), place.path("out")).unwrap();
    fs::hard_link(place.outside().join("secret"), place.path("twice")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(place.path("fifo")).status().unwrap();
    assert!(made.success());
    let root = place.view().root().clone();
    for name in [
        "link",
        "near",
        "out/new",
        "out/deep/new",
        "twice",
        "fifo",
        "folder",
        "gatewright.toml",
        "real/below",
    ] {
        let fault = put(&root, name, "line").unwrap_err();
        assert_ne!(fault.code, Code::Internal, "{name}: {fault:?}");
    }
    assert_eq!(fs::read_to_string(place.outside().join("secret")).unwrap(), "canary\n");
    assert_eq!(place.read("real").as_deref(), Some("x\n"));
    let only_read = Root::open(root.path(), "main", Rights::Read).unwrap();
    assert_eq!(put(&only_read, "new", "line").unwrap_err().code, Code::PathNotAllowed);
    assert_eq!(place.read("new"), None);
}

#[test]
fn many_writers_at_once_and_one_without_the_lock_lose_and_tear_nothing() {
    let place = Place::new(&[]);
    let root = Arc::clone(place.view().root());
    put(&root, "notes", "0 0").unwrap();
    std::thread::scope(|scope| {
        for writer in 1..5 {
            let root = Arc::clone(&root);
            scope.spawn(move || {
                for n in 0..50 {
                    put(&root, "notes", &format!("{writer} {n} {}", "x".repeat(5_000))).unwrap();
                }
            });
        }
        let place = place.path("notes");
        scope.spawn(move || {
            let mut foreign = fs::OpenOptions::new().append(true).open(place).unwrap();
            for n in 0..50 {
                foreign.write_all(format!("5 {n} {}\n", "y".repeat(3_000)).as_bytes()).unwrap();
            }
        });
    });
    let text = place.read("notes").unwrap();
    let mut seen: Vec<(u32, u32)> = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let mut parts = line.split(' ');
            let mut next = || parts.next().unwrap().parse().unwrap();
            (next(), next())
        })
        .collect();
    assert_eq!(seen.len(), 251);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 251);
}

#[test]
fn a_file_that_is_replaced_while_the_lock_is_waited_for_is_looked_up_anew() {
    let place = Place::new(&[("notes", "old\n")]);
    let root = Arc::clone(place.view().root());
    let holder = fs::OpenOptions::new().append(true).open(place.path("notes")).unwrap();
    rustix::fs::flock(&holder, FlockOperation::LockExclusive).unwrap();
    let writing = std::thread::spawn(move || put(&root, "notes", "mine"));
    std::thread::sleep(std::time::Duration::from_millis(50));
    fs::write(place.path("other"), "edited\n").unwrap();
    fs::rename(place.path("other"), place.path("notes")).unwrap();
    drop(holder);
    writing.join().unwrap().unwrap();
    assert_eq!(place.read("notes").as_deref(), Some("edited\nmine\n"));
}

/// As an editor saves that writes beside the file and renames, while the end of the last line is waited for.
#[test]
fn a_file_that_is_replaced_while_a_line_is_waited_for_has_the_line_all_the_same() {
    let is_held =
        |file: &fs::File| rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_err();
    for _ in 0..50 {
        let place = Place::new(&[("notes", "without an end")]);
        let root = place.view().root().clone();
        fs::write(place.path("new"), "edited\n").unwrap();
        let (old, is_decided) = (fs::File::open(place.path("notes")).unwrap(), AtomicBool::new(false));
        let in_time = std::thread::scope(|scope| {
            let replaced = scope.spawn(|| {
                while !is_held(&old) && !is_decided.load(Ordering::SeqCst) {
                    // What was taken to find out is given back.
                    rustix::fs::flock(&old, FlockOperation::Unlock).unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                fs::rename(place.path("new"), place.path("notes")).unwrap();
                !is_decided.load(Ordering::SeqCst)
            });
            Lines::default()
                .append(&root, &path("notes"), |_| {
                    is_decided.store(true, Ordering::SeqCst);
                    Ok(Some("ours".to_owned()))
                })
                .unwrap();
            replaced.join().unwrap()
        });
        // Between the last look at the name and the word that it is decided there is room for a replacement, if not for many.
        if in_time && place.read("notes").as_deref() == Some("edited\nours\n") {
            return;
        }
    }
    panic!("the line went with the file that was replaced");
}
