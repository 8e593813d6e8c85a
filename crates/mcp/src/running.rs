//! The calls that are being made: whoever ends the server waits until each has its record; and telling clients how far they are.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use kit::call::Step;
use kit::{Done, Progress};
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

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

/// What is made where it is waited for, and goes on as a task of its own once nobody waits: giving everything a task would cost
/// more than most calls.
pub(crate) struct GoesOn<T: Send + 'static>(Option<BoxFuture<'static, T>>);

impl<T: Send + 'static> GoesOn<T> {
    pub(crate) fn new(made: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(made.boxed()))
    }
}

impl<T: Send + 'static> Future for GoesOn<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Whoever asks again after the answer waits for ever.
        let Some(mut made) = self.0.take() else { return Poll::Pending };
        // One that panics is not asked again.
        let polled = made.as_mut().poll(context);
        if polled.is_pending() {
            self.0 = Some(made);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for GoesOn<T> {
    fn drop(&mut self) {
        let Some(made) = self.0.take() else { return };
        // Without a runtime the process is ending, and nobody could run it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(made);
        }
    }
}

/// A call that is being made. Whoever stops waiting for it cancels it, and it comes to its record all the same.
pub(crate) struct Calling {
    cancel: CancellationToken,
    call: GoesOn<Option<Done>>,
}

impl Calling {
    /// `call`, which ends soon once `cancel` is cancelled.
    pub(crate) fn new(cancel: CancellationToken, call: impl Future<Output = Done> + Send + 'static) -> Self {
        // A panic beyond the pipeline, which catches its own, loses this call and no other. In a box before it is wrapped: it
        // is large, and each wrapper moves what it is put around.
        let call = AssertUnwindSafe(Box::pin(call)).catch_unwind().map(Result::ok);
        Self { cancel, call: GoesOn::new(call) }
    }

    /// One that was begun before.
    pub(crate) fn of(
        cancel: CancellationToken,
        call: impl Future<Output = Option<Done>> + Send + 'static,
    ) -> Self {
        Self { cancel, call: GoesOn::new(call) }
    }
}

impl Future for Calling {
    /// `None` where the call was lost.
    type Output = Option<Done>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.call).poll(context)
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        if self.call.0.is_some() {
            self.cancel.cancel();
        }
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_waiters();
    }
}

/// Sends progress from whatever thread reports it, in order, and never makes the call wait.
pub(crate) fn progress(context: &RequestContext<RoleServer>) -> Progress {
    let Some(token) = context.meta.get_progress_token() else { return Arc::new(|_| {}) };
    let (sender, mut steps) = mpsc::unbounded_channel::<Step>();
    let peer = context.peer.clone();
    tokio::spawn(async move {
        while let Some(step) = steps.recv().await {
            let mut note =
                ProgressNotificationParam::new(token.clone(), step.done).with_message(step.message);
            if let Some(total) = step.total {
                note = note.with_total(total);
            }
            if peer.notify_progress(note).await.is_err() {
                return;
            }
        }
    });
    Arc::new(move |step| {
        let _ = sender.send(step);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_nobody_waits_for_comes_to_its_end() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (running, cancel) = (Running::default(), CancellationToken::new());
            let (one, ours, (said, heard)) =
                (running.begin(), cancel.clone(), tokio::sync::oneshot::channel());
            let mut calling = Calling::new(cancel, async move {
                ours.cancelled().await;
                tokio::task::yield_now().await;
                drop(one);
                said.send(()).unwrap();
                std::future::pending().await
            });
            assert!(futures_util::poll!(&mut calling).is_pending());
            drop(calling);
            heard.await.unwrap();
            assert!(running.none(Duration::from_secs(1)).await);
            // One that panics is lost, and says so.
            let lost = Calling::new(CancellationToken::new(), async { panic!("a defect") });
            assert!(lost.await.is_none());
        });
    }
}
