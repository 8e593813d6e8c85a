//! The index, cut into folders.

use std::ops::Range;

use gix::bstr::{BStr, ByteSlice};
use gix::index::entry::{Flags, Stage, Stat};
use gix::index::{Entry, State};

use crate::error::{Done, HistoryError};
use crate::paths::Selection;
use crate::tree::{Comparison, Content, Side};
use crate::worktree::Tree;

/// What the index has in one folder, under one name.
pub(crate) enum Child {
    /// One entry, or the stages of a conflict.
    Entry(Range<usize>),
    /// Entries further down.
    Dir(Range<usize>),
    /// A folder that a sparse index holds as its tree.
    Sparse(usize),
}

/// Reads the index as it is now; an empty one where there is none. Folders that a sparse index holds as trees and that are
/// there all the same are spread out, as git does.
pub(crate) fn read(tree: &Tree<'_>) -> Done<gix::index::File> {
    let repo = tree.repo;
    if std::fs::symlink_metadata(repo.index_path()).is_err() {
        let empty = State::new(repo.object_hash());
        return Ok(gix::index::File::from_state(empty, repo.index_path()));
    }
    let mut index = repo.open_index().map_err(HistoryError::git("the index could not be read"))?;
    let sparse = index.entries().iter().filter(|e| e.mode.is_sparse());
    let folder = |e: &Entry| e.path(&index).strip_suffix(b"/").map(|path| (path.as_bstr().to_owned(), e.id));
    let there: Vec<_> =
        sparse.filter_map(folder).filter(|(path, _)| tree.folder(path.as_bstr()).is_ok()).collect();
    if there.is_empty() {
        return Ok(index);
    }
    let all = Selection::new(&[])?;
    let mut files = Comparison::new(repo, tree.budget, &all);
    for (path, id) in &there {
        files.trees(path.clone(), None, Some(*id))?;
    }
    index.remove_entries(|_, path, e| {
        let path = path.strip_suffix(b"/").unwrap_or_default().as_bstr();
        e.mode.is_sparse() && there.iter().any(|(known, _)| known == path)
    });
    for file in files.finish() {
        let Some(Side { kind, content: Content::Object(id) }) = file.new else { continue };
        let mode = gix::objs::tree::EntryMode::from(kind).into();
        index.dangerously_push_entry(Stat::default(), id, Flags::SKIP_WORKTREE, mode, file.path.as_bstr());
    }
    index.sort_entries();
    Ok(index)
}

/// The children of the folder whose entries are `range`, sorted by name; `skip` is the length of the folder's path with
/// its slash. Entries that do not fit (a damaged index) are left out.
pub(crate) fn children(state: &State, range: Range<usize>, skip: usize) -> Vec<(&BStr, Child)> {
    let mut out: Vec<(&BStr, Child)> = Vec::new();
    let entries = state.entries();
    let mut at = range.start;
    while at < range.end {
        let Some(entry) = entries.get(at) else { break };
        let Some(rest) = entry.path(state).get(skip..) else {
            at += 1;
            continue;
        };
        let (name, below) = match rest.split_once_str("/") {
            Some((name, below)) => (name.as_bstr(), Some(below)),
            None => (rest.as_bstr(), None),
        };
        let same = |i: &usize| {
            entries.get(*i).and_then(|e| e.path(state).get(skip..)).is_some_and(|other| match below {
                None => other == rest,
                Some(_) => other.strip_prefix(name.as_bytes()).is_some_and(|o| o.first() == Some(&b'/')),
            })
        };
        let end = (at + 1..range.end).find(|i| !same(i)).unwrap_or(range.end);
        let child = match below {
            None => Child::Entry(at..end),
            Some(b"") if entry.mode.is_sparse() => Child::Sparse(at),
            Some(_) => Child::Dir(at..end),
        };
        if !name.is_empty() {
            out.push((name, child));
        }
        at = end;
    }
    out.sort_by(|a, b| a.0.cmp(b.0));
    out
}

/// Whether any entry of the range is part of a conflict.
pub(crate) fn unmerged(state: &State, range: &Range<usize>) -> bool {
    state.entries().get(range.clone()).unwrap_or_default().iter().any(|e| e.stage() != Stage::Unconflicted)
}

/// Whether the entry only announces a file (`git add --intent-to-add`).
pub(crate) fn announced(entry: &Entry) -> bool {
    entry.flags.contains(Flags::INTENT_TO_ADD)
}
