//! The calls that are being made: whoever ends the server waits until each has its record.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// How many calls are being made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running(Arc<Count>);

#[derive(Debug, Default)]
struct Count {
    calls: AtomicUsize,
    ended: Notify,
}

/// One of them, until it is dropped.
pub(crate) struct One(Arc<Count>);

impl Running {
    /// Counts a call until what is returned is dropped.
    pub(crate) fn begin(&self) -> One {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        One(Arc::clone(&self.0))
    }

    /// Waits until none is being made, at most `longest`; says whether that is so.
    pub(crate) async fn none(&self, longest: Duration) -> bool {
        let all = async {
            loop {
                let ended = self.0.ended.notified();
                if self.0.calls.load(Ordering::SeqCst) == 0 {
                    return;
                }
                ended.await;
            }
        };
        tokio::time::timeout(longest, all).await.is_ok()
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_waiters();
    }
}
