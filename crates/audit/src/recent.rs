//! The latest records, without walking through all that came before.

#![expect(clippy::disallowed_methods, reason = "a reader of the ledger's own files")]

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use memchr::memmem;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::gain::Seen;
use crate::ledger::{self, LedgerError};
use crate::record::{self, Body, Cost, Entry, ExecutionMode};

/// Longest line that is read as a record: more than a transcript may be, all its texts escaped.
const LONGEST: u64 = 16 * 1024 * 1024;

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

/// What [`seen`] reads of a line. Its arguments are redacted text, taken as they stand.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Skimmed<'l> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'l, str>,
    #[serde(borrow)]
    id: Option<Cow<'l, str>>,
    #[serde(borrow, rename = "timestamp_start")]
    began: Option<Cow<'l, str>>,
    #[serde(borrow, rename = "timestamp_end")]
    ended: Option<Cow<'l, str>>,
    #[serde(borrow)]
    tool_name: Option<Cow<'l, str>>,
    #[serde(borrow)]
    tool_args: Option<&'l RawValue>,
    execution_mode: Option<ExecutionMode>,
    plan_id: Option<String>,
    error: Option<IgnoredAny>,
    #[serde(default)]
    effects: Vec<IgnoredAny>,
    cost: Option<Cost>,
}

impl Skimmed<'_> {
    fn seen(self) -> Option<Seen> {
        let millis =
            |text: Option<Cow<'_, str>>| text?.parse::<Timestamp>().ok().map(Timestamp::as_millisecond);
        let failed = self.error.is_some();
        Some(Seen {
            id: self.id?.into_owned(),
            began: millis(self.began)?,
            ended: millis(self.ended)?,
            tool: self.tool_name?.into_owned(),
            arguments: self.tool_args.map(|args| args.get().to_owned()).unwrap_or_default(),
            plan: self.plan_id,
            failed,
            applied: self.execution_mode == Some(ExecutionMode::Apply) && !failed && !self.effects.is_empty(),
            cost: self.cost,
        })
    }
}

/// Gives every transcript as far as its cost matters, the first one first, and says how many lines are no record. They are
/// read as they stand: neither their hashes nor their chain are checked. A last line that has no end yet is being written.
///
/// A ledger that is not there has no records. At most [`LONGEST`] bytes are held.
pub fn seen(dir: &Path, mut each: impl FnMut(Seen)) -> Result<u64, LedgerError> {
    if !dir.join(ledger::SEGMENTS).is_dir() {
        return Ok(0);
    }
    let (mut damaged, mut line) = (0, Vec::new());
    for number in ledger::segment_numbers(dir)? {
        let file = File::open(ledger::segment_path(dir, number)).map_err(ledger::io("segment", "opened"))?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        loop {
            line.clear();
            let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
            if read.map_err(ledger::io("segment", "read"))? == 0 {
                break;
            }
            if line.last() != Some(&b'\n') {
                if line.len() as u64 == LONGEST {
                    damaged += 1;
                    reader.skip_until(b'\n').map_err(ledger::io("segment", "read"))?;
                }
                continue;
            }
            match serde_json::from_slice::<Skimmed<'_>>(&line) {
                Ok(skimmed) if skimmed.kind != "transcript" => {}
                Ok(skimmed) => match skimmed.seen() {
                    Some(seen) => each(seen),
                    None => damaged += 1,
                },
                Err(_) => damaged += 1,
            }
        }
    }
    Ok(damaged)
}
