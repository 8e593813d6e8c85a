//! Answers that hold while nobody writes to the database: asking SQLite wakes its thread and the one that asks, which takes longer
//! than what is asked.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::place::{Identity, LOG, beside};

/// For so long nothing must have been written before an answer is kept. What is written is seen by readers once it is on disk, so the
/// files may have changed before what they say has; and clocks of file systems go in steps.
const SETTLED: Duration = Duration::from_secs(5);
/// The same of a database whose log is empty: whatever is written then makes the log longer, and only the clock's steps count.
const STEPS: Duration = Duration::from_millis(100);
/// An answer is asked for again after this time, whatever the files say: a disk may take longer than [`SETTLED`], and then what
/// another process has written is seen so much later.
const KEPT: Duration = Duration::from_mins(1);

/// What a database's files were when they were looked at: whatever is written goes through the log, which is a file beside it
/// (<https://www.sqlite.org/wal.html>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    file: Written,
    log: Option<Written>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    identity: Identity,
    len: u64,
    /// Seconds and nanoseconds since 1970.
    changed: (i64, i64),
}

impl Stamp {
    /// Of the database in `path`; `None` where it was written just now, or cannot be looked at.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let file = Written::of(path).ok()??;
        let log = Written::of(&beside(path, LOG)).ok()?;
        let is_settled = match &log {
            Some(log) if log.len == 0 => file.is_settled(STEPS),
            _ => std::iter::once(&file).chain(&log).all(|written| written.is_settled(SETTLED)),
        };
        is_settled.then_some(Self { file, log })
    }
}

impl Written {
    fn of(path: &Path) -> std::io::Result<Option<Self>> {
        match std::fs::symlink_metadata(path) {
            Ok(found) => Ok(Some(Self {
                identity: Identity::of(&found),
                len: found.len(),
                changed: (found.ctime(), found.ctime_nsec()),
            })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether it was written longer ago than that.
    fn is_settled(&self, most: Duration) -> bool {
        let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(self.changed.0), u64::try_from(self.changed.1))
        else {
            return false;
        };
        let changed = Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds);
        SystemTime::UNIX_EPOCH
            .elapsed()
            .is_ok_and(|now| now.checked_sub(changed).is_some_and(|ago| ago > most))
    }
}

/// An answer, and what the database was when it was asked for.
#[derive(Debug)]
pub(crate) struct Still<T>(Mutex<Known<T>>);

#[derive(Debug)]
struct Known<T> {
    /// When this process wrote last: what was asked for before is not kept.
    written: Option<Instant>,
    kept: Option<Kept<T>>,
}

#[derive(Debug)]
struct Kept<T> {
    stamp: Stamp,
    asked: Instant,
    answer: T,
}

impl<T> Default for Still<T> {
    fn default() -> Self {
        Self(Mutex::new(Known { written: None, kept: None }))
    }
}

impl<T: Clone> Still<T> {
    fn known(&self) -> MutexGuard<'_, Known<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer, if it was given by a database that is as it was then.
    pub(crate) fn get(&self, stamp: &Stamp) -> Option<T> {
        let known = self.known();
        let kept = known.kept.as_ref().filter(|kept| kept.stamp == *stamp && kept.asked.elapsed() < KEPT)?;
        Some(kept.answer.clone())
    }

    /// Keeps an answer of a database that was so before it was asked, unless one is there that was asked for later.
    pub(crate) fn keep(&self, stamp: Stamp, asked: Instant, answer: T) {
        let mut known = self.known();
        let latest = known.kept.as_ref().map(|kept| kept.asked).max(known.written);
        if latest.is_none_or(|latest| latest < asked) {
            known.kept = Some(Kept { stamp, asked, answer });
        }
    }

    /// This process has written: what it wrote is seen at once.
    pub(crate) fn forget(&self) {
        *self.known() = Known { written: Some(Instant::now()), kept: None };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(path: &Path, age: Duration) {
        let file = std::fs::File::options().write(true).create(true).truncate(false).open(path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    #[test]
    fn what_was_written_just_now_is_no_stamp_whatever_time_it_claims() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        assert_eq!(Stamp::of(&path), None, "there is none");
        aged(&path, Duration::from_hours(1));
        assert_eq!(Stamp::of(&path), None, "the kernel's own time counts");
        let log = beside(&path, LOG);
        aged(&log, Duration::ZERO);
        std::thread::sleep(2 * STEPS);
        let empty = Stamp::of(&path);
        assert!(empty.is_some(), "nothing is in the log");
        std::fs::write(&log, "a frame").unwrap();
        assert_eq!(Stamp::of(&path), None, "something was written just now");
    }

    #[test]
    fn a_time_ahead_of_the_clock_is_not_settled() {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let written = |ahead: i64| Written {
            identity: Identity::of(&std::fs::metadata("/").unwrap()),
            len: 0,
            changed: (i64::try_from(now.as_secs()).unwrap() + ahead, 0),
        };
        let is_settled = |ahead| written(ahead).is_settled(SETTLED);
        assert!(!is_settled(3600) && !is_settled(-2) && is_settled(-10));
    }

    #[test]
    fn an_answer_holds_for_the_same_files_and_no_longer_than_a_minute() {
        let of = |len| {
            let identity = Identity::of(&std::fs::metadata("/").unwrap());
            Stamp { file: Written { identity, len, changed: (1, 0) }, log: None }
        };
        let still = Still::default();
        assert_eq!(still.get(&of(1)), None);
        still.keep(of(1), Instant::now(), 7);
        assert_eq!((still.get(&of(1)), still.get(&of(2))), (Some(7), None));
        let log = of(1).file;
        assert_eq!(still.get(&Stamp { log: Some(log), ..of(1) }), None, "a log has come");
        let early = Instant::now();
        still.forget();
        assert_eq!(still.get(&of(1)), None, "somebody has written");
        still.keep(of(1), early, 8);
        assert_eq!(still.get(&of(1)), None, "it was asked for before that");
        let late = Instant::now();
        still.keep(of(1), late, 9);
        still.keep(of(2), early, 10);
        assert_eq!((still.get(&of(1)), still.get(&of(2))), (Some(9), None), "the later one stays");
        let old = Still::default();
        if let Some(before) = Instant::now().checked_sub(KEPT) {
            old.keep(of(1), before, 8);
            assert_eq!(old.get(&of(1)), None);
        }
    }
}
