//! `status` against `git status --porcelain=v2`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use gatewright_history::{Operation, Reason, Repo};

use super::place::{GO_ON, Place, assert_status};

fn set_mode(place: &Place, path: &str, mode: u32) {
    fs::set_permissions(place.path(path), fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn an_empty_repository_has_an_unborn_branch() {
    let place = Place::new();
    assert_status(&place);
    place.write("a", "1");
    place.write("dir/b", "1");
    assert_status(&place);
    place.git(&["add", "a"]);
    assert_status(&place);
    let status = place.status();
    assert_eq!((status.branch.as_deref(), status.head, status.clean), (Some("main"), None, false));
}

#[test]
fn every_kind_of_change_is_what_git_says() {
    let long = "line\n".repeat(50);
    let place = Place::with(&[
        ("same", "1"),
        ("changed", "1"),
        ("removed", "1"),
        ("cached", "1"),
        ("mode", "1"),
        ("link", "1"),
        ("moved", &long),
        ("dir/deep/moved too", &long.replace("line", "other")),
        ("file-to-dir", "1"),
        ("dir-to-file/x", "1"),
        ("ita-base", "1"),
    ]);
    place.write("changed", "22");
    fs::remove_file(place.path("removed")).unwrap();
    place.git(&["rm", "-q", "--cached", "cached"]);
    set_mode(&place, "mode", 0o755);
    fs::remove_file(place.path("link")).unwrap();
    symlink("same", place.path("link")).unwrap();
    place.git(&["mv", "moved", "renamed"]);
    place.git(&["mv", "dir/deep/moved too", "dir/moved"]);
    place.write("dir/moved", format!("{}x\n", long.replace("line", "other")));
    fs::remove_file(place.path("file-to-dir")).unwrap();
    place.write("file-to-dir/y", "1");
    fs::remove_dir_all(place.path("dir-to-file")).unwrap();
    place.write("dir-to-file", "1");
    place.write("announced", "1");
    place.git(&["add", "-N", "announced"]);
    place.write("untracked/a/b", "1");
    fs::create_dir_all(place.path("empty/er")).unwrap();
    place.write("ümlaut \"quoted\"\ttab", "1");
    assert_status(&place);
    place.git(&["add", "-A"]);
    assert_status(&place);
}

#[test]
fn a_file_that_was_only_touched_is_clean_and_the_index_is_not_refreshed() {
    let place = Place::with(&[("a", "1"), ("b", "2")]);
    let index = fs::read(place.path(".git/index")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    place.write("a", "1");
    assert!(place.status().clean);
    assert_eq!(fs::read(place.path(".git/index")).unwrap(), index);
}

#[test]
fn changes_of_the_same_size_in_the_same_second_are_seen() {
    for round in 0..20 {
        let place = Place::with(&[("a", "1111")]);
        place.write("a", format!("{round:04}"));
        assert_status(&place);
        assert!(!place.status().clean);
    }
}

#[test]
fn ignored_files_are_not_untracked() {
    let place = Place::with(&[
        (".gitignore", "*.o\n/build/\n!keep.o\nsub/*\n!sub/yes\n**/deep/*.x\n"),
        ("build/tracked", "1"),
        ("a", "1"),
    ]);
    place.git(&["add", "-f", "build/tracked"]);
    place.git(&["commit", "-q", "-m", "forced"]);
    for name in [
        "a.o",
        "keep.o",
        "build/other",
        "build/inner/x",
        "sub/no",
        "sub/yes",
        "p/q/deep/z.x",
        "p/q/deep/z.y",
        "only/b.o",
    ] {
        place.write(name, "1");
    }
    place.write("nested/.gitignore", "!*.o\nsecret\n");
    place.write("nested/c.o", "1");
    place.write("nested/secret", "1");
    place.write(".git/info/exclude", "*.log\n");
    place.write("x.log", "1");
    place.write("build/tracked", "changed");
    assert_status(&place);
    fs::remove_dir_all(place.path("nested")).unwrap();
    assert_status(&place);
}

#[test]
fn line_ends_are_converted_as_git_does() {
    let cases = [
        "* text=auto",
        "*.txt text",
        "*.txt eol=crlf",
        "*.txt -text",
        "*.txt text eol=lf\n*.bin binary",
        "*.txt crlf=input",
        "",
    ];
    for config in ["false", "true", "input"] {
        for (n, attributes) in cases.iter().enumerate() {
            let place = Place::new();
            place.git(&["config", "core.autocrlf", config]);
            place.write(".gitattributes", attributes);
            place.write("a.txt", "one\ntwo\n");
            place.write("crlf.txt", "one\r\ntwo\r\n");
            place.write("mixed.txt", "one\r\ntwo\n");
            place.write("data.bin", b"\0\r\n\n");
            place.commit("first");
            std::thread::sleep(std::time::Duration::from_millis(if n == 0 { 1100 } else { 0 }));
            place.write("a.txt", "one\r\ntwo\r\n");
            place.write("crlf.txt", "one\ntwo\n");
            place.write("mixed.txt", "one\ntwo\r\n");
            assert_status(&place);
        }
    }
}

#[test]
fn ident_is_undone() {
    let place = Place::new();
    place.write(".gitattributes", "* ident");
    place.write("a", "$Id$\n");
    place.commit("first");
    fs::remove_file(place.path("a")).unwrap();
    place.git(&["checkout", "a"]);
    assert!(fs::read_to_string(place.path("a")).unwrap().contains("$Id: "));
    assert!(place.status().clean);
    assert_status(&place);
}

#[test]
fn detached_merging_and_rebasing_are_told() {
    let place = Place::with(&[("a", "1\n"), ("b", "1\n"), ("gone", "1\n")]);
    place.git(&["checkout", "-qb", "other"]);
    place.write("a", "other\n");
    fs::remove_file(place.path("b")).unwrap();
    place.write("both", "other\n");
    place.commit("other");
    place.git(&["checkout", "-q", "main"]);
    place.write("a", "main\n");
    place.write("b", "main\n");
    place.write("both", "main\n");
    fs::remove_file(place.path("gone")).unwrap();
    place.commit("main");
    assert!(!place.try_git(&["merge", "other"]));
    assert_status(&place);
    let status = place.status();
    assert_eq!(status.operation, Some(Operation::Merge));
    let codes: Vec<_> = status.conflicted.iter().map(|c| (c.path.as_str(), c.code.as_str())).collect();
    assert_eq!(codes, [("a", "UU"), ("b", "UD"), ("both", "AA")]);
    place.git(&["merge", "--abort"]);
    assert!(!place.try_git(&["rebase", "other"]));
    assert_status(&place);
    assert_eq!((place.status().operation, place.status().detached), (Some(Operation::Rebase), true));
    place.git(&["rebase", "--abort"]);
    assert!(!place.try_git(&["cherry-pick", "other"]));
    assert_eq!(place.status().operation, Some(Operation::CherryPick));
    assert_status(&place);
    place.git(&["cherry-pick", "--abort"]);
    place.git(&["checkout", "-q", "--detach", "other"]);
    assert_status(&place);
    assert_eq!((place.status().operation, place.status().detached), (None, true));
}

#[test]
fn the_upstream_is_counted_offline() {
    let place = Place::with(&[("a", "1")]);
    place.git(&["branch", "up"]);
    place.write("a", "2");
    place.commit("ours");
    place.git(&["branch", "--set-upstream-to=up"]);
    assert_status(&place);
    let clone = Place::bare_folder();
    let url = place.root();
    clone.git(&["clone", "-q", url.to_str().unwrap(), "."]);
    clone.write("b", "1");
    clone.commit("one");
    clone.commit("two");
    place.write("c", "1");
    place.commit("theirs");
    clone.git(&["fetch", "-q"]);
    assert_status(&clone);
    let upstream = clone.status().upstream.unwrap();
    assert_eq!((upstream.name.as_str(), upstream.ahead, upstream.behind), ("origin/main", Some(2), Some(1)));
}

#[test]
fn shallow_clones_packed_refs_and_sparse_checkouts_are_read() {
    let place = Place::with(&[("a/x", "1"), ("b/y", "1"), ("top", "1")]);
    place.write("top", "2");
    place.commit("second");
    place.git(&["tag", "-a", "v1", "-m", "tag"]);
    place.git(&["pack-refs", "--all"]);
    place.git(&["gc", "-q"]);
    assert_status(&place);
    let clone = Place::bare_folder();
    clone.git(&["clone", "-q", "--depth=1", &format!("file://{}", place.root().display()), "."]);
    clone.write("new", "1");
    assert_status(&clone);
    assert!(clone.status().shallow);
    for mode in ["--no-sparse-index", "--sparse-index"] {
        let sparse = Place::bare_folder();
        sparse.git(&["clone", "-q", place.root().to_str().unwrap(), "."]);
        sparse.git(&["sparse-checkout", "set", "--cone", mode, "a"]);
        assert!(!sparse.path("b").exists());
        sparse.write("a/x", "changed");
        assert_status(&sparse);
        // A file that was left out and is there all the same.
        sparse.write("b/y", "changed");
        assert_status(&sparse);
        sparse.git(&["reset", "-q", "--soft", "HEAD~0"]);
    }
}

#[test]
fn a_linked_worktree_is_read_where_its_repository_is_trusted() {
    let place = Place::with(&[("a", "1")]);
    let linked = place.outside("linked");
    place.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    fs::write(linked.join("a"), "22").unwrap();
    let repo = Repo::open_worktree(&linked, &place.root()).unwrap();
    let status = repo.status(&gatewright_history::Limits::default(), &GO_ON).unwrap();
    assert_eq!(status.branch.as_deref(), Some("side"));
    assert_eq!(status.unstaged.len(), 1);
    assert_eq!(repo.resolve("main").unwrap(), place.git(&["rev-parse", "main"]));
    assert_status(&place);
}

#[test]
fn other_repositories_in_the_work_tree_are_not_entered() {
    let place = Place::with(&[("a", "1")]);
    let inner = place.path("inner");
    fs::create_dir(&inner).unwrap();
    place.run(&inner, &["init", "-q"]);
    fs::write(inner.join("x"), "1").unwrap();
    fs::create_dir_all(place.path("looks/.git")).unwrap();
    place.write("looks/x", "1");
    assert_status(&place);
    place.run(&inner, &["add", "x"]);
    place.run(&inner, &["commit", "-qm", "x"]);
    place.git(&["-c", "advice.addEmbeddedRepo=false", "add", "inner"]);
    place.git(&["commit", "-qm", "submodule"]);
    fs::write(inner.join("x"), "changed").unwrap();
    assert_status(&place);
    let status = place.status();
    assert_eq!(status.not_compared.len(), 1);
    assert_eq!(
        (status.not_compared[0].path.as_str(), status.not_compared[0].reason),
        ("inner", Reason::Submodule)
    );
    fs::remove_dir_all(&inner).unwrap();
    assert_eq!(place.status().unstaged.len(), 1);
}

#[test]
fn names_that_are_not_text_are_shown_and_told_apart() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    place.write(OsStr::from_bytes(b"a\xff"), "1");
    place.write("-dash", "1");
    place.write(":(glob)x", "1");
    place.write("new\nline", "1");
    place.commit("odd");
    place.write(OsStr::from_bytes(b"a\xff"), "22");
    place.write("new\nline", "22");
    place.write(OsStr::from_bytes(b"dir\xfe/b"), "22");
    assert_status(&place);
    assert!(place.status().unstaged.iter().any(|c| c.path == "a\\xff"));
}
