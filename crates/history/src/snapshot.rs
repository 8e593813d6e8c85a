//! The files of one commit, to be read as they were stored.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryKind;

use crate::budget::{Budget, Limits};
use crate::content;
use crate::error::HistoryError;
use crate::paths::{Selection, show};
use crate::tree::{Comparison, Content};

/// The ordinary files of one commit. Links and submodules are not among them: neither is followed.
pub struct Snapshot {
    commit: ObjectId,
    files: BTreeMap<String, ObjectId>,
}

impl crate::Repo {
    /// The files of the commit that `revision` names.
    pub fn snapshot(
        &self,
        revision: &str,
        limits: &Limits,
        cancel: &AtomicBool,
    ) -> Result<Snapshot, HistoryError> {
        let budget = Budget::new(limits, cancel);
        let commit = self.commit_id(revision)?;
        let everything = Selection::new(&[])?;
        let mut comparison = Comparison::new(&self.git, &budget, &everything);
        comparison.trees(BString::default(), None, Some(self.tree_of(commit)?))?;
        let mut files = BTreeMap::new();
        for delta in comparison.finish() {
            let Some(side) = delta.new else { continue };
            let Content::Object(id) = side.content else { continue };
            if matches!(side.kind, EntryKind::Blob | EntryKind::BlobExecutable) {
                files.insert(show(&delta.path), id);
            }
        }
        Ok(Snapshot { commit, files })
    }

    /// A file of a commit, its bytes as they are stored; `None` where there is no such file. Larger than the limit is an
    /// error.
    pub fn stored(
        &self,
        snapshot: &Snapshot,
        path: &str,
        limits: &Limits,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<u8>>, HistoryError> {
        let Some(id) = snapshot.files.get(path) else { return Ok(None) };
        let too_large = HistoryError::TooLarge { what: "bytes of one file", limit: limits.file_bytes };
        let bytes = content::blob(&self.git, &Budget::new(limits, cancel), *id, limits.file_bytes)?;
        bytes.map(Some).ok_or(too_large)
    }
}

impl Snapshot {
    /// The commit's full id.
    #[must_use]
    pub fn commit(&self) -> String {
        self.commit.to_string()
    }

    /// The paths of its files, sorted; bytes that are no text are shown as `\xNN`.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Whether there is a file at or below `path`; `None` where there is neither, `Some(true)` for a folder.
    #[must_use]
    pub fn is_folder(&self, path: &str) -> Option<bool> {
        if self.files.contains_key(path) {
            return Some(false);
        }
        let below = format!("{path}/");
        let next = self.files.range(below.clone()..).next();
        next.is_some_and(|(name, _)| name.starts_with(&below)).then_some(true)
    }
}
