//! How the cache asks whether what an answer was computed from is as it was.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use cache::{Facts, Files, Kind, MAX_HASHED, Part, Sum};
use cap_fs_ext::{DirExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, OpenOptions};
use contract::RelPath;

use crate::jail;
use crate::root::Root;

/// The disk, as one root's answers depend on it: relative paths lie beneath the root, the git folder among them, and are
/// resolved as the jail does; absolute ones are the machine's own, such as the folders of `PATH`. Nothing that is read leaves:
/// facts and digests do.
#[derive(Debug, Clone, Copy)]
pub struct OnDisk<'a>(&'a Dir);

impl<'a> OnDisk<'a> {
    /// The disk beneath `root`, and around it.
    #[must_use]
    pub fn new(root: &'a Root) -> Self {
        Self(root.dir())
    }

    /// Whether there is a folder of the root's at `path`, not through a link; `""` is the root itself.
    #[must_use]
    pub fn is_folder(&self, path: &str) -> bool {
        self.folder(Path::new(path)).is_ok()
    }

    /// Folder by folder, through no link: as views list.
    fn folder(self, path: &Path) -> io::Result<Dir> {
        path.components().try_fold(self.0.try_clone()?, |dir, part| dir.open_dir_nofollow(part))
    }

    fn open(self, path: &Path) -> io::Result<Box<dyn io::Read>> {
        if path.is_absolute() {
            return Ok(Box::new(fs::File::open(path)?));
        }
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true);
        Ok(Box::new(self.0.open_with(path, &options)?))
    }

    fn listing(self, path: &Path) -> io::Result<Sum> {
        let name = RelPath::new("here").map_err(io::Error::other)?;
        let dir = if path.is_absolute() {
            Dir::open_ambient_dir(path, cap_std::ambient_authority())?
        } else {
            self.folder(path)?
        };
        let (entries, _) = jail::listing(&dir, &name).map_err(|fault| io::Error::other(fault.message))?;
        Ok(Sum::of_listing(entries.iter().map(|entry| (entry.name.as_str(), kind(entry)))))
    }
}

/// What an entry is, as listings are summed.
#[must_use]
pub fn kind(entry: &jail::Entry) -> Kind {
    match (entry.is_dir, entry.is_file) {
        (true, _) => Kind::Folder,
        (_, true) => Kind::File,
        _ => Kind::Link,
    }
}

/// Nothing there is an answer, not an error.
fn optional<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn at(seconds: i64, nanos: i64) -> SystemTime {
    let since = Duration::new(seconds.unsigned_abs(), u32::try_from(nanos).unwrap_or_default());
    if seconds < 0 { SystemTime::UNIX_EPOCH - since } else { SystemTime::UNIX_EPOCH + since }
}

impl Files for OnDisk<'_> {
    fn facts(&self, path: &Path) -> io::Result<Option<Facts>> {
        let dot = PathBuf::from(".");
        let path = if path.as_os_str().is_empty() { &dot } else { path };
        if path.is_absolute() {
            use std::os::unix::fs::MetadataExt as _;
            let Some(there) = optional(fs::metadata(path))? else { return Ok(None) };
            let what = (there.is_file(), there.is_dir());
            let changed = at(there.ctime(), there.ctime_nsec());
            return Ok(Some(facts(what, there.size(), there.modified()?, changed, there.ino())));
        }
        use cap_std::fs::MetadataExt as _;
        let Some(there) = optional(self.0.metadata(path))? else { return Ok(None) };
        let what = (there.is_file(), there.is_dir());
        let changed = at(there.ctime(), there.ctime_nsec());
        Ok(Some(facts(what, there.size(), there.modified()?.into_std(), changed, there.ino())))
    }

    fn sum(&self, path: &Path, part: Part) -> io::Result<Option<Sum>> {
        let most = match part {
            Part::Listing => return optional(self.listing(path)),
            Part::Head(limit) => limit as u64,
            Part::Whole | Part::Facts => MAX_HASHED,
        };
        let Some(file) = optional(self.open(path))? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Some(Sum::of(&bytes)))
    }
}

fn facts(
    (file, folder): (bool, bool),
    size: u64,
    modified: SystemTime,
    changed: SystemTime,
    inode: u64,
) -> Facts {
    let kind = match (file, folder) {
        (true, _) => Kind::File,
        (_, true) => Kind::Folder,
        _ => Kind::Other,
    };
    Facts { kind, size, modified, changed: Some(changed), inode }
}
