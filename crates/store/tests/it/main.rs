//! What the store must do, with real files and real processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests look at the disk from outside and start themselves again"
)]

mod conformance;
mod model;
mod places;
mod processes;
mod working_day;

use std::path::PathBuf;

use gatewright_store::Store;

/// A store in a folder that goes with it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("store/store.db")
    }

    fn store(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
