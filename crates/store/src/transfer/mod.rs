//! A store written out, read in, copied, looked at: for the command line.
//!
//! An export is JSON Lines. The first line says what it is: `{"gatewright":"store","format":1,"schema":2,"made":…,"from":"sqlite"}`. Then
//! comes a line for each row (`{"t":"notes","r":{…}}`), tables in the order of [`TABLES`], rows by primary key, numbers and texts as they
//! are stored. The last line has the number of rows of each table and the SHA-256 of the lines in between, their ends included
//! (`{"end":{"runs":0,…},"sha256":…}`). The same rows give the same lines from both databases.
//!
//! What is read in is read and checked whole first. It is taken into an empty store in one transaction, and read back before that is
//! committed: what has another digest then is not kept. What is derived is made again.

mod backup;
mod error;
mod export;
mod load;
mod reader;
mod row;
mod rows;
mod status;
mod tables;

use std::io::{BufRead, Seek, Write};

use contract::Digest;

use crate::{Database, Store};

pub use error::TransferError;
pub use status::Status;
pub use tables::{Column, Holds, LEFT_OUT, TABLES, Table};

/// The format of exports.
pub const FORMAT: i64 = 1;
/// Most bytes of a line. What a store takes in one write is far below.
pub const MAX_LINE: usize = 256 * 1_024 * 1_024;
/// The first schema that was exported.
const OLDEST: i64 = 2;

/// What was written out or read in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    /// Rows by table, in the order of [`TABLES`]; those that an older schema does not have are left out.
    pub rows: Vec<(&'static str, u64)>,
    /// The digest of the lines between the first and the last.
    pub sha256: Digest,
}

impl Transferred {
    /// All rows together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.rows.iter().map(|(_, rows)| rows).sum()
    }
}

impl Store {
    /// Writes all of it as it is at one time; whoever writes meanwhile is not held up. What is written goes through `into` as it
    /// comes: rows are not collected. `into` blocks this thread, so give a buffer over a file.
    pub async fn export(&self, into: &mut (dyn Write + Send)) -> Result<Transferred, TransferError> {
        export::export(self, into).await
    }

    /// Takes an export in, all of it or nothing. The store must be empty, and nobody else may write until it is done. `from` is
    /// read twice, and blocks this thread.
    pub async fn import(
        &self,
        from: &mut (impl BufRead + Seek + Send),
    ) -> Result<Transferred, TransferError> {
        load::import(self, from).await
    }

    /// The name of the kind of database, as exports and people say it: `sqlite` or `postgresql`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.database {
            Database::Lite(_) => "sqlite",
            Database::Pg(_) => "postgresql",
        }
    }
}

/// Checks an export whole, without a store: what [`Store::import`] does before it writes anything.
pub fn check(from: &mut (impl BufRead + Seek)) -> Result<Transferred, TransferError> {
    reader::whole(from)
}
