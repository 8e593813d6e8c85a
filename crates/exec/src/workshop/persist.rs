//! What of a run outlives the call without a plan: caches and build folders that the tool declares *and* that the project's
//! own ignore rules, as they were before the run, leave out. It is moved into the root as it is, and told, and no undo
//! takes it back.

use cap_fs_ext::DirExt as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use cap_std::fs::{Dir, DirBuilder, MetadataExt as _, PermissionsExt as _};
use contract::{Code, Digest, Fault, Mode, RelPath, State};
use globset::{Glob, GlobSet, GlobSetBuilder};

use super::{Floor, Left, Workshop};
use crate::jail;
use crate::root::Rights;
use crate::state::broken;

/// Names that never persist, whatever declares or ignores them: they hold secrets.
const NEVER: &str = ".env";

/// Names with a dot that are caches and nothing else.
const CACHES: &[&str] = &[
    ".cache",
    ".cargo-artifact-lock",
    ".cargo-build-lock",
    ".cargo-lock",
    ".coverage",
    ".eslintcache",
    ".fingerprint",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".rustc_info.json",
    ".rustdoc_fingerprint.json",
    ".stylelintcache",
    ".svelte-kit",
    ".turbo",
    ".vite",
    ".vitest",
];

/// Most bytes of one file that is copied rather than moved: one with several names, or on another file system.
const MAX_COPIED: u64 = 1 << 30;

/// What was written besides the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SideWrites {
    /// The topmost folders and files, in order.
    pub paths: Vec<String>,
    /// How many files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Which paths a tool declares: globs relative to the root.
#[derive(Debug, Clone)]
pub struct Declared {
    globs: GlobSet,
    /// Whether everything is declared: then names that begin with a dot are left out, but for those of [`CACHES`].
    anything: bool,
}

impl Declared {
    /// The paths that match one of `globs`, and those below them.
    pub fn new(globs: &[impl AsRef<str>]) -> Result<Self, Fault> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let glob = glob.as_ref();
            for glob in [glob.to_owned(), format!("{glob}/**")] {
                let glob = Glob::new(&glob).map_err(|e| Fault::internal(e.to_string()))?;
                set.add(glob);
            }
        }
        let globs_of = set.build().map_err(|e| Fault::internal(e.to_string()))?;
        Ok(Self { globs: globs_of, anything: globs.iter().any(|glob| glob.as_ref() == "**") })
    }

    /// Whether `path` is one of those that are declared, whatever it is called.
    #[must_use]
    pub fn may_write(&self, path: &RelPath) -> bool {
        self.globs.is_match(path.as_str())
    }

    /// The topmost folder (or file) above `path`, or `path` itself, that is declared.
    fn place(&self, path: &RelPath) -> Option<RelPath> {
        let above = path.ancestors().into_iter().chain([path.clone()]);
        above.into_iter().filter(|above| self.globs.is_match(above.as_str())).min_by_key(|a| a.as_str().len())
    }

    /// Whether `path` may persist, as far as the tool is concerned.
    #[must_use]
    pub fn has(&self, path: &RelPath) -> bool {
        // What other programs read as their settings, or run: a folder that everything may be written to is no reason to.
        let is_hidden = |name: &str| name.starts_with('.') && !CACHES.contains(&name);
        if self.anything && path.components().any(is_hidden) {
            return false;
        }
        let is_secret = path.components().any(|name| name.to_ascii_lowercase().starts_with(NEVER));
        !is_secret && jail::check_writable(path).is_ok() && self.globs.is_match(path.as_str())
    }
}

/// What a tool installed after its plan was applied, and what of it did not stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// What is in the root now.
    pub side: SideWrites,
    /// What is not, and why: one line each, [`MAX_UNKEPT`] at most.
    pub unkept: Vec<String>,
    /// Files that may hold secrets by their names: they are never kept.
    pub secrets: u64,
}

/// Most lines about what did not stay.
const MAX_UNKEPT: usize = 10;

impl Settled {
    fn unkept(&mut self, line: String) {
        if self.unkept.len() < MAX_UNKEPT && !self.unkept.contains(&line) {
            self.unkept.push(line);
        }
    }
}

impl Workshop {
    /// Why nothing that is written at `place` could stay; nothing where it could.
    #[must_use]
    pub fn unkept(&self, declared: &Declared, place: &RelPath) -> Option<String> {
        if self.root.rights() == Rights::Read {
            return Some("the root may only be read".into());
        }
        if !declared.has(place) {
            return Some(format!("{place}: the tool does not install there"));
        }
        let inside = RelPath::new(&format!("{place}/x")).ok()?;
        (!self.ignores(&inside)).then(|| {
            format!("{place}: git does not ignore it here; add `{}/` to .gitignore", place.file_name())
        })
    }

