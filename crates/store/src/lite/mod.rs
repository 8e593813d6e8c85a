//! SQLite: one connection that writes, a few that read, opened by the first call.

mod place;
mod schema;
mod still;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use sqlx::ConnectOptions as _;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use store_api::StoreError;
use tokio::sync::Mutex;

use crate::PATIENCE;
use crate::error::{self, Doing as _, is_busy};
use crate::sql::Conn;
use crate::transfer::TransferError;
use place::Identity;
pub(crate) use schema::{LIBRARY, NEWEST, STORE, Schema};
pub(crate) use still::{Stamp, Still};

/// How long to wait before opening is tried again.
const PAUSE: Duration = Duration::from_millis(20);
/// Most connections that read.
const READERS: u32 = 4;
/// For how long a schema that is known is taken to be, by single questions.
const CHECKED: Duration = Duration::from_secs(1);
/// What the log is cut back to when it was folded into the database, in bytes.
const LOG_LIMIT: &str = "16777216";

/// A database file and, once used, the connections to it.
pub(crate) struct Sqlite {
    path: PathBuf,
    schema: &'static Schema,
    /// Whether an answered write is on disk: what can be made anew need not be.
    synchronous: SqliteSynchronous,
    /// Pages that each connection that reads remembers, where not so many as SQLite has it: below 0, in KiB.
    read_cache: Option<&'static str>,
    opened: Mutex<Option<Arc<Opened>>>,
}

struct Opened {
    identity: Identity,
    /// When a single question found the schema to be known.
    checked: std::sync::Mutex<Option<Instant>>,
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Sqlite {
    /// Of what is remembered.
    pub(crate) const fn store(path: PathBuf) -> Self {
        let opened = Mutex::const_new(None);
        Self { path, schema: &STORE, synchronous: SqliteSynchronous::Full, read_cache: None, opened }
    }

    /// Of indexes of libraries: what is asked for often is remembered by whoever asks.
    pub(crate) const fn library(path: PathBuf) -> Self {
        let opened = Mutex::const_new(None);
        Self {
            path,
            schema: &LIBRARY,
            synchronous: SqliteSynchronous::Normal,
            read_cache: Some("-1024"),
            opened,
        }
    }

    pub(crate) async fn close(&self) {
        if let Some(opened) = self.opened.lock().await.take() {
            opened.close().await;
        }
    }

    /// Lets go of the database: a fresh one is made by the next call.
    pub(crate) async fn start_over(&self) -> Result<(), StoreError> {
        self.close().await;
        place::removed(&self.path)
    }

    /// A transaction that no other writer comes in between of.
    pub(crate) async fn write(&self, doing: &'static str) -> Result<Conn, StoreError> {
        let opened = self.opened().await?;
        let mut began = opened.writer.begin_with("BEGIN IMMEDIATE").await.doing("a write began");
        if began.as_ref().is_err_and(|error| !is_busy(error)) {
            // SQLite ends a transaction by itself where the disk is full (<https://www.sqlite.org/lang_transaction.html>), and the
            // connection's own count of them is wrong from then on: another connection begins anew.
            self.close().await;
            let opened = self.opened().await?;
            began = opened.writer.begin_with("BEGIN IMMEDIATE").await.doing("a write began");
        }
        let mut tx = began?;
        // A newer program may have moved the schema on since the file was opened.
        self.schema.check(&mut tx).await?;
        Ok(Conn::from(tx).doing(doing))
    }

    /// A transaction that sees one state of the database.
    pub(crate) async fn read(&self, doing: &'static str) -> Result<Conn, StoreError> {
        let opened = self.opened().await?;
        let mut tx = opened.readers.begin().await.doing("a read began")?;
        self.schema.check(&mut tx).await?;
        Ok(Conn::from(tx).doing(doing))
    }

    /// A connection for single questions. Each sees one state of the database, two of them perhaps two. A transaction would be begun and
    /// taken back by words of their own with SQLite's thread, and each word wakes two threads.
    pub(crate) async fn single(&self, doing: &'static str) -> Result<Conn, StoreError> {
        let opened = self.opened().await?;
        let mut connection = opened.readers.acquire().await.doing("a read began")?;
        let checked = *opened.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked.is_none_or(|at| at.elapsed() > CHECKED) {
            self.schema.check(&mut connection).await?;
            *opened.checked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        }
        Ok(Conn::from(connection).doing(doing))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What its files are, where nobody has written to them for a while.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        Stamp::of(&self.path)
    }

    /// Copies the database as it is at one time into a file that is empty or not there.
    pub(crate) async fn backup(&self, file: &Path) -> Result<(), TransferError> {
        let doing = "the store was copied";
        let Some(name) = file.to_str().filter(|name| name.starts_with('/')) else {
            let why = "it is not an absolute path in UTF-8";
            return Err(StoreError::Invalid { what: "the backup's file", why }.into());
        };
        place::blank(file)?;
        let opened = self.opened().await?;
        let mut reader = opened.readers.acquire().await.doing(doing)?;
        self.schema.check(&mut reader).await?;
        sqlx::query("VACUUM INTO $1").bind(name.to_owned()).execute(&mut *reader).await.doing(doing)?;
        place::synced(file)?;
        Ok(())
    }

    /// The connections. A file that was moved away is not written any more: what is there now is opened instead.
    async fn opened(&self) -> Result<Arc<Opened>, StoreError> {
        let mut slot = self.opened.lock().await;
        if let Some(opened) = &*slot {
            if place::identity(&self.path).ok() == Some(opened.identity) {
                return Ok(Arc::clone(opened));
            }
            let stale = Arc::clone(opened);
            *slot = None;
            stale.close().await;
        }
        let began = Instant::now();
        let opened = loop {
            match self.try_open().await {
                // The change to a write-ahead log answers at once instead of waiting for others who open the file.
                Err(error) if is_busy(&error) && began.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                }
                done => break Arc::new(done?),
            }
        };
        *slot = Some(Arc::clone(&opened));
        Ok(opened)
    }

    async fn try_open(&self) -> Result<Opened, StoreError> {
        let path = self.path.clone();
        let prepared = tokio::task::spawn_blocking(move || place::prepare(&path)).await;
        let identity =
            prepared.map_err(|stopped| error::driver("the store's place was prepared", stopped))??;
        let options = SqliteConnectOptions::new()
            .filename(&self.path)
            .create_if_missing(false)
            .busy_timeout(PATIENCE)
            .foreign_keys(true)
            .pragma("trusted_schema", "OFF")
            .disable_statement_logging();
        let reading = options.clone().read_only(true);
        let reading = match self.read_cache {
            Some(most) => reading.pragma("cache_size", most),
            None => reading,
        };
        // Looked at before anything is written: what is not ours, or newer, stays as it is.
        self.schema.look(&reading).await?;
        let writing = options
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(self.synchronous)
            .pragma("journal_size_limit", LOG_LIMIT);
        // A connection to a file does not fall asleep: nothing is asked of it first.
        let pool = |most| {
            let options = SqlitePoolOptions::new().max_connections(most).acquire_timeout(PATIENCE);
            options.test_before_acquire(false)
        };
        let writer = pool(1).connect_with(writing).await.doing("the store was opened")?;
        self.schema.migrate(&writer).await?;
        let readers = pool(READERS).connect_lazy_with(reading);
        Ok(Opened { identity, checked: std::sync::Mutex::default(), writer, readers })
    }
}

impl Opened {
    /// Readers first: who closes last folds the log into the database, and must be allowed to write.
    async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
