//! Which files there are, and whether they are as they were.

use std::fs;
use std::os::unix::fs::symlink;

use contract::{Code, RelPath};
use gatewright_exec::census::{Ask, Census, census, glance, glance_at_folder, read};
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
