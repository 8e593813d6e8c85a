//! What the tools that read git have in common: nothing that a repository defines is run, and nothing leads out of the root.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cache::Namespace;
use contract::{Code, Fault};
use exec::history::{HistoryError, Limits, Repo, basis};
use kit::ReadDesk;
use kit::desk::unread;
use serde::Serialize;

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
    ended(desk, &cancelled, reading).await
}

/// What `reading` says, unless the call is cancelled first: then it is told, too.
async fn ended<T>(
    desk: &ReadDesk,
    cancelled: &AtomicBool,
    reading: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    if let Some(read) = desk.cancelled().run_until_cancelled(reading).await {
        return read;
    }
    cancelled.store(true, Ordering::Relaxed);
    Err(Fault::new(Code::Cancelled, "the call was cancelled"))
}

/// As [`read`], of what only commits and refs decide: given again while no ref has moved. `question` says all that was asked.
///
/// What looks at the work tree or at its attributes is not for this: to know that nothing changed there costs what reading it
/// does.
pub(crate) async fn read_again<T: Clone + Serialize + Send + Sync + 'static>(
    desk: &ReadDesk,
    question: String,
    work: impl FnOnce(&Repo, &Limits, &AtomicBool) -> Result<T, HistoryError> + Send + 'static,
) -> Result<T, Fault> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancelled);
    let reading = desk.blocking(move |desk| {
        let answer = desk.again(Namespace::GitReads, &[question.as_bytes()], |grounds| {
            let root = desk.view().root().path();
            let watched = basis(root);
            for path in watched.iter().flatten() {
                grounds.depends.on(path);
            }
            // A ref that came between the two was not watched from the start.
            if watched.is_none() || basis(root) != watched {
                grounds.depends.never_again();
            }
            let repository = desk.repository()?;
            work(&repository, &Limits::default(), &flag).map_err(unread)
        })?;
        Ok(answer.as_ref().clone())
    });
    ended(desk, &cancelled, reading).await
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
