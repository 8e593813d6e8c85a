//! Which files there are below a folder of a root, and whether one is as it was: for indexes over many files. Nothing that is learnt
//! here becomes a precondition, as what is read through a [`View`](crate::View) does.

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata, MetadataExt as _};
use contract::{Code, Fault, RelPath};
use tokio_util::sync::CancellationToken;

use crate::jail;
use crate::root::Root;

/// What changes when a file does: where all of it is the same, so are the bytes, as far as a file system tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Bytes.
    pub len: u64,
    /// Nanoseconds since 1970 at which its bytes were changed last, as far as anybody says.
    pub modified: i128,
    /// Nanoseconds since 1970 at which the system changed it last.
    pub changed: i128,
    /// Which file it is.
    pub inode: u64,
}

impl Stamp {
    fn of(there: &Metadata) -> Self {
        let at = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Self {
            len: there.len(),
            modified: at(there.mtime(), there.mtime_nsec()),
            changed: at(there.ctime(), there.ctime_nsec()),
            inode: there.ino(),
        }
    }
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// From the root.
    pub path: RelPath,
    /// As it stands.
    pub stamp: Stamp,
}

/// What is below a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Census {
    /// Regular files, and links to such files that stay inside the root, by path.
    pub files: Vec<Seen>,
    /// Those of `files` that are links, by path.
    pub linked: Vec<RelPath>,
    /// Links that lead out of the root, to folders or to nothing: they are not followed.
    pub links: Vec<RelPath>,
    /// Entries whose names are no paths of ours.
    pub unnamed: u64,
    /// The folders that were looked into, the first one included (`None`: the root's top), by path, with what changes when a
    /// name in them comes or goes.
    pub folders: Vec<(Option<RelPath>, Stamp)>,
}

/// What a census looks at.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The folder; the root's top where there is none.
    pub base: Option<&'a RelPath>,
    /// Folders below it that are gone into, one below another.
    pub depth: usize,
    /// Which folders are gone into, by their paths.
    pub enters: &'a (dyn Fn(&RelPath) -> bool + Sync),
    /// Files at most: more are `too_large`.
    pub most: usize,
}

fn cancelled(cancel: &CancellationToken) -> Result<(), Fault> {
    if cancel.is_cancelled() {
        return Err(Fault::new(Code::Cancelled, "the call was cancelled"));
    }
    Ok(())
}

/// Folder by folder, through no link.
pub(crate) fn folder(root: &Root, path: Option<&RelPath>) -> std::io::Result<Dir> {
    let top = root.dir().try_clone()?;
    let Some(path) = path else { return Ok(top) };
    path.components().try_fold(top, |dir, part| dir.open_dir_nofollow(part))
}

/// The folders in one that a census would go into, each with how deep it may go there; nothing where it cannot be read.
pub(crate) fn entered(
    dir: &Dir,
    path: Option<&RelPath>,
    depth: usize,
    enters: &dyn Fn(&RelPath) -> bool,
) -> Option<Vec<(Option<RelPath>, usize)>> {
    let mut all = Vec::new();
    for entry in dir.entries().ok()?.flatten() {
        if depth == 0 || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let named = entry.file_name().into_string().ok().and_then(|name| match path {
            None => RelPath::new(&name).ok(),
            Some(path) => path.join(&name).ok(),
        });
        all.extend(named.filter(|at| enters(at)).map(|at| (Some(at), depth - 1)));
    }
    Some(all)
}

/// Counts what is there. No folder at the base is nothing there; folders that cannot be opened are left out.
pub fn census(root: &Root, ask: Ask<'_>, cancel: &CancellationToken) -> Result<Census, Fault> {
    let mut found = Census::default();
    let mut open = vec![(ask.base.cloned(), ask.depth)];
    while let Some((path, depth)) = open.pop() {
        cancelled(cancel)?;
        let Ok(dir) = folder(root, path.as_ref()) else { continue };
        let (Ok(there), Ok(entries)) = (dir.dir_metadata(), dir.entries()) else { continue };
        found.folders.push((path.clone(), Stamp::of(&there)));
        for entry in entries.flatten() {
            let named = entry.file_name().into_string().ok().and_then(|name| match &path {
                None => RelPath::new(&name).ok(),
                Some(path) => path.join(&name).ok(),
            });
            let Some(at) = named else {
                found.unnamed += 1;
                continue;
            };
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if depth > 0 && (ask.enters)(&at) {
                    open.push((Some(at), depth - 1));
                }
            } else if kind.is_symlink() {
                match root.dir().metadata(at.as_str()) {
                    Ok(there) if there.is_file() => {
                        found.linked.push(at.clone());
                        found.files.push(Seen { path: at, stamp: Stamp::of(&there) });
                    }
                    _ => found.links.push(at),
                }
            } else if kind.is_file() {
                let Ok(there) = entry.metadata() else { continue };
                found.files.push(Seen { path: at, stamp: Stamp::of(&there) });
            }
            if found.files.len() > ask.most {
                let message = format!("more than {} files are too many to be looked through", ask.most);
                return Err(Fault::new(Code::TooLarge, message));
            }
        }
    }
    found.files.sort_unstable();
    found.linked.sort_unstable();
    found.links.sort_unstable();
    found.folders.sort_unstable();
    Ok(found)
}

/// The file at `path` as it stands; `None` where there is none that may be read.
#[must_use]
pub fn glance(root: &Root, path: &RelPath) -> Option<Stamp> {
    let there = root.dir().metadata(path.as_str()).ok()?;
    there.is_file().then(|| Stamp::of(&there))
}

/// The folder at `path` (`None`: the root's top) as it stands; `None` where there is none, or a link in the way.
#[must_use]
pub fn glance_at_folder(root: &Root, path: Option<&RelPath>) -> Option<Stamp> {
    folder(root, path).and_then(|dir| dir.dir_metadata()).ok().map(|there| Stamp::of(&there))
}

/// Reads a regular file of at most `most` bytes, with what it was as it was opened.
pub fn read(root: &Root, path: &RelPath, most: u64) -> Result<(Vec<u8>, Stamp), Fault> {
    use std::io::Read as _;
    let (file, there) = jail::open_file(root.dir(), path)?;
    let too_large = || {
        Fault::new(Code::TooLarge, format!("{path} is larger than {} KiB", most >> 10)).about(path.as_str())
    };
    if there.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(there.len()).unwrap_or(0));
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| jail::fault(path, &e))?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok((bytes, Stamp::of(&there))) }
}
