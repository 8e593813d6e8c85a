//! Which files there are, and whether they are as they were.

use std::fs;
use std::os::unix::fs::symlink;

use contract::{Code, RelPath};
use gatewright_exec::census::{Ask, Census, census, glance, glance_at_folder, read};
use gatewright_exec::changes::Changes;
use tokio_util::sync::CancellationToken;

use super::{Place, path};

fn count(
    place: &Place,
    base: Option<&RelPath>,
    depth: usize,
    most: usize,
) -> Result<Census, contract::Fault> {
    let enters = |path: &RelPath| !path.file_name().starts_with('.');
    let ask = Ask { base, depth, enters: &enters, most };
    census(place.view().root(), ask, &CancellationToken::new())
}

fn names(found: &Census) -> Vec<&str> {
    found.files.iter().map(|seen| seen.path.as_str()).collect()
}

#[test]
fn files_are_counted_to_a_depth_and_links_that_lead_out_are_named() {
    let place = Place::new(&[("a.md", ""), ("b/c.md", ""), ("b/d/e.md", ""), (".hidden/f.md", "")]);
    fs::write(place.outside().join("secret"), "canary").unwrap();
    symlink("../secret", place.path("b/out.md")).unwrap();
    symlink("../a.md", place.path("b/in.md")).unwrap();
    symlink("..", place.path("b/circle")).unwrap();
    let all = count(&place, None, 9, 100).unwrap();
    assert_eq!(names(&all), ["a.md", "b/c.md", "b/d/e.md", "b/in.md"]);
    assert_eq!(all.links.iter().map(RelPath::as_str).collect::<Vec<_>>(), ["b/circle", "b/out.md"]);
    assert_eq!(names(&count(&place, None, 1, 100).unwrap()), ["a.md", "b/c.md", "b/in.md"]);
    assert_eq!(names(&count(&place, Some(&path("b/d")), 0, 100).unwrap()), ["b/d/e.md"]);
    assert_eq!(count(&place, Some(&path("b/circle")), 9, 100).unwrap(), Census::default());
    assert_eq!(count(&place, Some(&path("none")), 9, 100).unwrap(), Census::default());
    assert_eq!(count(&place, None, 9, 3).unwrap_err().code, Code::TooLarge);
}

#[test]
fn what_changes_has_another_stamp_and_what_does_not_has_the_same() {
    let place = Place::new(&[("a.md", "one"), ("b/c.md", "two")]);
    let root = place.view().root().clone();
    let before = count(&place, None, 9, 100).unwrap();
    assert_eq!(count(&place, None, 9, 100).unwrap(), before);
    assert_eq!(glance(&root, &path("a.md")), before.files.first().map(|seen| seen.stamp));
    let folder = glance_at_folder(&root, Some(&path("b")));
    assert_eq!(before.folders.iter().find(|(at, _)| at.is_some()).map(|(_, stamp)| *stamp), folder);
    std::thread::sleep(std::time::Duration::from_millis(20));
    // The same length, and the time put back: what the system says of the change tells.
    let times = fs::metadata(place.path("a.md")).unwrap().modified().unwrap();
    fs::write(place.path("a.md"), "eno").unwrap();
    fs::File::options().append(true).open(place.path("a.md")).unwrap().set_modified(times).unwrap();
    assert_ne!(count(&place, None, 9, 100).unwrap().files, before.files);
    fs::write(place.path("b/new.md"), "").unwrap();
    assert_ne!(glance_at_folder(&root, Some(&path("b"))), folder);
    assert_eq!(glance(&root, &path("b")), None);
    assert_eq!(read(&root, &path("a.md"), 3).unwrap().0, b"eno");
    assert_eq!(read(&root, &path("a.md"), 2).unwrap_err().code, Code::TooLarge);
}

fn is_entered(path: &RelPath) -> bool {
    !path.file_name().starts_with('.')
}

/// Watched as it would be counted; said loudly where this machine's file system is not one of which all is told.
fn watched(place: &Place, base: Option<&RelPath>) -> Option<Changes> {
    let ask = Ask { base, depth: 9, enters: &is_entered, most: 100 };
    let watched = Changes::of(place.view().root(), &[ask]);
    if watched.is_none() {
        super::skip("being told of changes (the file system here is not one of which all is told)");
    }
    watched
}

