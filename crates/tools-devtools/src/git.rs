//! What the tools that read git have in common: nothing that a repository defines is run, and nothing leads out of the root.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use contract::Fault;
use exec::history::{HistoryError, Limits, Repo};
use kit::ReadDesk;
use kit::desk::unread;

/// Reads the repository off the protocol's thread; the call's cancellation ends it.
pub(crate) async fn read<T: Send + 'static>(
    desk: &ReadDesk,
    work: impl FnOnce(&Repo, &Limits, &AtomicBool) -> Result<T, HistoryError> + Send + 'static,
) -> Result<T, Fault> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancelled);
    let reading = desk.blocking(move |desk| {
        let repository = desk.repository()?;
        work(&repository, &Limits::default(), &flag).map_err(unread)
    });
    match desk.cancelled().run_until_cancelled(reading).await {
        Some(read) => read,
        None => {
            cancelled.store(true, Ordering::Relaxed);
            Err(Fault::new(contract::Code::Cancelled, "the call was cancelled"))
        }
    }
}

/// The paths that a caller names, seen from its directory, as the repository knows them.
pub(crate) fn paths(directory: Option<&str>, named: &[String]) -> Result<Vec<String>, Fault> {
    let dir = crate::running::directory(directory)?;
    if named.is_empty() {
        return Ok(dir.map(|dir| dir.to_string()).into_iter().collect());
    }
    named
        .iter()
        .map(|path| match &dir {
            Some(dir) => dir
                .join(path)
                .map(|path| path.to_string())
                .map_err(|e| Fault::invalid(format!("{path}: {e}"))),
            None => exec::view::path_argument(path).map(|path| path.to_string()),
        })
        .collect()
}

/// Whether `path` is below `folder`; everything is below none.
pub(crate) fn is_below(path: &str, folder: Option<&str>) -> bool {
    folder.is_none_or(|folder| {
        path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}
