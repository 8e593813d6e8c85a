//! Trees compared with trees and with the index, without recursion and counted: a tree may be a bomb.

use std::collections::BTreeMap;
use std::ops::Range;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::index::State;
use gix::index::extension::Tree as Cached;
use gix::objs::tree::EntryKind;

use crate::budget::Budget;
use crate::error::{Done, HistoryError};
use crate::index::{self, Child};
use crate::paths::{Selection, join};

/// Deepest folder within folders; git's own `core.maxTreeDepth`.
const MAX_DEPTH: usize = 2048;

/// Where a file's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Object(ObjectId),
    /// In the work tree, at the path of the change.
    WorkTree,
}

/// A file on one side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) kind: EntryKind,
    pub(crate) content: Content,
}

impl Side {
    pub(crate) fn object(kind: EntryKind, id: ObjectId) -> Self {
        Self { kind, content: Content::Object(id) }
    }

    /// Of an entry of the index; a mode that git does not write counts as a file.
    pub(crate) fn entry(entry: &gix::index::Entry) -> Self {
        let kind = entry.mode.to_tree_entry_mode().map_or(EntryKind::Blob, |mode| mode.kind());
        Self::object(kind, entry.id)
    }

    /// File, link or submodule: what a change of makes a change of type.
    pub(crate) fn class(&self) -> EntryKind {
        if self.kind == EntryKind::BlobExecutable { EntryKind::Blob } else { self.kind }
    }
}

/// One path that differs.
#[derive(Debug, Clone)]
pub(crate) struct Delta {
    pub(crate) path: BString,
    /// Where it was before a rename.
    pub(crate) from: Option<BString>,
    pub(crate) old: Option<Side>,
    pub(crate) new: Option<Side>,
}

impl Delta {
    pub(crate) fn new(path: BString, old: Option<Side>, new: Option<Side>) -> Self {
        Self { path, from: None, old, new }
    }
}

/// Reads trees and gathers what differs.
pub(crate) struct Comparison<'a> {
    pub(crate) repo: &'a gix::Repository,
    pub(crate) budget: &'a Budget<'a>,
    pub(crate) selection: &'a Selection,
    pub(crate) found: Vec<Delta>,
}

/// A tree's entries by name.
type Entries = BTreeMap<BString, (EntryKind, ObjectId)>;

impl<'a> Comparison<'a> {
    pub(crate) fn new(repo: &'a gix::Repository, budget: &'a Budget<'a>, selection: &'a Selection) -> Self {
        Self { repo, budget, selection, found: Vec::new() }
    }

    /// What was found, by path.
    pub(crate) fn finish(mut self) -> Vec<Delta> {
        self.found.sort_by(|a, b| a.path.cmp(&b.path));
        self.found
    }

    fn entries(&self, tree: Option<ObjectId>) -> Done<Entries> {
        let Some(id) = tree.filter(|id| !id.is_empty_tree()) else { return Ok(Entries::new()) };
        let tree = self
            .repo
            .find_tree(id)
            .map_err(HistoryError::git("a tree of the repository could not be read"))?;
        self.budget.bytes(tree.data.len() as u64)?;
        let mut out = Entries::new();
        for entry in tree.iter() {
            let entry = entry.map_err(HistoryError::git("a tree of the repository is damaged"))?;
            self.budget.entry()?;
            out.insert(entry.filename().to_owned(), (entry.mode().kind(), entry.oid().to_owned()));
        }
        Ok(out)
    }

