//! A private copy of a root: the fallback for machines without overlays. It copies every file.
//!
//! - A link that leads into the root leads into the copy; one that leads elsewhere is left out, and so is a `.git` that
//!   is a file: through either a program would write where nobody looks.
//! - Whether a file changed is told by its inode, size and times (`ctime` cannot be set back), in the copy as in the
//!   root.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, Metadata, MetadataExt as _, OpenOptions};
use contract::{Code, Fault, Mode, RelPath, State};
use tokio_util::sync::CancellationToken;

use super::record;
use super::{Budget, Changed, Left, Unplannable, at, is_too_deep, joined, open_dir};
use crate::jail;
use crate::root::Root;
use crate::run::Level;
use crate::state::broken;

/// Most files that are copied.
const MAX_FILES: usize = 200_000;

/// Most bytes that are copied.
const MAX_BYTES: u64 = 16 * 1024 * 1024 * 1024;

/// A private copy of a root.
pub(crate) struct Copy {
    place: PathBuf,
    dir: Dir,
    /// What was copied, by path: enough to see that it was touched, here or there.
    copied: BTreeMap<String, Copied>,
}

/// What tells one version of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    mode: u32,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            mode: metadata.mode() & 0o777,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Copied {
    File {
        there: Stamp,
        here: Stamp,
    },
    Link {
        there: String,
        here: String,
    },
    /// In the root, and not in the copy.
    LeftOut,
}

/// What stands in the copy now.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Now {
    File(Stamp),
    Link(String),
}

impl Copy {
    /// Copies `root` into `place`. With [`Level::Full`] the project's `.git` is shown itself, and not copied.
    pub(crate) fn of(
        root: &Root,
        place: &Path,
        level: Level,
        cancel: &CancellationToken,
    ) -> Result<Self, Fault> {
        let place = place.join("root");
        let made =
            std::fs::create_dir(&place).and_then(|()| Dir::open_ambient_dir(&place, ambient_authority()));
        let dir = made.map_err(|e| broken("scratch folder", &e))?;
        let mut copy = Self { place, dir, copied: BTreeMap::new() };
        copy.fill(root, level == Level::Full, cancel)?;
        Ok(copy)
    }

    /// Where it is.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    pub(crate) const fn dir(&self) -> &Dir {
        &self.dir
    }

    pub(crate) fn read(&self, path: &RelPath) -> Result<Vec<u8>, Fault> {
        jail::read(&self.dir, path).map(|(bytes, _)| bytes)
    }

    pub(crate) fn changed(&self, cancel: &CancellationToken) -> Result<Changed, Fault> {
        let (mut now, mut unplannable) = (BTreeMap::new(), Vec::new());
        walk(&self.dir, &mut now, &mut unplannable, &mut Budget::new(cancel))?;
        let mut changed = BTreeMap::new();
        for (path, now) in &now {
            let left = match (self.copied.get(path), now) {
                (Some(Copied::File { here, .. }), Now::File(now)) if here == now => continue,
                (Some(Copied::Link { here, .. }), Now::Link(now)) if here == now => continue,
                (_, Now::File(stamp)) => Left::File(Mode::new(stamp.mode)),
                (_, Now::Link(target)) => Left::Link(target.clone()),
            };
            changed.insert(path.clone(), left);
        }
        for (path, copied) in &self.copied {
            if *copied != Copied::LeftOut && !now.contains_key(path) && !path.starts_with(".git/") {
                changed.insert(path.clone(), Left::Gone);
            }
        }
        Ok((changed, unplannable))
    }

    /// Whether what stands in the root is what was copied.
    pub(crate) fn is_untouched(&self, root: &Root, path: &RelPath, standing: &State) -> bool {
        match (self.copied.get(path.as_str()), standing) {
            (None, State::Absent) => true,
            (Some(Copied::File { there, .. }), State::File { .. }) => {
                root.dir().symlink_metadata(path.as_str()).is_ok_and(|m| Stamp::of(&m) == *there)
            }
            (Some(Copied::Link { there, .. }), State::Symlink { target }) => there == target,
            _ => false,
        }
    }

    fn fill(&mut self, root: &Root, without_git: bool, cancel: &CancellationToken) -> Result<(), Fault> {
        let mut bytes = 0;
        let mut open = vec![String::new()];
        while let Some(prefix) = open.pop() {
            let from = open_dir(root.dir(), &prefix).map_err(|e| at(&prefix, &e))?;
            let to = open_dir(&self.dir, &prefix).map_err(|e| at(&prefix, &e))?;
            for entry in from.entries().map_err(|e| at(&prefix, &e))? {
                if cancel.is_cancelled() {
                    return Err(Fault::new(Code::Cancelled, "the call was cancelled; nothing was changed"));
                }
                let entry = entry.map_err(|e| at(&prefix, &e))?;
                let name = entry.file_name();
                let Some(name) = name.to_str().filter(|n| !n.starts_with(jail::TEMPORARY)) else { continue };
                let path = joined(&prefix, name);
                let kind = entry.file_type().map_err(|e| at(&path, &e))?;
                if kind.is_dir() {
                    let is_hooks = name == "hooks" && is_git_folder(&prefix);
                    if without_git && path == ".git" || is_hooks {
                        continue;
                    }
                    to.create_dir_with(name, &DirBuilder::new()).map_err(|e| at(&path, &e))?;
                    open.push(path);
                    continue;
                }
                let copied = if kind.is_symlink() {
                    copy_link(root, &from, &to, name, &prefix).map_err(|e| at(&path, &e))?
                } else if kind.is_file() && name != ".git" {
                    // A file that cannot be read is not there for programs either.
                    let harmless = is_in_git(&prefix) && record::is_configuration(name);
                    copy_file(&from, &to, name, harmless)
                        .map_err(|e| at(&path, &e))?
                        .unwrap_or(Copied::LeftOut)
                } else {
                    Copied::LeftOut
                };
                if let Copied::File { there, .. } = &copied {
                    bytes += there.bytes;
                }
                self.copied.insert(path, copied);
                if self.copied.len() > MAX_FILES || bytes > MAX_BYTES {
                    let message = format!(
                        "the root has more than {MAX_FILES} files or {} GiB: programs cannot be rehearsed over a copy of it",
                        MAX_BYTES >> 30
                    );
                    return Err(Fault::new(Code::TooLarge, message));
                }
            }
        }
        Ok(())
    }
}

