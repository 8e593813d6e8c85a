//! What of a run outlives the call without a plan: caches and build folders that the tool declares *and* that the project's
//! own ignore rules, as they were before the run, leave out. It is moved into the root as it is, and told, and no undo
//! takes it back.

use cap_fs_ext::DirExt as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

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

impl Workshop {
    /// Moves what persists into the root. `persists` says of a path whether it does.
    pub fn persist(&self, persists: &dyn Fn(&RelPath) -> bool) -> Result<SideWrites, Fault> {
        let mut told = SideWrites::default();
        if self.root.rights() == Rights::Read {
            return Ok(told);
        }
        let (changed, _) = self.changed()?;
        let chosen: Vec<(RelPath, &Left)> = changed
            .iter()
            .filter_map(|(path, left)| Some((RelPath::new(path).ok()?, left)))
            .filter(|(path, _)| persists(path))
            .collect();
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
                tracing::debug!(%path, "a side write was left out: somebody else has changed it");
                continue;
            }
            match self.moved(from, &path, left) {
                Ok(bytes) => {
                    told.files += 1;
                    told.bytes += bytes;
                    let top = path.components().next().unwrap_or_default();
                    let shown = if path.as_str() == top { top.to_owned() } else { format!("{top}/") };
                    if told.paths.last() != Some(&shown) {
                        told.paths.push(shown);
                    }
                }
                // What stands in the way stays: this is a cache.
                Err(fault) if matches!(fault.code, Code::PathNotAllowed | Code::NotFound) => {
                    tracing::debug!(%path, fault = fault.message, "a side write was left out");
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(told)
    }

    /// Moves one file or link into the root, or takes away what was removed. Gives its bytes.
    fn moved(&self, from: &Dir, path: &RelPath, left: &Left) -> Result<u64, Fault> {
        let io = |e: std::io::Error| jail::fault(path, &e);
        let to = made(self.root.dir(), path)?;
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
                return Ok(0);
            }
            Left::Link(target) => {
                path.resolve_link(target)
                    .map_err(|why| Fault::new(Code::PathNotAllowed, format!("{path}: {why}")))?;
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

/// The folder of `path`, made where it is missing, through no link.
fn made(root: &Dir, path: &RelPath) -> Result<Dir, Fault> {
    let io = |e: std::io::Error| jail::fault(path, &e);
    let mut here = root.try_clone().map_err(io)?;
    for folder in path.parent().iter().flat_map(RelPath::components) {
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
