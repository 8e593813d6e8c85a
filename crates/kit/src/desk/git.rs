//! The root's repository, read off the protocol's thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cache::Namespace;
use contract::{Code, Fault};
use exec::history::{HistoryError, Limits, Repo, basis};
use serde::Serialize;

use super::{ReadDesk, unread};

/// Reads the repository off the protocol's thread; the call's cancellation ends it.
pub async fn read<T: Send + 'static>(
    desk: &ReadDesk,
    work: impl FnOnce(&Repo, &Limits, &AtomicBool) -> Result<T, HistoryError> + Send + 'static,
) -> Result<T, Fault> {
    let cancelled = Leaving::default();
    let flag = Arc::clone(&cancelled.0);
    let reading = desk.blocking(move |desk| {
        let repository = desk.repository()?;
        work(&repository, &Limits::default(), &flag).map_err(unread)
    });
    ended(desk, cancelled, reading).await
}

/// Ends a reading when nobody waits for it any more: the call was cancelled, or its time is over.
#[derive(Default)]
struct Leaving(Arc<AtomicBool>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What `reading` says, unless the call is cancelled first.
async fn ended<T>(
    desk: &ReadDesk,
    leaving: Leaving,
    reading: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let read = desk.cancelled().run_until_cancelled(reading).await;
    drop(leaving);
    read.unwrap_or_else(|| Err(Fault::new(Code::Cancelled, "the call was cancelled")))
}

/// As [`read`], of what only commits and refs decide: given again while no ref has moved. `question` says all that was asked.
///
/// What looks at the work tree or at its attributes is not for this: to know that nothing changed there costs what reading it
/// does.
pub async fn read_again<T: Clone + Serialize + Send + Sync + 'static>(
    desk: &ReadDesk,
    question: String,
    work: impl FnOnce(&Repo, &Limits, &AtomicBool) -> Result<T, HistoryError> + Send + 'static,
) -> Result<T, Fault> {
    let cancelled = Leaving::default();
    let flag = Arc::clone(&cancelled.0);
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
    ended(desk, cancelled, reading).await
}
