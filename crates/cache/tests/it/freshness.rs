//! For every namespace: after any change of what an answer depends on, the warm answer is the cold one.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use gatewright_cache::{Cache, Depends, Key, Kind, Namespace, Settings};
use projects::{Entry, EntryKind, Look, LookError, MAX_FILE, Project, Trace, Traced, detect, go_module};
use proptest::prelude::*;

use crate::{Disk, Hand, SETTLED, listing};

/// The folder, as projects look at it.
struct Window<'a>(&'a Path);

impl Window<'_> {
    fn at(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.0.to_owned() } else { self.0.join(path) }
    }
}

impl Look for Window<'_> {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
        match fs::metadata(self.at(path)) {
            Ok(facts) if facts.is_file() && facts.len() <= MAX_FILE => Ok(Some(fs::read(self.at(path))?)),
            _ => Ok(None),
        }
    }

    fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
        let entries = listing(&self.at(dir)).unwrap_or_default();
        let kind = |kind| match kind {
            Kind::File => EntryKind::File,
            Kind::Folder => EntryKind::Folder,
            Kind::Link => EntryKind::Link,
            Kind::Other => EntryKind::Other,
        };
        Ok(entries.into_iter().map(|(name, k)| Entry { name, kind: kind(k) }).collect())
    }
}

/// Tells what is looked at to the answer's dependencies. The product's is the same over its jail.
struct Noting<'a>(&'a Path, &'a Depends<'a>);

impl Noting<'_> {
    fn at(&self, path: &str) -> PathBuf {
        Window(self.0).at(path)
    }
}

impl Trace for Noting<'_> {
    fn before(&self, path: &str) {
        self.1.before(&self.at(path));
    }

    fn read(&self, path: &str, bytes: Option<&[u8]>) {
        self.1.read(&self.at(path), bytes);
    }

    fn head(&self, path: &str, limit: usize, bytes: Option<&[u8]>) {
        self.1.head(&self.at(path), limit, bytes);
    }

    fn listed(&self, dir: &str, entries: Option<&[Entry]>) {
        let kind = |kind| match kind {
            EntryKind::File => Kind::File,
            EntryKind::Folder => Kind::Folder,
            EntryKind::Link => Kind::Link,
            EntryKind::Other => Kind::Other,
        };
        // No folder at all: `list` says nothing is in it.
        let entries = entries.filter(|e| !e.is_empty() || self.at(dir).is_dir());
        self.1.listed(&self.at(dir), entries.map(|e| e.iter().map(|e| (e.name.as_str(), kind(e.kind)))));
    }
}

fn cached_project(cache: &Cache, disk: &Disk, dir: &Path) -> (Project, bool) {
    let answer = cache
        .get_or(Namespace::ProjectDetection, &Key::of(&[b"detect"]), disk, |depends| {
            detect(&Traced::new(Window(dir), Noting(dir, depends)), &[])
        })
        .unwrap();
    ((*answer.value).clone(), answer.warm)
}

/// Every file below, as a tool would list them.
fn walk(dir: &Path, depends: Option<&Depends<'_>>) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(folder) = folders.pop() {
        if let Some(depends) = depends {
            depends.before(&folder);
        }
        let entries = listing(&folder).unwrap_or_default();
        if let Some(depends) = depends {
            depends.listed(&folder, Some(entries.iter().map(|(name, kind)| (name.as_str(), *kind))));
        }
        for (name, kind) in entries {
            match kind {
                Kind::Folder => folders.push(folder.join(name)),
                _ => found.push(folder.join(name)),
            }
        }
    }
    found.sort();
    found
}

/// One change to a folder.
#[derive(Debug, Clone)]
enum Edit {
    Write(&'static str, &'static str),
    Remove(&'static str),
    Rename(&'static str, &'static str),
    Wait,
}

const PATHS: [&str; 14] = [
    "package.json",
    "go.mod",
    "go.sum",
    "Makefile",
    "mk/a.mk",
    "pnpm-lock.yaml",
    "a.go",
    "pkg/b.go",
    "pkg/b_test.go",
    "packages/x/package.json",
    "pnpm-workspace.yaml",
    "requirements.txt",
    ".github/workflows/ci.yml",
    "go.work",
];

/// Texts of few sizes, so that changes often keep the size.
const TEXTS: [&str; 12] = [
    "{}",
    "{\"name\":\"a\"}",
    "{\"name\":\"b\"}",
    "{\"workspaces\":[\"packages/*\"]}",
    "module a\n",
    "module b\n",
    "package a\n",
    "package b\n",
    "a:\n",
    "b:\n",
    "include mk/*.mk\n",
    "packages: ['packages/*']\n",
];

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let path = || prop::sample::select(PATHS.to_vec());
    let edit = prop_oneof![
        6 => (path(), prop::sample::select(TEXTS.to_vec())).prop_map(|(p, t)| Edit::Write(p, t)),
        2 => path().prop_map(Edit::Remove),
        1 => (path(), path()).prop_map(|(a, b)| Edit::Rename(a, b)),
        1 => Just(Edit::Wait),
    ];
    prop::collection::vec(edit, 1..12)
}

