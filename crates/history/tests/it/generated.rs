//! Random histories and work trees: status, differences, logs and ignore rules are git's own.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use gatewright_history::LogQuery;
use proptest::prelude::*;

use super::diffs::assert_all_diffs;
use super::ignores::{assert_ignores, every_path};
use super::place::{Place, assert_status};
use super::unchanged::read_everything;

const PATHS: [&str; 16] = [
    "a",
    "b.txt",
    "dir/a",
    "dir/b",
    "dir/deep/c",
    "dir/deep/d.o",
    "ü/ä",
    "sp ace/t\tab",
    "x.o",
    "-dash",
    "quo\"te",
    "dir",
    "dir-x",
    "dir.x",
    "ignored/y",
    "new\nline",
];

const RULES: [&str; 7] =
    ["*.o", "/ignored/", "dir/*\n!dir/b", "!x.o", "**/deep/", "*\n!*/\n!*.txt", "b.txt\n"];

const ATTRIBUTES: [&str; 5] = ["* text=auto", "*.txt -diff", "*.txt text eol=crlf", "* -text", "a binary"];

#[derive(Debug, Clone)]
enum Step {
    Write(usize, u8, u8),
    Binary(usize, u8),
    Crlf(usize, u8),
    Remove(usize),
    Rename(usize, usize),
    Executable(usize, bool),
    Link(usize, usize),
    Nested(bool),
    Ignore(usize, bool),
    Attributes(usize),
    Add(usize),
    AddAll,
    Announce(usize),
    Forget(usize),
    Commit,
    Branch(u8),
    Merge(u8),
    Detach,
    Undo,
    Pack,
}

fn step() -> impl Strategy<Value = Step> {
    let path = || 0..PATHS.len();
    prop_oneof![
        6 => (path(), 0_u8..4, 0_u8..12).prop_map(|(p, text, edits)| Step::Write(p, text, edits)),
        1 => (path(), any::<u8>()).prop_map(|(p, n)| Step::Binary(p, n)),
        1 => (path(), 0_u8..4).prop_map(|(p, n)| Step::Crlf(p, n)),
        2 => path().prop_map(Step::Remove),
        3 => (path(), path()).prop_map(|(a, b)| Step::Rename(a, b)),
        1 => (path(), any::<bool>()).prop_map(|(p, on)| Step::Executable(p, on)),
        1 => (path(), path()).prop_map(|(a, b)| Step::Link(a, b)),
        1 => any::<bool>().prop_map(Step::Nested),
        1 => (0..RULES.len(), any::<bool>()).prop_map(|(n, deep)| Step::Ignore(n, deep)),
        1 => (0..ATTRIBUTES.len()).prop_map(Step::Attributes),
        2 => path().prop_map(Step::Add),
        3 => Just(Step::AddAll),
        1 => path().prop_map(Step::Announce),
        1 => path().prop_map(Step::Forget),
        4 => Just(Step::Commit),
        1 => (0_u8..3).prop_map(Step::Branch),
        1 => (0_u8..3).prop_map(Step::Merge),
        1 => Just(Step::Detach),
        1 => Just(Step::Undo),
        1 => Just(Step::Pack),
    ]
}

/// One of four texts, some of its lines changed.
fn text(kind: u8, edits: u8) -> String {
    let line = |n: u8| {
        if n % 12 < edits && n.is_multiple_of(3) {
            format!("edited {n} {edits}\n")
        } else {
            format!("{}text {kind}, line {n}\n", "  ".repeat(usize::from(n % 4)))
        }
    };
    let mut text: String = (0..kind * 9).map(line).collect();
    if edits % 5 == 4 {
        text.pop();
    }
    text
}

/// Puts a file where it is wanted, if the folders above it are folders.
fn put(place: &Place, path: &str, bytes: &[u8]) {
    let full = place.path(path);
    if full.is_dir() || full.parent().is_some_and(|p| fs::create_dir_all(p).is_err() || p.is_symlink()) {
        return;
    }
    let _ = fs::remove_file(&full);
    let _ = fs::write(&full, bytes);
}

/// Git may refuse a step: then nothing happens.
fn let_go(_: bool) {}

