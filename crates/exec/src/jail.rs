//! How a path beneath a root is opened: by handle, beneath, regular files only.
//!
//! Every name is resolved beneath the directory handle (`openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_MAGICLINKS`, by
//! cap-std wherever there may be a link), so that no symbolic link and no race leads out. This module adds what that does
//! not give: no FIFOs, devices or sockets; no way into the git directory through a link that stays inside; and, for
//! writing, no link on the way at all.

use std::io::Read as _;
use std::os::fd::{AsFd, AsRawFd as _};
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, File, Metadata, MetadataExt as _, OpenOptions};
use contract::{Code, Digest, Fault, Mode, RelPath, State};
use rustix::fs::{OFlags, ResolveFlags};
use rustix::io::Errno;

/// Largest file that is read whole.
pub const MAX_FILE: u64 = 64 * 1024 * 1024;

/// Names at the top of a root that tools may read and never write: they decide what tools may do.
const OWN_FILES: &[&str] = &["gatewright.toml", "gatewright.lock", ".gatewright"];

/// The prefix of our temporary names; none of them is ever a plan's path.
pub(crate) const TEMPORARY: &str = ".gatewright-tmp-";

fn refused(path: &RelPath, why: &str) -> Fault {
    Fault::new(Code::PathNotAllowed, format!("{path}: {why}")).about(path.as_str())
}

/// What an I/O error about `path` means to the caller.
pub(crate) fn fault(path: &RelPath, error: &std::io::Error) -> Fault {
    use std::io::ErrorKind as K;
    match error.kind() {
        K::NotFound => Fault::new(Code::NotFound, format!("{path}: no such file"))
            .about(path.as_str())
            .suggest("Check the spelling; paths are relative to the root."),
        K::NotADirectory => refused(path, "a part of the path is not a directory"),
        K::PermissionDenied => refused(path, "the path leads outside the root, or permission is denied"),
        _ => match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::LOOP | Errno::XDEV) => {
                refused(path, "a symbolic link is in the way or leads outside")
            }
            Some(Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP) => refused(path, "not a regular file"),
            _ => Fault::new(Code::FilesystemError, format!("{path}: {}", error.kind())).about(path.as_str()),
        },
    }
}

/// Gatewright's own file that a plan may hold which a person applies.
pub const CONFIGURATION: &str = "gatewright.toml";

/// Refuses what is never written, in a plan that only a person applies: all but the configuration.
pub fn check_writable_by(path: &RelPath, by_person: bool) -> Result<(), Fault> {
    if by_person && path.as_str() == CONFIGURATION { Ok(()) } else { check_writable(path) }
}

/// Refuses what tools never write.
pub fn check_writable(path: &RelPath) -> Result<(), Fault> {
    let top = path.components().next().unwrap_or_default();
    if OWN_FILES.iter().any(|own| top.eq_ignore_ascii_case(own)) {
        return Err(refused(path, "it is gatewright's own file; edit it yourself")
            .suggest("Edit the file by hand, then run `gatewright trust` if it widens what tools may do."));
    }
    if path.file_name().starts_with(TEMPORARY) {
        return Err(refused(path, "the name is reserved for gatewright's temporary files"));
    }
    Ok(())
}

/// Opens a regular file for reading, never blocking and never outside.
pub fn open_file(dir: &Dir, path: &RelPath) -> Result<(File, Metadata), Fault> {
    let (file, may_have_led) = match open_unlinked(dir, path) {
        Some(file) => (file, false),
        None => {
            let mut options = OpenOptions::new();
            options.read(true).nonblock(true).follow(FollowSymlinks::Yes);
            (dir.open_with(path.as_str(), &options).map_err(|e| fault(path, &e))?, true)
        }
    };
    let metadata = file.metadata().map_err(|e| fault(path, &e))?;
    if !metadata.is_file() {
        return Err(refused(path, "not a regular file"));
    }
    if may_have_led {
        check_landing(dir, file.as_fd(), path)?;
    }
    Ok((file, metadata))
}

/// Opens what has no symbolic link on its way, so that it is where its path says. Anything else is left to be opened with more care,
/// an error among it.
fn open_unlinked(dir: &Dir, path: &RelPath) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let opened = rustix::fs::openat2(dir, path.as_str(), flags, rustix::fs::Mode::empty(), resolve).ok()?;
    Some(File::from_std(opened.into()))
}

/// A link that stays inside the root may still lead into the git directory: looks where the handle really is.
fn check_landing(dir: &Dir, opened: impl AsFd, path: &RelPath) -> Result<(), Fault> {
    let place = |fd: i32| std::fs::read_link(format!("/proc/self/fd/{fd}"));
    let (Ok(root), Ok(landed)) = (place(dir.as_fd().as_raw_fd()), place(opened.as_fd().as_raw_fd())) else {
        // Without /proc the handle cannot be asked; a path without links needs no asking.
        if has_link(dir, path) {
            return Err(refused(path, "where the symbolic link leads cannot be checked on this system"));
        }
        return Ok(());
    };
    let inside = landed.strip_prefix(&root).ok().and_then(Path::to_str);
    match inside.map(RelPath::new) {
        Some(Ok(_)) => Ok(()),
        Some(Err(why)) => {
            Err(refused(path, &format!("the symbolic link leads to a protected place ({why})")))
        }
        None => Err(refused(path, "the symbolic link leads outside the root")),
    }
}

/// Whether any component is a symbolic link.
fn has_link(dir: &Dir, path: &RelPath) -> bool {
    let is_link = |p: &str| dir.symlink_metadata(p).is_ok_and(|m| m.is_symlink());
    path.ancestors().iter().any(|a| is_link(a.as_str())) || is_link(path.as_str())
}

