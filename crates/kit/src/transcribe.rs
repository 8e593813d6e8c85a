//! The last step of a call: its transcript goes into the ledger.

use std::sync::Arc;

use audit::ledger::{Flushed, Lot};
use audit::{Anchor, Body, Durability, LedgerError, Transcript};
use contract::{Code, Fault};
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::running::blocking;

/// The most text that is sealed on the protocol's own thread: some tenths of a millisecond.
const SEALED_HERE: usize = 32 * 1024;

/// How often another thread that is writing is waited for by doing something else.
const BUSY: usize = 8;

/// Puts the transcript into the ledger: here, when nothing makes that wait, else on a thread that may.
pub(crate) async fn transcribe(
    engine: &Arc<Engine>,
    transcript: Box<Transcript>,
    durability: Durability,
) -> Result<Anchor, Fault> {
    let here = durability == Durability::Soon && transcript.text_len() <= SEALED_HERE;
    let body = Body::Transcript(transcript);
    if here {
        return in_group(engine, body).await;
    }
    let engine = Arc::clone(engine);
    blocking(move || engine.ledger().append(&body, durability).map_err(|error| failed(&error))).await
}

/// Leaves the record with those of other calls: one write takes all.
async fn in_group(engine: &Arc<Engine>, body: Body) -> Result<Anchor, Fault> {
    let (answer, answered) = oneshot::channel();
    // Whoever waited may be gone.
    let lot = engine.ledger().enqueue(&body, move |written| drop(answer.send(written)));
    let unwritten = Unwritten { engine, lot };
    // Calls that have come in meanwhile go first: a call that only looks gets here without a pause, and alone it would
    // be a group of one. Sixteen at once cost a fifth less for it; one alone loses a few microseconds.
    tokio::task::yield_now().await;
    let mut flushed = engine.ledger().try_flush(lot);
    for _ in 0..BUSY {
        if flushed != Flushed::Busy {
            break;
        }
        // Another thread will be done before long. Had it these records, too, it would have to wake this one for each.
        tokio::task::yield_now().await;
        flushed = engine.ledger().try_flush(lot);
    }
    match flushed {
        // Nothing of the lot waits: there is nothing to look for at every call's end.
        Flushed::Done => std::mem::forget(unwritten),
        Flushed::Busy => drop(unwritten),
        Flushed::Waits => {
            let engine = Arc::clone(engine);
            tokio::task::spawn_blocking(move || engine.ledger().flush());
        }
    }
    match answered.await {
        Ok(written) => written.map_err(|error| failed(&error)),
        Err(_) => Err(Fault::internal("the call could not be recorded")),
    }
}

/// A record that waits in a lot that perhaps nobody else looks at. When its call goes on, or is dropped, it is written, or left to whoever
/// has hold of the ledger.
struct Unwritten<'a> {
    engine: &'a Arc<Engine>,
    lot: Lot,
}

impl Drop for Unwritten<'_> {
    fn drop(&mut self) {
        if self.engine.ledger().try_leave(self.lot) == Flushed::Waits {
            let engine = Arc::clone(self.engine);
            std::thread::spawn(move || engine.ledger().flush());
        }
    }
}

fn failed(error: &LedgerError) -> Fault {
    tracing::error!(%error, "the ledger cannot be written");
    ledger_fault(error)
}

pub(crate) fn ledger_fault(error: &LedgerError) -> Fault {
    Fault::new(Code::LedgerUnavailable, error.to_string())
        .suggest("Free disk space or restore write access to the state folder, then try again.")
}
