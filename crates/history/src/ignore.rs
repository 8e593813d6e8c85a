//! Ignore rules: which untracked paths git leaves alone.
//!
//! The rules are the `.gitignore` files as they are in the work tree (those that a sparse checkout leaves out, from the
//! index) and `.git/info/exclude`. `core.excludesFile` and the user's own file are not read.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use gix::bstr::{BStr, BString, ByteSlice};
use gix::glob::pattern::Case;
use gix::glob::search::pattern::List;
use gix::ignore::search::{Ignore, pattern_matching_relative_path};
use gix::index::State;
use gix::index::entry::Flags;
use rustix::fd::OwnedFd;

use crate::budget::{Budget, Limits};
use crate::error::{Done, HistoryError};
use crate::index;
use crate::paths::{given, join, parent};
use crate::worktree::Tree;

const PARSE: Ignore = Ignore { support_precious: false };

/// Rules by the folder that they are in.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    exclude: Option<List<Ignore>>,
    folders: BTreeMap<BString, List<Ignore>>,
}

impl Rules {
    /// Those that hold for the whole repository.
    pub(crate) fn new(repo: &gix::Repository) -> Done<Self> {
        // Checked to be an ordinary, small file when the repository was opened.
        let bytes = std::fs::read(repo.common_dir().join("info/exclude")).unwrap_or_default();
        let exclude = List::from_bytes(&bytes, "info/exclude".into(), None, PARSE)
            .map_err(HistoryError::io("the ignore rules could not be read"))?;
        Ok(Self { exclude: Some(exclude), folders: BTreeMap::new() })
    }

    /// Takes in the rules of the open folder `dir`.
    pub(crate) fn load(&mut self, tree: &Tree<'_>, state: &State, dir: &BStr, folder: &OwnedFd) -> Done<()> {
        let path = join(dir, b".gitignore");
        let here = tree.rules_in(folder, b".gitignore")?;
        let bytes = match here {
            Some(bytes) => Some(bytes),
            None => tree.rules_of(state, path.as_bstr(), Flags::SKIP_WORKTREE)?,
        };
        bytes.map_or(Ok(()), |bytes| self.insert(dir, path.as_bstr(), &bytes))
    }

    fn load_skipped(&mut self, tree: &Tree<'_>, state: &State, dir: &BStr) -> Done<()> {
        let path = join(dir, b".gitignore");
        let bytes = tree.rules_of(state, path.as_bstr(), Flags::SKIP_WORKTREE)?;
        bytes.map_or(Ok(()), |bytes| self.insert(dir, path.as_bstr(), &bytes))
    }

    fn insert(&mut self, dir: &BStr, path: &BStr, bytes: &[u8]) -> Done<()> {
        let source =
            gix::path::from_bstr(path).map_err(HistoryError::git("the ignore rules could not be read"))?;
        let list = List::from_bytes(bytes, source.into_owned(), Some(Path::new("")), PARSE)
            .map_err(HistoryError::io("the ignore rules could not be read"))?;
        self.folders.insert(dir.to_owned(), list);
        Ok(())
    }

    /// What the rules say about one path, whatever they say about the folders above it.
    pub(crate) fn excludes(&self, path: &BStr, is_dir: bool) -> bool {
        let name_at = path.rfind_byte(b'/').map(|at| at + 1);
        let said = |list: &List<Ignore>| {
            pattern_matching_relative_path(list, path, name_at, Some(is_dir), Case::Sensitive)
                .map(|found| !found.pattern.is_negative())
        };
        let mut dir = parent(path);
        loop {
            if let Some(verdict) = self.folders.get(dir).and_then(said) {
                return verdict;
            }
            if dir.is_empty() {
                break;
            }
            dir = parent(dir);
        }
        self.exclude.as_ref().and_then(said).unwrap_or(false)
    }
}

/// The ignore rules of a work tree at one moment, for any number of questions.
pub struct Ignores {
    rules: Rules,
    /// What is tracked, sorted.
    tracked: Vec<BString>,
}

impl Ignores {
    /// Whether git ignores the path, which need not exist: a rule says so of it or of a folder above it, and it is not
    /// tracked; a folder with tracked files in it is not ignored (`git check-ignore` is the model).
    ///
    /// Rules inside other repositories in the work tree are not known.
    pub fn is_ignored(&self, path: &str, is_dir: bool) -> Result<bool, HistoryError> {
        let path = given(path)?;
        if path.is_empty() || self.is_tracked(path.as_bstr()) {
            return Ok(false);
        }
        for at in path.find_iter("/") {
            if self.rules.excludes(path.get(..at).unwrap_or_default().as_bstr(), true) {
                return Ok(true);
            }
        }
        Ok(self.rules.excludes(path.as_bstr(), is_dir))
    }

    fn is_tracked(&self, path: &BStr) -> bool {
        let at = self.tracked.partition_point(|t| t.as_bstr() < path);
        if self.tracked.get(at).is_some_and(|t| t == path) {
            return true;
        }
        let inside = join(path, b"");
        let at = self.tracked.partition_point(|t| *t < inside);
        self.tracked.get(at).is_some_and(|t| t.starts_with(&inside))
    }
}

impl crate::Repo {
    /// Takes the rules as they are now. Folders that are ignored, and other repositories, are not entered.
    pub fn ignores(&self, limits: &Limits, cancel: &AtomicBool) -> Result<Ignores, HistoryError> {
        let budget = Budget::new(limits, cancel);
        let tree = self.tree(&budget);
        let state = index::read(&tree)?;
        let mut rules = Rules::new(&self.git)?;
        let mut left = vec![BString::default()];
        while let Some(dir) = left.pop() {
            // Gone, or a link by now: there is nothing in it.
            let Ok(folder) = tree.folder(dir.as_bstr()) else { continue };
            let names = tree.list(&folder)?;
            if !dir.is_empty() && names.iter().any(|n| n.name == ".git") {
                continue;
            }
            rules.load(&tree, &state, dir.as_bstr(), &folder)?;
            for name in names.iter().filter(|n| n.kind.is_dir() && n.name != ".git") {
                let path = join(dir.as_bstr(), &name.name);
                if !rules.excludes(path.as_bstr(), true) {
                    left.push(path);
                }
            }
        }
        // Folders that a sparse checkout leaves out.
        let mut tracked = Vec::with_capacity(state.entries().len());
        for entry in state.entries() {
            let path = entry.path(&state);
            let skipped = entry.flags.contains(Flags::SKIP_WORKTREE);
            if skipped && path.ends_with(b".gitignore") && crate::paths::base(path) == ".gitignore" {
                let dir = parent(path);
                if !rules.folders.contains_key(dir) {
                    rules.load_skipped(&tree, &state, dir)?;
                }
            }
            tracked.push(path.to_owned());
        }
        tracked.sort_unstable();
        Ok(Ignores { rules, tracked })
    }
}
