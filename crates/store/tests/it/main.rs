//! What the store must do, with real files and real processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests look at the disk from outside and start themselves again"
)]

mod backup;
mod behind;
mod cluster;
mod conformance;
mod model;
mod mutations;
mod places;
mod postgres;
mod processes;
mod refused;
mod transfer;
mod upkeep;
mod working_day;

use std::path::PathBuf;

use gatewright_store::Store;

/// A store in a folder that goes with it, or in a database of its own.
struct Place {
    folder: tempfile::TempDir,
    url: Option<String>,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), url: None }
    }

    /// In PostgreSQL, where there is one.
    fn in_postgres() -> Option<Self> {
        Some(Self { url: Some(cluster::database()?), ..Self::new() })
    }

    /// Each kind of database that is here.
    fn all() -> Vec<Self> {
        [Some(Self::new()), Self::in_postgres()].into_iter().flatten().collect()
    }

    /// The name of its kind.
    fn kind(&self) -> &'static str {
        if self.url.is_some() { "postgresql" } else { "sqlite" }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("store/store.db")
    }

    /// Changes the database behind the store's back.
    async fn behind(&self, lite: &'static str, pg: &'static str) {
        match &self.url {
            Some(url) => behind::behind(url, pg).await,
            None => places::pragma(&self.path(), lite).await,
        }
    }

    /// Its columns by table, as the database has them.
    async fn columns(&self) -> postgres::Columns {
        match &self.url {
            Some(_) => postgres::columns_of_postgres(self).await,
            None => postgres::columns_of_sqlite(self).await,
        }
    }

    fn store(&self) -> Store {
        match &self.url {
            Some(url) => Store::connect(url).unwrap(),
            None => Store::open(&self.path()).unwrap(),
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
