//! D08: a state disk that is really full, read-only, or out of inodes.

use std::path::Path;
use std::process::Command;

use super::{Place, exists, skip};

const CALL: [&str; 7] = ["call", "tokens_build", "--source", "tokens", "--platforms", "css", "--apply"];

/// A small file system of its own over the state folder; unmounted when dropped.
struct Mounted<'p>(&'p Path);

impl<'p> Mounted<'p> {
    fn new(at: &'p Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let mount = ["-t", "tmpfs", "-o", options, "tmpfs"];
        let mounted = Command::new("mount").args(mount).arg(at).output();
        if mounted.is_ok_and(|o| o.status.success()) {
            return Some(Self(at));
        }
        skip("a full disk (this user may not mount one)");
        None
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// Fills what is left of the disk; removing the file empties it again.
fn fill(at: &Path) -> std::path::PathBuf {
    let file = at.join("filler");
    let _ = std::fs::write(&file, vec![0; 8 * 1024 * 1024]);
    file
}

#[test]
fn d08_on_a_full_disk_nothing_is_done_and_nothing_recorded_is_lost() {
    let place = Place::new();
    let state = place.scratch.path().join("state");
    let Some(_disk) = Mounted::new(&state, "size=2m,mode=0700") else { return };
    place.ok(&CALL);
    place.ok(&["undo", "last"]);
    let anchor = place.json(&["audit", "tail", "--output", "json"]).as_array().unwrap().len();
    let filler = fill(&state);
    for _ in 0..3 {
        let (code, message) = place.fails(&CALL);
        assert_eq!(code, 1, "{message}");
        assert!(message.contains("ledger_unavailable") || message.contains("filesystem_error"), "{message}");
        assert!(message.contains("disk"), "the next step is said: {message}");
        assert!(!exists(&place.root().join("artifacts")), "nothing was changed");
    }
    std::fs::remove_file(filler).unwrap();
    place.ok(&CALL);
    assert!(place.ok(&["audit", "verify"]).starts_with("unanchored"), "the record is whole");
    let after = place.json(&["audit", "tail", "--output", "json"]).as_array().unwrap().len();
    assert!(after > anchor);
    place.ok(&["undo", "last"]);
    assert!(!exists(&place.root().join("artifacts")));
}

#[test]
fn d08_a_disk_that_fills_in_the_middle_of_an_apply_leaves_all_or_nothing() {
    // At every size of what is left, down to a page.
    let place = Place::new();
    let state = place.scratch.path().join("state");
    let Some(_disk) = Mounted::new(&state, "size=1m,mode=0700") else { return };
    place.ok(&["call", "tokens_build", "--source", "tokens", "--platforms", "css"]);
    let (mut done, mut refused) = (0, 0);
    for left in (0..=30).map(|pages| pages * 4096) {
        let filler = fill(&state);
        let length = std::fs::metadata(&filler).unwrap().len().saturating_sub(left);
        std::fs::OpenOptions::new().write(true).open(&filler).unwrap().set_len(length).unwrap();
        let out = place.run(&CALL);
        let landed = exists(&place.root().join("artifacts"));
        std::fs::remove_file(&filler).unwrap();
        assert!(place.ok(&["audit", "verify"]).starts_with("unanchored"), "{left}");
        if out.status.success() {
            done += 1;
            assert!(landed, "{left}");
        } else {
            refused += 1;
        }
        // Room again: what was interrupted is settled, and the same call is done, or there already.
        place.ok(&CALL);
        let folder = std::fs::read_dir(place.root().join("artifacts/current-state")).unwrap().next();
        let build = std::fs::read_dir(folder.unwrap().unwrap().path()).unwrap().next().unwrap().unwrap();
        assert_eq!(std::fs::read_dir(build.path()).unwrap().count(), 2, "{left}: a build is whole");
        std::fs::remove_dir_all(place.root().join("artifacts")).unwrap();
    }
    assert!(done > 0 && refused > 0, "both ways were seen: {done} done, {refused} refused");
}

#[test]
fn d08_a_read_only_state_folder_and_one_without_inodes_are_refused_at_the_start() {
    let place = Place::new();
    let state = place.scratch.path().join("state");
    for options in ["size=1m,ro", "size=1m,nr_inodes=6"] {
        let Some(_disk) = Mounted::new(&state, options) else { return };
        let (code, message) = place.fails(&CALL);
        assert_eq!(code, 1, "{options}: {message}");
        assert!(message.contains("state") || message.contains("ledger"), "{options}: {message}");
        assert!(!exists(&place.root().join("artifacts")));
        let (code, _) = place.fails(&["serve"]);
        assert_eq!(code, 1, "{options}");
    }
}