/// Makes everything below `dir`, and itself, older.
fn age(dir: &Path) {
    let mut all = walk(dir, None);
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let inside = listing(&folder).unwrap();
        folders.extend(inside.iter().filter(|(_, k)| *k == Kind::Folder).map(|(name, _)| folder.join(name)));
        all.push(folder);
    }
    for path in all {
        let file = fs::File::open(path).unwrap();
        file.set_modified(file.metadata().unwrap().modified().unwrap() - SETTLED).unwrap();
    }
}

fn change(dir: &Path, edit: &Edit, hand: &Hand, coarse: bool) {
    match edit {
        Edit::Write(path, text) => {
            let path = dir.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Edit::Remove(path) => {
            let _ = fs::remove_file(dir.join(path));
        }
        Edit::Rename(from, to) => {
            fs::create_dir_all(dir.join(to).parent().unwrap()).unwrap();
            let _ = fs::rename(dir.join(from), dir.join(to));
        }
        // Time passes: the clock goes on, or, where ticks are long, the files grow older, so that clock and files agree.
        Edit::Wait if coarse => age(dir),
        Edit::Wait => hand.forward(SETTLED),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn project_detection_go_information_and_file_lists_are_fresh_after_any_edits(edits in edits(), coarse: bool) {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        let hand = Arc::new(Hand::new());
        let cache = Cache::with_clock(Settings::default(), hand.clone());
        let disk = if coarse { Disk::coarse() } else { Disk::default() };
        for edit in &edits {
            change(dir, edit, &hand, coarse);
            // Twice: the second is warm, or could be.
            for _ in 0..2 {
                prop_assert_eq!(cached_project(&cache, &disk, dir).0, detect(&Window(dir), &[]).unwrap(), "{:?}", edit);
                let module = cache.get_or(Namespace::GoProjectInfo, &Key::of(&[b"go"]), &disk, |depends| {
                    go_module(&Traced::new(Window(dir), Noting(dir, depends)))
                }).unwrap();
                prop_assert_eq!(&*module.value, &go_module(&Window(dir)).unwrap(), "{:?}", edit);
                let files = cache.get_or(Namespace::FileLists, &Key::of(&[b"files"]), &disk, |depends| {
                    Ok::<_, Infallible>(walk(dir, Some(depends)))
                }).unwrap();
                prop_assert_eq!(&*files.value, &walk(dir, None), "{:?}", edit);
            }
        }
    }

    #[test]
    fn failure_analysis_is_fresh_for_any_commands_and_outputs(asked in prop::collection::vec(("[ab]{0,2}", "[ab]{0,3}"), 1..30)) {
        // It depends on nothing but what it is given, so its key is all of that.
        let cache = Cache::new(Settings::default());
        let analysis = |command: &str, output: &str| BTreeMap::from([("command", command.to_owned()), ("output", output.to_owned())]);
        for (command, output) in &asked {
            let key = Key::of(&[command.as_bytes(), output.as_bytes()]);
            let answer = cache.get_or(Namespace::FailureAnalysis, &key, &Disk::default(), |_| {
                Ok::<_, Infallible>(analysis(command, output))
            }).unwrap();
            prop_assert_eq!(&*answer.value, &analysis(command, output));
        }
    }
}

#[test]
fn a_project_that_stands_still_is_warm_and_one_that_is_touched_too() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    fs::write(dir.join("package.json"), "{}").unwrap();
    fs::create_dir(dir.join("src")).unwrap();
    fs::write(dir.join("src/index.js"), "1").unwrap();
    let hand = Arc::new(Hand::new());
    let cache = Cache::with_clock(Settings::default(), hand.clone());
    assert!(!cached_project(&cache, &Disk::default(), dir).1);
    assert!(cached_project(&cache, &Disk::default(), dir).1);
    hand.forward(SETTLED);
    assert!(cached_project(&cache, &Disk::default(), dir).1);
    fs::write(dir.join("package.json"), "{}").unwrap();
    assert!(cached_project(&cache, &Disk::default(), dir).1);
    // Sources are no manifests.
    fs::write(dir.join("src/index.js"), "2").unwrap();
    assert!(cached_project(&cache, &Disk::default(), dir).1);
    fs::write(dir.join("package-lock.json"), "{}").unwrap();
    assert!(!cached_project(&cache, &Disk::default(), dir).1);
    assert_eq!(cache.metrics().namespaces[0].invalidations, 1);
}

/// The first program of a name on a path, as availability is asked.
fn which(name: &str, path: &[PathBuf], depends: Option<&Depends<'_>>) -> Option<PathBuf> {
    for dir in path {
        let file = dir.join(name);
        if let Some(depends) = depends {
            depends.on_facts(dir);
            depends.on_facts(&file);
        }
        let runs = |f: &fs::Metadata| f.is_file() && f.permissions().mode() & 0o111 != 0;
        if fs::metadata(&file).is_ok_and(|f| runs(&f)) {
            return Some(file);
        }
    }
    None
}

#[test]
fn command_availability_is_fresh_after_any_change_of_the_path() {
    let scratch = tempfile::tempdir().unwrap();
    let path = [scratch.path().join("one"), scratch.path().join("two")];
    fs::create_dir(&path[1]).unwrap();
    let hand = Arc::new(Hand::new());
    let cache = Cache::with_clock(Settings::default(), hand.clone());
    let check = |what: &str| {
        for _ in 0..2 {
            let found = cache
                .get_or(Namespace::CommandAvailability, &Key::of(&[b"tool"]), &Disk::default(), |depends| {
                    Ok::<_, Infallible>(which("tool", &path, Some(depends)))
                })
                .unwrap();
            assert_eq!(*found.value, which("tool", &path, None), "{what}");
        }
    };
    let mode = |file: &Path, mode| fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
    check("nothing");
    fs::write(path[1].join("tool"), "x").unwrap();
    check("there, and does not run");
    mode(&path[1].join("tool"), 0o755);
    check("runs");
    hand.forward(SETTLED);
    check("settled");
    fs::create_dir(&path[0]).unwrap();
    fs::write(path[0].join("tool"), "x").unwrap();
    mode(&path[0].join("tool"), 0o755);
    check("an earlier one");
    hand.forward(SETTLED);
    check("settled again");
    mode(&path[0].join("tool"), 0o644);
    check("the earlier one no longer runs");
    fs::remove_dir_all(&path[1]).unwrap();
    check("gone");
    hand.forward(SETTLED);
    check("settled");
    let before = cache.metrics().hits;
    check("warm");
    assert_eq!(cache.metrics().hits, before + 2);
}

/// The commit that is checked out and every ref, read from the git folder as a reader of git would.
fn refs(git: &Path, depends: Option<&Depends<'_>>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in ["HEAD", "index", "packed-refs"] {
        if let Some(depends) = depends {
            depends.on(&git.join(file));
        }
        let bytes = fs::read(git.join(file)).unwrap_or_default();
        found.push((file.to_owned(), String::from_utf8_lossy(&bytes).into_owned()));
    }
    for file in walk(&git.join("refs"), depends) {
        if let Some(depends) = depends {
            depends.on(&file);
        }
        found.push((file.display().to_string(), fs::read_to_string(&file).unwrap_or_default()));
    }
    found
}

