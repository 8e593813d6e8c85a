//! `transcript://…`: the record of one call.

use std::ops::ControlFlow;

use audit::{Body, Entry, LedgerError, Transcript, recent};
use contract::{Code, Fault, Principal, TranscriptId};

use super::{READ, Resource, Template};
use crate::engine::Engine;

/// How many records are looked at for a list: enough for a day's work of a team, and soon done.
const LOOKED_AT: usize = 5_000;

pub(super) struct Transcripts;

fn fault(error: &LedgerError) -> Fault {
    Fault::new(Code::LedgerUnavailable, error.to_string())
}

fn transcript(entry: &Entry) -> Option<&Transcript> {
    if let Body::Transcript(transcript) = &entry.body { Some(transcript) } else { None }
}

impl Resource for Transcripts {
    fn template(&self) -> Template {
        Template {
            scheme: "transcript",
            title: "Record of a call",
            description: "What a call was given, what it did and what came of it, as it is kept in the record: read it \
                          to find out what happened before.",
            mime: "application/json",
            has_parts: false,
        }
    }

    fn list(&self, engine: &Engine, owner: &Principal) -> Result<Vec<(String, String, String)>, Fault> {
        let (label, mut looked, mut found) = (owner.label(), 0, Vec::new());
        let listed = recent::transcripts(engine.ledger().dir(), None, |entry| {
            looked += 1;
            if let Some(own) = transcript(&entry).filter(|t| t.principal == label && t.tool_name != READ) {
                let outcome = match &own.error {
                    Some(error) => error.code.as_str().to_owned(),
                    None => "done".to_owned(),
                };
                let title = format!("{}: {outcome}", own.tool_name);
                found.push((own.id.to_string(), title, own.timestamp_end.clone()));
            }
            if looked >= LOOKED_AT || found.len() >= super::MAX_LISTED {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        listed.map_err(|e| fault(&e))?;
        Ok(found)
    }

    fn read(&self, engine: &Engine, owner: &Principal, id: &str) -> Result<String, Fault> {
        let id: TranscriptId = id.parse().map_err(|_| super::unknown(id))?;
        let (label, wanted, mut found) = (owner.label(), id.to_string(), None);
        let looked = recent::transcripts(engine.ledger().dir(), Some(&wanted), |entry| {
            if transcript(&entry).is_some_and(|t| t.id == id) {
                found = Some(entry);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        looked.map_err(|e| fault(&e))?;
        let own = found.filter(|entry| transcript(entry).is_some_and(|t| t.principal == label));
        let entry = own.ok_or_else(|| super::unknown(&wanted))?;
        let value = serde_json::to_value(&entry).map_err(|e| Fault::internal(e.to_string()))?;
        serde_json::to_string_pretty(&engine.cleaner().value(&value))
            .map_err(|e| Fault::internal(e.to_string()))
    }
}
