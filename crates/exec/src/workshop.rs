//! A private copy of a root, for programs to work over: what they write there is looked at, never in the root itself.
//!
//! This is the fallback of the design for machines without overlays: it copies every file of the root. What it shows is
//! the same as what an overlay shows.
//!
//! - A link that leads into the root leads into the copy; one that leads elsewhere is left out, and so is a `.git` that
//!   is a file: through either a program would write where nobody looks.
//! - Whether a file changed is told by its inode, size and times (`ctime` cannot be set back), in the copy as in the
//!   root. A path that a program changed and that somebody else has changed in the root meanwhile is a conflict. What a
//!   program has only *read* is not known, and is no precondition of its plan.
//! - Directories come and go with the files in them: an empty one that a program makes is not proposed.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, Metadata, MetadataExt as _, OpenOptions};
use contract::{Code, Fault, Mode, RelPath, State};
use tokio_util::sync::CancellationToken;

use crate::draft::Draft;
use crate::jail;
use crate::root::Root;
use crate::run::{self, Command, Ran};
use crate::state::{StateDir, broken};
use crate::view::View;

/// Most files that are copied.
const MAX_FILES: usize = 200_000;

/// Most bytes that are copied.
const MAX_BYTES: u64 = 16 * 1024 * 1024 * 1024;

/// A private copy of a root.
#[derive(Debug)]
pub struct Workshop {
    root: Arc<Root>,
    place: PathBuf,
    copy: Dir,
    /// What was copied, by path: enough to see that it was touched, here or there.
    copied: BTreeMap<String, Copied>,
    programs: &'static [&'static str],
    path: Vec<PathBuf>,
    cancel: CancellationToken,
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
enum Left {
    File(Stamp),
    Link(String),
}

/// What a run left that no plan can express.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unplannable {
    /// Where, as the copy has it.
    pub path: String,
    /// Why no plan can have it.
    pub why: String,
}

fn at(path: &str, error: &std::io::Error) -> Fault {
    let shown = if path.is_empty() { "." } else { path };
    Fault::new(Code::FilesystemError, format!("{shown}: it could not be copied: {}", error.kind()))
        .about(shown)
}

fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// Opens the directory `path` below `top`, one component at a time and no link. Handles are not kept: a wide tree has
/// more folders than a process may have handles.
fn open_dir(top: &Dir, path: &str) -> std::io::Result<Dir> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.fold(top.try_clone(), |dir, part| dir.and_then(|dir| dir.open_dir_nofollow(part)))
}

