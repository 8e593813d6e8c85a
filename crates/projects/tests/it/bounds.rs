//! Nothing that a repository holds makes detection long or large.

use std::time::{Duration, Instant};

use gatewright_projects::{Entry, EntryKind, Look, LookError, MAX_PACKAGES, MAX_TARGETS, detect, go_module};

/// A look without a disk: everything is there, without end.
struct Endless;

impl Look for Endless {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        Ok(match path.rsplit('/').next() {
            Some("package.json") => Some(br#"{"workspaces":["**","a/*/b/*","../x"]}"#.to_vec()),
            Some("Cargo.toml") => Some(b"[workspace]\nmembers=['**']\n".to_vec()),
            Some("go.work") => Some(b"use ./d0\n".to_vec()),
            Some("go.mod") => Some(b"module x\n".to_vec()),
            Some("Makefile") => Some(b"include Makefile.*\n".to_vec()),
            Some(name) if name.starts_with('f') => Some(b"package x\n".to_vec()),
            _ => None,
        })
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        let file = |name: String| Entry { name, kind: EntryKind::File };
        let mut entries: Vec<_> =
            (0..40).map(|n| Entry { name: format!("d{n}"), kind: EntryKind::Folder }).collect();
        entries.extend(["package.json", "Cargo.toml"].map(|n| file(n.to_owned())));
        if dir.is_empty() {
            entries.extend(["go.work", "go.mod", "Makefile"].map(|n| file(n.to_owned())));
        }
        entries.extend((0..40).map(|n| file(format!("f{n}.go"))));
        Ok(entries)
    }
}

#[test]
fn d04_an_endless_tree_ends() {
    let began = Instant::now();
    let project = detect(&Endless, &[]).unwrap();
    assert!(project.truncated);
    assert!(project.packages.len() <= MAX_PACKAGES);
    assert!(project.problems.iter().any(|p| p.message.contains("leads out of the root")));
    let module = go_module(&Endless).unwrap().unwrap();
    assert!(module.truncated);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn d06_bombs_are_problems_at_once() {
    let aliases = format!("a: &a 1\npackages:\n{}", "  - *a\n".repeat(500_000));
    let deep = "[".repeat(1_000_000);
    let tables = format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = "{\"a\":".repeat(100_000);
    let xml = format!("<project>{}", "<a>".repeat(500_000));
    let began = Instant::now();
    for (file, text) in [
        ("pnpm-workspace.yaml", &aliases),
        ("pnpm-workspace.yaml", &deep),
        ("pyproject.toml", &tables),
        ("package.json", &nested),
        ("pom.xml", &xml),
    ] {
        let project = crate::detected(&[("package.json", "{}"), (file, text)]);
        assert!(project.problems.iter().any(|p| p.file == file), "{file}");
        assert!(project.problems.iter().all(|p| p.message.len() < 2_000), "{file}");
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn long_files_of_nonsense_take_no_longer_than_their_length() {
    let began = Instant::now();
    for unit in
        ["a: b ## c\n", "$(", "a:", "\\\n", "require (\n", "\"", "=> ", "include *.mk\n", "`", "a\tb "]
    {
        let text = unit.repeat(2_000_000 / unit.len());
        let project = crate::detected(&[("Makefile", &text), ("go.mod", &text), ("requirements.txt", &text)]);
        assert!(project.makefile.unwrap().targets.len() <= MAX_TARGETS, "{unit:?}");
    }
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
}

#[test]
fn a_file_that_is_too_large_is_a_problem() {
    let text = " ".repeat(5 * 1024 * 1024);
    let project = crate::detected(&[("package.json", &text)]);
    assert!(project.problems[0].message.contains("at most"));
}
