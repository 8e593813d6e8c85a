//! A repository in a temporary folder, and what the git program says about it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gatewright_history::{
    Change, Conflict, Diff, DiffQuery, HistoryError, Kind, Limits, Log, LogQuery, Repo, Sides, Status,
};

pub(crate) struct Place {
    folder: tempfile::TempDir,
    clock: AtomicU64,
}

/// Nobody cancels.
pub(crate) static GO_ON: AtomicBool = AtomicBool::new(false);

impl Place {
    /// A folder, and in it an empty one that is to be a repository.
    pub(crate) fn bare_folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("repo")).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder, clock: AtomicU64::new(1_600_000_000) }
    }

    /// An empty repository.
    pub(crate) fn new() -> Self {
        let place = Self::bare_folder();
        place.git(&["init", "-q"]);
        place
    }

    /// A repository with these files committed.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        for (path, text) in files {
            place.write(path, text);
        }
        place.commit("first");
        place
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<OsStr>, bytes: impl AsRef<[u8]>) {
        let path = self.root().join(name.as_ref());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Runs git in a folder with nothing but the repository's own configuration.
    pub(crate) fn run(&self, folder: &Path, args: &[&str]) -> Output {
        let now = format!("@{} +0130", self.clock.fetch_add(60, Ordering::Relaxed));
        Command::new("git")
            .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.outside("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C")
            .env("GIT_EDITOR", "true")
            .envs([("GIT_AUTHOR_NAME", "Ann Ä"), ("GIT_AUTHOR_EMAIL", "ann@example.org")])
            .envs([("GIT_COMMITTER_NAME", "Bob"), ("GIT_COMMITTER_EMAIL", "bob@example.org")])
            .env("GIT_AUTHOR_DATE", &now)
            .env("GIT_COMMITTER_DATE", &now)
            .output()
            .unwrap()
    }

    /// What git prints; it must succeed.
    pub(crate) fn git_bytes(&self, args: &[&str]) -> Vec<u8> {
        let out = self.run(&self.root(), args);
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        out.stdout
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        String::from_utf8_lossy(&self.git_bytes(args)).trim_end().to_owned()
    }

    /// Runs git where it may fail, as a merge does.
    pub(crate) fn try_git(&self, args: &[&str]) -> bool {
        self.run(&self.root(), args).status.success()
    }

    /// Commits everything that is there.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub(crate) fn repo(&self) -> Repo {
        Repo::open(&self.root()).unwrap()
    }

    pub(crate) fn status(&self) -> Status {
        self.repo().status(&Limits::default(), &GO_ON).unwrap()
    }

    pub(crate) fn diff(&self, sides: Sides) -> Diff {
        self.diff_of(&query(sides))
    }

    pub(crate) fn diff_of(&self, query: &DiffQuery) -> Diff {
        self.repo().diff(query, &Limits::default(), &GO_ON).unwrap()
    }

    pub(crate) fn log(&self, query: &LogQuery) -> Log {
        self.try_log(query).unwrap()
    }

    pub(crate) fn try_log(&self, query: &LogQuery) -> Result<Log, HistoryError> {
        self.repo().log(query, &Limits::default(), &GO_ON)
    }

    /// HEAD, the index, refs and every file of the work tree, by path.
    pub(crate) fn fingerprint(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut out = Vec::new();
        let mut left = vec![self.root()];
        while let Some(dir) = left.pop() {
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                let meta = fs::symlink_metadata(&path).unwrap();
                let stamp = meta.modified().unwrap();
                let mut bytes = format!("{:?} {stamp:?} ", meta.permissions()).into_bytes();
                if meta.is_dir() {
                    left.push(path.clone());
                } else if meta.is_file() {
                    bytes.extend(fs::read(&path).unwrap());
                } else if meta.is_symlink() {
                    bytes.extend(fs::read_link(&path).unwrap().as_os_str().as_bytes());
                }
                out.push((path, bytes));
            }
        }
        out.sort();
        out
    }
}

