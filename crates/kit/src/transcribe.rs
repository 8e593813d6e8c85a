//! The last step of a call: its transcript goes into the ledger.

use std::sync::Arc;

use audit::{Anchor, Body, Durability, LedgerError, Transcript};
use contract::{Code, Fault};

use crate::engine::Engine;
use crate::running::blocking;

/// The most text that is sealed on the protocol's own thread: some tenths of a millisecond.
const SEALED_HERE: usize = 32 * 1024;

/// Puts the transcript into the ledger: here, when nothing makes that wait, else on a thread that may.
pub(crate) async fn transcribe(
    engine: &Arc<Engine>,
    transcript: Transcript,
    durability: Durability,
) -> Result<Anchor, Fault> {
    let failed = |error: LedgerError| {
        tracing::error!(%error, "the ledger cannot be written");
        ledger_fault(&error)
    };
    let here = durability == Durability::Soon && transcript.text_len() <= SEALED_HERE;
    let body = Body::Transcript(Box::new(transcript));
    if here && let Some(anchor) = engine.ledger().try_append(&body).map_err(failed)? {
        return Ok(anchor);
    }
    let engine = Arc::clone(engine);
    blocking(move || engine.ledger().append(&body, durability).map_err(failed)).await
}

pub(crate) fn ledger_fault(error: &LedgerError) -> Fault {
    Fault::new(Code::LedgerUnavailable, error.to_string())
        .suggest("Free disk space or restore write access to the state folder, then try again.")
}
