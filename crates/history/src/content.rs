//! The bytes of a file as the repository stores them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::Read;

use gix::ObjectId;
use gix::bstr::BStr;
use gix::filter::plumbing::{eol, ident};
use gix::index::State;
use gix::index::entry::Stage;
use gix::objs::tree::EntryKind;
use rustix::fd::OwnedFd;

use crate::attributes::{Attributes, Conversion};
use crate::budget::Budget;
use crate::error::{Done, HistoryError};
use crate::paths::{base, parent};
use crate::tree::{Content, Side};
use crate::worktree::Tree;

/// Reads files of either side of a comparison in their stored form.
pub(crate) struct Reader<'a> {
    pub(crate) tree: &'a Tree<'a>,
    state: &'a State,
    attributes: RefCell<Attributes<'a>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(tree: &'a Tree<'a>, state: &'a State) -> Done<Self> {
        Ok(Self { tree, state, attributes: RefCell::new(Attributes::new(tree, state)?) })
    }

    /// How the file at `path` is stored and compared.
    pub(crate) fn how(&self, path: &BStr) -> Done<Conversion> {
        self.attributes.borrow_mut().of(path)
    }

    /// The bytes of a file, a link's target, or what git shows for a submodule; `None` where they are too many or the
    /// file is gone.
    pub(crate) fn read(&self, path: &BStr, side: Side) -> Done<Option<Vec<u8>>> {
        let largest = self.tree.budget.limits.file_bytes;
        match side.content {
            Content::Object(id) if side.kind == EntryKind::Commit => {
                Ok(Some(format!("Subproject commit {id}\n").into_bytes()))
            }
            Content::Object(id) => blob(self.tree.repo, self.tree.budget, id, largest),
            Content::WorkTree => {
                let Ok(folder) = self.tree.folder(parent(path)) else { return Ok(None) };
                let name = base(path);
                let target = if side.kind == EntryKind::Link { Tree::link(&folder, name) } else { None };
                if target.is_some() {
                    return Ok(target);
                }
                let Some((file, _)) = Tree::file(&folder, name) else { return Ok(None) };
                let Some(bytes) = self.tree.bytes(file, largest)? else { return Ok(None) };
                if side.kind == EntryKind::Link {
                    return Ok(Some(bytes));
                }
                let how = self.how(path)?;
                Ok(Some(stored(self.tree, self.state, path, how, &bytes)?.into_owned()))
            }
        }
    }
}

/// A blob's bytes; `None` where it is larger than `largest`.
pub(crate) fn blob(
    repo: &gix::Repository,
    budget: &Budget<'_>,
    id: ObjectId,
    largest: u64,
) -> Done<Option<Vec<u8>>> {
    let failed = || HistoryError::git("a file of the repository could not be read");
    let size = repo.find_header(id).map_err(failed())?.size();
    if size > largest {
        return Ok(None);
    }
    budget.bytes(size)?;
    Ok(Some(repo.find_object(id).map_err(failed())?.detach().data))
}

/// A file of the work tree as it would be stored: line ends and `$Id$`, nothing that a program would do.
pub(crate) fn stored<'b>(
    tree: &Tree<'_>,
    state: &State,
    path: &BStr,
    how: Conversion,
    bytes: &'b [u8],
) -> Done<Cow<'b, [u8]>> {
    let failed = || HistoryError::git("line ends could not be converted");
    let mut bytes = Cow::Borrowed(bytes);
    let mut buffer = Vec::new();
    // Where the index has line ends of its own already, `text=auto` leaves them alone.
    let mut indexed = |into: &mut Vec<u8>| -> gix::Result<Option<()>> {
        into.clear();
        let entry = state
            .entry_by_path_and_stage(path, Stage::Unconflicted)
            .or_else(|| state.entry_by_path_and_stage(path, Stage::Ours));
        let Some(entry) = entry else { return Ok(None) };
        let Ok(Some(stored)) = blob(tree.repo, tree.budget, entry.id, tree.budget.limits.file_bytes) else {
            return Ok(None);
        };
        into.extend_from_slice(&stored);
        Ok(Some(()))
    };
    let options = eol::convert_to_git::Options::default();
    if eol::convert_to_git(&bytes, how.eol, &mut buffer, &mut indexed, options).map_err(failed())? {
        bytes = Cow::Owned(std::mem::take(&mut buffer));
    }
    if how.ident && ident::undo(&bytes, &mut buffer).map_err(|_| HistoryError::Cancelled)? {
        bytes = Cow::Owned(buffer);
    }
    Ok(bytes)
}

/// The id that bytes would have as a blob.
pub(crate) fn id_of(bytes: &[u8]) -> Done<ObjectId> {
    gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, bytes)
        .map_err(HistoryError::git("a file could not be hashed"))
}

/// Whether an ordinary file of the work tree has the stored form `id`; `None` where it is too large to be converted
/// or is no ordinary file any more. Files that are stored as they are may be of any size.
pub(crate) fn is(
    tree: &Tree<'_>,
    state: &State,
    folder: &OwnedFd,
    (path, name): (&BStr, &[u8]),
    how: Conversion,
    id: ObjectId,
) -> Done<Option<bool>> {
    let Some((mut file, stat)) = Tree::file(folder, name) else { return Ok(None) };
    if !how.is_none() {
        let Some(bytes) = tree.bytes(file, tree.budget.limits.file_bytes)? else { return Ok(None) };
        return Ok(Some(id_of(&stored(tree, state, path, how, &bytes)?)? == id));
    }
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(&gix::objs::encode::loose_header(gix::objs::Kind::Blob, size));
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read =
            file.read(&mut buffer).map_err(HistoryError::io("a file of the work tree could not be read"))?;
        let Some(bytes) = buffer.get(..read).filter(|b| !b.is_empty()) else { break };
        tree.budget.bytes(read as u64)?;
        hasher.update(bytes);
    }
    let found = hasher.try_finalize().map_err(HistoryError::git("a file could not be hashed"))?;
    Ok(Some(found == id))
}