#[test]
fn git_reads_are_fresh_after_whatever_git_does() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let git = |args: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"])
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .expect("git is needed by this test");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    let hand = Arc::new(Hand::new());
    let cache = Cache::with_clock(Settings::default(), hand.clone());
    let folder = dir.join(".git");
    let check = |what: &str| {
        for _ in 0..2 {
            let answer = cache
                .get_or(Namespace::GitReads, &Key::of(&[b"refs"]), &Disk::default(), |depends| {
                    Ok::<_, Infallible>(refs(&folder, Some(depends)))
                })
                .unwrap();
            assert_eq!(*answer.value, refs(&folder, None), "{what}");
        }
    };
    check("init");
    for (at, commands) in [
        &["commit --allow-empty -q -m one"][..],
        &["commit --allow-empty -q --amend -m two"],
        &["branch other", "checkout -q other"],
        &["tag v1"],
        &["pack-refs --all"],
        &["commit --allow-empty -q -m three", "update-ref refs/heads/deep/er HEAD"],
        &["branch -D main"],
        &["checkout -q --detach"],
        &["reset -q --hard HEAD~1"],
    ]
    .iter()
    .enumerate()
    {
        for command in *commands {
            git(&command.split(' ').collect::<Vec<_>>());
            check(command);
        }
        fs::write(dir.join("file"), at.to_string()).unwrap();
        git(&["add", "file"]);
        check("add");
        if at % 3 == 0 {
            hand.forward(SETTLED);
            check("settled");
        }
    }
    assert!(cache.metrics().hits >= 20, "{:?}", cache.metrics());
}
