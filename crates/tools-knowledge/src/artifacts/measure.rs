//! How much smaller a session became, from its files.

use contract::{Fault, tokens_used};
use exec::census;
use kit::ReadDesk;
use library::session::{Compression, Files, MAX_PACK, Main, NoRatio, compression};
use serde_json::Value;

use super::{Bad, Kept, main_of};

/// Largest metrics that are read: 1 MiB.
const MAX_METRICS: u64 = 1 << 20;
/// Most bytes of raw files that one call counts: 256 MiB.
pub(crate) const MOST_RAW: u64 = 256 << 20;
/// Largest raw file that is counted: 64 MiB.
const MAX_RAW_FILE: u64 = 64 << 20;

/// Measures sessions, one after another.
pub(crate) struct Measure<'a> {
    desk: &'a ReadDesk,
    kept: &'a Kept,
    /// How many bytes of raw files may still be counted.
    room: u64,
    /// Files that make no sense.
    pub(crate) problems: Vec<Bad>,
}

impl<'a> Measure<'a> {
    pub(crate) const fn new(desk: &'a ReadDesk, kept: &'a Kept) -> Self {
        Self { desk, kept, room: MOST_RAW, problems: Vec::new() }
    }

    /// The ratio of a session by the first that there is: its metrics, its pack, its raw files counted against its document. Nothing
    /// is counted where something is stated.
    pub(crate) fn of(&mut self, files: &Files) -> Result<Result<Compression, NoRatio>, Fault> {
        self.desk.check()?;
        // What leads out may be what would count: nothing else is taken for it.
        self.kept.check_links(&files.id)?;
        let metrics = self.json(files.metrics.as_deref(), MAX_METRICS)?;
        let pack = self.json(files.pack.as_deref(), MAX_PACK as u64)?;
        match compression(metrics.as_ref(), pack.as_ref(), None) {
            Err(_) if !files.raw.is_empty() => {
                let counted = (self.raw(files)?, self.document(files)?);
                Ok(compression(metrics.as_ref(), pack.as_ref(), Some(counted)))
            }
            found => Ok(found),
        }
    }

    fn json(&mut self, file: Option<&str>, most: u64) -> Result<Option<Value>, Fault> {
        let Some(file) = file else { return Ok(None) };
        let (bytes, _) = census::read(self.desk.view().root(), &self.kept.place(file)?, most)?;
        let text = String::from_utf8_lossy(&bytes);
        match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                let why = format!("line {} is no JSON: nothing of it counts", error.line().max(1));
                self.problems.push(Bad { file: file.to_owned(), why });
                Ok(None)
            }
        }
    }

    /// Tokens of the raw files.
    fn raw(&mut self, files: &Files) -> Result<u64, Fault> {
        let mut count = 0;
        for file in &files.raw {
            self.desk.check()?;
            let most = self.room.min(MAX_RAW_FILE);
            let (bytes, _) = census::read(self.desk.view().root(), &self.kept.place(file)?, most)?;
            self.room = self.room.saturating_sub(bytes.len() as u64);
            count += characters(&bytes);
        }
        Ok(tokens_used(count))
    }

    /// Tokens of the document.
    fn document(&self, files: &Files) -> Result<u64, Fault> {
        let most = match &files.main {
            Main::Markdown(_) => MAX_RAW_FILE,
            Main::Pack(_) => MAX_PACK as u64,
        };
        let place = self.kept.place(main_of(files))?;
        let (bytes, _) = census::read(self.desk.view().root(), &place, most)?;
        Ok(tokens_used(characters(&bytes)))
    }
}

/// How many characters UTF-8 has.
fn characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64
}
