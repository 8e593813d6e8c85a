//! The index compared with the work tree, and what is not tracked: one walk over the folders, each opened once.

use std::ops::Range;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::State;
use gix::index::entry::{Flags, Stat as Known, stat};
use gix::objs::tree::EntryKind;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use crate::attributes::Attributes;
use crate::content;
use crate::error::{Done, HistoryError};
use crate::ignore::Rules;
use crate::index::{self, Child};
use crate::paths::{Selection, join};
use crate::status::Reason;
use crate::tree::{Content, Delta, Side};
use crate::worktree::{Named, Tree};

/// What the work tree has that the index has not, and the other way round.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) changes: Vec<Delta>,
    /// Files, and folders with a slash behind them.
    pub(crate) untracked: Vec<BString>,
    pub(crate) not_compared: Vec<(BString, Reason)>,
}

/// How a walk is done.
pub(crate) struct Walk<'a> {
    tree: &'a Tree<'a>,
    state: &'a State,
    selection: &'a Selection,
    attributes: Attributes<'a>,
    /// `None` where untracked files are not asked for.
    rules: Option<Rules>,
    stat: stat::Options,
    modes: bool,
    links: bool,
    sparse: bool,
    found: Found,
}

/// A folder to go through.
struct Folder {
    dir: BString,
    range: Range<usize>,
    ignored: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        tree: &'a Tree<'a>,
        state: &'a State,
        selection: &'a Selection,
        untracked: bool,
    ) -> Done<Self> {
        let config = tree.repo.config_snapshot();
        let on = |key: &str| config.boolean(key) != Some(false);
        let minimal = config.string("core.checkStat").is_some_and(|v| v.eq_ignore_ascii_case(b"minimal"));
        Ok(Self {
            tree,
            state,
            selection,
            attributes: Attributes::new(tree, state)?,
            rules: if untracked { Some(Rules::new(tree.repo)?) } else { None },
            stat: stat::Options {
                trust_ctime: on("core.trustCtime"),
                check_stat: !minimal,
                use_nsec: false,
                use_stdev: false,
            },
            modes: on("core.fileMode"),
            links: on("core.symlinks"),
            sparse: config.boolean("core.sparseCheckout") == Some(true),
            found: Found::default(),
        })
    }

    pub(crate) fn run(mut self) -> Done<Found> {
        let all = 0..self.state.entries().len();
        let mut left = vec![Folder { dir: BString::default(), range: all, ignored: false }];
        while let Some(folder) = left.pop() {
            self.folder(&folder, &mut left)?;
        }
        self.found.changes.sort_by(|a, b| a.path.cmp(&b.path));
        self.found.untracked.sort_unstable();
        self.found.not_compared.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(self.found)
    }

    fn folder(&mut self, folder: &Folder, left: &mut Vec<Folder>) -> Done<()> {
        let Folder { dir, range, ignored } = folder;
        let opened = match self.tree.folder(dir.as_bstr()) {
            Ok(opened) => opened,
            // Another kind of thing took its place since it was listed.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => {
                return self.gone(range.clone());
            }
            Err(Errno::ACCESS) => {
                self.found.not_compared.push((dir.clone(), Reason::Unreadable));
                return Ok(());
            }
            Err(error) => {
                return Err(HistoryError::Io {
                    doing: "a folder of the work tree could not be opened",
                    source: error.into(),
                });
            }
        };
        let listed = self.tree.list(&opened)?;
        if let Some(rules) = self.rules.as_mut().filter(|_| !ignored) {
            rules.load(self.tree, self.state, dir.as_bstr(), &opened)?;
        }
        let skip = if dir.is_empty() { 0 } else { dir.len() + 1 };
        let children = index::children(self.state, range.clone(), skip);
        let here = |name: &BStr| listed.binary_search_by(|n| n.name.as_bstr().cmp(name)).ok();
        for (name, child) in &children {
            let path = join(dir.as_bstr(), name);
            if !self.selection.reaches(path.as_bstr()) {
                continue;
            }
            let named = here(name).and_then(|at| listed.get(at));
            match child {
                Child::Sparse(_) => {}
                Child::Entry(entries) => self.entry(&opened, path, name, entries, named)?,
                Child::Dir(below) if named.is_some_and(|n| n.kind.is_dir()) => {
                    let ignored = *ignored || self.ignores(path.as_bstr(), true);
                    left.push(Folder { dir: path, range: below.clone(), ignored });
                }
                Child::Dir(below) => self.gone(below.clone())?,
            }
        }
        if *ignored || self.rules.is_none() {
            return Ok(());
        }
        let tracked = |name: &BStr, dir: bool| {
            let at = children.partition_point(|(n, _)| *n < name);
            children.get(at..).unwrap_or_default().iter().take_while(|(n, _)| *n == name).any(
                |(_, c)| match c {
                    Child::Entry(range) => !dir || self.is_submodule(range),
                    Child::Dir(_) | Child::Sparse(_) => dir,
                },
            )
        };
        let mut candidates = Vec::new();
        for named in &listed {
            let name = named.name.as_bstr();
            if name != ".git" && !tracked(name, named.kind.is_dir()) {
                candidates.push((named, tracked(name, false)));
            }
        }
        for (named, replaced) in candidates {
            let path = join(dir.as_bstr(), &named.name);
            if !self.selection.reaches(path.as_bstr()) || self.ignores(path.as_bstr(), named.kind.is_dir()) {
                continue;
            }
            if named.kind.is_dir() {
                // Where a tracked file was before, git does not show a folder.
                if !replaced {
                    self.untracked_folder(path)?;
                }
            } else if (named.kind.is_file() || named.kind.is_symlink()) && self.selection.has(path.as_bstr())
            {
                self.found.untracked.push(path);
            }
        }
        Ok(())
    }

    fn is_submodule(&self, range: &Range<usize>) -> bool {
        self.state.entries().get(range.start).is_some_and(|e| e.mode.is_submodule())
    }

    fn ignores(&self, path: &BStr, is_dir: bool) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.excludes(path, is_dir))
    }

    /// Everything tracked in `range` is missing.
    fn gone(&mut self, range: Range<usize>) -> Done<()> {
        for at in range {
            let Some(entry) = self.state.entries().get(at) else { break };
            self.tree.budget.entry()?;
            self.missing(entry);
        }
        Ok(())
    }

    fn missing(&mut self, entry: &gix::index::Entry) {
        let path = entry.path(self.state);
        let left_out =
            entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID) || entry.mode.is_sparse();
        let unmerged = entry.stage() != gix::index::entry::Stage::Unconflicted;
        if left_out || unmerged || !self.selection.has(path) {
            return;
        }
        self.found.changes.push(Delta::new(path.to_owned(), Some(Side::entry(entry)), None));
    }

    /// Compares one tracked path.
    fn entry(
        &mut self,
        folder: &OwnedFd,
        path: BString,
        name: &BStr,
        entries: &Range<usize>,
        named: Option<&Named>,
    ) -> Done<()> {
        self.tree.budget.entry()?;
        if index::unmerged(self.state, entries) {
            return Ok(());
        }
        let Some(entry) = self.state.entries().get(entries.start) else { return Ok(()) };
        if entry.flags.contains(Flags::ASSUME_VALID) {
            return Ok(());
        }
        // What a sparse checkout left out and is there all the same counts as there.
        if entry.flags.contains(Flags::SKIP_WORKTREE) && !(self.sparse && named.is_some()) {
            return Ok(());
        }
        let found = match named {
            Some(_) => rustix::fs::statat(folder, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW).ok(),
            None => None,
        };
        let Some(found) = found else {
            self.missing(entry);
            return Ok(());
        };
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind.is_dir() {
            if !entry.mode.is_submodule() {
                self.missing(entry);
            } else if self.tree.folder(path.as_bstr()).is_ok_and(|f| holds_git(&f)) {
                self.found.not_compared.push((path, Reason::Submodule));
            }
            return Ok(());
        }
        let old = Side::entry(entry);
        let new = Side { kind: self.kind(kind, &found, old.kind), content: Content::WorkTree };
        if index::announced(entry) {
            self.found.changes.push(Delta::new(path, None, Some(new)));
            return Ok(());
        }
        if !kind.is_file() && !kind.is_symlink() {
            self.found.not_compared.push((path, Reason::Special));
            return Ok(());
        }
        let same = new.kind == old.kind;
        let delta = |path: BString| Delta::new(path, Some(old), Some(new));
        if new.class() != old.class() {
            self.found.changes.push(delta(path));
            return Ok(());
        }
        let now = known(&found);
        if same && now.matches(&entry.stat, self.stat) && !now.is_racy(self.state.timestamp(), self.stat) {
            return Ok(());
        }
        if kind.is_symlink() || old.kind == EntryKind::Link {
            let target = if kind.is_symlink() {
                Tree::link(folder, name)
            } else if let Some((file, _)) = Tree::file(folder, name) {
                self.tree.bytes(file, self.tree.budget.limits.file_bytes)?
            } else {
                None
            };
            if target.map(|t| content::id_of(&t)).transpose()? != Some(entry.id) {
                self.found.changes.push(delta(path));
            }
            return Ok(());
        }
        let how = self.attributes.of(path.as_bstr())?;
        let reason = match (how.filtered, how.encoded) {
            (true, _) => Some(Reason::Filter),
            (_, true) => Some(Reason::Encoding),
            _ => None,
        };
        // Of another size than when it was last the same: git does not look further either.
        let resized = reason.is_none() && entry.stat.size != 0 && now.size != entry.stat.size;
        let equal = if resized {
            Some(false)
        } else {
            content::is(self.tree, self.state, folder, (path.as_bstr(), name), how, entry.id)?
        };
        match (equal, reason) {
            (Some(true), _) if same => {}
            // Only its mode is another.
            (Some(true), _) | (Some(false), None) => self.found.changes.push(delta(path)),
            (_, Some(reason)) => self.found.not_compared.push((path, reason)),
            (None, None) => {
                let large =
                    u64::try_from(found.st_size).unwrap_or_default() > self.tree.budget.limits.file_bytes;
                let reason = if large { Reason::TooLarge } else { Reason::Unreadable };
                self.found.not_compared.push((path, reason));
            }
        }
        Ok(())
    }

    /// The kind that a file would be added as.
    fn kind(&self, kind: FileType, found: &Stat, indexed: EntryKind) -> EntryKind {
        if kind.is_symlink() {
            return EntryKind::Link;
        }
        if !self.links && indexed == EntryKind::Link {
            return EntryKind::Link;
        }
        let executable =
            if self.modes { found.st_mode & 0o100 != 0 } else { indexed == EntryKind::BlobExecutable };
        if executable { EntryKind::BlobExecutable } else { EntryKind::Blob }
    }

    /// A folder without anything tracked: shown as one, if there is a file in it that is not ignored.
    fn untracked_folder(&mut self, top: BString) -> Done<()> {
        let whole = self.selection.has(top.as_bstr());
        let mut left = vec![top.clone()];
        while let Some(dir) = left.pop() {
            let Ok(opened) = self.tree.folder(dir.as_bstr()) else { continue };
            if holds_git(&opened) {
                if whole {
                    self.found.untracked.push(join(top.as_bstr(), b""));
                    return Ok(());
                }
                self.found.untracked.push(join(dir.as_bstr(), b""));
                continue;
            }
            if let Some(rules) = self.rules.as_mut() {
                rules.load(self.tree, self.state, dir.as_bstr(), &opened)?;
            }
            for named in self.tree.list(&opened)? {
                let path = join(dir.as_bstr(), &named.name);
                let passed = named.name == ".git" || !self.selection.reaches(path.as_bstr());
                if passed || self.ignores(path.as_bstr(), named.kind.is_dir()) {
                    continue;
                }
                if named.kind.is_dir() {
                    left.push(path);
                } else if named.kind.is_file() || named.kind.is_symlink() {
                    if whole {
                        self.found.untracked.push(join(top.as_bstr(), b""));
                        return Ok(());
                    }
                    if self.selection.has(path.as_bstr()) {
                        self.found.untracked.push(path);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether a folder is the top of another repository, by what its `.git` looks like.
fn holds_git(folder: &OwnedFd) -> bool {
    let at = |name: &str| rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let Ok(stat) = at(".git") else { return false };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => true,
        FileType::Directory => {
            at(".git/HEAD").is_ok() && at(".git/objects").is_ok() && at(".git/refs").is_ok()
        }
        _ => false,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the index holds the low 32 bits of each, as git writes it"
)]
fn known(found: &Stat) -> Known {
    let time = |secs: i64, nsecs: u64| stat::Time { secs: secs as u32, nsecs: nsecs as u32 };
    Known {
        mtime: time(found.st_mtime, found.st_mtime_nsec),
        ctime: time(found.st_ctime, found.st_ctime_nsec),
        dev: found.st_dev as u32,
        ino: found.st_ino as u32,
        uid: found.st_uid,
        gid: found.st_gid,
        size: found.st_size as u32,
    }
}
