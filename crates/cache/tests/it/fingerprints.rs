//! Age and size first, SHA-256 only where they differ or are too young; what is too large is never hashed.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use gatewright_cache::{Facts, Files, Fingerprint, Kind, MAX_HASHED, Part, Sum};

use crate::{Disk, Hand, SETTLED};

#[test]
fn the_same_age_and_size_are_not_hashed_again() {
    let scratch = tempfile::tempdir().unwrap();
    let (disk, hand) = (Disk::default(), Hand::new());
    let file = scratch.path().join("a");
    fs::write(&file, "one").unwrap();
    hand.forward(SETTLED);
    let mut print = Fingerprint::of(&disk, &hand, &[&file]);
    assert_eq!(disk.hashed(), 1);
    assert!(print.holds(&disk, &hand) && print.holds(&disk, &hand));
    assert_eq!(disk.hashed(), 1);
    // Touched: hashed once, found the same, and trusted again.
    fs::write(&file, "one").unwrap();
    hand.forward(SETTLED);
    assert!(print.holds(&disk, &hand) && print.holds(&disk, &hand));
    assert_eq!(disk.hashed(), 2);
    // Another size is another content, without hashing.
    fs::write(&file, "longer").unwrap();
    assert!(!print.holds(&disk, &hand));
    assert_eq!(disk.hashed(), 2);
}

#[test]
fn a_change_within_one_tick_is_seen() {
    let scratch = tempfile::tempdir().unwrap();
    let (disk, hand) = (Disk::coarse(), Hand::new());
    let file = scratch.path().join("a");
    for round in 0..200 {
        fs::write(&file, format!("{round:03}")).unwrap();
        let mut print = Fingerprint::of(&disk, &hand, &[&file]);
        fs::write(&file, format!("{:03}", round + 1)).unwrap();
        assert!(!print.holds(&disk, &hand), "round {round}");
    }
}

#[test]
fn a_change_with_the_old_time_put_back_is_seen() {
    let scratch = tempfile::tempdir().unwrap();
    let (disk, hand) = (Disk::default(), Hand::new());
    let file = scratch.path().join("a");
    fs::write(&file, "one").unwrap();
    let old = fs::metadata(&file).unwrap().modified().unwrap();
    hand.forward(SETTLED);
    let mut print = Fingerprint::of(&disk, &hand, &[&file]);
    // The kernel's tick must have passed, or the change time is the same as well.
    std::thread::sleep(Duration::from_millis(20));
    fs::write(&file, "two").unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
    assert!(!print.holds(&disk, &hand));
}

#[test]
fn what_comes_and_goes_is_seen() {
    let scratch = tempfile::tempdir().unwrap();
    let (disk, hand) = (Disk::default(), Hand::new());
    let (file, folder) = (scratch.path().join("a"), scratch.path().join("d"));
    let mut print = Fingerprint::of(&disk, &hand, &[&file]);
    assert!(print.holds(&disk, &hand));
    fs::write(&file, "").unwrap();
    assert!(!print.holds(&disk, &hand));
    fs::create_dir(&folder).unwrap();
    let mut print = Fingerprint::of(&disk, &hand, &[&file, &folder]);
    assert!(print.holds(&disk, &hand));
    fs::write(folder.join("x"), "").unwrap();
    assert!(!print.holds(&disk, &hand));
    let mut print = Fingerprint::of(&disk, &hand, &[&folder]);
    // The content of what is listed does not matter; a file in a folder's place does.
    fs::write(folder.join("x"), "text").unwrap();
    assert!(print.holds(&disk, &hand));
    fs::remove_file(folder.join("x")).unwrap();
    fs::create_dir(folder.join("x")).unwrap();
    assert!(!print.holds(&disk, &hand));
}

/// One file without content, whose facts are as told. Hashing it is an error of the test.
struct Huge(Mutex<Facts>);

impl Files for Huge {
    fn facts(&self, _: &Path) -> io::Result<Option<Facts>> {
        Ok(Some(*self.0.lock().unwrap()))
    }

    fn sum(&self, _: &Path, part: Part) -> io::Result<Option<Sum>> {
        panic!("{part:?} was hashed")
    }
}

#[test]
fn a_file_over_the_limit_is_never_hashed() {
    let old = SystemTime::now() - Duration::from_mins(1);
    let facts = Facts { kind: Kind::File, size: MAX_HASHED + 1, modified: old, changed: None, inode: 1 };
    let huge = Huge(Mutex::new(facts));
    let hand = Hand::new();
    let mut print = Fingerprint::of(&huge, &hand, &[Path::new("huge")]);
    assert!(print.holds(&huge, &hand));
    huge.0.lock().unwrap().modified = old + Duration::from_secs(9);
    assert!(!print.holds(&huge, &hand));
    // Too young to be trusted, and not to be hashed: it counts as changed.
    huge.0.lock().unwrap().modified = SystemTime::now();
    let mut print = Fingerprint::of(&huge, &hand, &[Path::new("huge")]);
    assert!(!print.holds(&huge, &hand));
}

/// Files that cannot be asked about.
struct Closed;

impl Files for Closed {
    fn facts(&self, _: &Path) -> io::Result<Option<Facts>> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn sum(&self, _: &Path, _: Part) -> io::Result<Option<Sum>> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[test]
fn what_cannot_be_asked_about_never_holds() {
    let mut print = Fingerprint::of(&Closed, &Hand::new(), &[Path::new("x")]);
    assert!(!print.holds(&Closed, &Hand::new()));
    assert!(!print.holds(&Disk::default(), &Hand::new()));
}
