//! What is over is let go of while a server runs: in its state folders every hour and at its end, in a store at most once a day on each
//! machine.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use contract::Digest;
use exec::{Root, StateDir};
use jiff::SignedDuration;
use store::Store;
use store_api::upkeep::DAY;
use store_api::{StoreError, Timestamp, Upkeep as _};
use tokio_util::sync::CancellationToken;

use crate::config::StoreSection;

/// How long a server is left alone with its first calls.
const FIRST: Duration = Duration::from_secs(5);
/// How often it is asked what is over.
const LOOK: Duration = Duration::from_hours(1);
/// What a server's end waits for a sweep. What it does not come to, the next one does.
const LAST: Duration = Duration::from_millis(500);

/// What is swept beside a server.
pub struct Sweeping {
    pub folders: Arc<Folders>,
    /// None where there is no place to note down when.
    pub store: Option<Swept>,
}

impl Sweeping {
    /// Until the server stops.
    pub async fn run(self, stop: CancellationToken) {
        let mut pause = FIRST;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            pause = LOOK;
            // Each step of the store's is a transaction: one that is cut off takes nothing along. Folders go on beside it, until the
            // process ends.
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.sweep() => {}
            }
        }
    }

    async fn sweep(&self) {
        let folders = Arc::clone(&self.folders);
        if let Err(error) = tokio::task::spawn_blocking(move || folders.sweep(|_| true)).await {
            tracing::warn!("the state folders were not swept: {error}");
        }
        if let Some(store) = self.store.as_ref().filter(|store| store.is_due()) {
            store.sweep().await;
        }
    }
}

/// The state folders of a process: those of a command are swept when they are opened, those of a server while it runs.
#[derive(Default)]
pub struct Folders {
    kept: Mutex<Vec<Folder>>,
    /// A server's roots, which so are there at its end, too.
    served: Option<Vec<Arc<Root>>>,
}

/// The state of a root, or of calls that have none.
#[derive(Clone)]
struct Folder {
    /// Gone with the last engine over it.
    root: Option<Weak<Root>>,
    state: StateDir,
    keep: SignedDuration,
    is_swept: bool,
}

impl Folders {
    /// Those of a server of `roots`.
    pub fn of_server(roots: &[Arc<Root>]) -> Self {
        Self { served: Some(roots.to_vec()), ..Self::default() }
    }

    /// What is over in `state` goes after `keep_days`: now, or with the next sweep.
    pub fn add(&self, root: Option<&Arc<Root>>, state: StateDir, keep_days: u32) {
        let root = root.map(Arc::downgrade);
        let keep = SignedDuration::from_hours(24 * i64::from(keep_days));
        let folder = Folder { root, state, keep, is_swept: false };
        if self.served.is_some() {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.retain(|other| other.is_alive() || other.state.path() != folder.state.path());
            kept.push(folder);
        } else {
            folder.sweep();
        }
    }

    /// Sweeps those that were not swept yet: a server that ended before its first sweep would leave all to the next, which may end as soon.
    pub async fn end(self: Arc<Self>) {
        let last = tokio::task::spawn_blocking(move || self.sweep(|folder| !folder.is_swept));
        let _ = tokio::time::timeout(LAST, last).await;
    }

    fn sweep(&self, which: impl Fn(&Folder) -> bool) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut chosen = Vec::new();
        for folder in kept.iter_mut().filter(|folder| which(folder)) {
            folder.is_swept = true;
            chosen.push(folder.clone());
        }
        drop(kept);
        chosen.iter().for_each(Folder::sweep);
    }
}

impl Folder {
    /// Whether something may be left beside its root.
    fn is_alive(&self) -> bool {
        self.root.as_ref().is_some_and(|root| root.strong_count() > 0)
    }

    fn sweep(&self) {
        let root = self.root.as_ref().and_then(Weak::upgrade);
        if let Err(fault) = self.state.expire(root.as_deref(), self.keep) {
            tracing::warn!("{}", fault.message);
        }
    }
}

/// A store that is swept once a day.
pub struct Swept {
    store: Store,
    keep_days: u32,
    /// Says when it was swept last, by a process of this machine.
    marker: PathBuf,
}

impl Swept {
    /// None where there is no place to note down when.
    pub fn new(store: &Store, section: &StoreSection) -> Option<Self> {
        let of = Digest::of(store.place().as_bytes()).short(12);
        let marker = StateDir::base().ok()?.join("store").join(format!("swept-{of}"));
        Some(Self { store: store.clone(), keep_days: section.keep_days, marker })
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