    /// Moves what was installed into the root, after the plan stands: of what is declared, what the project ignores. All else
    /// that the programs wrote is gone with them.
    pub fn settle(&self, declared: &Declared) -> Result<Settled, Fault> {
        let mut settled = Settled::default();
        let (changed, unplannable) = self.changed()?;
        let lost = |at: &str| RelPath::new(at).is_ok_and(|path| declared.place(&path).is_some());
        for left in unplannable.iter().filter(|left| lost(&left.path)) {
            settled.unkept(format!("{}: {}", left.path, left.why));
        }
        let mut chosen = Vec::new();
        for (path, left) in &changed {
            let Ok(path) = RelPath::new(path) else { continue };
            let Some(place) = declared.place(&path) else { continue };
            if !declared.has(&path) {
                settled.secrets += 1;
            } else if let Some(why) = self.unkept(declared, &place) {
                settled.unkept(why);
            } else {
                chosen.push((path, left));
            }
        }
        // What goes makes place for what comes.
        chosen.sort_by_key(|(_, left)| **left != Left::Gone);
        let mut unkept = |path: &RelPath, why: &str| {
            settled.unkept(if why.starts_with(path.as_str()) {
                why.to_owned()
            } else {
                format!("{path}: {why}")
            });
        };
        let side = self.taken(chosen, Some(declared), &mut unkept)?;
        settled.side = side;
        Ok(settled)
    }

    /// Moves what persists into the root. `persists` says of a path whether it does.
    pub fn persist(&self, persists: &dyn Fn(&RelPath) -> bool) -> Result<SideWrites, Fault> {
        if self.root.rights() == Rights::Read {
            return Ok(SideWrites::default());
        }
        let (changed, _) = self.changed()?;
        let chosen: Vec<(RelPath, &Left)> = changed
            .iter()
            .filter_map(|(path, left)| Some((RelPath::new(path).ok()?, left)))
            .filter(|(path, _)| persists(path))
            .collect();
        // What stands in the way stays: this is a cache.
        self.taken(chosen, None, &mut |path, why| tracing::debug!(%path, why, "a side write was left out"))
    }

