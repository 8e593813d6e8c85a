//! What is over is let go of while a server runs, at most once a day on each machine.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use contract::Digest;
use exec::StateDir;
use store::Store;
use store_api::upkeep::DAY;
use store_api::{StoreError, Timestamp, Upkeep as _};
use tokio_util::sync::CancellationToken;

use crate::config::StoreSection;

/// How long a server is left alone with its first calls.
const FIRST: Duration = Duration::from_secs(5);
/// How often it is asked whether a day is over.
const LOOK: Duration = Duration::from_hours(1);

/// A store that is swept.
pub struct Sweeping {
    store: Store,
    keep_days: u32,
    /// Says when it was swept last, by a process of this machine.
    marker: PathBuf,
}

impl Sweeping {
    /// None where there is no place to note down when.
    pub fn new(store: &Store, section: &StoreSection) -> Option<Self> {
        let of = Digest::of(store.place().as_bytes()).short(12);
        let marker = StateDir::base().ok()?.join("store").join(format!("swept-{of}"));
        Some(Self { store: store.clone(), keep_days: section.keep_days, marker })
    }

    /// Until the server stops.
    pub async fn run(self, stop: CancellationToken) {
        let mut pause = FIRST;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            pause = LOOK;
            if self.is_due() {
                // Each of its steps is a transaction: one that is cut off takes nothing along.
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = self.sweep() => {}
                }
            }
        }
    }

    /// A store that nobody has used yet is not made for this.
    fn is_due(&self) -> bool {
        let is_there = self.store.kind() != "sqlite" || Path::new(&self.store.place()).exists();
        let last = std::fs::read_to_string(&self.marker).ok();
        let last = last.and_then(|text| text.trim().parse::<jiff::Timestamp>().ok()).map(Timestamp::from);
        let ago = last.map(|last| now().as_millis() - last.as_millis());
        // A clock that was set back is no reason to wait.
        is_there && ago.is_none_or(|ago| !(0..DAY).contains(&ago))
    }

    async fn sweep(&self) {
        match self.store.sweep(Some(self.keep_days)).await {
            Ok(swept) => {
                if !swept.is_nothing() {
                    tracing::info!(?swept, "what is over was let go of");
                }
                if let Err(error) = self.mark() {
                    tracing::warn!("the store was swept, and that could not be noted down: {error}");
                }
            }
            Err(error @ (StoreError::Unreachable(_) | StoreError::Busy { .. })) => {
                tracing::debug!("the store was not swept: {error}");
            }
            Err(error) => tracing::warn!("the store was not swept: {error}"),
        }
    }

    fn mark(&self) -> std::io::Result<()> {
        if let Some(folder) = self.marker.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        std::fs::write(&self.marker, now().to_string())
    }
}

fn now() -> Timestamp {
    jiff::Timestamp::now().into()
}
