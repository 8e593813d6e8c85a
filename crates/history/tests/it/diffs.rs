//! `diff` against `git diff`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use gatewright_history::{Diff, DiffQuery, HistoryError, Kind, Limits, Sides};

use super::place::{GO_ON, Place, query, show};

fn revisions(from: &str, to: &str) -> Sides {
    Sides::Revisions { from: from.to_owned(), to: to.to_owned(), merge_base: false }
}

/// Additions, deletions, path, former path; `None` for binary files.
type Counted = (Option<(u64, u64)>, String, Option<String>);

fn numstat(place: &Place, args: &[&str]) -> Vec<Counted> {
    let mut all = vec!["diff", "--numstat", "-z", "-M", "--no-ext-diff", "--no-textconv"];
    all.extend(args);
    let out = place.git_bytes(&all);
    let mut parts = out.split(|b| *b == 0);
    let mut counted = Vec::new();
    while let Some(part) = parts.next().filter(|p| !p.is_empty()) {
        let mut fields = part.splitn(3, |b| *b == b'\t');
        let mut number = || String::from_utf8(fields.next().unwrap().to_vec()).unwrap().parse().ok();
        let counts = number().zip(number());
        let path = fields.next().unwrap();
        let (path, from) = if path.is_empty() {
            let from = show(parts.next().unwrap());
            (show(parts.next().unwrap()), Some(from))
        } else {
            (show(path), None)
        };
        counted.push((counts, path, from));
    }
    counted.sort_by(|a, b| a.1.cmp(&b.1));
    counted
}

/// The hunks of each file, in the order of paths.
fn unified(place: &Place, args: &[&str]) -> Vec<String> {
    let mut all = vec![
        "-c",
        "core.quotePath=false",
        "diff",
        "-U3",
        "-M",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
    ];
    all.extend(args);
    let out = place.git_bytes(&all);
    let text = String::from_utf8_lossy(&out);
    let mut files = Vec::new();
    for file in text.split("\ndiff --git ") {
        // Only the hunks count; heads of renames and modes are compared otherwise.
        let hunks = file.find("\n@@ ").map(|at| format!("{}\n", file[at + 1..].trim_end_matches('\n')));
        files.push(hunks.unwrap_or_default());
    }
    if text.is_empty() { Vec::new() } else { files }
}

fn counted(diff: &Diff) -> Vec<Counted> {
    let mut out: Vec<_> = diff
        .files
        .iter()
        .map(|f| ((!f.binary).then_some((f.additions, f.deletions)), f.path.clone(), f.from.clone()))
        .collect();
    out.sort_by(|a, b| a.1.cmp(&b.1));
    out
}

/// Fails unless the library's difference is git's.
pub(crate) fn assert_diff(place: &Place, query: &DiffQuery, args: &[&str]) {
    let ours = place.diff_of(query);
    assert_eq!(counted(&ours), numstat(place, args), "{args:?}");
    let binary = |diff: &Diff| diff.files.iter().any(|f| f.binary || f.kind == Kind::TypeChanged);
    if !binary(&ours) {
        let texts: Vec<_> = ours.files.iter().map(|f| f.hunks.clone()).collect();
        let sorted = |mut v: Vec<String>| {
            v.retain(|t| !t.is_empty());
            v.sort();
            v
        };
        let ended = |t: String| if t.is_empty() { t } else { format!("{}\n", t.trim_end_matches('\n')) };
        assert_eq!(sorted(texts.into_iter().map(ended).collect()), sorted(unified(place, args)), "{args:?}");
    }
}

pub(crate) fn assert_all_diffs(place: &Place) {
    let worktree = |from: Option<&str>| query(Sides::WorkTree { from: from.map(str::to_owned) });
    assert_diff(place, &worktree(None), &["--ignore-submodules=dirty"]);
    assert_diff(place, &query(Sides::Staged { from: None }), &["--cached"]);
    if place.try_git(&["rev-parse", "--verify", "-q", "HEAD"]) {
        assert_diff(place, &worktree(Some("HEAD")), &["--ignore-submodules=dirty", "HEAD"]);
    }
    if place.try_git(&["rev-parse", "--verify", "-q", "HEAD~1"]) {
        assert_diff(place, &query(revisions("HEAD~1", "HEAD")), &["HEAD~1", "HEAD"]);
    }
}

