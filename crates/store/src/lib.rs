//! The store: what is remembered between calls, in SQLite. It implements the traits of `store-api`; the rules are
//! there, and so is the conformance suite.
//!
//! Any number of processes may use one file at the same time, on one machine: SQLite's write-ahead log does not work
//! over a network. A write that was answered is on disk (`synchronous = FULL`), also after a power cut.
#![allow(
    clippy::disallowed_methods,
    reason = "like the ledger, the store keeps files of its own: its database and the folder of it, nothing else"
)]

mod sqlite;

use std::path::Path;
use std::sync::Arc;

use sqlite::Sqlite;
use store_api::{
    Boxed, FailureHistory, Failures, Forgotten, HistoryQuery, Page, RunOutcome, StoreError, Timestamp,
    Verdicts,
};

/// What is remembered. Clones share their connections.
#[derive(Clone)]
pub struct Store {
    sqlite: Arc<Sqlite>,
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
        Ok(Self { sqlite: Arc::new(Sqlite::new(path.to_owned())) })
    }

    /// Closes the connections when their calls have ended. A later call opens the file again.
    pub async fn close(&self) {
        self.sqlite.close().await;
    }
}

impl Failures for Store {
    fn record(&self, run: RunOutcome) -> Boxed<Result<Verdicts, StoreError>> {
        let sqlite = Arc::clone(&self.sqlite);
        Box::pin(async move { sqlite.record(run).await })
    }

    fn history(&self, query: HistoryQuery) -> Boxed<Result<Page<FailureHistory>, StoreError>> {
        let sqlite = Arc::clone(&self.sqlite);
        Box::pin(async move { sqlite.history(query).await })
    }

    fn forget(&self, before: Timestamp) -> Boxed<Result<Forgotten, StoreError>> {
        let sqlite = Arc::clone(&self.sqlite);
        Box::pin(async move { sqlite.forget(before).await })
    }
}