/// Reads a regular file of at most [`MAX_FILE`] bytes.
pub fn read(dir: &Dir, path: &RelPath) -> Result<(Vec<u8>, Metadata), Fault> {
    let (file, metadata) = open_file(dir, path)?;
    let too_large = || {
        Fault::new(Code::TooLarge, format!("{path} is larger than {} MiB", MAX_FILE >> 20))
            .about(path.as_str())
    };
    if metadata.len() > MAX_FILE {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|e| fault(path, &e))?;
    if bytes.len() as u64 > MAX_FILE { Err(too_large()) } else { Ok((bytes, metadata)) }
}

/// Opens the directory of `path` for a change: component by component, refusing every link.
///
/// `Ok(None)` when a part of the way does not exist.
pub(crate) fn open_parent(dir: &Dir, path: &RelPath) -> Result<Option<Dir>, Fault> {
    let mut here = dir.try_clone().map_err(|e| fault(path, &e))?;
    if let Some(parent) = path.parent() {
        for component in parent.components() {
            here = match here.open_dir_nofollow(component) {
                Ok(next) => next,
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(_) => {
                    return Err(refused(path, "a part of the path is a symbolic link or not a directory")
                        .suggest("Name the real directory; plans never write through links."));
                }
            };
        }
    }
    Ok(Some(here))
}

/// What is at `path`, the last component not followed, no link on the way followed. Files are digested.
pub fn state(dir: &Dir, path: &RelPath) -> Result<State, Fault> {
    match open_parent(dir, path)? {
        None => Ok(State::Absent),
        Some(parent) => state_in(&parent, path.file_name(), path),
    }
}

/// What is at `name` in `parent`; `path` is what messages call it.
pub(crate) fn state_in(parent: &Dir, name: &str, path: &RelPath) -> Result<State, Fault> {
    let metadata = match parent.symlink_metadata(name) {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(State::Absent),
        Err(e) => return Err(fault(path, &e)),
    };
    if metadata.is_symlink() {
        let target = parent.read_link_contents(name).map_err(|e| fault(path, &e))?;
        return Ok(State::Symlink { target: target.to_string_lossy().into_owned() });
    }
    if metadata.is_dir() {
        let sub = parent.open_dir_nofollow(name).map_err(|e| fault(path, &e))?;
        return Ok(State::Directory { listing: listing(&sub, path)?.1 });
    }
    if !metadata.is_file() {
        return Err(refused(path, "not a regular file"));
    }
    let (bytes, metadata) = read_in(parent, name, path)?;
    Ok(file_state(&bytes, &metadata))
}

/// Opens the regular file `name` in `parent` without following it.
pub(crate) fn open_in(parent: &Dir, name: &str, path: &RelPath) -> Result<File, Fault> {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(FollowSymlinks::No);
    let file = parent.open_with(name, &options).map_err(|e| fault(path, &e))?;
    if !file.metadata().map_err(|e| fault(path, &e))?.is_file() {
        return Err(refused(path, "not a regular file"));
    }
    Ok(file)
}

/// Reads `name` in `parent` without following it.
pub(crate) fn read_in(parent: &Dir, name: &str, path: &RelPath) -> Result<(Vec<u8>, Metadata), Fault> {
    let file = open_in(parent, name, path)?;
    let metadata = file.metadata().map_err(|e| fault(path, &e))?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(MAX_FILE)).unwrap_or(0) + 1);
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|e| fault(path, &e))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Fault::new(Code::TooLarge, format!("{path} is larger than {} MiB", MAX_FILE >> 20)));
    }
    Ok((bytes, metadata))
}

pub(crate) fn file_state(bytes: &[u8], metadata: &Metadata) -> State {
    State::File { digest: Digest::of(bytes), bytes: bytes.len() as u64, mode: Mode::new(metadata.mode()) }
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// Whether it is a directory, not following links.
    pub is_dir: bool,
    /// Whether it is a regular file.
    pub is_file: bool,
}

/// Most names in one directory that are listed.
const MAX_ENTRIES: usize = 200_000;

/// The names in `dir`, sorted, and their digest. Names that are no [`RelPath`] components, the git directory and our
/// temporary files are left out.
pub(crate) fn listing(dir: &Dir, path: &RelPath) -> Result<(Vec<Entry>, Digest), Fault> {
    let mut entries = Vec::new();
    for entry in dir.entries().map_err(|e| fault(path, &e))? {
        let entry = entry.map_err(|e| fault(path, &e))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if RelPath::new(&name).is_err() || name.starts_with(TEMPORARY) {
            continue;
        }
        let Ok(kind) = entry.file_type() else { continue };
        entries.push(Entry { name, is_dir: kind.is_dir(), is_file: kind.is_file() });
        if entries.len() > MAX_ENTRIES {
            return Err(Fault::new(Code::TooLarge, format!("{path}: more than {MAX_ENTRIES} entries")));
        }
    }
    entries.sort();
    let mut text = String::new();
    for entry in &entries {
        let kind = if entry.is_dir {
            'd'
        } else if entry.is_file {
            'f'
        } else {
            'o'
        };
        text.push(kind);
        text.push_str(&entry.name);
        text.push('\0');
    }
    let digest = Digest::of(text.as_bytes());
    Ok((entries, digest))
}

/// Nothing is created.
const NO_MODE: rustix::fs::Mode = rustix::fs::Mode::empty();

/// Opens a directory by a real (readable) descriptor, which `fsync` needs: cap-std's handles are `O_PATH`.
pub(crate) fn sync_dir(dir: &Dir) -> std::io::Result<()> {
    let fd = rustix::fs::openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, NO_MODE)?;
    rustix::fs::fsync(&fd)?;
    Ok(())
}
