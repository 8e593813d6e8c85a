//! The store: what is remembered between calls, in SQLite. It implements the traits of `store-api`; the rules are
//! there, and so is the conformance suite.
//!
//! Any number of processes may use one file at the same time, on one machine: SQLite's write-ahead log does not work
//! over a network. A write that was answered is on disk (`synchronous = FULL`), also after a power cut.
//!
//! Statements are written once, for any database (`sql.rs`); what a text is found by is decided by the crate `words` and not by a
//! database.
#![allow(
    clippy::disallowed_methods,
    reason = "like the ledger, the store keeps files of its own: its database and the folder of it, nothing else"
)]

mod documents;
mod error;
mod failures;
mod handoffs;
mod lite;
mod machines;
mod notes;
mod once;
mod search;
mod sessions;
mod sql;

use std::path::Path;
use std::sync::Arc;

use lite::Sqlite;
use sql::Conn;
use store_api::{Clock, StoreError, Timestamp};

/// What is remembered. Clones share their connections.
#[derive(Clone)]
pub struct Store {
    sqlite: Arc<Sqlite>,
    clock: Clock,
}

impl Store {
    /// A store in the file `path`, which must be absolute and in a folder of the store's own.
    ///
    /// Nothing is opened: the first call makes what is missing (the folder 0700, the file 0600) and brings the schema up
    /// to date. Calls need a tokio runtime with time.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.is_absolute() || path.file_name().is_none() {
            return Err(StoreError::Invalid {
                what: "the store's path",
                why: "it is not an absolute path of a file",
            });
        }
        let clock: Clock = Arc::new(|| jiff::Timestamp::now().into());
        Ok(Self { sqlite: Arc::new(Sqlite::new(path.to_owned())), clock })
    }

    /// The same store by another clock. Each process has the system's, unless it is told otherwise.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Closes the connections when their calls have ended. A later call opens the file again.
    pub async fn close(&self) {
        self.sqlite.close().await;
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// A transaction that no other writer comes in between of.
    async fn write(&self, doing: &'static str) -> Result<Conn, StoreError> {
        self.sqlite.write(doing).await
    }

    /// A transaction that sees one state of the database.
    async fn read(&self, doing: &'static str) -> Result<Conn, StoreError> {
        self.sqlite.read(doing).await
    }
}
