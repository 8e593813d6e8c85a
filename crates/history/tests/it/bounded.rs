//! Repositories that are too much: each ends in an error that says so, soon.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use gatewright_history::{HistoryError, Limits, LogQuery, Sides};

use super::place::{GO_ON, Place, query};

/// Pipes text into git.
fn feed(place: &Place, args: &[&str], text: &[u8]) -> String {
    let mut child = Command::new("git")
        .args(args)
        .current_dir(place.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{args:?}");
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

fn too_large<T>(result: Result<T, HistoryError>) -> bool {
    matches!(result, Err(HistoryError::TooLarge { .. }))
}

/// A commit of a tree that has ten trees, each of which has ten, twelve times over: 10^12 files in a dozen objects.
fn tree_bomb() -> Place {
    let place = Place::with(&[("a", "1")]);
    let mut id = feed(&place, &["hash-object", "-w", "--stdin"], b"boom");
    let mut entry = format!("100644 blob {id}");
    for _ in 0..12 {
        let text: String = (0..10).map(|n| format!("{entry}\tf{n}\n")).collect();
        id = feed(&place, &["mktree"], text.as_bytes());
        entry = format!("040000 tree {id}");
    }
    let commit = place.git(&["commit-tree", &id, "-p", "HEAD", "-m", "bomb"]);
    place.git(&["update-ref", "refs/heads/main", &commit]);
    place
}

#[test]
fn g22_a_tree_bomb_is_cut_off() {
    let place = tree_bomb();
    let limits = Limits { entries: 100_000, ..Limits::default() };
    let began = Instant::now();
    let repo = place.repo();
    assert!(too_large(repo.status(&limits, &GO_ON)));
    assert!(too_large(repo.diff(&query(Sides::parse("HEAD~1..HEAD")), &limits, &GO_ON)));
    assert!(too_large(repo.diff(&query(Sides::Staged { from: None }), &limits, &GO_ON)));
    assert!(too_large(repo.commit("HEAD", &limits, &GO_ON)));
    // Where only the commits count, the trees are not looked at.
    assert_eq!(repo.log(&LogQuery::new("HEAD"), &limits, &GO_ON).unwrap().commits.len(), 2);
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn g22_a_chain_of_folders_is_cut_off() {
    let place = Place::with(&[("a", "1")]);
    let blob = feed(&place, &["hash-object", "-w", "--stdin"], b"deep");
    let mut id = feed(&place, &["mktree"], format!("100644 blob {blob}\tf\n").as_bytes());
    // Written as a pack would be: one call for many trees.
    for _ in 0..2100 {
        id = feed(&place, &["mktree"], format!("040000 tree {id}\td\n").as_bytes());
    }
    let commit = place.git(&["commit-tree", &id, "-m", "deep"]);
    let sides = Sides::Revisions { from: "HEAD".into(), to: commit, merge_base: false };
    assert!(too_large(place.repo().diff(&query(sides), &Limits::default(), &GO_ON)));
}

#[test]
fn g22_a_large_object_is_not_unpacked() {
    let place = Place::with(&[("big", "1\n"), ("small", "1\n")]);
    fs::File::create(place.path("big")).unwrap().set_len(300 << 20).unwrap();
    place.write("small", "2\n");
    place.commit("second");
    for packed in [false, true] {
        if packed {
            place.git(&["gc", "-q"]);
        }
        let limits = Limits { total_bytes: 32 << 20, ..Limits::default() };
        let diff = place.repo().diff(&query(Sides::parse("HEAD~1..HEAD")), &limits, &GO_ON).unwrap();
        assert!(diff.files[0].binary && diff.files[0].path == "big");
        assert_eq!(diff.files[1].additions, 1);
    }
    // As a commit or a tree it is more than gix allocates.
    let raw = format!(
        "tree {}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n",
        place.git(&["rev-parse", "HEAD^{tree}"])
    );
    let mut raw = raw.into_bytes();
    raw.resize(300 << 20, b'x');
    let id = feed(&place, &["hash-object", "-w", "--literally", "-t", "commit", "--stdin"], &raw);
    assert!(matches!(place.repo().commit(&id, &Limits::default(), &GO_ON), Err(HistoryError::Git { .. })));
}

#[test]
fn g22_files_of_any_size_in_the_work_tree_are_bounded() {
    let place = Place::with(&[("a", "1\n"), ("same", "1\n")]);
    let sparse = |name: &str, size: u64| {
        let _ = fs::remove_file(place.path(name));
        fs::File::create(place.path(name)).unwrap().set_len(size).unwrap();
    };
    sparse("a", 1 << 40);
    sparse("untracked", 1 << 40);
    assert_eq!(place.status().unstaged.len(), 1);
    let diff = place.diff(Sides::WorkTree { from: None });
    assert!(diff.files[0].binary);
    sparse(".gitignore", 1 << 40);
    assert!(too_large(place.repo().status(&Limits::default(), &GO_ON)));
    assert!(too_large(place.repo().ignores(&Limits::default(), &GO_ON)));
}

#[test]
fn g22_a_million_refs_are_searched_not_listed() {
    let place = Place::with(&[("a", "1")]);
    let id = place.git(&["rev-parse", "HEAD"]);
    let refs: String = (0..1_000_000).map(|n| format!("{id} refs/heads/b{n:07}\n")).collect();
    fs::write(
        place.path(".git/packed-refs"),
        format!("# pack-refs with: peeled fully-peeled sorted \n{refs}"),
    )
    .unwrap();
    let began = Instant::now();
    assert_eq!(place.repo().resolve("b0777777").unwrap(), id);
    assert!(place.repo().resolve("missing").is_err());
    assert!(place.status().clean);
    assert!(began.elapsed() < Duration::from_secs(10));
    fs::write(place.path(".git/refs/heads/huge"), "x".repeat(1 << 20)).unwrap();
    assert!(too_large(gatewright_history::Repo::open(&place.root())));
}

#[test]
fn g22_refs_that_lead_in_a_circle_and_names_that_climb_end() {
    let place = Place::with(&[("a", "1")]);
    fs::write(place.path(".git/refs/heads/x"), "ref: refs/heads/y\n").unwrap();
    fs::write(place.path(".git/refs/heads/y"), "ref: refs/heads/x\n").unwrap();
    assert!(matches!(place.repo().resolve("x"), Err(HistoryError::UnknownRevision(_))));
    fs::write(place.path(".git/HEAD"), "ref: refs/heads/x\n").unwrap();
    assert_eq!(place.status().head, None);
    fs::write(place.path(".git/HEAD"), "ref: refs/../../../outside\n").unwrap();
    assert!(place.repo().status(&Limits::default(), &GO_ON).is_err());
}

#[test]
fn g22_time_commits_and_cancellation_end_a_reading() {
    let place = Place::with(&[("a", "1")]);
    for n in 0..20 {
        place.write("a", format!("{n}"));
        place.commit("more");
    }
    let repo = place.repo();
    let few = Limits { commits: 5, ..Limits::default() };
    assert!(too_large(repo.log(&LogQuery::new("HEAD"), &few, &GO_ON)));
    assert!(too_large(repo.merge_base("HEAD", "HEAD~19", &few, &GO_ON)));
    let none = Limits { time: Duration::ZERO, ..Limits::default() };
    assert!(matches!(repo.status(&none, &GO_ON), Err(HistoryError::TimedOut(_))));
    let gone = AtomicBool::new(true);
    let limits = Limits::default();
    assert!(matches!(repo.status(&limits, &gone), Err(HistoryError::Cancelled)));
    assert!(matches!(repo.log(&LogQuery::new("HEAD"), &limits, &gone), Err(HistoryError::Cancelled)));
    assert!(matches!(
        repo.diff(&query(Sides::WorkTree { from: None }), &limits, &gone),
        Err(HistoryError::Cancelled)
    ));
}

#[test]
fn g22_a_folder_bomb_in_the_work_tree_is_cut_off() {
    let place = Place::with(&[("a", "1")]);
    for n in 0..2000 {
        place.write(format!("ignored/{n}"), "");
    }
    let limits = Limits { entries: 500, ..Limits::default() };
    assert!(too_large(place.repo().status(&limits, &GO_ON)));
    place.write(".gitignore", "ignored/\n");
    assert!(place.repo().status(&limits, &GO_ON).is_ok());
}
