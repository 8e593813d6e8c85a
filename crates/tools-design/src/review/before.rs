//! The state that a change is compared with: the commit where it left the default branch, or one that is named.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use contract::{Fault, RelPath};
use exec::history::{HistoryError, Limits, Repo, Snapshot};
use exec::view::Pattern;
use kit::ReadDesk;
use kit::desk::unread;
use kits::Revision;

/// A commit, its files and what people call it.
#[derive(Clone)]
pub(crate) struct Before {
    pub(crate) revision: Revision,
    snapshot: Arc<Snapshot>,
    desk: ReadDesk,
}

/// Where the work is.
pub(crate) struct Here {
    /// What is checked out; `None` before the first commit.
    pub(crate) head: Option<Revision>,
    /// Whether files differ from it.
    pub(crate) has_changes: bool,
    /// What it is compared with.
    pub(crate) before: Option<Before>,
    /// Why nothing is known of commits, where that is so.
    pub(crate) without: Option<String>,
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// Where the work is; all of it is nothing where there is no repository.
pub(crate) fn here(desk: &ReadDesk, base: Option<&str>) -> Result<Here, Fault> {
    let repository = match Repo::open(desk.view().root().path()) {
        Ok(repository) => repository,
        // What is there now can be reviewed without any commit.
        Err(why @ (HistoryError::NotARepository | HistoryError::Refused(_))) if base.is_none() => {
            return Ok(Here { head: None, has_changes: false, before: None, without: Some(why.to_string()) });
        }
        Err(error) => return Err(unread(error)),
    };
    let (limits, never) = (Limits::default(), AtomicBool::new(false));
    let status = repository.status(&limits, &never).map_err(unread)?;
    let head = status.head.as_ref().map(|commit| Revision {
        name: status.branch.clone().unwrap_or_else(|| short(commit).to_owned()),
        commit: commit.clone(),
    });
    let named = match (base, &head) {
        (Some(base), _) => Some((base.to_owned(), base.to_owned())),
        (None, None) => None,
        (None, Some(_)) => match repository.default_branch().map_err(unread)? {
            None => Some(("HEAD".to_owned(), "the last commit".to_owned())),
            Some(branch) => {
                let shared = repository.merge_base(&branch, "HEAD", &limits, &never).map_err(unread)?;
                let short = branch.rsplit('/').next().unwrap_or(&branch).to_owned();
                let name = if short == "HEAD" { "the default branch".to_owned() } else { short };
                Some((shared, name))
            }
        },
    };
    let before = match named {
        None => None,
        Some((revision, name)) => {
            let snapshot = repository.snapshot(&revision, &limits, &never).map_err(unread)?;
            let revision = Revision { name, commit: snapshot.commit() };
            Some(Before { revision, snapshot: Arc::new(snapshot), desk: desk.clone() })
        }
    };
    Ok(Here { head, has_changes: !status.clean, before, without: None })
}

impl Before {
    /// A file as it was.
    pub(crate) fn read(&self, path: &RelPath) -> Option<Vec<u8>> {
        let never = AtomicBool::new(false);
        let repository = self.desk.repository().ok()?;
        match repository.stored(&self.snapshot, path.as_str(), &Limits::default(), &never) {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::debug!(%path, "a file of the base is not given: {error}");
                None
            }
        }
    }

    /// Whether there was such a file.
    pub(crate) fn has(&self, path: &RelPath) -> bool {
        self.snapshot.is_folder(path.as_str()) == Some(false)
    }

    /// The paths that a pattern matches, sorted.
    pub(crate) fn glob(&self, pattern: &str) -> Result<Vec<RelPath>, Fault> {
        let pattern = Pattern::new(pattern)?;
        let found = self.snapshot.paths().filter(|path| pattern.finds(path));
        Ok(found.filter_map(|path| RelPath::new(path).ok()).collect())
    }

    /// All of its files once more.
    pub(crate) fn again(&self) -> Result<Snapshot, Fault> {
        let never = AtomicBool::new(false);
        self.desk.repository()?.snapshot(self.commit(), &Limits::default(), &never).map_err(unread)
    }

    /// The commit.
    pub(crate) fn commit(&self) -> &str {
        &self.revision.commit
    }
}
