//! The root with a layer on top: what programs write lands in the layer (overlayfs, `userxattr`), and the layer is the
//! difference.
//!
//! - A mark (a character device numbered 0, 0) stands for what was removed; a folder marked opaque hides what was below it.
//! - The clock of the file system is read before the first program starts: whatever in the root changed since is somebody
//!   else's change.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileTypeExt as _, MetadataExt as _};
use contract::{Code, Fault, Mode, RelPath, State};
use launcher::Overlay;
use tokio_util::sync::CancellationToken;

use super::{Budget, Changed, Left, Unplannable, at, is_too_deep, joined, open_dir};
use crate::jail;
use crate::root::Root;
use crate::run::Launcher;
use crate::scratch::{self, Scratch};
use crate::state::broken;

/// Marks a folder that hides what is below it.
const OPAQUE: &str = "user.overlay.opaque";

/// On a file that was copied up from below.
const ORIGIN: &str = "user.overlay.origin";

/// What overlayfs keeps for itself.
const OWN: &str = "user.overlay.";

/// Most files that programs may have changed.
const MAX_CHANGED: usize = 500_000;

/// Seconds and nanoseconds, as the file system keeps them.
type Time = (i64, i64);

/// Where layers over `root` lie that cannot lie in our state.
fn beside(root: &Root) -> Option<PathBuf> {
    root.path().parent().map(|above| above.join(format!(".gatewright-{}", root.id())))
}

/// Removes the layers beside `root` that nobody holds. Says how many.
pub(crate) fn sweep(root: &Root) -> u64 {
    let Some(beside) = beside(root) else { return 0 };
    let swept = scratch::sweep(&beside);
    // Where there are others it stays.
    let _ = std::fs::remove_dir(beside);
    swept
}

/// A layer over a root.
pub(crate) struct Layers {
    place: Scratch,
    upper: PathBuf,
    dir: Dir,
    began: Time,
}

impl Layers {
    /// A layer over `root`, or `None` where this machine makes no overlays there. It lies in `scratch` where that is on the
    /// root's file system, and otherwise beside the root: what persists is then moved rather than copied.
    pub(crate) fn open(root: &Root, scratch: &Path, launcher: &Launcher) -> Result<Option<Self>, Fault> {
        let device = |path: &Path| std::fs::metadata(path).map(|there| there.dev()).ok();
        let is_apart = device(scratch) != device(root.path());
        let beside = beside(root).filter(|_| is_apart).zip(scratch.file_name());
        let made = || -> std::io::Result<Self> {
            let apart = beside.map(|(beside, name)| Scratch::make_among(beside.join(name)));
            // Where nothing may be written beside the root, the layer is tried where it can be.
            let place = match apart {
                Some(Ok(place)) => place,
                _ => Scratch::make(scratch.join("layers"))?,
            };
            for part in ["upper", "work"] {
                std::fs::create_dir(place.path().join(part))?;
            }
            let upper = place.path().join("upper");
            // The folder on top is what the root's own folder looks like.
            let mode = std::fs::metadata(root.path())?.permissions().mode() & 0o777;
            std::fs::set_permissions(&upper, std::fs::Permissions::from_mode(mode | 0o700))?;
            let began = clock(&place.path().join("clock"))?;
            let dir = Dir::open_ambient_dir(&upper, ambient_authority())?;
            Ok(Self { place, upper, dir, began })
        };
        let layers = made().map_err(|e| broken("layer over the root", &e))?;
        Ok(launcher.layers(root, &layers.overlay(root), &scratch.join("stage")).then_some(layers))
    }

    pub(crate) fn overlay(&self, root: &Root) -> Overlay {
        Overlay {
            lower: root.path().to_owned(),
            upper: self.upper.clone(),
            work: self.place.path().join("work"),
        }
    }

    /// Where what is written lands.
    pub(crate) fn upper(&self) -> &Path {
        &self.upper
    }

