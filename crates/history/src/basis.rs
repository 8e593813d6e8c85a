//! What a reading of history depends on, besides objects, which never change.

use std::path::{Path, PathBuf};

use crate::{place, rev};

/// Most loose refs that are named one by one.
const MAX_REFS: usize = 2_000;

/// The files that say where history begins and whether it may be read at all, from the root: present or not. So do
/// [`rev::HEADS`] and [`place::ALTERNATES`].
const FILES: [&str; 5] = ["config", "config.worktree", "packed-refs", "shallow", "commondir"];

/// The paths, from `root`, of which [`crate::Repo::log`] is a function, as long as no object is lost: files to be compared whole,
/// and folders whose names count. `None` where there are too many loose refs to be watched, or no ordinary git folder.
///
/// What git changes is among them: commits move a ref, fetches write refs, a deepening writes `shallow`.
#[must_use]
pub fn basis(root: &Path) -> Option<Vec<PathBuf>> {
    let git = Path::new(".git");
    if !std::fs::symlink_metadata(root.join(git)).ok()?.is_dir() {
        return None;
    }
    let files = FILES.iter().chain(&rev::HEADS).chain(&place::ALTERNATES);
    let mut found: Vec<PathBuf> = files.map(|file| git.join(file)).collect();
    let mut open = vec![git.join("refs")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(root.join(&folder)).ok()? {
            let entry = entry.ok()?;
            let path = folder.join(entry.file_name());
            if entry.file_type().ok()?.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
        found.push(folder);
        if found.len() > MAX_REFS {
            return None;
        }
    }
    Some(found)
}
