//! Named directories with read and write rights, held open by handle.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use contract::{Code, Digest, Fault, RelPath};

/// What tools may do beneath a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Look.
    Read,
    /// Look, and change through plans.
    ReadWrite,
}

/// A directory that tools may work in. Two are the same when their place is.
#[derive(Debug)]
pub struct Root {
    name: String,
    id: String,
    path: PathBuf,
    dir: Dir,
    rights: Rights,
    /// The only names that are read and written, where not all are.
    only: Option<Vec<RelPath>>,
}

impl Root {
    /// Opens `path` as the root called `name`.
    pub fn open(path: &Path, name: &str, rights: Rights) -> Result<Self, Fault> {
        let no_root = |error: std::io::Error| {
            Fault::new(Code::NoRoot, format!("the root {name:?} cannot be opened: {}", error.kind()))
                .suggest("Name an existing directory with --root.")
        };
        // Resolved once, here; from then on the handle counts and the name is only shown.
        let path = std::fs::canonicalize(path).map_err(no_root)?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(no_root)?;
        let place = Digest::of(path.as_os_str().as_encoded_bytes()).short(12);
        let stem: String = path
            .file_name()
            .map(|n| {
                n.to_string_lossy()
                    .chars()
                    .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
                    .take(40)
                    .collect()
            })
            .unwrap_or_default();
        Ok(Self { name: name.to_owned(), id: format!("{stem}-{place}"), path, dir, rights, only: None })
    }

    /// The same, where nothing is read or written but these names: a file among others that are nobody's business here.
    #[must_use]
    pub fn only(mut self, names: Vec<RelPath>) -> Self {
        self.only = Some(names);
        self
    }

    /// Refuses a name that is not among the only ones.
    pub fn check_only(&self, path: &RelPath) -> Result<(), Fault> {
        match &self.only {
            Some(names) if !names.contains(path) => {
                let message = format!("{path}: nothing is looked at here but {}", listed(names));
                Err(Fault::new(Code::PathNotAllowed, message).about(path.as_str()))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to list, where only some names are looked at.
    pub(crate) fn check_listed(&self) -> Result<(), Fault> {
        self.only.as_ref().map_or(Ok(()), |names| {
            let message =
                format!("the folder is not listed: nothing is looked at here but {}", listed(names));
            Err(Fault::new(Code::PathNotAllowed, message))
        })
    }

    /// The git top level of `from` or the nearest directory above it that has a `.git`.
    #[must_use]
    pub fn git_top_level(from: &Path) -> Option<PathBuf> {
        from.ancestors().find(|dir| std::fs::symlink_metadata(dir.join(".git")).is_ok()).map(Path::to_owned)
    }

    /// The name that configuration and messages use.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names the root's state folder: the directory's name and a digest of its place.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The absolute place. Never returned to a caller of a tool.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open handle.
    #[must_use]
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// `place` from here: the empty path for the root itself. `None` where it is elsewhere, no folder, or nothing.
    #[must_use]
    pub fn below(&self, place: &Path) -> Option<PathBuf> {
        let place = std::fs::canonicalize(place).ok().filter(|place| place.is_dir())?;
        place.strip_prefix(&self.path).ok().map(Path::to_owned)
    }

    /// Whether the folder that was opened is the one that is there now: a folder of the same name may have taken its place.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.is_at(&self.path)
    }

    /// Whether `path`, links followed, leads to the folder that was opened: a link may lead elsewhere by now.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        use cap_std::fs::MetadataExt as _;
        use std::os::unix::fs::MetadataExt as _;
        let (Ok(opened), Ok(there)) = (self.dir.dir_metadata(), std::fs::metadata(path)) else {
            return false;
        };
        (opened.dev(), opened.ino()) == (there.dev(), there.ino())
    }

    /// Whether this process may make files in the folder itself: its mode says so, and its file system can be written.
    #[must_use]
    pub fn may_be_written(&self) -> bool {
        use rustix::fs::{Access, AtFlags, accessat};
        let both = Access::WRITE_OK | Access::EXEC_OK;
        accessat(&self.dir, ".", both, AtFlags::EACCESS).is_ok()
    }

    /// What tools may do here.
    #[must_use]
    pub const fn rights(&self) -> Rights {
        self.rights
    }

    /// The bits that new files of this process do not get.
    #[must_use]
    pub fn umask(&self) -> u32 {
        umask()
    }
}

impl PartialEq for Root {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

/// The process's mask, read where it can be without changing it, once, for nothing here changes it; elsewhere the usual one.
fn umask() -> u32 {
    static MASK: OnceLock<u32> = OnceLock::new();
    let read = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|l| l.strip_prefix("Umask:"))?;
        u32::from_str_radix(line.trim(), 8).ok()
    };
    match MASK.get().copied().or_else(read) {
        Some(mask) => *MASK.get_or_init(|| mask),
        // No file can be opened just now: new ones are rather nobody else's than everybody's.
        None if cfg!(target_os = "linux") => 0o077,
        None => 0o022,
    }
}

fn listed(names: &[RelPath]) -> String {
    names.iter().map(RelPath::as_str).collect::<Vec<_>>().join(", ")
}