    pub(crate) const fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Reads a file as programs left it.
    pub(crate) fn read(&self, root: &Root, path: &RelPath) -> Result<Vec<u8>, Fault> {
        match jail::read(&self.dir, path) {
            Err(_) if self.hides(path) => Err(jail::fault(path, &std::io::ErrorKind::NotFound.into())),
            Err(fault) if fault.code == Code::NotFound => {
                jail::read(root.dir(), path).map(|(bytes, _)| bytes)
            }
            other => other.map(|(bytes, _)| bytes),
        }
    }

    /// Whether the layer hides what is below `path`: it or a folder above it was removed, or made anew.
    fn hides(&self, path: &RelPath) -> bool {
        let is_mark = |path: &str| self.dir.symlink_metadata(path).is_ok_and(|there| is_mark(&there));
        let above = path.ancestors();
        is_mark(path.as_str())
            || above.iter().any(|above| is_mark(above.as_str()) || self.is_opaque(above.as_str()))
    }

    /// Whether `folder` is there after the programs.
    pub(crate) fn has_folder(&self, folder: &RelPath) -> bool {
        self.dir.symlink_metadata(folder.as_str()).is_ok_and(|there| there.is_dir()) || !self.hides(folder)
    }

    fn is_opaque(&self, folder: &str) -> bool {
        attribute(&self.upper.join(folder), OPAQUE).is_some_and(|value| value == b"y")
    }

    /// Everything that differs from what is below, by path.
    pub(crate) fn changed(&self, root: &Root, cancel: &CancellationToken) -> Result<Changed, Fault> {
        let mut budget = Budget::new(cancel);
        let (mut changed, mut unplannable) = (BTreeMap::new(), Vec::new());
        let mut open = vec![String::new()];
        while let Some(prefix) = open.pop() {
            let dir = match open_dir(&self.dir, &prefix) {
                Ok(dir) => dir,
                Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                    unplannable.push(Unplannable::never(prefix, "it cannot be looked into"));
                    continue;
                }
                Err(e) => return Err(at(&prefix, &e)),
            };
            if !prefix.is_empty() && self.is_opaque(&prefix) {
                self.gone_below(root, &prefix, &mut changed, &mut unplannable)?;
            }
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
                let there = dir.symlink_metadata(name).map_err(|e| at(&path, &e))?;
                if changed.len() > MAX_CHANGED {
                    let message = format!("the program changed more than {MAX_CHANGED} files");
                    return Err(Fault::new(Code::TooLarge, message));
                }
                if there.is_dir() && is_too_deep(&path) {
                    let shown = path.split('/').take(4).collect::<Vec<_>>().join("/");
                    unplannable.push(Unplannable::never(format!("{shown}/…"), "it lies too deep"));
                } else if there.is_dir() {
                    open.push(path);
                } else if is_mark(&there) {
                    // Of a folder, what was in it is gone.
                    if !root.dir().symlink_metadata(&path).is_ok_and(|below| below.is_dir()) {
                        changed.insert(path.clone(), Left::Gone);
                    }
                    self.gone_below(root, &path, &mut changed, &mut unplannable)?;
                } else if there.is_symlink() {
                    let target = dir.read_link_contents(name).map_err(|e| at(&path, &e))?;
                    if target.to_str().is_none() {
                        refuse("what it leads to is not UTF-8");
                        continue;
                    }
                    let target = inside(root, &prefix, &target);
                    changed.insert(path.clone(), Left::Link(target));
                    self.gone_below(root, &path, &mut changed, &mut unplannable)?;
                } else if there.is_file() {
                    if let Some(own) =
                        attributes(&self.upper.join(&path)).into_iter().find(|a| !a.starts_with(OWN))
                    {
                        refuse(&format!("it has the extended attribute {own:?}"));
                    }
                    changed.insert(path.clone(), Left::File(Mode::new(there.mode() & 0o777)));
                    self.gone_below(root, &path, &mut changed, &mut unplannable)?;
                } else {
                    refuse("it is neither a file nor a link");
                }
            }
        }
        Ok((changed, unplannable))
    }

    /// Notes the files of the root below `folder` that the layer hides and has none of itself.
    fn gone_below(
        &self,
        root: &Root,
        folder: &str,
        changed: &mut BTreeMap<String, Left>,
        unplannable: &mut Vec<Unplannable>,
    ) -> Result<(), Fault> {
        if !root.dir().symlink_metadata(folder).is_ok_and(|there| there.is_dir()) {
            return Ok(());
        }
        let mut open = vec![folder.to_owned()];
        while let Some(prefix) = open.pop() {
            let Ok(dir) = open_dir(root.dir(), &prefix) else { continue };
            for entry in dir.entries().map_err(|e| at(&prefix, &e))?.flatten() {
                let path = joined(&prefix, &entry.file_name().to_string_lossy());
                if entry.file_name().to_str().is_none() {
                    unplannable.push(Unplannable::never(path, "its name is not UTF-8, and it was removed"));
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.push(path);
                } else if self.dir.symlink_metadata(&path).is_err() {
                    changed.entry(path).or_insert(Left::Gone);
                }
                if changed.len() > MAX_CHANGED {
                    let message = format!("the program changed more than {MAX_CHANGED} files");
                    return Err(Fault::new(Code::TooLarge, message));
                }
            }
        }
        Ok(())
    }

    /// Whether what stands in the root at `path` is what stood there before the first program started.
    pub(crate) fn is_untouched(&self, root: &Root, path: &RelPath, standing: &State) -> bool {
        let before = |there: &cap_std::fs::Metadata| (there.ctime(), there.ctime_nsec()) < self.began;
        // A folder that was moved keeps the times of what is in it; its own change, and no change of its names, tells.
        let moved = path.ancestors().iter().any(|above| {
            root.dir()
                .symlink_metadata(above.as_str())
                .is_ok_and(|folder| !before(&folder) && (folder.mtime(), folder.mtime_nsec()) < self.began)
        });
        if moved {
            return false;
        }
        match standing {
            State::Absent => {
                // Was it there? A file that was copied up says so. One that a program put in its place altogether does
                // not: if others removed it meanwhile, it is proposed as a new one, and lost is nothing.
                attribute(&self.upper.join(path.as_str()), ORIGIN).is_none()
            }
            _ => root.dir().symlink_metadata(path.as_str()).is_ok_and(|there| before(&there)),
        }
    }
}