    /// Compares two trees below the folder `top`; `None` is an empty one.
    pub(crate) fn trees(&mut self, top: BString, old: Option<ObjectId>, new: Option<ObjectId>) -> Done<()> {
        let mut left = vec![(top, old, new)];
        while let Some((dir, old, new)) = left.pop() {
            if old == new || !self.selection.reaches(dir.as_bstr()) {
                continue;
            }
            deep(dir.as_bstr())?;
            let mut before = self.entries(old)?;
            let mut pair = |name: BString,
                            new: Option<(EntryKind, ObjectId)>,
                            old: Option<(EntryKind, ObjectId)>| {
                if old == new {
                    return;
                }
                let path = join(dir.as_bstr(), &name);
                let tree =
                    |e: Option<(EntryKind, ObjectId)>| e.filter(|(k, _)| *k == EntryKind::Tree).map(|e| e.1);
                let side = |e: Option<(EntryKind, ObjectId)>| {
                    e.filter(|(k, _)| *k != EntryKind::Tree).map(|(k, id)| Side::object(k, id))
                };
                if tree(old).is_some() || tree(new).is_some() {
                    left.push((path.clone(), tree(old), tree(new)));
                }
                if (side(old).is_some() || side(new).is_some()) && self.selection.has(path.as_bstr()) {
                    self.found.push(Delta::new(path, side(old), side(new)));
                }
            };
            // Names of one side only are told apart by the map of the other.
            let after = {
                let this = Self {
                    repo: self.repo,
                    budget: self.budget,
                    selection: self.selection,
                    found: Vec::new(),
                };
                this.entries(new)?
            };
            for (name, new) in after {
                let old = before.remove(&name);
                pair(name, Some(new), old);
            }
            for (name, old) in before {
                pair(name, None, Some(old));
            }
        }
        Ok(())
    }

    /// Compares a tree with the index. Paths in conflict are left out. Folders whose tree the index knows (its tree
    /// cache) and that are the same are not looked at.
    pub(crate) fn tree_with_index(&mut self, tree: Option<ObjectId>, state: &State) -> Done<()> {
        struct Folder<'s> {
            dir: BString,
            tree: Option<ObjectId>,
            range: Range<usize>,
            cached: Option<&'s Cached>,
        }
        let top =
            Folder { dir: BString::default(), tree, range: 0..state.entries().len(), cached: state.tree() };
        let mut left = vec![top];
        while let Some(Folder { dir, tree, range, cached }) = left.pop() {
            if !self.selection.reaches(dir.as_bstr()) {
                continue;
            }
            let whole = cached.filter(|c| c.num_entries.is_some_and(|n| n as usize == range.len()));
            if whole.is_some_and(|c| Some(c.id) == tree) {
                continue;
            }
            deep(dir.as_bstr())?;
            let mut before = self.entries(tree)?;
            let below: BTreeMap<&[u8], &Cached> = cached
                .map(|c| c.children.iter().map(|c| (c.name.as_slice(), c)).collect())
                .unwrap_or_default();
            let skip = if dir.is_empty() { 0 } else { dir.len() + 1 };
            for (name, child) in index::children(state, range, skip) {
                self.budget.entry()?;
                let path = join(dir.as_bstr(), name);
                let old = before.get(name).copied();
                let old_tree = old.filter(|(k, _)| *k == EntryKind::Tree).map(|e| e.1);
                let old_side = old.filter(|(k, _)| *k != EntryKind::Tree).map(|(k, id)| Side::object(k, id));
                match child {
                    Child::Entry(range) => {
                        let Some(entry) = state.entries().get(range.start) else { continue };
                        if index::announced(entry) {
                            continue;
                        }
                        // A folder in its place is gone: what is left of it under this name is dealt with below.
                        if old_tree.is_none() {
                            before.remove(name);
                        }
                        let new = Side::entry(entry);
                        let selected = self.selection.has(path.as_bstr());
                        if selected && !index::unmerged(state, &range) && old_side != Some(new) {
                            self.found.push(Delta::new(path, old_side, Some(new)));
                        }
                    }
                    Child::Dir(range) => {
                        if old_tree.is_some() {
                            before.remove(name);
                        }
                        let cached = below.get(name.as_bytes()).copied();
                        left.push(Folder { dir: path, tree: old_tree, range, cached });
                    }
                    Child::Sparse(at) => {
                        if old_tree.is_some() {
                            before.remove(name);
                        }
                        let new = state.entries().get(at).map(|e| e.id);
                        self.trees(path, old_tree, new)?;
                    }
                }
            }
            for (name, (kind, id)) in before {
                let path = join(dir.as_bstr(), &name);
                if kind == EntryKind::Tree {
                    self.trees(path, Some(id), None)?;
                } else if self.selection.has(path.as_bstr()) {
                    self.found.push(Delta::new(path, Some(Side::object(kind, id)), None));
                }
            }
        }
        Ok(())
    }
}

fn deep(dir: &BStr) -> Done<()> {
    if dir.find_iter("/").count() > MAX_DEPTH {
        return Err(HistoryError::TooLarge { what: "folders within folders", limit: MAX_DEPTH as u64 });
    }
    Ok(())
}
