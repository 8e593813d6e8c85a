//! Where a library's files are: below a folder, or in the program itself.

use std::path::Path;
use std::sync::Arc;

use contract::{Code, Digest, Fault, RelPath};
use exec::Root;
use exec::census::{self, Ask, Census, Seen, Stamp};
use exec::changes::Changes;
use tokio_util::sync::CancellationToken;

/// Files that are part of the program: paths with `/`, in order, and what is in them.
pub type BuiltIn = &'static [(&'static str, &'static [u8])];

/// The files of a library.
#[derive(Debug, Clone)]
pub(crate) enum Files {
    /// Below a folder of this machine.
    Below(Arc<Root>),
    /// In the program.
    BuiltIn(BuiltIn),
}

impl Files {
    /// What they are kept apart by.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Below(root) => root.path(),
            // No absolute path, so no folder's.
            Self::BuiltIn(_) => Path::new("built-in"),
        }
    }

    /// Which there are. What is part of the program is there whole, however deep.
    pub(crate) fn census(&self, ask: Ask<'_>, cancel: &CancellationToken) -> Result<Census, Fault> {
        let files = match self {
            Self::Below(root) => return census::census(root, ask, cancel),
            Self::BuiltIn(files) => files,
        };
        let is_asked = |path: &&RelPath| match ask.base {
            None => true,
            Some(base) => path.as_str().strip_prefix(base.as_str()).is_some_and(|rest| rest.starts_with('/')),
        };
        let found = files.iter().enumerate().filter_map(|(at, (path, bytes))| {
            let path = RelPath::new(path).ok().filter(|path| is_asked(&path))?;
            Some(Seen { path, stamp: stamp(at, bytes) })
        });
        Ok(Census { files: found.collect(), ..Census::default() })
    }

    /// Has the machine tell of changes below folders; nothing where it does not, or where none can be.
    pub(crate) fn watched(&self, asks: &[Ask<'_>]) -> Option<Changes> {
        match self {
            Self::Below(root) => Changes::of(root, asks),
            Self::BuiltIn(_) => None,
        }
    }

    /// Whether something may have changed that is watched.
    pub(crate) fn have_changed(&self, changes: &Changes) -> bool {
        match self {
            Self::Below(root) => changes.any(root),
            Self::BuiltIn(_) => false,
        }
    }

    /// Whether all of a census is watched. What links lead to is not, nor what they may lead to.
    pub(crate) fn are_watched(&self, changes: &Changes, census: &Census) -> bool {
        match self {
            Self::Below(root) => {
                let folders = census.folders.iter().map(|(folder, _)| folder);
                census.linked.is_empty() && census.links.is_empty() && changes.covers(root, folders)
            }
            Self::BuiltIn(_) => false,
        }
    }

    /// One as it stands.
    pub(crate) fn glance(&self, path: &RelPath) -> Option<Stamp> {
        match self {
            Self::Below(root) => census::glance(root, path),
            Self::BuiltIn(files) => built_in(files, path).map(|(at, bytes)| stamp(at, bytes)),
        }
    }

    /// Reads one of at most `most` bytes, with what it was as it was opened.
    pub(crate) fn read(&self, path: &RelPath, most: u64) -> Result<(Vec<u8>, Stamp), Fault> {
        match self {
            Self::Below(root) => census::read(root, path, most),
            Self::BuiltIn(files) => match built_in(files, path) {
                Some((at, bytes)) if bytes.len() as u64 <= most => Ok((bytes.to_vec(), stamp(at, bytes))),
                Some(_) => Err(Fault::new(Code::TooLarge, format!("{path} is too large"))),
                None => Err(Fault::new(Code::NotFound, format!("there is no file {path}"))),
            },
        }
    }
}

fn built_in(files: BuiltIn, path: &RelPath) -> Option<(usize, &'static [u8])> {
    files.iter().enumerate().find(|(_, (own, _))| *own == path.as_str()).map(|(at, (_, bytes))| (at, *bytes))
}

/// It never changes; another program's is told from it by the digest.
fn stamp(at: usize, bytes: &[u8]) -> Stamp {
    let digest = Digest::of(bytes);
    let first = digest.as_bytes().first_chunk().map_or(0, |first| i64::from_be_bytes(*first));
    Stamp { len: bytes.len() as u64, modified: 0, changed: i128::from(first), inode: at as u64 }
}
