//! What must hold of the cache: what it keeps and lets go, that equal keys are computed once, and that a warm answer is
//! the cold one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests change the files that answers depend on")]
#![allow(clippy::indexing_slicing, reason = "tests may panic")]

mod fingerprints;
mod flights;
mod freshness;
mod limits;

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use gatewright_cache::{Clock, Facts, Files, Kind, Part, Sum};

/// A clock that stands until it is moved.
struct Hand(Mutex<Duration>);

impl Hand {
    fn new() -> Self {
        Self(Mutex::new(Duration::ZERO))
    }

    fn forward(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for Hand {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now() + *self.0.lock().unwrap()
    }
}

/// The machine's files, and how many were hashed.
#[derive(Default)]
struct Disk {
    hashed: Mutex<usize>,
    /// Whether times are told as a FAT file system has them: to two seconds, and without `st_ctime` and `st_ino`.
    coarse: bool,
}

impl Disk {
    fn coarse() -> Self {
        Self { coarse: true, ..Self::default() }
    }

    fn hashed(&self) -> usize {
        *self.hashed.lock().unwrap()
    }
}

fn kind(kind: fs::FileType) -> Kind {
    match kind {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Folder,
        kind if kind.is_symlink() => Kind::Link,
        _ => Kind::Other,
    }
}

fn listing(path: &Path) -> io::Result<Vec<(String, Kind)>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), kind(entry.file_type()?)))
    };
    fs::read_dir(path)?.map(entry).collect()
}

impl Files for Disk {
    fn facts(&self, path: &Path) -> io::Result<Option<Facts>> {
        use std::os::unix::fs::MetadataExt as _;
        match fs::metadata(path) {
            Ok(facts) if self.coarse => {
                let seconds = facts.mtime().cast_unsigned() / 2 * 2;
                let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
                let kind = kind(facts.file_type());
                Ok(Some(Facts { kind, size: facts.len(), modified, changed: None, inode: 0 }))
            }
            Ok(facts) => Ok(Some(Facts {
                kind: kind(facts.file_type()),
                size: facts.len(),
                modified: facts.modified()?,
                changed: Some(
                    SystemTime::UNIX_EPOCH
                        + Duration::from_secs(facts.ctime().cast_unsigned())
                        + Duration::from_nanos(facts.ctime_nsec().cast_unsigned()),
                ),
                inode: facts.ino(),
            })),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn sum(&self, path: &Path, part: Part) -> io::Result<Option<Sum>> {
        *self.hashed.lock().unwrap() += 1;
        match part {
            Part::Whole => Ok(Some(Sum::of(&fs::read(path)?))),
            Part::Head(limit) => {
                let mut head = Vec::new();
                fs::File::open(path)?.take(limit as u64).read_to_end(&mut head)?;
                Ok(Some(Sum::of(&head)))
            }
            Part::Listing => {
                let entries = listing(path)?;
                Ok(Some(Sum::of_listing(entries.iter().map(|(name, kind)| (name.as_str(), *kind)))))
            }
            Part::Facts => Ok(None),
        }
    }
}

/// Long enough for a file's times to be trusted.
const SETTLED: Duration = Duration::from_secs(3);
