//! What an answer depends on, as it was when the answer was computed.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use crate::clock::Clock;

/// Largest file that is hashed, in bytes: 100 MiB. A larger one counts as changed as soon as its facts are.
pub const MAX_HASHED: u64 = 100 * 1024 * 1024;

/// How much older than the look a file's times must be for the same times to mean the same content: file systems write
/// them in ticks of up to two seconds (FAT; ext4 and xfs: 4 ms), and two changes within one look alike. Git calls such
/// an entry racy. It supposes that the file system's clock is not behind [`Clock::wall`] by more than that, as a network
/// file system's may be.
pub const RACY: Duration = Duration::from_secs(2);

/// What a look at a path says without opening it. Links are followed, as the reader of the content does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub kind: Kind,
    /// Length in bytes.
    pub size: u64,
    /// When its content changed last.
    pub modified: SystemTime,
    /// When its content, name, owner or mode changed last, where the system says so (`st_ctime`).
    pub changed: Option<SystemTime>,
    /// Which file it is, where the system says so (`st_ino`); else 0.
    pub inode: u64,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link that was not followed.
    Link,
    /// Something else.
    Other,
}

/// Which part of a path an answer depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All of a file.
    Whole,
    /// The first bytes of a file.
    Head(usize),
    /// The names and kinds in a folder.
    Listing,
    /// Its facts alone, never hashed: for what is cheaper to compute again than to read.
    Facts,
}

/// A SHA-256 of what was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sum([u8; 32]);

impl Sum {
    /// Of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Of parts, each with its length, so that no two lists of parts are alike.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Of what is in a folder: names and kinds, in any order.
    #[must_use]
    pub fn of_listing<'a>(entries: impl IntoIterator<Item = (&'a str, Kind)>) -> Self {
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_unstable();
        let mut hasher = Sha256::new();
        for (name, kind) in entries {
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name);
            hasher.update([kind as u8]);
        }
        Self(hasher.finalize().into())
    }
}

/// How files are asked about: the product's door, or a folder in a test.
pub trait Files {
    /// What is at a path. `None`: nothing.
    fn facts(&self, path: &Path) -> io::Result<Option<Facts>>;

    /// A sum of that part of what is there now: [`Sum::of`] a file's bytes, [`Sum::of_listing`] a folder's entries.
    /// `None`: there is no such file or folder. Never called with [`Part::Facts`], nor for a file over [`MAX_HASHED`].
    fn sum(&self, path: &Path, part: Part) -> io::Result<Option<Sum>>;
}

/// One thing that an answer depends on.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: PathBuf,
    pub(crate) part: Part,
    /// What was there before the look; `None`: nothing.
    pub(crate) facts: Option<Facts>,
    /// Whether the facts were old enough, when they were taken, for the same facts to mean the same content.
    pub(crate) settled: bool,
    /// What the look saw; `None`: nothing, or it was not hashed.
    pub(crate) sum: Option<Sum>,
}

/// Everything that an answer depends on, as it was.
#[derive(Debug, Clone, Default)]
pub struct Fingerprint {
    pub(crate) seen: Vec<Seen>,
    /// Whether something could not be looked at, or changed during the look: such an answer is never given again.
    pub(crate) broken: bool,
}

impl Fingerprint {
    /// Of whole files and listings of folders, as they are now.
    #[must_use]
    pub fn of(files: &dyn Files, clock: &dyn Clock, paths: &[&Path]) -> Self {
        let depends = crate::depends::Depends::new(files, clock);
        for path in paths {
            depends.on(path);
        }
        depends.fingerprint()
    }

    /// How many files and folders it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether it depends on nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Whether all is as it was. Facts that changed over the same content are brought up to date, so that the next
    /// look need not hash again.
    pub fn holds(&mut self, files: &dyn Files, clock: &dyn Clock) -> bool {
        !self.broken && self.seen.iter_mut().all(|seen| seen.holds(files, clock))
    }

    /// Memory that it takes, about, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let each = |seen: &Seen| (seen.path.as_os_str().len() + size_of::<Seen>()) as u64;
        self.seen.iter().map(each).sum()
    }
}

impl Seen {
    fn holds(&mut self, files: &dyn Files, clock: &dyn Clock) -> bool {
        let taken = clock.wall();
        let Ok(now) = files.facts(&self.path) else { return false };
        let (Some(was), Some(is)) = (self.facts, now) else { return self.facts.is_none() && now.is_none() };
        if was == is && self.settled {
            return true;
        }
        let different = was.kind != is.kind || (self.part == Part::Whole && was.size != is.size);
        let unhashed = self.part == Part::Facts || (self.part == Part::Whole && is.size > MAX_HASHED);
        let (false, false, Some(sum)) = (different, unhashed, self.sum) else { return false };
        if !matches!(files.sum(&self.path, self.part), Ok(Some(now)) if now == sum) {
            return false;
        }
        self.facts = Some(is);
        self.settled = settled(&is, taken);
        true
    }
}

/// Whether facts taken at `taken` are older than a tick of the file system.
pub(crate) fn settled(facts: &Facts, taken: SystemTime) -> bool {
    let newest = facts.changed.map_or(facts.modified, |changed| changed.max(facts.modified));
    taken.duration_since(newest).is_ok_and(|age| age > RACY)
}
