//! The store: what is remembered between calls, in a file of SQLite or in a PostgreSQL server. It implements the traits of
//! `store-api`; the rules are there, and so is the conformance suite, which both are held to.
//!
//! Any number of processes may use one file at the same time, on one machine: SQLite's write-ahead log does not work
//! over a network. Several machines share a server ([`Store::connect`]; version 15 is what tests run against). A write that was
//! answered is on disk, also after a power cut: `synchronous = FULL` here, whatever the server is configured for there.
//!
//! Statements are written once, for both (`sql.rs`); what a text is found by is decided by the crate `words` and not by a
//! database. Migrations have the same numbers, and a test compares what they make.
#![allow(
    clippy::disallowed_methods,
    reason = "like the ledger, the store keeps files of its own: its database and the folder of it, nothing else"
)]

mod documents;
mod error;
mod failures;
mod handoffs;
mod indexes;
mod lite;
mod machines;
mod notes;
mod once;
mod outbox;
mod pg;
mod search;
mod server;
mod sessions;
mod sql;
mod sweep;
pub mod transfer;
mod uses;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use indexes::IndexStore;
use lite::{Sqlite, Stamp, Still};
use pg::Postgres;
use sql::Conn;
use store_api::uses::Used;
use store_api::{Clock, StoreError, Timestamp};

/// The number of the newest schema, the same in both databases.
const NEWEST: i64 = lite::NEWEST;
const _: () = assert!(lite::NEWEST == pg::NEWEST, "the databases go in step");

/// How long a call waits for other writers, and for a connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is remembered. Clones share their connections.
#[derive(Clone)]
pub struct Store {
    database: Database,
    clock: Clock,
    /// Requests by owner in the minute that is named, where one process counts alone.
    counts: Arc<Mutex<(i64, BTreeMap<String, u64>)>>,
    /// All uses of patterns, which every question about patterns asks for.
    used: Arc<Still<Arc<[Used]>>>,
}

#[derive(Clone)]
enum Database {
    Lite(Arc<Sqlite>),
    Pg(Arc<Postgres>),
}

impl Store {
    /// A store in the file `path`, which must be absolute and in a folder of the store's own.
    ///
    /// Nothing is opened: the first call makes what is missing (the folder 0700, the file 0600) and brings the schema up
    /// to date. Calls need a tokio runtime with time.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        absolute(path)?;
        Ok(Self::of(Database::Lite(Arc::new(Sqlite::store(path.to_owned())))))
    }

    /// A store in a PostgreSQL database: `postgres://user@host/database?sslmode=verify-full`. What is not in the address comes from
    /// the environment (`PGHOST`, `PGUSER`, `PGPASSWORD` …) and the password file (`~/.pgpass`), as with PostgreSQL's own programs.
    ///
    /// Nothing is connected: the first call makes a schema `gatewright` in the database, or brings it up to date. Calls need
    /// a tokio runtime with time and I/O.
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        Ok(Self::of(Database::Pg(Arc::new(Postgres::new(url)?))))
    }

    fn of(database: Database) -> Self {
        let clock: Clock = Arc::new(|| jiff::Timestamp::now().into());
        Self { database, clock, counts: Arc::default(), used: Arc::default() }
    }

    /// The same store by another clock. Each process has the system's, unless it is told otherwise.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Closes the connections when their calls have ended. A later call opens the store again.
    pub async fn close(&self) {
        match &self.database {
            Database::Lite(sqlite) => sqlite.close().await,
            Database::Pg(postgres) => postgres.close().await,
        }
    }

    /// Whether several machines may share it.
    #[must_use]
    pub const fn is_server(&self) -> bool {
        matches!(self.database, Database::Pg(_))
    }

    /// Counts one more of `owner` within a minute.
    fn counted(&self, owner: String, minute: i64) -> u64 {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.0 != minute {
            *counts = (minute, BTreeMap::new());
        }
        let count = counts.1.entry(owner).or_default();
        *count += 1;
        *count
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// A transaction that writes: with SQLite no other comes in between of it, with PostgreSQL it locks what it must.
    async fn write(&self, doing: &'static str) -> Result<Conn, StoreError> {
        match &self.database {
            Database::Lite(sqlite) => sqlite.write(doing).await,
            Database::Pg(postgres) => postgres.write(doing).await,
        }
    }

    /// What tells whether anybody has written since: nothing where that is not known.
    fn stamp(&self) -> Option<Stamp> {
        match &self.database {
            Database::Lite(sqlite) => sqlite.stamp(),
            Database::Pg(_) => None,
        }
    }

    /// For single questions: each sees one state of the database, two of them perhaps two.
    async fn single(&self, doing: &'static str) -> Result<Conn, StoreError> {
        match &self.database {
            Database::Lite(sqlite) => sqlite.single(doing).await,
            Database::Pg(postgres) => postgres.read(doing).await,
        }
    }

    /// A transaction that sees one state of the database.
    async fn read(&self, doing: &'static str) -> Result<Conn, StoreError> {
        match &self.database {
            Database::Lite(sqlite) => sqlite.read(doing).await,
            Database::Pg(postgres) => postgres.read(doing).await,
        }
    }
}

fn absolute(path: &Path) -> Result<(), StoreError> {
    if path.is_absolute() && path.file_name().is_some() {
        return Ok(());
    }
    Err(StoreError::Invalid { what: "the store's path", why: "it is not an absolute path of a file" })
}
