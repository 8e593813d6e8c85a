//! The log of requests: written in batches, apart from the requests. A crash loses the last half second of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use store_api::server::Logged;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Backend;

/// Most lines that wait; more are counted and lost.
const WAITING: usize = 8_192;
/// Lines of a batch.
const BATCH: usize = 200;
/// How long a line waits for others.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the last lines have.
const LAST: Duration = Duration::from_secs(5);

/// Where lines go.
pub(super) struct Log {
    lines: mpsc::Sender<Logged>,
    lost: Arc<AtomicU64>,
}

impl Log {
    pub(super) fn write(&self, line: Logged) {
        if self.lines.try_send(line).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What writes them.
pub(super) struct Writing(JoinHandle<()>);

impl Writing {
    /// Waits until the last line is written, which is soon after [`Log`] is dropped.
    pub(super) async fn end(self) {
        if tokio::time::timeout(LAST, self.0).await.is_err() {
            tracing::warn!("the last lines of the log of requests were not written");
        }
    }
}

pub(super) fn start(store: Arc<dyn Backend>) -> (Log, Writing) {
    let (lines, mut waiting) = mpsc::channel(WAITING);
    let lost = Arc::new(AtomicU64::new(0));
    let missed = Arc::clone(&lost);
    let task = tokio::spawn(async move {
        let mut batch = Vec::new();
        while waiting.recv_many(&mut batch, BATCH).await > 0 {
            if batch.len() < BATCH {
                // Some more, so that not each is a write of its own.
                let more = async {
                    while batch.len() < BATCH {
                        let Some(line) = waiting.recv().await else { break };
                        batch.push(line);
                    }
                };
                let _ = tokio::time::timeout(PAUSE, more).await;
            }
            let lines = std::mem::take(&mut batch);
            let count = lines.len() as u64;
            if let Err(error) = store.log(lines).await {
                tracing::warn!(%error, "{count} requests were not logged");
            }
            let lost = missed.swap(0, Ordering::Relaxed);
            if lost > 0 {
                tracing::warn!("{lost} requests were not logged: they came too fast");
            }
        }
    });
    (Log { lines, lost }, Writing(task))
}
