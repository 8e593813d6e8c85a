//! The latest records, without walking through all that came before.

#![expect(clippy::disallowed_methods, reason = "a reader of the ledger's own files")]

use std::ops::ControlFlow;
use std::path::Path;

use memchr::memmem;

use crate::ledger::{self, LedgerError};
use crate::record::{self, Body, Entry};

/// Gives every transcript that is intact, the latest first, until `each` breaks. What is damaged is passed over: telling so
/// is what [`crate::verify`] is for.
///
/// With `naming` only records whose bytes hold that text are parsed and given.
pub fn transcripts(
    dir: &Path,
    naming: Option<&str>,
    mut each: impl FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), LedgerError> {
    let named = naming.map(|text| memmem::Finder::new(text.as_bytes()));
    let may = |line: &&[u8]| !line.is_empty() && named.as_ref().is_none_or(|n| n.find(line).is_some());
    for number in ledger::segment_numbers(dir)?.into_iter().rev() {
        let bytes =
            std::fs::read(ledger::segment_path(dir, number)).map_err(ledger::io("segment", "read"))?;
        for line in bytes.split(|b| *b == b'\n').rev().filter(may) {
            let Ok(opened) = record::open(line) else { continue };
            if matches!(opened.entry.body, Body::Transcript(_)) && each(opened.entry).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}