impl Workshop {
    /// Copies what `view` is a window on. `programs` are the only ones that will run here.
    pub fn open(
        view: &View,
        state: &StateDir,
        programs: &'static [&'static str],
        cancel: &CancellationToken,
    ) -> Result<Self, Fault> {
        let root = Arc::clone(view.root());
        let place = state.scratch()?;
        let made = (|| {
            for part in ["root", "home"] {
                std::fs::create_dir(place.join(part))?;
            }
            Dir::open_ambient_dir(place.join("root"), ambient_authority())
        })();
        let copy = made.map_err(|e| broken("scratch folder", &e))?;
        let path = run::trusted_path(root.path());
        let mut workshop =
            Self { root, place, copy, copied: BTreeMap::new(), programs, path, cancel: cancel.clone() };
        workshop.fill()?;
        Ok(workshop)
    }

    fn fill(&mut self) -> Result<(), Fault> {
        let mut bytes = 0;
        let mut open = vec![String::new()];
        while let Some(prefix) = open.pop() {
            let from = open_dir(self.root.dir(), &prefix).map_err(|e| at(&prefix, &e))?;
            let to = open_dir(&self.copy, &prefix).map_err(|e| at(&prefix, &e))?;
            for entry in from.entries().map_err(|e| at(&prefix, &e))? {
                if self.cancel.is_cancelled() {
                    return Err(Fault::new(Code::Cancelled, "the call was cancelled; nothing was changed"));
                }
                let entry = entry.map_err(|e| at(&prefix, &e))?;
                let name = entry.file_name();
                let Some(name) = name.to_str().filter(|n| !n.starts_with(jail::TEMPORARY)) else { continue };
                let path = joined(&prefix, name);
                let kind = entry.file_type().map_err(|e| at(&path, &e))?;
                if kind.is_dir() {
                    to.create_dir_with(name, &DirBuilder::new()).map_err(|e| at(&path, &e))?;
                    open.push(path);
                    continue;
                }
                let copied = if kind.is_symlink() {
                    self.copy_link(&from, &to, name, &prefix).map_err(|e| at(&path, &e))?
                } else if kind.is_file() && name != ".git" {
                    // A file that cannot be read is not there for programs either.
                    copy_file(&from, &to, name).map_err(|e| at(&path, &e))?.unwrap_or(Copied::LeftOut)
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

    /// Copies a link that leads into the root, as a relative one.
    fn copy_link(&self, from: &Dir, to: &Dir, name: &str, prefix: &str) -> std::io::Result<Copied> {
        let target = from.read_link_contents(name)?;
        let there = target.to_string_lossy().into_owned();
        let up = prefix.split('/').filter(|part| !part.is_empty()).count();
        let here = match target.strip_prefix(self.root.path()) {
            Ok(inside) => Some(Path::new(&"../".repeat(up)).join(inside).to_string_lossy().into_owned()),
            Err(_) if target.is_absolute() => None,
            Err(_) => {
                let link = RelPath::new(&joined(prefix, name));
                link.ok().filter(|link| link.resolve_reference(&there).is_ok()).map(|_| there.clone())
            }
        };
        let Some(here) = here else { return Ok(Copied::LeftOut) };
        to.symlink_contents(&here, name)?;
        Ok(Copied::Link { there, here })
    }

    /// Runs a program that the tool declares, at the copy's top. It blocks. In its output the copy is called `.`.
    pub fn run(&self, command: &Command) -> Result<Ran, Fault> {
        if !self.programs.contains(&command.program) {
            return Err(Fault::internal(format!(
                "the tool does not declare the program {}",
                command.program
            )));
        }
        let (root, home) = (self.place.join("root"), self.place.join("home"));
        let mut ran = run::run(command, &root, &home, self.root.path(), &self.path, &self.cancel)?;
        let place = root.to_string_lossy();
        for stream in [&mut ran.stdout, &mut ran.stderr] {
            let text = stream.text();
            if text.contains(&*place) {
                stream.bytes = text.replace(&format!("{place}/"), "").replace(&*place, ".").into_bytes();
            }
        }
        Ok(ran)
    }

    /// Reads a file of the copy, by the rules for reading the root.
    pub fn read(&self, path: &RelPath) -> Result<Vec<u8>, Fault> {
        jail::read(&self.copy, path).map(|(bytes, _)| bytes)
    }

    /// What the programs changed, as a draft against `view`, and what of it no plan can express.
    pub fn changes(&self, view: &View) -> Result<(Draft, Vec<Unplannable>), Fault> {
        let mut draft = Draft::default();
        let mut unplannable = Vec::new();
        let mut there = BTreeMap::new();
        walk(&self.copy, &mut there, &mut unplannable)?;
        let is_same = |path: &String, left: &Left| match (self.copied.get(path), left) {
            (Some(Copied::File { here, .. }), Left::File(now)) => here == now,
            (Some(Copied::Link { here, .. }), Left::Link(now)) => here == now,
            _ => false,
        };
        let left = there.iter().filter(|(path, left)| !is_same(path, left)).map(|(p, l)| (p, Some(l)));
        let gone = self
            .copied
            .iter()
            .filter(|(path, copied)| **copied != Copied::LeftOut && !there.contains_key(*path));
        for (path, left) in left.chain(gone.map(|(path, _)| (path, None))) {
            match self.propose(&mut draft, view, path, left) {
                Ok(()) => {}
                Err(fault) if fault.code == Code::PathNotAllowed => {
                    unplannable.push(Unplannable { path: path.clone(), why: fault.message });
                }
                Err(fault) => return Err(fault),
            }
        }
        unplannable.sort();
        Ok((draft, unplannable))
    }

    fn propose(&self, draft: &mut Draft, view: &View, path: &str, left: Option<&Left>) -> Result<(), Fault> {
        let copied = self.copied.get(path);
        let path = RelPath::new(path).map_err(|e| Fault::new(Code::PathNotAllowed, e.to_string()))?;
        let standing = view.state(&path)?;
        if let State::Directory { .. } = standing {
            let message = format!("{path}: a directory is there, and no plan replaces one");
            return Err(Fault::new(Code::PathNotAllowed, message));
        }
        let same = match (copied, &standing) {
            (None, State::Absent) => true,
            (Some(Copied::File { there, .. }), State::File { .. }) => {
                self.root.dir().symlink_metadata(path.as_str()).is_ok_and(|m| Stamp::of(&m) == *there)
            }
            (Some(Copied::Link { there, .. }), State::Symlink { target }) => there == target,
            _ => false,
        };
        if !same {
            let message = format!("{path}: it changed while the program ran; nothing was changed");
            return Err(Fault::new(Code::Conflict, message)
                .about(path.as_str())
                .suggest("Call the tool again."));
        }
        match left {
            None => draft.remove(view, &path),
            Some(Left::Link(target)) => draft.symlink(view, &path, target),
            Some(Left::File(stamp)) => {
                draft.put_exactly(view, &path, self.read(&path)?, Mode::new(stamp.mode))
            }
        }
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        if let Err(error) = crate::state::remove_tree(&self.place) {
            tracing::warn!(%error, "a scratch folder could not be removed");
        }
    }
}

/// Copies a file with its times and mode; `None` when it cannot be read.
fn copy_file(from: &Dir, to: &Dir, name: &str) -> std::io::Result<Option<Copied>> {
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
    std::io::copy(&mut source, &mut target)?;
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
    found: &mut BTreeMap<String, Left>,
    unplannable: &mut Vec<Unplannable>,
) -> Result<(), Fault> {
    let mut open = vec![String::new()];
    while let Some(prefix) = open.pop() {
        let dir = match open_dir(top, &prefix) {
            Ok(dir) => dir,
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                unplannable.push(Unplannable { path: prefix, why: "it cannot be looked into".into() });
                continue;
            }
            Err(e) => return Err(at(&prefix, &e)),
        };
        for entry in dir.entries().map_err(|e| at(&prefix, &e))? {
            let entry = entry.map_err(|e| at(&prefix, &e))?;
            let name = entry.file_name();
            let path = joined(&prefix, &name.to_string_lossy());
            let mut refuse =
                |why: &str| unplannable.push(Unplannable { path: path.clone(), why: why.into() });
            let Some(name) = name.to_str() else {
                refuse("its name is not UTF-8");
                continue;
            };
            let kind = entry.file_type().map_err(|e| at(&path, &e))?;
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_symlink() {
                let target = dir.read_link_contents(name).map_err(|e| at(&path, &e))?;
                found.insert(path, Left::Link(target.to_string_lossy().into_owned()));
            } else if kind.is_file() {
                let metadata = dir.symlink_metadata(name).map_err(|e| at(&path, &e))?;
                found.insert(path, Left::File(Stamp::of(&metadata)));
            } else {
                refuse("it is neither a file nor a link");
            }
        }
    }
    Ok(())
}