/// A link's target, as a plan has it: one that names a place in the root by its whole path is made relative.
fn inside(root: &Root, prefix: &str, target: &Path) -> String {
    let up = prefix.split('/').filter(|part| !part.is_empty()).count();
    let made = target.strip_prefix(root.path()).map(|inside| Path::new(&"../".repeat(up)).join(inside));
    made.unwrap_or_else(|_| target.to_owned()).to_string_lossy().into_owned()
}

fn is_mark(there: &cap_std::fs::Metadata) -> bool {
    there.file_type().is_char_device() && there.rdev() == 0
}

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 256];
    let size = rustix::fs::lgetxattr(path, name, &mut value[..]).ok()?;
    value.truncate(size);
    Some(value)
}

/// The names of a file's extended attributes that a program can have set.
fn attributes(path: &Path) -> Vec<String> {
    let mut names = vec![0_u8; 64 * 1024];
    let Ok(size) = rustix::fs::llistxattr(path, &mut names[..]) else { return Vec::new() };
    let names = names.get(..size).unwrap_or_default();
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .filter(|name| name.starts_with("user."))
        .collect()
}

/// The time after which everything that happens is later: what the file system gives a file once its clock has moved on.
fn clock(file: &Path) -> std::io::Result<Time> {
    let made = std::fs::File::create_new(file)?;
    let read = || made.metadata().map(|there| (there.ctime(), there.ctime_nsec()));
    let (first, began) = (read()?, Instant::now());
    loop {
        // Kernels with fine times answer at once; others at their next tick, some milliseconds later.
        made.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        let now = read()?;
        if now > first || began.elapsed() > Duration::from_millis(50) {
            return Ok(now);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}