fn take(place: &Place, step: &Step) {
    let full = |n: usize| place.path(PATHS[n]);
    match step {
        Step::Write(p, kind, edits) => put(place, PATHS[*p], text(*kind, *edits).as_bytes()),
        Step::Binary(p, n) => put(place, PATHS[*p], &[0, *n, 10, 13, 10]),
        Step::Crlf(p, kind) => put(place, PATHS[*p], text(*kind, 0).replace('\n', "\r\n").as_bytes()),
        Step::Remove(p) => {
            let path = full(*p);
            let _ = if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
        }
        Step::Rename(a, b) => {
            if !full(*b).is_symlink() && full(*b).parent().is_some_and(|p| fs::create_dir_all(p).is_ok()) {
                let _ = fs::rename(full(*a), full(*b));
            }
        }
        Step::Executable(p, on) => {
            let mode = if *on { 0o755 } else { 0o644 };
            if full(*p).is_file() && !full(*p).is_symlink() {
                let _ = fs::set_permissions(full(*p), fs::Permissions::from_mode(mode));
            }
        }
        Step::Link(a, b) => {
            let path = full(*a);
            if !path.is_dir() && path.parent().is_some_and(|p| fs::create_dir_all(p).is_ok()) {
                let _ = fs::remove_file(&path);
                let _ = symlink(PATHS[*b], path);
            }
        }
        Step::Nested(filled) => {
            let inner = place.path("nested");
            if !inner.exists() {
                fs::create_dir(&inner).unwrap();
                place.run(&inner, &["init", "-q"]);
                if *filled {
                    fs::write(inner.join("f"), "1").unwrap();
                    place.run(&inner, &["add", "f"]);
                    place.run(&inner, &["commit", "-qm", "f"]);
                }
            }
        }
        Step::Ignore(n, deep) => {
            put(place, if *deep { "dir/.gitignore" } else { ".gitignore" }, RULES[*n].as_bytes());
        }
        Step::Attributes(n) => put(place, ".gitattributes", ATTRIBUTES[*n].as_bytes()),
        Step::Add(p) => let_go(place.try_git(&["--literal-pathspecs", "add", "-f", "--", PATHS[*p]])),
        Step::AddAll => let_go(place.try_git(&["-c", "advice.addEmbeddedRepo=false", "add", "-A"])),
        Step::Announce(p) => let_go(place.try_git(&["--literal-pathspecs", "add", "-N", "--", PATHS[*p]])),
        Step::Forget(p) => {
            let_go(place.try_git(&["--literal-pathspecs", "rm", "-rq", "--cached", "--", PATHS[*p]]));
        }
        Step::Commit => {
            let_go(place.try_git(&["commit", "-q", "--allow-empty", "-m", "a title\n\nand a body"]));
        }
        Step::Branch(n) => {
            let name = format!("b{n}");
            let _done =
                place.try_git(&["checkout", "-q", &name]) || place.try_git(&["checkout", "-qb", &name]);
        }
        Step::Merge(n) => let_go(place.try_git(&["merge", "-q", "-m", "merged", &format!("b{n}")])),
        Step::Detach => let_go(place.try_git(&["checkout", "-q", "--detach"])),
        Step::Undo => let_go(place.try_git(&["reset", "-q", "--soft", "HEAD~1"])),
        Step::Pack => let_go(place.try_git(&["gc", "-q"])),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_history_reads_as_git_reads_it(steps in prop::collection::vec(step(), 1..40)) {
        let place = Place::new();
        for step in &steps {
            take(&place, step);
        }
        let before = place.fingerprint();
        read_everything(&place);
        prop_assert!(place.fingerprint() == before, "something was written");
        assert_status(&place);
        assert_all_diffs(&place);
        assert_ignores(&place, &every_path(&place));
        if place.try_git(&["rev-parse", "-q", "--verify", "HEAD"]) {
            for path in ["", "a", "dir"] {
                let mut query = LogQuery::new("HEAD");
                query.limit = 1000;
                query.paths.extend((!path.is_empty()).then(|| path.to_owned()));
                let ours: Vec<_> = place.log(&query).commits.into_iter().map(|c| c.id).collect();
                let mut args = vec!["log", "--format=%H", "HEAD", "--"];
                args.extend((!path.is_empty()).then_some(path));
                let theirs: Vec<_> = place.git(&args).lines().map(str::to_owned).collect();
                prop_assert_eq!(ours, theirs, "{}", path);
            }
        }
    }
}
