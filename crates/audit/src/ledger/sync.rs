//! Group commit: records that need not be on disk before the reply are synced within 100 ms, many at a time.

use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{LedgerError, io};

/// Longest time that an unsynced record waits.
const DELAY: Duration = Duration::from_millis(80);

/// The background thread, begun with the first record that asks for it.
#[derive(Debug, Default)]
pub(super) struct Syncer {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Shared {
    work: Mutex<Work>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Work {
    dirty: Vec<Arc<File>>,
    stop: bool,
    /// The system reports a failed write-back once: it is kept for the next append.
    failed: Option<std::io::ErrorKind>,
}

impl Syncer {
    /// Syncs `file` soon.
    pub(super) fn soon(&self, file: &Arc<File>) {
        let mut work = self.shared.work.lock().unwrap_or_else(PoisonError::into_inner);
        if work.dirty.iter().any(|f| Arc::ptr_eq(f, file)) {
            return;
        }
        work.dirty.push(Arc::clone(file));
        drop(work);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let spawned = std::thread::Builder::new().name("ledger-sync".into()).spawn(move || shared.run());
            // Without a thread the records are synced with the next durable one, and at the end.
            *thread = spawned.ok();
        }
        self.shared.wake.notify_one();
    }

    /// Fails once when syncing in the background has failed.
    pub(super) fn check(&self) -> Result<(), LedgerError> {
        let failed = self.shared.work.lock().unwrap_or_else(PoisonError::into_inner).failed.take();
        failed.map_or(Ok(()), |kind| Err(io("segment", "synced")(kind.into())))
    }

    /// `file` has just been synced.
    pub(super) fn done(&self, file: &Arc<File>) {
        let mut work = self.shared.work.lock().unwrap_or_else(PoisonError::into_inner);
        work.dirty.retain(|f| !Arc::ptr_eq(f, file));
    }
}

impl Shared {
    fn run(&self) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if work.dirty.is_empty() {
                if work.stop {
                    return;
                }
                work = self.wake.wait(work).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            if !work.stop {
                // Let more records arrive; a stop cuts the wait short.
                work = self.wake.wait_timeout(work, DELAY).unwrap_or_else(PoisonError::into_inner).0;
            }
            let dirty = std::mem::take(&mut work.dirty);
            drop(work);
            let failed = dirty.iter().find_map(|file| file.sync_data().err()).map(|error| error.kind());
            work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
            work.failed = work.failed.or(failed);
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.shared.work.lock().unwrap_or_else(PoisonError::into_inner).stop = true;
        self.shared.wake.notify_one();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}
