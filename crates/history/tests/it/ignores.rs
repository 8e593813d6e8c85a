//! `Ignores` against `git check-ignore`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use gatewright_history::{HistoryError, Limits};

use super::place::{GO_ON, Place};

/// Fails unless both say the same of every path, which must exist as what it is.
pub(crate) fn assert_ignores(place: &Place, paths: &[String]) {
    let ignores = place.repo().ignores(&Limits::default(), &GO_ON).unwrap();
    let mut child = Command::new("git")
        .args(["-c", "core.quotePath=false", "check-ignore", "--stdin", "-z"])
        .current_dir(place.root())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", place.outside("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = paths.join("\0");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let theirs: Vec<String> = out
        .stdout
        .split(|b| *b == 0)
        .filter(|p| !p.is_empty())
        .map(|p| String::from_utf8_lossy(p).into_owned())
        .collect();
    for path in paths {
        let is_dir = fs::symlink_metadata(place.path(path)).is_ok_and(|m| m.is_dir());
        assert_eq!(ignores.is_ignored(path, is_dir).unwrap(), theirs.contains(path), "{path}");
    }
}

pub(crate) fn every_path(place: &Place) -> Vec<String> {
    let mut out = Vec::new();
    let mut left = vec![place.root()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".git") {
                continue;
            }
            if let Some(name) = path.strip_prefix(place.root()).unwrap().to_str() {
                out.push(name.to_owned());
            }
            if fs::symlink_metadata(&path).unwrap().is_dir() && !path.join(".git").exists() {
                left.push(path);
            }
        }
    }
    out.sort();
    out
}

fn place() -> Place {
    let place = Place::with(&[("tracked/keep.o", "1"), ("src/main.c", "1")]);
    place.write(".gitignore", "*.o\n/target/\n!important.o\nlogs/**\n!logs/keep/\ndoc/*.txt\n\\#odd\ntrailing \nsp\\ \n[ab]x\n**/cache/\n");
    place.write("src/.gitignore", "!*.o\ngenerated\n/local\n");
    place.write(".git/info/exclude", "*.swp\n");
    for name in [
        "a.o",
        "important.o",
        "target/debug/x",
        "target/important.o",
        "src/b.o",
        "src/generated/deep/x",
        "src/local",
        "src/inner/local",
        "logs/a",
        "logs/keep/b",
        "doc/a.txt",
        "doc/sub/a.txt",
        "#odd",
        "trailing",
        "ax",
        "cx",
        "x/cache/y",
        "cache",
        "tracked/other.o",
        "tracked/n",
        ".swp",
        "e.swp",
        "ümlaut.o",
        "sp ",
    ] {
        place.write(name, "1");
    }
    place
}

#[test]
fn every_path_is_judged_as_git_judges_it() {
    let place = place();
    place.git(&["add", "-f", "tracked/keep.o"]);
    assert_ignores(&place, &every_path(&place));
}

#[test]
fn rules_are_those_of_the_moment_they_were_taken() {
    let place = place();
    let ignores = place.repo().ignores(&Limits::default(), &GO_ON).unwrap();
    place.write(".gitignore", "!*\n");
    place.write("src/.gitignore", "*\n");
    place.write("new/.gitignore", "*\n");
    assert!(ignores.is_ignored("a.o", false).unwrap());
    assert!(ignores.is_ignored("target", true).unwrap() && !ignores.is_ignored("target", false).unwrap());
    assert!(
        !ignores.is_ignored("src/main.c", false).unwrap() && !ignores.is_ignored("new/x", false).unwrap()
    );
    // What need not exist.
    assert!(ignores.is_ignored("target/not/yet/there", false).unwrap());
}

#[test]
fn tracked_paths_are_never_ignored_and_neither_are_folders_with_them() {
    let place = Place::with(&[("build/kept", "1"), (".gitignore", "build/\n")]);
    place.git(&["add", "-f", "build/kept"]);
    place.git(&["commit", "-qm", "forced"]);
    let ignores = place.repo().ignores(&Limits::default(), &GO_ON).unwrap();
    assert!(!ignores.is_ignored("build/kept", false).unwrap() && !ignores.is_ignored("build", true).unwrap());
    assert!(ignores.is_ignored("build/other", false).unwrap());
}

#[test]
fn paths_outside_and_of_git_itself_are_not_ignored() {
    let ignores = place().repo().ignores(&Limits::default(), &GO_ON).unwrap();
    for path in ["../x.o", "/x.o", "a/../x.o"] {
        assert!(matches!(ignores.is_ignored(path, false), Err(HistoryError::BadPath(_))), "{path}");
    }
    assert!(!ignores.is_ignored(".", true).unwrap());
}

#[test]
fn many_questions_are_cheap() {
    let place = place();
    for n in 0..300 {
        place.write(format!("packages/p{n}/.gitignore"), "dist/\n*.tmp\n");
    }
    let ignores = place.repo().ignores(&Limits::default(), &GO_ON).unwrap();
    let began = std::time::Instant::now();
    for n in 0..100_000 {
        assert!(ignores.is_ignored(&format!("packages/p{}/dist/a/b/{n}.js", n % 300), false).unwrap());
    }
    assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
}