    /// Moves each of `chosen` into the root, and says what was left out. Where it is `installed`, links to programs outside the
    /// root are taken, of which an environment of Python is made, and a link that a folder replaced gives way.
    fn taken(
        &self,
        chosen: Vec<(RelPath, &Left)>,
        installed: Option<&Declared>,
        left_out: &mut dyn FnMut(&RelPath, &str),
    ) -> Result<SideWrites, Fault> {
        let mut told = SideWrites::default();
        if chosen.is_empty() {
            return Ok(told);
        }
        let _lock = self.state.lock()?;
        let from = match &self.floor {
            Floor::Layers(layers) => layers.dir(),
            Floor::Copy(copy) => copy.dir(),
        };
        for (path, left) in chosen {
            let standing = match self.root.dir().symlink_metadata(path.as_str()) {
                Err(_) => State::Absent,
                Ok(there) if there.is_symlink() => {
                    let target = self.root.dir().read_link_contents(path.as_str()).unwrap_or_default();
                    State::Symlink { target: target.to_string_lossy().into_owned() }
                }
                // Which bytes they are is not asked: whether they are those of before is.
                Ok(there) => {
                    State::File { digest: Digest::ZERO, bytes: there.len(), mode: Mode::new(there.mode()) }
                }
            };
            if !self.is_untouched(&path, &standing) {
                left_out(&path, "somebody else has changed it");
                continue;
            }
            match self.moved(from, &path, left, installed) {
                Ok(bytes) => {
                    told.files += 1;
                    told.bytes += bytes;
                    let top = path.components().next().unwrap_or_default();
                    let shown = if path.as_str() == top { top.to_owned() } else { format!("{top}/") };
                    if told.paths.last() != Some(&shown) {
                        told.paths.push(shown);
                    }
                }
                Err(fault) if matches!(fault.code, Code::PathNotAllowed | Code::NotFound) => {
                    left_out(&path, &fault.message);
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(told)
    }

    /// Moves one file or link into the root, or takes away what was removed. Gives its bytes.
    fn moved(
        &self,
        from: &Dir,
        path: &RelPath,
        left: &Left,
        installed: Option<&Declared>,
    ) -> Result<u64, Fault> {
        let io = |e: std::io::Error| jail::fault(path, &e);
        let to = made(self.root.dir(), path, installed)?;
        let name = path.file_name();
        let standing = to.symlink_metadata(name).ok();
        if standing.as_ref().is_some_and(cap_std::fs::Metadata::is_dir) {
            return Err(Fault::new(Code::PathNotAllowed, format!("{path}: a directory is there")));
        }
        let bytes = match left {
            Left::Gone => {
                if standing.is_some() {
                    to.remove_file(name).map_err(io)?;
                }
                if installed.is_some() {
                    self.emptied(path);
                }
                return Ok(0);
            }
            Left::Link(target) => {
                let inside = path.resolve_link(target);
                if !(installed.is_some() && self.is_program_outside(target)) {
                    inside.map_err(|why| Fault::new(Code::PathNotAllowed, format!("{path}: {why}")))?;
                }
                if standing.is_some() {
                    to.remove_file(name).map_err(io)?;
                }
                to.symlink_contents(target, name).map_err(io)?;
                0
            }
            Left::File(mode) => {
                let source = jail::open_parent(from, path)?
                    .ok_or_else(|| Fault::new(Code::NotFound, format!("{path}: it is gone")))?;
                let there = source.symlink_metadata(name).map_err(io)?;
                if !there.is_file() || there.nlink() > 1 {
                    return copied(&source, &to, path, mode.bits());
                }
                source.set_permissions(name, cap_std::fs::Permissions::from_mode(mode.bits())).map_err(io)?;
                match source.rename(name, &to, name) {
                    Ok(()) => there.len(),
                    Err(_) => copied(&source, &to, path, mode.bits())?,
                }
            }
        };
        Ok(bytes)
    }
}

impl Workshop {
    /// Whether `target` is the absolute place of a program of this machine that only its owner may write, outside the root and
    /// what is kept of it.
    fn is_program_outside(&self, target: &str) -> bool {
        let place = Path::new(target);
        let Ok(real) = std::fs::canonicalize(place) else { return false };
        let ours = [self.root.path(), self.state.path()];
        place.is_absolute()
            && !ours.iter().any(|ours| place.starts_with(ours) || real.starts_with(ours))
            && std::fs::metadata(&real).is_ok_and(|there| {
                let mode = there.permissions().mode();
                there.is_file() && mode & 0o111 != 0 && mode & 0o002 == 0
            })
    }

    /// Takes away the folders above `path` that hold nothing any more, where they are not there after the run either.
    fn emptied(&self, path: &RelPath) {
        let mut above = path.ancestors();
        above.sort_by_key(|a| std::cmp::Reverse(a.as_str().len()));
        for folder in above {
            // One that holds anything is not removed.
            if self.left_folder(&folder) || self.root.dir().remove_dir(folder.as_str()).is_err() {
                return;
            }
        }
    }

    /// Whether programs left `folder` where it was.
    fn left_folder(&self, folder: &RelPath) -> bool {
        match &self.floor {
            Floor::Layers(layers) => layers.has_folder(folder),
            Floor::Copy(copy) => copy.dir().symlink_metadata(folder.as_str()).is_ok_and(|m| m.is_dir()),
        }
    }
}

/// Copies one file into the root, where it cannot be moved.
fn copied(from: &Dir, to: &Dir, path: &RelPath, mode: u32) -> Result<u64, Fault> {
    let io = |e: std::io::Error| jail::fault(path, &e);
    let name = path.file_name();
    let beside = format!("{}{name}", jail::TEMPORARY);
    let mut source = jail::open_in(from, name, path)?;
    let there = source.metadata().map_err(io)?;
    // One with holes is written out when it is copied.
    if there.len() > MAX_COPIED || there.len() > (1 << 20) + 2 * 512 * there.blocks() {
        return Err(Fault::new(Code::PathNotAllowed, format!("{path}: it is too large to be copied")));
    }
    let mut options = cap_std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    let mut target = to.open_with(&beside, &options).map_err(io)?.into_std();
    let copied = std::io::copy(&mut source, &mut target)
        .and_then(|bytes| target.set_permissions(Permissions::from_mode(mode)).map(|()| bytes))
        // Build programs compare times: beside what was moved, a copy is as old as it was.
        .and_then(|bytes| target.set_modified(there.modified()?.into_std()).map(|()| bytes))
        .and_then(|bytes| to.rename(&beside, to, name).map(|()| bytes));
    copied.map_err(|error| {
        let _ = to.remove_file(&beside);
        broken("side write", &error)
    })
}

/// The folder of `path`, made where it is missing, through no link. A link or a file in the way goes, where all that is there is
/// `installed`.
fn made(root: &Dir, path: &RelPath, installed: Option<&Declared>) -> Result<Dir, Fault> {
    let io = |e: std::io::Error| jail::fault(path, &e);
    let mut here = root.try_clone().map_err(io)?;
    let folders = path.ancestors();
    for place in &folders {
        let folder = place.file_name();
        let standing = here.symlink_metadata(folder).ok();
        if standing.is_some_and(|there| !there.is_dir()) && installed.is_some_and(|d| d.has(place)) {
            here.remove_file(folder).map_err(io)?;
        }
        match here.create_dir_with(folder, &DirBuilder::new()) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(io(e)),
        }
        here = here.open_dir_nofollow(folder).map_err(|_| {
            Fault::new(Code::PathNotAllowed, format!("{path}: a part of the path is a link or no directory"))
        })?;
    }
    Ok(here)
}
