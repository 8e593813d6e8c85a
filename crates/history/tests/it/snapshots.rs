//! The files of a commit, as git lists and stores them.

use gatewright_history::{HistoryError, Limits, Repo};

use super::place::{GO_ON, Place};

#[test]
fn the_files_of_a_commit_are_those_of_git_whatever_the_work_tree_has() {
    let place = Place::with(&[("a/b.json", "{}\n"), ("a/c/d.txt", "d\r\n"), ("top", "t")]);
    std::os::unix::fs::symlink("/etc/passwd", place.path("a/link")).unwrap();
    place.commit("a link");
    place.write("a/b.json", "changed");
    std::fs::remove_file(place.path("top")).unwrap();
    let repo = Repo::open(&place.root()).unwrap();
    let snapshot = repo.snapshot("HEAD", &Limits::default(), &GO_ON).unwrap();
    assert_eq!(snapshot.commit(), repo.resolve("HEAD").unwrap());
    assert_eq!(snapshot.paths().collect::<Vec<_>>(), ["a/b.json", "a/c/d.txt", "top"], "no links");
    let read = |path: &str| repo.stored(&snapshot, path, &Limits::default(), &GO_ON).unwrap();
    assert_eq!(read("a/b.json").as_deref(), Some(&b"{}\n"[..]));
    assert_eq!(read("a/c/d.txt").as_deref(), Some(&b"d\r\n"[..]));
    assert_eq!((read("a/link"), read("a"), read("../top")), (None, None, None));
    assert_eq!(
        ["a", "a/c", "top", "to", "a/link"].map(|path| snapshot.is_folder(path)),
        [Some(true), Some(true), Some(false), None, None]
    );
    let small = Limits { file_bytes: 1, ..Limits::default() };
    assert!(matches!(repo.stored(&snapshot, "a/b.json", &small, &GO_ON), Err(HistoryError::TooLarge { .. })));
    assert!(matches!(
        repo.snapshot("HEAD:a", &Limits::default(), &GO_ON),
        Err(HistoryError::BadRevision { .. })
    ));
}

#[test]
fn the_default_branch_is_origins_head_else_main_else_master() {
    let place = Place::with(&[("a", "a")]);
    place.git(&["branch", "-M", "trunk"]);
    let named = || Repo::open(&place.root()).unwrap().default_branch().unwrap();
    assert_eq!(named(), None);
    place.git(&["branch", "master"]);
    assert_eq!(named().as_deref(), Some("refs/heads/master"));
    place.git(&["branch", "main"]);
    assert_eq!(named().as_deref(), Some("refs/heads/main"));
    place.git(&["update-ref", "refs/remotes/origin/dev", "HEAD"]);
    place.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/dev"]);
    assert_eq!(named().as_deref(), Some("refs/remotes/origin/HEAD"));
}

#[test]
fn tags_are_named_as_git_names_them() {
    let place = Place::with(&[("a", "1")]);
    let named = || Repo::open(&place.root()).unwrap().tags().unwrap();
    assert_eq!(named(), Vec::<String>::new());
    for tag in ["v1.0.0", "@acme/ui@1.2.0", "nested/deep/v1"] {
        place.git(&["tag", tag]);
    }
    place.git(&["tag", "--annotate", "--message", "Two", "v2.0.0"]);
    place.git(&["pack-refs", "--all"]);
    place.git(&["tag", "v1.1.0"]);
    let told = place.git(&["tag", "--list"]);
    let mut told: Vec<&str> = told.lines().collect();
    told.sort_unstable();
    assert_eq!(named(), told);
    assert_eq!(told.len(), 5);
}
