//! The repository as grading looks at it.

use std::sync::atomic::AtomicBool;

use contract::Digest;
use exec::View;
use exec::history::{HistoryError, Limits, LogQuery, Repo, Snapshot};

use crate::anchor;
use crate::grade::Past;

/// Most commits that are counted.
const MAX_COUNTED: usize = 1_000;

/// The repository as it is now.
pub(crate) struct Now<'a> {
    repo: &'a Repo,
    view: &'a View,
    limits: &'a Limits,
    cancel: &'a AtomicBool,
    head: Option<String>,
    branch: Option<String>,
    shallow: bool,
    snapshot: Option<Snapshot>,
    dirty: Option<String>,
}

impl<'a> Now<'a> {
    pub(crate) fn new(
        repo: &'a Repo,
        view: &'a View,
        limits: &'a Limits,
        cancel: &'a AtomicBool,
    ) -> Result<Self, HistoryError> {
        let status = repo.status(limits, cancel)?;
        let snapshot = match &status.head {
            Some(head) => Some(repo.snapshot(head, limits, cancel)?),
            None => None,
        };
        let dirty = anchor::dirty(&status, view).digest;
        let (head, branch, shallow) = (status.head, status.branch, status.shallow);
        Ok(Self { repo, view, limits, cancel, head, branch, shallow, snapshot, dirty })
    }
}

impl Past for Now<'_> {
    fn head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    fn contains(&self, commit: &str) -> bool {
        // Only a whole id: what somebody stored is no revision to be followed.
        commit.len() == 40
            && commit.bytes().all(|b| b.is_ascii_hexdigit())
            && self.repo.resolve(commit).is_ok()
    }

    fn is_ancestor(&self, one: &str, other: &str) -> Option<bool> {
        match self.repo.merge_base(one, other, self.limits, self.cancel) {
            Ok(base) if base == one => Some(true),
            Ok(_) | Err(HistoryError::NoMergeBase) if self.shallow => None,
            Ok(_) | Err(HistoryError::NoMergeBase) => Some(false),
            Err(_) => None,
        }
    }

    fn tip(&self, branch: &str) -> Option<String> {
        let places = [format!("refs/heads/{branch}"), format!("refs/remotes/{branch}")];
        places.iter().find_map(|name| self.repo.resolve(name).ok())
    }

    fn default_tip(&self) -> Option<String> {
        let branch = self.repo.default_branch().ok().flatten()?;
        self.repo.resolve(&branch).ok()
    }

    fn on_disk(&self, path: &str) -> Option<String> {
        anchor::content(self.view, path)
    }

    fn at_head(&self, path: &str) -> Option<String> {
        let bytes = self.repo.stored(self.snapshot.as_ref()?, path, self.limits, self.cancel).ok()??;
        Some(Digest::of(&bytes).to_string())
    }

    fn dirty(&self) -> Option<&str> {
        self.dirty.as_deref()
    }

    fn since(&self, from: &str, to: &str, most: usize) -> (u64, Vec<String>) {
        let query = LogQuery { limit: MAX_COUNTED, ..LogQuery::new(&format!("{from}..{to}")) };
        match self.repo.log(&query, self.limits, self.cancel) {
            Ok(log) => {
                let subjects = log.commits.iter().take(most).map(|commit| commit.summary.clone());
                (log.commits.len() as u64, subjects.collect())
            }
            Err(_) => (0, Vec::new()),
        }
    }
}
