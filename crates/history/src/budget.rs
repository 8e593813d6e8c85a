//! How much one reading may cost, and how it is stopped.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Done, HistoryError};

/// How much one reading may cost. A hostile repository is as large as it likes: what is bounded fails with
/// [`HistoryError::TooLarge`] or [`HistoryError::TimedOut`], or is cut and says so.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How long the reading may take in all.
    pub time: Duration,
    /// How many entries of trees, of the index and of work tree folders are looked at.
    pub entries: u64,
    /// How many commits are looked at.
    pub commits: u64,
    /// The largest object or file whose text is compared, in bytes; larger ones are said to be binary.
    pub file_bytes: u64,
    /// How many bytes of objects and files are read in all.
    pub total_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(30),
            entries: 5_000_000,
            commits: 2_000_000,
            file_bytes: 16 << 20,
            total_bytes: 4 << 30,
        }
    }
}

/// Limits in use: counters run down, the clock is running.
pub(crate) struct Budget<'a> {
    pub(crate) limits: &'a Limits,
    cancel: &'a AtomicBool,
    began: Instant,
    entries: Cell<u64>,
    commits: Cell<u64>,
    bytes: Cell<u64>,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(limits: &'a Limits, cancel: &'a AtomicBool) -> Self {
        Self {
            limits,
            cancel,
            began: Instant::now(),
            entries: Cell::new(0),
            commits: Cell::new(0),
            bytes: Cell::new(0),
        }
    }

    /// Fails where the caller has gone or the time is up.
    pub(crate) fn check(&self) -> Done<()> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(HistoryError::Cancelled);
        }
        if self.began.elapsed() > self.limits.time {
            return Err(HistoryError::TimedOut(self.limits.time));
        }
        Ok(())
    }

    /// One entry more; the clock is looked at now and then.
    pub(crate) fn entry(&self) -> Done<()> {
        let seen = self.entries.get() + 1;
        self.entries.set(seen);
        if seen > self.limits.entries {
            return Err(HistoryError::TooLarge { what: "entries to look at", limit: self.limits.entries });
        }
        if seen.is_multiple_of(64) { self.check() } else { Ok(()) }
    }

    /// One commit more.
    pub(crate) fn commit(&self) -> Done<()> {
        let seen = self.commits.get() + 1;
        self.commits.set(seen);
        if seen > self.limits.commits {
            return Err(HistoryError::TooLarge { what: "commits to look at", limit: self.limits.commits });
        }
        if seen.is_multiple_of(16) { self.check() } else { Ok(()) }
    }

    /// So many bytes more.
    pub(crate) fn bytes(&self, more: u64) -> Done<()> {
        let seen = self.bytes.get().saturating_add(more);
        self.bytes.set(seen);
        if seen > self.limits.total_bytes {
            return Err(HistoryError::TooLarge { what: "bytes to read", limit: self.limits.total_bytes });
        }
        self.check()
    }
}
