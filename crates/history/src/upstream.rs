//! HEAD, refs by their full names, and which branch follows which.

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::refs::{FullName, Target};

use crate::error::{Done, HistoryError};

/// Most symbolic refs that lead to one another; git's own limit.
const MAX_HOPS: usize = 5;

/// What HEAD is.
pub(crate) struct Head {
    /// The branch's short name.
    pub(crate) branch: Option<String>,
    pub(crate) id: Option<ObjectId>,
    pub(crate) detached: bool,
}

impl crate::Repo {
    pub(crate) fn head(&self) -> Done<Head> {
        let head = self.git.head().map_err(HistoryError::git("HEAD could not be read"))?;
        let Some(name) = head.referent_name() else {
            return Ok(Head { branch: None, id: head.id().map(gix::Id::detach), detached: true });
        };
        let full = name.as_bstr().to_str_lossy().into_owned();
        let id = self.reference(&full)?;
        let branch = full.strip_prefix("refs/heads/").unwrap_or(&full).to_owned();
        Ok(Head { branch: Some(branch), id, detached: false })
    }

    /// The object that a ref names, over symbolic refs; tags are not peeled.
    pub(crate) fn reference(&self, full: &str) -> Done<Option<ObjectId>> {
        let mut name = full.to_owned();
        for _ in 0..=MAX_HOPS {
            let Ok(wanted) = FullName::try_from(name.as_str()) else { return Ok(None) };
            let found = self
                .git
                .refs
                .try_find(wanted.as_ref())
                .map_err(HistoryError::git("a ref of the repository could not be read"))?;
            // gix looks in other places too, where a name could be short for another.
            let Some(found) = found.filter(|r| r.name == wanted) else { return Ok(None) };
            match found.target {
                Target::Object(id) => return Ok(Some(id)),
                Target::Symbolic(next) => name = next.as_bstr().to_str_lossy().into_owned(),
            }
        }
        Ok(None)
    }

    /// The branch that work starts from, as a revision: the one that `origin` calls its HEAD, else `main`, else `master`;
    /// `None` where there is none of them.
    pub fn default_branch(&self) -> Result<Option<String>, HistoryError> {
        for full in ["refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"] {
            if self.reference(full)?.is_some() {
                return Ok(Some(full.to_owned()));
            }
        }
        Ok(None)
    }

    /// The full name of the ref that a branch follows, by `branch.<name>.remote` and `merge` and the remote's `fetch`.
    pub(crate) fn follows(&self, branch: &str) -> Option<String> {
        let config = self.git.config_snapshot();
        let config = config.plumbing();
        let text = |section: &str, sub: &str, key: &str| {
            let value = config.string_by(section, sub, key)?;
            value.to_str().ok().map(str::to_owned)
        };
        let remote = text("branch", branch, "remote")?;
        let merge = text("branch", branch, "merge")?;
        if remote == "." {
            return Some(merge);
        }
        let specs = config.strings_by("remote", remote.as_str(), "fetch")?;
        specs.iter().filter_map(|spec| spec.to_str().ok()).find_map(|spec| {
            let (from, to) = spec.trim_start_matches('+').split_once(':')?;
            match (from.split_once('*'), to.split_once('*')) {
                (None, None) => (from == merge).then(|| to.to_owned()),
                (Some((head, tail)), Some((to_head, to_tail))) => {
                    let middle = merge.strip_prefix(head)?.strip_suffix(tail)?;
                    Some(format!("{to_head}{middle}{to_tail}"))
                }
                _ => None,
            }
        })
    }
}
