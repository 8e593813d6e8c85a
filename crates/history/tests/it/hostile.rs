//! Repositories that name programs and lead elsewhere: nothing runs, nothing is followed. Each trap is shown to work on the
//! git program first, so that a trap that was set wrongly fails the test.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use gatewright_history::{HistoryError, Limits, LogQuery, Reason, Sides};

use super::place::{GO_ON, Place, query};

/// A repository, a program that leaves a canary, and a change to look at.
struct Trap {
    place: Place,
    program: String,
}

impl Trap {
    fn new() -> Self {
        let place = Place::with(&[("a.txt", "one\n"), ("b.dat", "two\n"), ("sub/c.txt", "three\n")]);
        place.write("a.txt", "uno\n");
        place.commit("second");
        let program = place.outside("evil.sh");
        let canary = place.outside("canary");
        fs::write(&program, format!("#!/bin/sh\necho x >> '{}'\ncat\n", canary.display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let program = program.display().to_string();
        Self { place, program }
    }

    fn canary(&self) -> PathBuf {
        self.place.outside("canary")
    }

    fn set(&self, key: &str, value: &str) {
        self.place.git(&["config", "--add", key, value]);
    }

    /// Whether the git program springs the trap; the canary is taken away again.
    fn git_springs(&self, args: &[&str]) -> bool {
        let _ = self.place.run(&self.place.root(), args);
        let sprung = self.canary().exists();
        let _ = fs::remove_file(self.canary());
        sprung
    }

    /// Every kind of reading.
    fn read_everything(&self) {
        let repo = self.place.repo();
        let limits = Limits::default();
        repo.status(&limits, &GO_ON).unwrap();
        for sides in [
            Sides::WorkTree { from: None },
            Sides::WorkTree { from: Some("HEAD".into()) },
            Sides::Staged { from: None },
            Sides::parse("HEAD~1..HEAD"),
            Sides::parse("HEAD~1...HEAD"),
        ] {
            let mut query = query(sides);
            repo.diff(&query, &limits, &GO_ON).unwrap();
            query.ignore_whitespace = true;
            repo.diff(&query, &limits, &GO_ON).unwrap();
        }
        let mut log = LogQuery::new("HEAD");
        log.stats = true;
        repo.log(&log, &limits, &GO_ON).unwrap();
        log.paths = vec!["a.txt".into()];
        repo.log(&log, &limits, &GO_ON).unwrap();
        repo.commit("HEAD", &limits, &GO_ON).unwrap();
        repo.resolve("HEAD~1").unwrap();
        repo.merge_base("HEAD", "HEAD~1", &limits, &GO_ON).unwrap();
        let ignores = repo.ignores(&limits, &GO_ON).unwrap();
        ignores.is_ignored("a.txt", false).unwrap();
        assert!(!self.canary().exists(), "something ran");
    }
}

#[test]
fn g02_no_hook_runs() {
    let trap = Trap::new();
    for name in [
        "post-index-change",
        "reference-transaction",
        "post-checkout",
        "pre-commit",
        "fsmonitor-watchman",
        "post-merge",
        "pre-auto-gc",
        "post-rewrite",
    ] {
        let hook = trap.place.path(&format!(".git/hooks/{name}"));
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::copy(&trap.program, &hook).unwrap();
    }
    trap.set("core.hooksPath", trap.place.path(".git/hooks").to_str().unwrap());
    // Without something to add, git writes the index, and calls a hook, only if a second went by since the commit.
    trap.place.write("new.txt", "new\n");
    assert!(trap.git_springs(&["add", "-A"]));
    trap.read_everything();
}

#[test]
fn g04_no_external_or_textconv_diff_runs() {
    for key in ["diff.external", "diff.evil.command", "diff.evil.textconv"] {
        for attributes in [".gitattributes", ".git/info/attributes"] {
            let trap = Trap::new();
            trap.set(key, &trap.program);
            trap.place.write(attributes, "* diff=evil\n");
            trap.place.write("a.txt", "changed\n");
            assert!(trap.git_springs(&["diff"]), "{key}");
            trap.read_everything();
            let diff = trap.place.diff(Sides::WorkTree { from: None });
            assert!(diff.files.iter().any(|f| f.hunks.contains("+changed")));
        }
    }
}

#[test]
fn g06_no_filter_runs_and_what_it_would_convert_is_said_not_to_be_compared() {
    for key in ["filter.evil.clean", "filter.evil.process", "filter.lfs.clean"] {
        for attributes in [".gitattributes", ".git/info/attributes"] {
            let trap = Trap::new();
            let driver = key.split('.').nth(1).unwrap();
            trap.set(key, &trap.program);
            trap.set(&format!("filter.{driver}.smudge"), &trap.program);
            trap.set(&format!("filter.{driver}.required"), "true");
            trap.place.write(attributes, format!("*.dat filter={driver}\n"));
            trap.place.write("b.dat", "TWO\n");
            assert!(trap.git_springs(&["diff"]), "{key}");
            trap.read_everything();
            let status = trap.place.status();
            assert!(status.unstaged.is_empty() && !status.clean, "{status:?}");
            assert_eq!(status.not_compared[0].path, "b.dat");
            assert_eq!(status.not_compared[0].reason, Reason::Filter);
            let json = serde_json::to_value(&status.not_compared).unwrap();
            assert_eq!(json, serde_json::json!([{"path": "b.dat", "reason": "filter"}]));
            // The same bytes are the same, whatever a filter would make of them.
            trap.place.write("b.dat", "two\n");
            assert!(trap.place.status().not_compared.is_empty());
        }
    }
}

#[test]
fn g08_no_alias_or_other_configured_program_runs() {
    let trap = Trap::new();
    for key in [
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "gpg.program",
        "credential.helper",
        "interactive.diffFilter",
        "pager.log",
        "pager.diff",
        "merge.evil.driver",
        "trailer.x.command",
        "uploadpack.packObjectsHook",
        "sequence.editor",
        "difftool.x.cmd",
        "log.showSignature",
    ] {
        trap.set(key, &trap.program);
    }
    trap.set("alias.st", &format!("!{}", trap.program));
    assert!(trap.git_springs(&["st"]));
    trap.read_everything();
}

#[test]
fn g04_no_monitor_is_asked() {
    let trap = Trap::new();
    trap.set("core.fsmonitor", &trap.program);
    trap.set("core.untrackedCache", "true");
    assert!(trap.git_springs(&["status"]));
    trap.read_everything();
}

#[test]
fn g12_included_configuration_and_files_outside_are_not_read() {
    let trap = Trap::new();
    let included = trap.place.outside("included");
    let outside = |name: &str, text: &str| {
        fs::write(trap.place.outside(name), text).unwrap();
        trap.place.outside(name).display().to_string()
    };
    let all = outside("all", "*\n");
    let attributes = outside("attributes", "* -diff\n");
    fs::write(
        &included,
        format!("[core]\n\texcludesFile = {all}\n\tattributesFile = {attributes}\n\tautocrlf = true\n"),
    )
    .unwrap();
    for key in ["include.path", "includeIf.gitdir:/.path", "includeIf.onbranch:main.path"] {
        trap.set(key, included.to_str().unwrap());
    }
    trap.set("core.excludesFile", &all);
    trap.set("core.attributesFile", &attributes);
    trap.place.write("new", "1\n");
    trap.place.write("a.txt", "dos\r\n");
    assert_eq!(trap.place.git(&["status", "--porcelain", "new"]), "");
    trap.read_everything();
    assert_eq!(trap.place.status().untracked, ["new"]);
    let diff = trap.place.diff(Sides::WorkTree { from: None });
    assert!(!diff.files[0].binary && diff.files[0].hunks.contains("+dos\r\n"), "{diff:?}");
    assert!(
        !trap.place.repo().ignores(&Limits::default(), &GO_ON).unwrap().is_ignored("new", false).unwrap()
    );
}

#[test]
fn g12_links_in_the_work_tree_are_not_followed() {
    let trap = Trap::new();
    let outside = trap.place.outside("elsewhere");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("c.txt"), "SECRET\n").unwrap();
    fs::write(outside.join("rules"), "*\n").unwrap();
    fs::remove_dir_all(trap.place.path("sub")).unwrap();
    symlink(&outside, trap.place.path("sub")).unwrap();
    fs::remove_file(trap.place.path("a.txt")).unwrap();
    symlink(outside.join("c.txt"), trap.place.path("a.txt")).unwrap();
    symlink(outside.join("rules"), trap.place.path(".gitignore")).unwrap();
    symlink(outside.join("rules"), trap.place.path(".gitattributes")).unwrap();
    trap.place.write("new", "1\n");
    super::place::assert_status(&trap.place);
    for sides in [Sides::WorkTree { from: None }, Sides::WorkTree { from: Some("HEAD".into()) }] {
        let diff = trap.place.diff(sides);
        assert!(!format!("{diff:?}").contains("SECRET"), "{diff:?}");
        assert!(diff.files.iter().any(|f| f.path == "sub/c.txt"));
    }
    trap.read_everything();
}

#[test]
fn g12_submodules_are_not_entered() {
    let trap = Trap::new();
    let inner = trap.place.path("module");
    fs::create_dir(&inner).unwrap();
    trap.place.run(&inner, &["init", "-q"]);
    fs::write(inner.join("file"), "1").unwrap();
    trap.place.run(&inner, &["add", "file"]);
    trap.place.run(&inner, &["commit", "-q", "-m", "x"]);
    trap.place.run(&inner, &["config", "core.fsmonitor", &trap.program]);
    trap.place.git(&["-c", "advice.addEmbeddedRepo=false", "add", "module"]);
    trap.place.write(".gitmodules", "[submodule \"m\"]\n\tpath = module\n\turl = x\n");
    trap.set("submodule.m.update", &format!("!{}", trap.program));
    trap.place.commit("module");
    let _ = fs::remove_file(trap.canary());
    trap.place.run(&inner, &["config", "filter.evil.clean", &trap.program]);
    fs::create_dir_all(inner.join(".git/info")).unwrap();
    fs::write(inner.join(".git/info/attributes"), "* filter=evil\n").unwrap();
    fs::write(inner.join("file"), "2").unwrap();
    assert!(trap.git_springs(&["status"]));
    trap.read_everything();
    assert_eq!(trap.place.status().not_compared[0].reason, Reason::Submodule);
}

#[test]
fn replaced_and_grafted_commits_are_read_as_they_are() {
    let trap = Trap::new();
    let place = &trap.place;
    let [head, first] = [place.git(&["rev-parse", "HEAD"]), place.git(&["rev-parse", "HEAD~1"])];
    place.git(&["replace", &head, &first]);
    assert_eq!(place.git(&["log", "-1", "--format=%s"]), "first");
    let log = place.log(&LogQuery::new("HEAD"));
    let summaries: Vec<_> = log.commits.iter().map(|c| c.summary.as_str()).collect();
    assert_eq!(summaries, ["second", "first"]);
    place.git(&["replace", "-d", &head]);
    place.write(".git/info/grafts", format!("{head}\n"));
    assert_eq!(place.git(&["rev-list", "--count", "HEAD"]), "1");
    assert_eq!(place.log(&LogQuery::new("HEAD")).commits.len(), 2);
}

#[test]
fn g16_names_that_git_refuses_or_that_hide_something_name_nothing() {
    let place = Place::with(&[("a", "1")]);
    // gix makes and finds such names; a repository can have them as files.
    fs::write(place.path(".git/refs/heads/-evil"), format!("{}\n", place.git(&["rev-parse", "HEAD"])))
        .unwrap();
    let long = "x".repeat(400);
    for name in [
        "-evil",
        "--output=x",
        "a..b",
        "x.lock",
        "main@{1}",
        "@{",
        "refs/../HEAD",
        "\u{202e}main",
        "a\u{7}b",
        &long,
    ] {
        assert!(matches!(place.repo().resolve(name), Err(HistoryError::BadRevision { .. })), "{name:?}");
    }
    let status = place.status();
    assert_eq!(status.branch.as_deref(), Some("main"));
}

#[test]
fn g24_nothing_that_checks_out_is_built_in() {
    let manifest = include_str!("../../Cargo.toml");
    assert!(!manifest.contains("worktree-mutation"));
    let lock = include_str!("../../../../Cargo.lock");
    assert!(lock.contains("name = \"gix\"") && !lock.contains("name = \"gix-worktree-state\""));
    for unwanted in ["gix-credentials", "gix-prompt", "gix-archive", "gix-merge"] {
        assert!(!lock.contains(&format!("name = \"{unwanted}\"")), "{unwanted}");
    }
}

#[test]
fn pipes_do_not_block_and_are_not_read() {
    let place = Place::with(&[("a", "1"), ("dir/b", "1")]);
    let pipe = |path: &str| {
        let _ = fs::remove_file(place.path(path));
        assert!(std::process::Command::new("mkfifo").arg(place.path(path)).status().unwrap().success());
    };
    pipe("a");
    pipe(".gitignore");
    pipe("dir/.gitattributes");
    place.write("dir/b", "2");
    let status = place.status();
    assert_eq!((status.not_compared[0].path.as_str(), status.not_compared[0].reason), ("a", Reason::Special));
    assert_eq!(status.unstaged.len(), 1);
    assert!(status.untracked.is_empty());
    place.diff(Sides::WorkTree { from: Some("HEAD".into()) });
    place.repo().ignores(&Limits::default(), &GO_ON).unwrap();
}
