//! Whether anything below folders of a root has changed, as the kernel tells (inotify(7)): for indexes over files that would otherwise
//! look at each of them for every question.
//!
//! The kernel tells of what happens through its own names on this machine. Not told are writes through another hard link or a mapping
//! that outlives its file, and what other machines do: file systems that are shared with those are not watched, and whoever relies on
//! this looks again from time to time.

use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::{Dir, MetadataExt as _};
use contract::RelPath;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use crate::census::{Ask, entered, folder};
use crate::root::Root;

/// Most folders that are watched at once.
const MOST: usize = 4_096;

/// What makes a list of files, or their bytes, another.
const TOLD: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// After these not all is told any more.
const LOST: ReadFlags = ReadFlags::IGNORED
    .union(ReadFlags::QUEUE_OVERFLOW)
    .union(ReadFlags::DELETE_SELF)
    .union(ReadFlags::MOVE_SELF)
    .union(ReadFlags::UNMOUNT);

/// File systems of which the kernel tells all that happens (statfs(2)): ext2 to 4, XFS, Btrfs, tmpfs, overlays, F2FS, ZFS, bcachefs.
const LOCAL: [i64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e];

/// Which folder is at a place.
type Which = Option<(u64, u64)>;

/// Folders that are watched.
#[derive(Debug)]
pub struct Changes {
    kernel: OwnedFd,
    folders: BTreeSet<Option<RelPath>>,
    /// The root's own folder and those that were asked for, with which they are, where they are there: another in the place of one is
    /// told by nobody.
    bases: Vec<(Option<RelPath>, Which)>,
    heard: Mutex<Heard>,
}

/// What was heard.
#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    /// Something has changed since it was looked through last.
    changed: bool,
    /// A folder has gone, or may have come in another's place: not all is told any more.
    broken: bool,
}

fn which(root: &Root, path: Option<&RelPath>) -> Which {
    let there = folder(root, path).ok()?.dir_metadata().ok()?;
    Some((there.dev(), there.ino()))
}

/// Of which kind the file system is that a folder is on.
fn kind_of(dir: &Dir) -> Option<i64> {
    // The number has another width elsewhere.
    #[allow(clippy::useless_conversion, reason = "on some targets it is another type")]
    i64::try_from(rustix::fs::fstatfs(dir.as_fd()).ok()?.f_type).ok().map(|kind| kind & 0xffff_ffff)
}

impl Changes {
    /// Watches the folders that `asks` would look into; nothing where the machine does not tell, or there are too many.
    #[must_use]
    pub fn of(root: &Root, asks: &[Ask<'_>]) -> Option<Self> {
        let kind = kind_of(root.dir())?;
        if !LOCAL.contains(&kind) {
            return None;
        }
        let kernel = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let (mut folders, mut bases) = (BTreeSet::new(), vec![(None, which(root, None))]);
        for ask in asks {
            if ask.base.is_some() {
                bases.push((ask.base.cloned(), which(root, ask.base)));
            }
            let mut open = vec![(ask.base.cloned(), ask.depth)];
            while let Some((path, depth)) = open.pop() {
                if folders.len() >= MOST {
                    return None;
                }
                // A base may come later, which is seen by its place.
                let Ok(dir) = folder(root, path.as_ref()) else { continue };
                if kind_of(&dir)? != kind {
                    return None;
                }
                // By what was opened, whatever the name leads to by now.
                let place = PathBuf::from(format!("/proc/self/fd/{}", dir.as_raw_fd()));
                inotify::add_watch(&kernel, &place, TOLD).ok()?;
                // Read after it is watched: what comes later is told.
                open.extend(entered(&dir, path.as_ref(), depth, ask.enters)?);
                folders.insert(path);
            }
        }
        Some(Self { kernel, folders, bases, heard: Mutex::default() })
    }

    /// Whether it tells of every change in all of these.
    #[must_use]
    pub fn covers<'f>(&self, root: &Root, mut folders: impl Iterator<Item = &'f Option<RelPath>>) -> bool {
        let heard = self.hear(&mut self.heard());
        !heard.broken && self.stands(root) && folders.all(|folder| self.folders.contains(folder))
    }

    /// Whether something may have changed since [`Self::begin`]. Once so, it stays so until then.
    #[must_use]
    pub fn any(&self, root: &Root) -> bool {
        // Held throughout: who comes meanwhile is not to miss what was heard here.
        let mut heard = self.heard();
        self.hear(&mut heard);
        heard.changed |= heard.broken || !self.stands(root);
        heard.changed
    }

    /// Everything is looked through from here on: what happened before does not count.
    pub fn begin(&self) {
        let mut heard = self.heard();
        self.hear(&mut heard);
        heard.changed = false;
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether every base is the folder that it was, or still none.
    fn stands(&self, root: &Root) -> bool {
        self.bases.iter().all(|(path, was)| which(root, path.as_ref()) == *was)
    }

    /// Takes what the kernel has told.
    fn hear(&self, heard: &mut Heard) -> Heard {
        let mut buffer = [const { MaybeUninit::uninit() }; 4_096];
        let mut reader = inotify::Reader::new(&self.kernel, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    heard.changed = true;
                    let flags = event.events();
                    let has_come = flags.contains(ReadFlags::ISDIR)
                        && flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
                    heard.broken |= has_come || flags.intersects(LOST);
                }
                Err(rustix::io::Errno::AGAIN) => return *heard,
                Err(rustix::io::Errno::INTR) => {}
                // What cannot be heard may be anything.
                Err(_) => {
                    *heard = Heard { changed: true, broken: true };
                    return *heard;
                }
            }
        }
    }
}