/// Copies a link that leads into the root, as a relative one.
fn copy_link(root: &Root, from: &Dir, to: &Dir, name: &str, prefix: &str) -> std::io::Result<Copied> {
    let target = from.read_link_contents(name)?;
    let there = target.to_string_lossy().into_owned();
    let up = prefix.split('/').filter(|part| !part.is_empty()).count();
    let here = match target.strip_prefix(root.path()) {
        Ok(inside) => Some(Path::new(&"../".repeat(up)).join(inside).to_string_lossy().into_owned()),
        Err(_) if target.is_absolute() => None,
        Err(_) => {
            let link = RelPath::new(&joined(prefix, name));
            link.ok().filter(|link| link.resolve_link(&there).is_ok()).map(|_| there.clone())
        }
    };
    let Some(here) = here else { return Ok(Copied::LeftOut) };
    to.symlink_contents(&here, name)?;
    Ok(Copied::Link { there, here })
}

/// Whether a folder is a git folder, or that of a submodule: branches may be called like what lies at its top.
fn is_git_folder(prefix: &str) -> bool {
    let parts: Vec<&str> = prefix.split('/').collect();
    let Some(git) = parts.iter().position(|part| *part == ".git") else { return false };
    parts.last() == Some(&".git") || parts.get(git + 1) == Some(&"modules")
}

/// Whether a folder is a git folder or in one.
fn is_in_git(prefix: &str) -> bool {
    prefix.split('/').any(|part| part == ".git")
}

/// Copies a file with its times and mode, or nothing where it cannot be read; `harmless`, what is harmless of a configuration.
fn copy_file(from: &Dir, to: &Dir, name: &str, harmless: bool) -> std::io::Result<Option<Copied>> {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(FollowSymlinks::No);
    let source = match from.open_with(name, &options) {
        Ok(source) => source,
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => return Ok(None),
        Err(e) => return Err(e),
    };
    let metadata = source.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let target = to.open_with(name, &options)?;
    let (mut source, mut target) = (source.into_std(), target.into_std());
    // In the kernel, and without copying at all where the file system can share the bytes.
    if harmless {
        let mut bytes = Vec::new();
        source.take(record::MAX_CONFIG).read_to_end(&mut bytes)?;
        target.write_all(&history::harmless_configuration(&bytes))?;
    } else {
        std::io::copy(&mut source, &mut target)?;
    }
    let mode = metadata.mode() & 0o777;
    target.set_permissions(std::fs::Permissions::from_mode(mode))?;
    // Build programs compare times: the copy's are the root's.
    target.set_modified(metadata.modified()?.into_std())?;
    let here = Stamp::of(&cap_std::fs::File::from_std(target).metadata()?);
    Ok(Some(Copied::File { there: Stamp::of(&metadata), here }))
}

/// Everything below `top`, by path.
fn walk(
    top: &Dir,
    found: &mut BTreeMap<String, Now>,
    unplannable: &mut Vec<Unplannable>,
    budget: &mut Budget<'_>,
) -> Result<(), Fault> {
    let mut open = vec![String::new()];
    while let Some(prefix) = open.pop() {
        let dir = match open_dir(top, &prefix) {
            Ok(dir) => dir,
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                unplannable.push(Unplannable::never(prefix, "it cannot be looked into"));
                continue;
            }
            Err(e) => return Err(at(&prefix, &e)),
        };
        for entry in dir.entries().map_err(|e| at(&prefix, &e))? {
            let entry = entry.map_err(|e| at(&prefix, &e))?;
            budget.take()?;
            let name = entry.file_name();
            let path = joined(&prefix, &name.to_string_lossy());
            let mut refuse = |why: &str| unplannable.push(Unplannable::never(path.clone(), why));
            let Some(name) = name.to_str() else {
                refuse("its name is not UTF-8");
                continue;
            };
            let kind = entry.file_type().map_err(|e| at(&path, &e))?;
            if kind.is_dir() {
                if is_too_deep(&path) {
                    let shown = path.split('/').take(4).collect::<Vec<_>>().join("/");
                    unplannable.push(Unplannable::never(format!("{shown}/…"), "it lies too deep"));
                } else if path != ".git" {
                    open.push(path);
                }
            } else if kind.is_symlink() {
                let target = dir.read_link_contents(name).map_err(|e| at(&path, &e))?;
                found.insert(path, Now::Link(target.to_string_lossy().into_owned()));
            } else if kind.is_file() {
                let metadata = dir.symlink_metadata(name).map_err(|e| at(&path, &e))?;
                found.insert(path, Now::File(Stamp::of(&metadata)));
            } else {
                refuse("it is neither a file nor a link");
            }
        }
    }
    Ok(())
}
