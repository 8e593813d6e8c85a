//! The folder of segments, held open: whether there is a file in it is asked for every group of records.

use std::ffi::CString;
use std::fs::File;
use std::path::Path;

use rustix::fs::AtFlags;

use super::{LedgerError, SEGMENTS, io, segment_name};

#[derive(Debug)]
pub(super) struct Segments {
    folder: File,
    /// The number that was asked for last, and its name.
    asked: (u64, CString),
}

impl Segments {
    pub(super) fn open(dir: &Path) -> Result<Self, LedgerError> {
        let folder = File::open(dir.join(SEGMENTS)).map_err(io("folder", "opened"))?;
        Ok(Self { folder, asked: (0, CString::default()) })
    }

    /// Whether there is anything by the name of this segment.
    pub(super) fn has(&mut self, number: u64) -> bool {
        if self.asked.0 != number {
            self.asked = (number, CString::new(segment_name(number)).unwrap_or_default());
        }
        rustix::fs::statat(&self.folder, &self.asked.1, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }
}
