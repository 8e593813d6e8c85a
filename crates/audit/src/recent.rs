//! The latest records, without walking through all that came before.

#![expect(clippy::disallowed_methods, reason = "a reader of the ledger's own files")]

use std::ops::ControlFlow;
use std::path::Path;

use crate::ledger::{self, LedgerError};
use crate::record::{self, Body, Entry};

/// Gives every transcript that is intact, the latest first, until `each` breaks. What is damaged is passed over: telling so
/// is what [`crate::verify`] is for.
///
/// `may` says of a line's bytes whether it may be one that is looked for, before it is parsed.
pub fn transcripts(
    dir: &Path,
    may: impl Fn(&[u8]) -> bool,
    mut each: impl FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), LedgerError> {
    for number in ledger::segment_numbers(dir)?.into_iter().rev() {
        let bytes =
            std::fs::read(ledger::segment_path(dir, number)).map_err(ledger::io("segment", "read"))?;
        for line in bytes.split(|b| *b == b'\n').rev().filter(|line| !line.is_empty() && may(line)) {
            let Ok(opened) = record::open(line) else { continue };
            if matches!(opened.entry.body, Body::Transcript(_)) && each(opened.entry).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}
