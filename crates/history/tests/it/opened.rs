//! What is opened, and what is refused with which reason.

use std::fs;
use std::os::unix::fs::symlink;

use gatewright_history::{HistoryError, Refusal, Repo};

use super::place::Place;

fn refusal(place: &Place) -> Refusal {
    match Repo::open(&place.root()) {
        Err(HistoryError::Refused(refusal)) => refusal,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("opened"),
    }
}

fn replace_with_link(place: &Place, name: &str) {
    let path = place.path(name);
    let aside = place.outside("aside");
    if fs::symlink_metadata(&path).is_ok() {
        fs::rename(&path, &aside).unwrap();
    } else {
        fs::write(&aside, "").unwrap();
    }
    symlink(&aside, &path).unwrap();
}

#[test]
fn g12_links_in_the_git_folder_are_refused() {
    for name in [
        ".git",
        ".git/HEAD",
        ".git/config",
        ".git/index",
        ".git/packed-refs",
        ".git/refs",
        ".git/refs/heads",
        ".git/refs/heads/main",
        ".git/objects",
        ".git/objects/pack",
        ".git/info",
        ".git/info/exclude",
        ".git/info/attributes",
        ".git/shallow",
        ".git/MERGE_HEAD",
    ] {
        let place = Place::with(&[("a", "1")]);
        fs::create_dir_all(place.path(".git/info")).unwrap();
        replace_with_link(&place, name);
        assert_eq!(refusal(&place), Refusal::Link(name.to_owned()), "{name}");
    }
    // One object that is another repository's.
    let place = Place::with(&[("a", "1")]);
    let id = place.git(&["rev-parse", "HEAD"]);
    let name = format!(".git/objects/{}/{}", &id[..2], &id[2..]);
    replace_with_link(&place, &name);
    assert_eq!(refusal(&place), Refusal::Link(name));
}

#[test]
fn g12_what_leads_to_another_repository_is_refused() {
    let other = Place::with(&[("secret", "1")]);
    let victim = other.path(".git").display().to_string();
    let place = Place::bare_folder();
    place.write(".git", format!("gitdir: {victim}\n"));
    assert_eq!(refusal(&place), Refusal::GitFile);
    for (name, text) in [
        ("commondir", victim.clone()),
        ("objects/info/alternates", format!("{victim}/objects")),
        ("objects/info/http-alternates", "http://example.org/objects".to_owned()),
    ] {
        let place = Place::with(&[("a", "1")]);
        place.write(format!(".git/{name}"), format!("{text}\n"));
        assert_eq!(refusal(&place), Refusal::LeadsElsewhere(format!(".git/{name}")));
    }
    let place = Place::with(&[("a", "1")]);
    place.git(&["config", "core.worktree", other.root().to_str().unwrap()]);
    assert_eq!(refusal(&place), Refusal::WorkTree);
}

#[test]
fn g12_a_linked_worktree_needs_its_repository_vouched_for() {
    let place = Place::with(&[("a", "1")]);
    let linked = place.outside("linked");
    place.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let refused = |result: Result<Repo, HistoryError>| {
        assert!(matches!(result, Err(HistoryError::Refused(Refusal::LinkedWorktree))));
    };
    refused(Repo::open(&linked));
    assert!(Repo::open_worktree(&linked, &place.root()).is_ok());
    // Another repository, one that does not name this folder, and a name that climbs.
    let other = Place::with(&[("a", "1")]);
    refused(Repo::open_worktree(&linked, &other.root()));
    let thief = Place::bare_folder();
    fs::copy(linked.join(".git"), thief.path(".git")).unwrap();
    refused(Repo::open_worktree(&thief.root(), &place.root()));
    fs::write(thief.path(".git"), format!("gitdir: {}/worktrees/../../.git\n", place.path(".git").display()))
        .unwrap();
    refused(Repo::open_worktree(&thief.root(), &place.root()));
}

#[test]
fn g14_nothing_is_searched_for_and_bare_repositories_are_not_opened() {
    let place = Place::with(&[("sub/a", "1")]);
    assert!(matches!(Repo::open(&place.path("sub")), Err(HistoryError::NotARepository)));
    fs::create_dir(place.path("planted")).unwrap();
    place.run(&place.path("planted"), &["init", "-q", "--bare"]);
    let planted = Repo::open(&place.path("planted"));
    assert!(matches!(planted, Err(HistoryError::Refused(Refusal::Bare))));
    place.git(&["config", "core.bare", "true"]);
    assert_eq!(refusal(&place), Refusal::Bare);
}

#[test]
fn formats_that_are_not_known_are_refused() {
    let place = Place::bare_folder();
    place.git(&["init", "-q", "--object-format=sha256"]);
    assert!(matches!(refusal(&place), Refusal::Format(_) | Refusal::Unreadable(_)));
    let place = Place::bare_folder();
    place.git(&["init", "-q", "--ref-format=reftable"]);
    assert!(matches!(refusal(&place), Refusal::Format(_) | Refusal::Unreadable(_)));
    let place = Place::with(&[("a", "1")]);
    place.git(&["config", "core.repositoryFormatVersion", "1"]);
    place.git(&["config", "extensions.preciousObjects", "true"]);
    assert!(Repo::open(&place.root()).is_ok());
    place.git(&["config", "extensions.future", "true"]);
    assert_eq!(refusal(&place), Refusal::Format("extensions.future".to_owned()));
}

#[test]
fn what_is_no_repository_is_told_apart() {
    let place = Place::bare_folder();
    assert!(matches!(Repo::open(&place.root()), Err(HistoryError::NotARepository)));
    assert!(matches!(Repo::open(&place.path("missing")), Err(HistoryError::NotARepository)));
    fs::create_dir(place.path(".git")).unwrap();
    assert_eq!(refusal(&place), Refusal::Incomplete(".git/HEAD".to_owned()));
    fs::remove_dir(place.path(".git")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(place.path(".git")).status().unwrap().success());
    assert_eq!(refusal(&place), Refusal::Special(".git".to_owned()));
    let place = Place::with(&[("a", "1")]);
    fs::remove_file(place.path(".git/HEAD")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(place.path(".git/HEAD")).status().unwrap().success());
    assert_eq!(refusal(&place), Refusal::Special(".git/HEAD".to_owned()));
}
