//! Running a tool's code: cancellable, bounded in time, its panics caught.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use contract::{Code, Fault};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::desk::Setting;
use crate::erased::Invoked;
use crate::registry::Registered;

/// Runs the tool's code on its own task.
pub(crate) async fn invoke(
    tool: Arc<Registered>,
    arguments: Value,
    setting: Setting,
    asked: &CancellationToken,
    inner: &CancellationToken,
) -> Result<Invoked, Fault> {
    let limit = tool.tool.limits().timeout;
    let mut running = tokio::spawn(async move { tool.tool.invoke(arguments, setting).await });
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = asked.cancelled() => {
            inner.cancel();
            running.abort();
            return Err(cancelled());
        }
        () = tokio::time::sleep(limit) => {
            inner.cancel();
            running.abort();
            let message = format!("the call took longer than {} s", limit.as_secs());
            return Err(Fault::new(Code::Timeout, message).suggest("Ask for less, or raise the tool's timeout."));
        }
    };
    match ended {
        Ok(result) => result,
        Err(error) => {
            let panic = error.try_into_panic().map(|p| panic_text(&p)).unwrap_or_default();
            tracing::error!(panic, "a tool panicked");
            Err(Fault::internal("the tool failed unexpectedly; nothing was changed"))
        }
    }
}

/// What a panic said, for the log.
pub(crate) fn panic_text(panic: &Box<dyn std::any::Any + Send>) -> String {
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
