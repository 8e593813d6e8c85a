//! The advisory lock, which keeps processes apart.

use std::fs::File;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::{LedgerError, io};

/// The lock, released when dropped. It dies with the process that holds it.
pub(crate) struct Held<'a>(&'a File);

impl<'a> Held<'a> {
    pub(super) fn exclusive(file: &'a File) -> Result<Self, LedgerError> {
        Self::take(file, FlockOperation::LockExclusive)
    }

    /// `None` while somebody else holds it.
    pub(super) fn exclusive_if_free(file: &'a File) -> Result<Option<Self>, LedgerError> {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
            Err(error) => Err(io("lock", "taken")(error.into())),
            Ok(()) => Ok(Some(Self(file))),
        }
    }

    pub(crate) fn shared(file: &'a File) -> Result<Self, LedgerError> {
        Self::take(file, FlockOperation::LockShared)
    }

    fn take(file: &'a File, operation: FlockOperation) -> Result<Self, LedgerError> {
        loop {
            match rustix::fs::flock(file, operation) {
                Err(Errno::INTR) => {}
                Err(error) => return Err(io("lock", "taken")(error.into())),
                Ok(()) => return Ok(Self(file)),
            }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let _ = rustix::fs::flock(self.0, FlockOperation::Unlock);
    }
}
