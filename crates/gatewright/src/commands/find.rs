//! Finding a call by its id, the beginning of one, or `last`.

use ::audit::record::ExecutionMode;
use ::audit::verify::{With, verify};
use ::audit::{Body, Entry, Ledger, Transcript};
use contract::{Code, Fault};
use exec::StateDir;

use super::CommandError;

/// Every intact record. What a crash left uncounted is counted first, as every process does before it serves.
pub fn entries(state: &StateDir) -> Result<Vec<Entry>, CommandError> {
    if state.ledger().is_dir() {
        // One that cannot be opened is still looked at as it is.
        let _ = Ledger::open(&state.ledger());
    }
    let mut all = Vec::new();
    verify(&state.ledger(), &With::default(), |entry| all.push(entry.clone()))?;
    Ok(all)
}

/// The transcripts among `entries`.
pub fn transcripts(entries: &[Entry]) -> impl DoubleEndedIterator<Item = (&Entry, &Transcript)> {
    entries.iter().filter_map(|e| if let Body::Transcript(t) = &e.body { Some((e, &**t)) } else { None })
}

/// Whether a call changed something.
pub fn has_applied(transcript: &Transcript) -> bool {
    transcript.execution_mode == ExecutionMode::Apply
        && transcript.error.is_none()
        && !transcript.effects.is_empty()
}

/// The call that `name` means. `last` is the latest that `eligible` says yes to.
pub fn one<'e>(
    entries: &'e [Entry],
    name: &str,
    eligible: impl Fn(&Transcript) -> bool,
) -> Result<(&'e Entry, &'e Transcript), Fault> {
    if name == "last" {
        return transcripts(entries).rev().find(|(_, t)| eligible(t)).ok_or_else(|| {
            Fault::new(Code::NotFound, "no call is left that this could be about")
                .suggest("`gatewright audit tail` lists the calls; name one by its id.")
        });
    }
    let found: Vec<_> = transcripts(entries).filter(|(_, t)| t.id.as_str().starts_with(name)).collect();
    match found.as_slice() {
        [one] if !name.is_empty() => Ok(*one),
        [] => Err(Fault::new(Code::NotFound, format!("there is no call {name:?}"))
            .suggest("`gatewright audit tail` lists the calls.")),
        _ => Err(Fault::invalid(format!("{} calls begin with {name:?}", found.len()))
            .suggest("Give more of the id.")),
    }
}