#[test]
fn every_change_is_told_and_nothing_else() {
    let place = Place::new(&[("a.md", "1"), ("b/c.md", "1"), (".hidden/f.md", "")]);
    let Some(changes) = watched(&place, None) else { return };
    let view = place.view();
    let root = view.root();
    let all = count(&place, None, 9, 100).unwrap();
    assert!(changes.covers(root, all.folders.iter().map(|(folder, _)| folder)));
    assert!(!changes.any(root), "to count is no change");
    fs::read(place.path("a.md")).unwrap();
    fs::write(place.path(".hidden/f.md"), "other").unwrap();
    assert!(!changes.any(root), "nor is to read, or what nobody asked for");
    let acts: [(&str, &dyn Fn()); 9] = [
        ("written", &|| fs::write(place.path("b/c.md"), "2").unwrap()),
        ("of the same length and time", &|| {
            let file = fs::OpenOptions::new().write(true).open(place.path("a.md")).unwrap();
            let before = file.metadata().unwrap().modified().unwrap();
            std::io::Write::write_all(&mut &file, b"2").unwrap();
            file.set_modified(before).unwrap();
        }),
        ("new", &|| fs::write(place.path("b/new.md"), "").unwrap()),
        ("moved", &|| fs::rename(place.path("b/new.md"), place.path("moved.md")).unwrap()),
        ("moved over", &|| fs::rename(place.path("moved.md"), place.path("a.md")).unwrap()),
        ("removed", &|| fs::remove_file(place.path("a.md")).unwrap()),
        ("a link", &|| symlink("b/c.md", place.path("l.md")).unwrap()),
        ("a folder", &|| fs::create_dir(place.path("d")).unwrap()),
        ("a folder that goes", &|| fs::remove_dir_all(place.path("b")).unwrap()),
    ];
    for (what, act) in acts {
        // A folder that came or went is told for good: each has its own watch.
        let Some(changes) = watched(&place, None) else { return };
        assert!(!changes.any(root), "{what}");
        act();
        assert!(changes.any(root), "{what}");
        assert!(changes.any(root), "{what}: it stays so until it is looked through");
    }
    // What was looked through does not count; but once a folder came or went, not all is told any more, whatever is there afterwards.
    let Some(changes) = watched(&place, None) else { return };
    fs::write(place.path("new.md"), "").unwrap();
    changes.begin();
    assert!(!changes.any(root));
    let covers = || {
        let all = count(&place, None, 9, 100).unwrap();
        assert_eq!(all.folders.len(), 2);
        changes.covers(root, all.folders.iter().map(|(folder, _)| folder))
    };
    assert!(covers());
    fs::remove_dir(place.path("d")).unwrap();
    fs::create_dir(place.path("d")).unwrap();
    assert!(!covers());
    changes.begin();
    assert!(!covers() && changes.any(root));
}

#[test]
fn a_folder_above_what_is_watched_that_is_another_is_told() {
    let place = Place::new(&[("x/skills/a.md", "1"), ("new/skills/a.md", "2")]);
    let Some(changes) = watched(&place, Some(&path("x/skills"))) else { return };
    let view = place.view();
    assert!(!changes.any(view.root()));
    fs::rename(place.path("x"), place.path("old")).unwrap();
    fs::rename(place.path("new"), place.path("x")).unwrap();
    assert!(changes.any(view.root()));
    let all = count(&place, Some(&path("x/skills")), 9, 100).unwrap();
    assert!(!changes.covers(view.root(), all.folders.iter().map(|(folder, _)| folder)));
}

#[test]
fn a_folder_that_comes_later_is_told_and_so_is_another_root_in_its_place() {
    let place = Place::new(&[("a.md", "1")]);
    let Some(changes) = watched(&place, Some(&path("later"))) else { return };
    assert!(!changes.any(place.view().root()));
    fs::create_dir(place.path("later")).unwrap();
    assert!(changes.any(place.view().root()));
    let Some(changes) = watched(&place, None) else { return };
    let top = place.path("a.md").parent().unwrap().to_owned();
    fs::rename(&top, top.with_extension("old")).unwrap();
    fs::create_dir(&top).unwrap();
    fs::write(top.join("a.md"), "1").unwrap();
    let root = gatewright_exec::Root::open(&top, "root", gatewright_exec::root::Rights::Read).unwrap();
    changes.begin();
    assert!(changes.any(&root), "what is watched is not what is there");
}