const CODE: &str = "fn one() {\n    let a = 1;\n    let b = 2;\n}\n\nfn two() {\n    let c = 3;\n    let d = 4;\n    let e = 5;\n    let f = 6;\n    let g = 7;\n}\n\nfn three() {\n    let h = 8;\n}\n";

#[test]
fn texts_are_compared_line_by_line_as_git_does() {
    let place = Place::with(&[
        ("code.rs", CODE),
        ("no newline", "a\nb"),
        ("same", "1"),
        ("empty", ""),
        ("bin", "a\0b"),
    ]);
    place.write(
        "code.rs",
        CODE.replace("let b = 2;", "let b = 22;\n    let bb = 2;").replace("    let h = 8;\n", ""),
    );
    place.write("no newline", "a\nc\n");
    place.write("bin", "a\0c");
    place.write("new", "x\ny\n");
    place.git(&["add", "new"]);
    fs::remove_file(place.path("empty")).unwrap();
    fs::set_permissions(place.path("same"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_all_diffs(&place);
    place.git(&["add", "-A"]);
    assert_all_diffs(&place);
    place.commit("second");
    assert_all_diffs(&place);
    let diff = place.diff(revisions("HEAD~1", "HEAD"));
    let same = diff.files.iter().find(|f| f.path == "same").unwrap();
    assert_eq!((same.old_mode.as_deref(), same.new_mode.as_deref()), (Some("100644"), Some("100755")));
    assert_eq!(diff.stats.files, diff.files.len() as u64);
    assert!(diff.files.iter().any(|f| f.binary && f.path == "bin"));
    assert!(
        diff.files.iter().any(|f| f.hunks.contains("@@ fn three() {") || f.hunks.contains("@@ fn two() {"))
    );
}

#[test]
fn renames_are_found_as_git_finds_them() {
    let place = Place::new();
    let text = |n: u32| (0..40).map(|i| format!("line {i} of {n}\n")).collect::<String>();
    for n in 0..8 {
        place.write(format!("old/{n}.txt"), text(n));
    }
    place.write("twin-a", "same\n");
    place.write("twin-b", "same\n");
    place.commit("first");
    fs::create_dir_all(place.path("new")).unwrap();
    for n in 0..8_usize {
        let mut lines: Vec<String> =
            text(u32::try_from(n).unwrap()).lines().map(|l| format!("{l}\n")).collect();
        for line in lines.iter_mut().take(n * 4) {
            *line = "changed\n".to_owned();
        }
        fs::remove_file(place.path(&format!("old/{n}.txt"))).unwrap();
        place.write(format!("new/{}.txt", if n % 2 == 0 { n } else { n + 100 }), lines.concat());
    }
    fs::rename(place.path("twin-a"), place.path("moved-twin")).unwrap();
    fs::rename(place.path("twin-b"), place.path("new/twin-b")).unwrap();
    place.commit("second");
    assert_all_diffs(&place);
    let mut without = query(revisions("HEAD~1", "HEAD"));
    without.renames = false;
    assert_diff(&place, &without, &["--no-renames", "HEAD~1", "HEAD"]);
}

#[test]
fn links_and_types_are_compared() {
    let place = Place::with(&[("a", "1\n"), ("b", "2\n")]);
    symlink("a", place.path("link")).unwrap();
    place.commit("link");
    fs::remove_file(place.path("link")).unwrap();
    symlink("b", place.path("link")).unwrap();
    fs::remove_file(place.path("b")).unwrap();
    symlink("/etc/passwd", place.path("b")).unwrap();
    let diff = place.diff(Sides::WorkTree { from: None });
    assert!(diff.files.iter().all(|f| !f.hunks.contains("root")), "{diff:?}");
    assert_eq!(diff.files.iter().find(|f| f.path == "b").unwrap().kind, Kind::TypeChanged);
    assert_all_diffs(&place);
}

#[test]
fn white_space_can_be_ignored() {
    let place = Place::with(&[("a", "one\ntwo\nthree\n"), ("b", "x\n")]);
    place.write("a", " one\nt w o\nfour\n");
    place.write("b", "x \n");
    let mut ignoring = query(Sides::WorkTree { from: None });
    ignoring.ignore_whitespace = true;
    assert_diff(&place, &ignoring, &["-w"]);
}

#[test]
fn paths_are_taken_literally() {
    let place = Place::with(&[("a/x", "1\n"), ("a/y", "1\n"), ("ab", "1\n"), ("*", "1\n")]);
    for name in ["a/x", "a/y", "ab", "*"] {
        place.write(name, "2\n");
    }
    for (paths, names) in [
        (vec!["a"], vec!["a/x", "a/y"]),
        (vec!["*"], vec!["*"]),
        (vec!["a/x", "ab"], vec!["a/x", "ab"]),
        (vec!["."], vec!["*", "a/x", "a/y", "ab"]),
    ] {
        let mut some = query(Sides::WorkTree { from: None });
        some.paths = paths.iter().map(|p| (*p).to_owned()).collect();
        let found: Vec<_> = place.diff_of(&some).files.into_iter().map(|f| f.path).collect();
        assert_eq!(found, names, "{paths:?}");
        place.commit("x");
        some.sides = revisions("HEAD~1", "HEAD");
        let found: Vec<_> = place.diff_of(&some).files.into_iter().map(|f| f.path).collect();
        assert_eq!(found, names, "{paths:?}");
        place.git(&["reset", "-q", "HEAD~1"]);
    }
    let mut outside = query(Sides::WorkTree { from: None });
    outside.paths = vec!["../x".to_owned()];
    let refused = place.repo().diff(&outside, &Limits::default(), &GO_ON);
    assert!(matches!(refused, Err(HistoryError::BadPath(_))));
}

#[test]
fn three_dots_compare_from_the_common_ancestor() {
    let place = Place::with(&[("a", "1\n")]);
    place.git(&["checkout", "-qb", "topic"]);
    place.write("topic", "1\n");
    place.commit("topic");
    place.git(&["checkout", "-q", "main"]);
    place.write("main", "1\n");
    place.commit("main");
    assert_diff(&place, &query(Sides::parse("main...topic")), &["main...topic"]);
    assert_diff(&place, &query(Sides::parse("main..topic")), &["main..topic"]);
    let repo = place.repo();
    let base = repo.merge_base("main", "topic", &Limits::default(), &GO_ON).unwrap();
    assert_eq!(base, place.git(&["merge-base", "main", "topic"]));
    place.git(&["checkout", "-q", "--orphan", "alone"]);
    place.commit("alone");
    let none = repo.merge_base("main", "alone", &Limits::default(), &GO_ON);
    assert!(matches!(none, Err(HistoryError::NoMergeBase)));
}

#[test]
fn what_is_cut_says_so_and_is_counted() {
    let place = Place::with(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n")]);
    for name in ["a", "b", "c"] {
        place.write(name, "x\n".repeat(200));
    }
    let mut small = query(Sides::WorkTree { from: None });
    small.max_bytes = 700;
    let diff = place.diff_of(&small);
    assert!(diff.truncated && !diff.files[0].truncated && diff.files[2].truncated);
    assert!(diff.files.iter().map(|f| f.hunks.len()).sum::<usize>() <= 700);
    assert_eq!((diff.stats.additions, diff.stats.deletions), (600, 3));
    small.max_files = 1;
    let diff = place.diff_of(&small);
    assert_eq!((diff.files.len(), diff.stats.files, diff.truncated), (1, 3, true));
}

#[test]
fn attributes_say_what_is_binary() {
    let place =
        Place::with(&[(".gitattributes", "*.dat -diff\n*.txt diff\n"), ("a.dat", "1\n"), ("b.txt", "1\0\n")]);
    place.write("a.dat", "2\n");
    place.write("b.txt", "2\0\n");
    fs::remove_file(place.path("b.txt")).unwrap();
    symlink("a.dat", place.path("link.dat")).unwrap();
    place.git(&["add", "-N", "link.dat"]);
    assert_eq!(counted(&place.diff(Sides::WorkTree { from: None })), numstat(&place, &[]));
}
