//! Reading a file: line by line, each checked, and all of it together by its last line.

use std::io::{BufRead, Read as _, Seek, SeekFrom};

use contract::digest::Hasher;
use serde::Deserialize;
use store_api::Timestamp;

use super::row::{self, Cell, Read};
use super::tables::TABLES;
use super::{FORMAT, MAX_LINE, OLDEST, TransferError, Transferred, export};
use crate::NEWEST;

/// The first line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    gatewright: String,
    format: i64,
    schema: i64,
    #[serde(rename = "made")]
    _made: Timestamp,
    from: String,
}

/// What of the first line every format has.
#[derive(Deserialize)]
struct Any {
    gatewright: String,
    format: i64,
    schema: i64,
}

pub(super) struct Reader<'f, R> {
    from: &'f mut R,
    line: Vec<u8>,
    /// Lines that were read.
    number: u64,
    schema: i64,
    hasher: Hasher,
    /// Rows by table, of all that the schema has.
    rows: Vec<(&'static str, u64)>,
    /// Which table the last row was of, and its key.
    last: Option<(usize, Vec<Cell>)>,
}

/// Reads all of it.
pub(super) fn whole(from: &mut (impl BufRead + Seek)) -> Result<Transferred, TransferError> {
    let mut reader = Reader::begin(from)?;
    while reader.next()?.is_some() {}
    Ok(reader.done())
}

impl<'f, R: BufRead + Seek> Reader<'f, R> {
    /// From its first line.
    pub(super) fn begin(from: &'f mut R) -> Result<Self, TransferError> {
        from.seek(SeekFrom::Start(0)).map_err(TransferError::Read)?;
        let mut reader = Self {
            from,
            line: Vec::new(),
            number: 0,
            schema: NEWEST,
            hasher: Hasher::default(),
            rows: Vec::new(),
            last: None,
        };
        let is_whole = reader.take_line()?;
        let any = serde_json::from_slice::<Any>(&reader.line);
        let Some(any) = any.ok().filter(|any| any.gatewright == "store") else {
            return Err(TransferError::NotAnExport);
        };
        if any.format > FORMAT {
            return Err(TransferError::NewerFormat { found: any.format, known: FORMAT });
        }
        if any.schema > NEWEST {
            return Err(TransferError::NewerSchema { found: any.schema, known: NEWEST });
        }
        let head: Head =
            serde_json::from_slice(&reader.line).map_err(|error| reader.wrong(error.to_string()))?;
        let is_ours = head.gatewright == "store" && head.format == FORMAT && head.schema >= OLDEST;
        if !is_ours || !matches!(&*head.from, "sqlite" | "postgresql") {
            return Err(reader.wrong("no gatewright wrote such a first line"));
        }
        if !is_whole {
            return Err(reader.cut_off());
        }
        reader.schema = head.schema;
        let of_it = TABLES.iter().filter(|table| table.since <= head.schema);
        reader.rows = of_it.map(|table| (table.name, 0)).collect();
        Ok(reader)
    }

    /// The schema that its rows are of.
    pub(super) const fn schema(&self) -> i64 {
        self.schema
    }

    /// The next row; none behind the last, when all that the last line says is so.
    pub(super) fn next(&mut self) -> Result<Option<Read>, TransferError> {
        if !self.take_line()? {
            return Err(self.cut_off());
        }
        if self.line.starts_with(b"{\"end\":") {
            self.end()?;
            return Ok(None);
        }
        let read = row::read(&self.line, self.schema).map_err(|why| self.wrong(why))?;
        let key = read.table.key_of(&read.cells);
        if let Some((table, before)) = &self.last
            && (*table, before) >= (read.at, &key)
        {
            return Err(self.wrong("it does not stand where it belongs in the order of rows"));
        }
        self.last = Some((read.at, key));
        if let Some((_, rows)) = self.rows.iter_mut().find(|(name, _)| *name == read.table.name) {
            *rows += 1;
        }
        self.hasher.update(&self.line);
        Ok(Some(read))
    }

    /// What was read, when [`Reader::next`] has come to the end.
    pub(super) fn done(self) -> Transferred {
        Transferred { rows: self.rows, sha256: self.hasher.finish() }
    }

    fn end(&mut self) -> Result<(), TransferError> {
        let sha256 = self.hasher.clone().finish();
        if self.line != export::end(&self.rows, sha256).as_bytes() {
            let told = String::from_utf8_lossy(&self.line);
            let why = if told.contains(&sha256.to_string()) {
                "its last line counts other rows than it has"
            } else {
                "its rows do not have the SHA-256 that its last line says"
            };
            return Err(TransferError::Contents { why: why.to_owned() });
        }
        self.take_line()?;
        if self.line.is_empty() { Ok(()) } else { Err(self.wrong("something stands behind the end")) }
    }

    /// Reads a line with its end, or what is left; whether it has an end.
    fn take_line(&mut self) -> Result<bool, TransferError> {
        self.line.clear();
        let most = u64::try_from(MAX_LINE).unwrap_or(u64::MAX).saturating_add(1);
        let read = (&mut *self.from).take(most).read_until(b'\n', &mut self.line);
        read.map_err(TransferError::Read)?;
        if !self.line.is_empty() {
            self.number += 1;
        }
        if self.line.len() > MAX_LINE {
            return Err(self.wrong(format!("it is longer than {MAX_LINE} bytes")));
        }
        Ok(self.line.ends_with(b"\n"))
    }

    fn wrong(&self, why: impl Into<String>) -> TransferError {
        TransferError::Line { line: self.number, why: why.into() }
    }

    fn cut_off(&self) -> TransferError {
        TransferError::CutOff { lines: self.number }
    }
}