/// A query that leaves nothing out.
pub(crate) fn query(sides: Sides) -> DiffQuery {
    let mut query = DiffQuery::new(sides);
    query.max_bytes = usize::MAX;
    query.max_files = usize::MAX;
    query
}

/// How the library shows a path.
pub(crate) fn show(path: &[u8]) -> String {
    let mut out = String::new();
    for chunk in path.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

/// What `git status --porcelain=v2` says, in the library's types.
pub(crate) fn git_status(place: &Place) -> Status {
    let out = place.git_bytes(&["status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty"]);
    let mut status = Status {
        branch: None,
        head: None,
        detached: false,
        shallow: false,
        upstream: None,
        operation: None,
        staged: Vec::new(),
        unstaged: Vec::new(),
        untracked: Vec::new(),
        conflicted: Vec::new(),
        not_compared: Vec::new(),
        clean: true,
    };
    let kind = |letter: u8| match letter {
        b'M' => Some(Kind::Modified),
        b'A' => Some(Kind::Added),
        b'D' => Some(Kind::Deleted),
        b'R' => Some(Kind::Renamed),
        b'T' => Some(Kind::TypeChanged),
        b'.' => None,
        other => panic!("{}", char::from(other)),
    };
    let mut upstream: Option<String> = None;
    let mut lines = out.split(|b| *b == 0).filter(|line| !line.is_empty());
    while let Some(line) = lines.next() {
        let field = |n: usize| line.splitn(n + 1, |b| *b == b' ').nth(n).unwrap();
        let text = |n: usize| String::from_utf8_lossy(field(n)).into_owned();
        match line[0] {
            b'#' => match &*String::from_utf8_lossy(line.split(|b| *b == b' ').nth(1).unwrap()) {
                "branch.oid" if text(2) != "(initial)" => status.head = Some(text(2)),
                "branch.head" if text(2) == "(detached)" => status.detached = true,
                "branch.head" => status.branch = Some(text(2)),
                "branch.upstream" => upstream = Some(text(2)),
                "branch.ab" => {
                    let both = text(2);
                    let (ahead, behind) = both.split_once(' ').unwrap();
                    status.upstream = Some(gatewright_history::Upstream {
                        name: upstream.clone().unwrap(),
                        ahead: Some(ahead[1..].parse().unwrap()),
                        behind: Some(behind[1..].parse().unwrap()),
                    });
                }
                _ => {}
            },
            b'1' | b'2' => {
                let codes = &line[2..4];
                let renamed = line[0] == b'2';
                let path = show(field(if renamed { 9 } else { 8 }));
                let from = renamed.then(|| show(lines.next().unwrap()));
                if let Some(kind) = kind(codes[0]) {
                    let from = from.clone().filter(|_| kind == Kind::Renamed);
                    status.staged.push(Change { path: path.clone(), from, kind });
                }
                if let Some(kind) = kind(codes[1]) {
                    let from = from.filter(|_| kind == Kind::Renamed);
                    status.unstaged.push(Change { path, from, kind });
                }
            }
            b'u' => status.conflicted.push(Conflict {
                path: show(field(10)),
                code: String::from_utf8_lossy(&line[2..4]).into_owned(),
            }),
            b'?' => status.untracked.push(show(&line[2..])),
            other => panic!("{}", char::from(other)),
        }
    }
    let by_path = |a: &Change, b: &Change| a.path.cmp(&b.path);
    status.staged.sort_by(by_path);
    status.unstaged.sort_by(by_path);
    status.untracked.sort();
    status.clean = status.staged.is_empty()
        && status.unstaged.is_empty()
        && status.untracked.is_empty()
        && status.conflicted.is_empty();
    status.shallow = place.path(".git/shallow").exists();
    status
}

/// Fails unless the library says what git says; operations are compared elsewhere.
pub(crate) fn assert_status(place: &Place) {
    let mut ours = place.status();
    let by_path = |a: &Change, b: &Change| a.path.cmp(&b.path);
    ours.staged.sort_by(by_path);
    ours.unstaged.sort_by(by_path);
    ours.untracked.sort();
    ours.operation = None;
    ours.not_compared.clear();
    assert_eq!(ours, git_status(place));
}
