//! Opens a repository: exactly the one at a folder's top, nothing around it, nothing that it leads to.

use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};

use crate::error::{Done, HistoryError, Refusal};
use crate::place::Place;
use crate::{config, place};

/// A repository that can be read. Every method opens what it needs anew, so that what git does meanwhile is seen.
pub struct Repo {
    pub(crate) git: gix::Repository,
    /// The top of the work tree.
    pub(crate) top: OwnedFd,
}

impl Repo {
    /// Opens the repository whose `.git` directory is at the top of `root`; nothing is searched for upwards.
    ///
    /// Refused, each with its [`Refusal`]: a `.git` that is a file or a link, bare repositories, alternates, a
    /// `commondir`, links among what is read, `core.worktree`, object formats other than SHA-1, ref formats other than
    /// files, folders of another owner.
    pub fn open(root: &Path) -> Result<Self, HistoryError> {
        Self::at(root, &place::ordinary(root)?)
    }

    /// Opens the linked worktree at `root`, where the repository at the top of `main` is known to be trusted as `root`
    /// is: the two must name each other.
    pub fn open_worktree(root: &Path, main: &Path) -> Result<Self, HistoryError> {
        Self::at(root, &place::linked(root, main)?)
    }

    fn at(root: &Path, place: &Place) -> Done<Self> {
        let git = open_at(place)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = rustix::fs::open(root, flags, Mode::empty())
            .map_err(HistoryError::io("the work tree could not be opened"))?;
        Ok(Self { git, top })
    }
}

/// The same rules for whoever writes objects and refs through gix: the repository at the top of `root`, its
/// configuration reduced, replacement refs ignored, no namespace, no reflog.
pub fn open_repository(root: &Path) -> Result<gix::Repository, HistoryError> {
    open_at(&place::ordinary(root)?)
}

fn open_at(place: &Place) -> Done<gix::Repository> {
    let options = gix::open::Options::isolated()
        .strict_config(true)
        .open_path_as_is(true)
        .bail_if_untrusted(true)
        .config_overrides(config::OVERRIDES);
    let mut repo = gix::open_opts(&place.dot_git, options).map_err(|e| Refusal::Unreadable(e.to_string()))?;
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    if real(repo.git_dir()).as_ref() != Some(&place.git_dir)
        || real(repo.common_dir()).as_ref() != Some(&place.common_dir)
    {
        return Err(Refusal::LeadsElsewhere(".git".to_owned()).into());
    }
    config::reduce(&mut repo)?;
    repo.objects.ignore_replacements = true;
    let _ = repo.clear_namespace();
    repo.refs.write_reflog = gix::refs::store::WriteReflog::Disable;
    // Trees of neighbouring commits are much the same.
    repo.object_cache_size_if_unset(8 << 20);
    Ok(repo)
}
