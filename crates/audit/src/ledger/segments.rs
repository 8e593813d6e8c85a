//! The folder of segments, held open: whether there is a file in it is asked for every group of records.

use std::ffi::CString;
use std::fs::File;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::{LedgerError, SEGMENTS, files, io, segment_name};

#[derive(Debug)]
pub(super) struct Segments {
    folder: File,
    /// The number that was asked for last, and its name.
    asked: (u64, CString),
}

impl Segments {
    pub(super) fn open(dir: &Path) -> Result<Self, LedgerError> {
        let flags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
        let folder = rustix::fs::open(dir.join(SEGMENTS), flags.union(OFlags::RDONLY), Mode::empty());
        let folder = folder.map_err(|error| io("folder", "opened")(error.into()))?;
        Ok(Self { folder: folder.into(), asked: (0, CString::default()) })
    }

    /// Whether there is anything by the name of this segment.
    pub(super) fn has(&mut self, number: u64) -> Result<bool, LedgerError> {
        if self.asked.0 != number {
            self.asked = (number, CString::new(segment_name(number)).unwrap_or_default());
        }
        match rustix::fs::statat(&self.folder, &self.asked.1, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(io("segment", "looked for")(error.into())),
        }
    }

    /// Whether it still is where it was opened.
    pub(super) fn is_in(&self, dir: &Path) -> bool {
        files::is_at(&self.folder, &dir.join(SEGMENTS))
    }
}
