//! Running a tool's code: cancellable, bounded in time, its panics caught.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use contract::{Code, Fault, Kind};
use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::desk::Setting;
use crate::erased::{After, Invoked};
use crate::inquiry::{Inquiries, lapsed};
use crate::registry::Registered;

/// Runs the tool's code: what only looks right here, anything else on its own task, which can be left behind even when
/// it does not come back to be asked.
pub(crate) async fn invoke(
    tool: Arc<Registered>,
    arguments: Value,
    setting: Setting,
    asked: &CancellationToken,
    inner: &CancellationToken,
) -> Result<Invoked, Fault> {
    let (limit, looks) = (tool.tool.limits().timeout, tool.head().kind == Kind::Read);
    let inquiries = setting.inquiries.clone();
    let limit = (limit, inquiries.as_ref());
    bounded(async move { tool.tool.invoke(arguments, setting).await }, looks, limit, asked, inner).await
}

/// Has the tool do what follows once its plan stands.
pub(crate) async fn settle(
    tool: Arc<Registered>,
    arguments: Value,
    setting: Setting,
    asked: &CancellationToken,
    inner: &CancellationToken,
) -> Result<Option<After>, Fault> {
    let limit = tool.tool.limits().timeout;
    let limit = (limit, None);
    bounded(async move { tool.tool.settle(arguments, setting).await }, false, limit, asked, inner).await
}

/// Runs `work`, where `here` on this task: cancelled through `inner` when it was `asked` or has taken longer than
/// `limit`, the time not counted in which its user was asked; its panics caught.
pub(crate) async fn bounded<T: Send + 'static>(
    work: impl Future<Output = Result<T, Fault>> + Send + 'static,
    here: bool,
    (limit, inquiries): (Duration, Option<&Inquiries>),
    asked: &CancellationToken,
    inner: &CancellationToken,
) -> Result<T, Fault> {
    let work = AssertUnwindSafe(work).catch_unwind();
    let mut running = if here { Running::Here(Box::pin(work)) } else { Running::Apart(tokio::spawn(work)) };
    // Most calls end when they are first asked: nothing else is waited for then.
    let ended = tokio::select! {
        biased;
        ended = running.ended() => ended,
        () = asked.cancelled() => {
            inner.cancel();
            running.abort();
            return Err(cancelled());
        }
        () = lapsed(limit, inquiries) => {
            inner.cancel();
            running.abort();
            let message = format!("the call took longer than {} s", limit.as_secs());
            return Err(Fault::new(Code::Timeout, message).suggest("Ask for less: fewer files, or one part after another."));
        }
    };
    ended.unwrap_or_else(|panic| {
        tracing::error!(panic = panic_text(&panic), "a tool panicked");
        Err(Fault::internal("the tool failed unexpectedly; nothing was changed"))
    })
}

type Ended<T> = Result<Result<T, Fault>, Box<dyn Any + Send>>;

/// A tool's code on its way.
enum Running<F, T> {
    Here(Pin<Box<F>>),
    Apart(JoinHandle<Ended<T>>),
}

impl<T, F: Future<Output = Ended<T>>> Running<F, T> {
    async fn ended(&mut self) -> Ended<T> {
        match self {
            Self::Here(work) => work.await,
            Self::Apart(task) => task.await.unwrap_or_else(|error| Err(Box::new(error.to_string()))),
        }
    }

    fn abort(self) {
        if let Self::Apart(task) = self {
            task.abort();
        }
    }
}

/// What a panic said, for the log.
pub(crate) fn panic_text(panic: &Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Runs a blocking step of the pipeline off the protocol's thread.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let guarded = move || std::panic::catch_unwind(AssertUnwindSafe(work));
    match tokio::task::spawn_blocking(guarded).await {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => {
            tracing::error!(panic = panic_text(&panic), "a step of the pipeline panicked");
            Err(Fault::internal("the call failed unexpectedly"))
        }
        Err(_) => Err(Fault::internal("the call was lost")),
    }
}

/// What a cancelled call answers.
pub(crate) fn cancelled() -> Fault {
    Fault::new(Code::Cancelled, "the call was cancelled; nothing was changed")
}
