//! Taking an applied plan back, recorded like any other call.

use std::sync::Arc;

use audit::record::ExecutionMode;
use audit::{Body, Durability, Intent, Transcript, ledger};
use contract::effect::Reverse;
use contract::{CallId, Effect, Fault, Principal, TranscriptId};
use exec::apply;
use exec::state::Durable;

use crate::engine::Engine;

/// What an undo would do, or did.
#[derive(Debug, Clone)]
pub struct Undone {
    /// One line per effect.
    pub effects: Vec<String>,
    /// The reverse diff, cleaned.
    pub diff: String,
    /// The transcript that records it; none for a rehearsal.
    pub transcript: Option<TranscriptId>,
}

/// Most characters of the diff.
const MAX_DIFF: usize = 64 * 1024;

/// Plans the reverse of what the call `target` applied and, if `perform`, applies it.
///
/// Refused with `conflict` where later work is in the way; then nothing is changed.
pub fn undo(
    engine: &Arc<Engine>,
    target: &TranscriptId,
    principal: &Principal,
    perform: bool,
) -> Result<Undone, Fault> {
    let root =
        engine.root().ok_or_else(|| Fault::new(contract::Code::NoRoot, "there is no root to work in"))?;
    let cleaner = engine.cleaner();
    let clean = |fault: Fault| cleaner.fault(fault);
    let applied = engine.state().applied(target).map_err(clean)?;
    let planned = apply::plan_undo(root, engine.state(), &applied);
    let id = TranscriptId::random().map_err(|e| Fault::internal(e.to_string()))?;
    let started = ledger::now();
    let (effects, diff, result) = match planned {
        Err(fault) => (Vec::new(), String::new(), Err(fault)),
        Ok(proposal) => {
            let diff = exec::diff::of(root, &proposal.plan.effects, &proposal.blobs, MAX_DIFF, &|t| {
                cleaner.reviewed(t)
            });
            let mut effects: Vec<String> =
                proposal.plan.effects.iter().map(|e| cleaner.text(&e.summary())).collect();
            effects.extend(applied.plan.effects.iter().filter_map(|effect| match effect.reverse() {
                Reverse::Effect(_) => None,
                Reverse::DeleteBranch(name) => Some(format!("delete branch {name}")),
                Reverse::Irreversible => Some(format!("leave as it is: {}", cleaner.text(&effect.summary()))),
            }));
            let result = if perform {
                perform_undo(engine, &applied, &proposal, &id, principal).map(Some)
            } else {
                Ok(None)
            };
            (effects, cleaner.reviewed(&diff.text), result)
        }
    };
    let plan_id = match &result {
        Ok(Some(done)) => Some(done.receipt.plan),
        _ => None,
    };
    let artifacts = match &result {
        Ok(Some(done)) => {
            done.receipt.effects.iter().filter_map(Effect::change).map(|c| c.path.to_string()).collect()
        }
        _ => Vec::new(),
    };
    let result = result.map_err(clean);
    let transcript = Transcript {
        id: id.clone(),
        tool_call_id: CallId("cli".into()),
        timestamp_start: started,
        timestamp_end: ledger::now(),
        tool_name: "undo".into(),
        tool_args: serde_json::json!({ "transcript": target }),
        execution_mode: if perform { ExecutionMode::Apply } else { ExecutionMode::DryRun },
        exit_code: None,
        stdout: format!("undo of {target}"),
        stderr: result.as_ref().err().map(|f| f.message.clone()).unwrap_or_default(),
        artifacts,
        redactions: Vec::new(),
        principal: principal.label(),
        decision: "allow (the user's own command)".into(),
        plan_id,
        definition_hash: None,
        confinement: "none".into(),
        error: result.as_ref().err().cloned(),
        root: Some(root.name().to_owned()),
        reached: Vec::new(),
        refused: Vec::new(),
        effects: effects.clone(),
        diff: diff.clone(),
        upstream: None,
        labels: Vec::new(),
        cost: None,
    };
    let durability = if perform { Durability::Now } else { Durability::Soon };
    engine
        .ledger()
        .append(&Body::Transcript(Box::new(transcript)), durability)
        .map_err(|e| Fault::new(contract::Code::LedgerUnavailable, e.to_string()))?;
    result.map(|done| Undone { effects, diff, transcript: done.map(|_| id) })
}

fn perform_undo(
    engine: &Arc<Engine>,
    applied: &apply::Applied,
    proposal: &exec::draft::Proposal,
    id: &TranscriptId,
    principal: &Principal,
) -> Result<apply::Applied, Fault> {
    let root =
        engine.root().ok_or_else(|| Fault::new(contract::Code::NoRoot, "there is no root to work in"))?;
    let plan_id = proposal.plan.id().map_err(|e| Fault::internal(e.to_string()))?;
    let intent = Body::Intent(Intent {
        id: id.clone(),
        tool_name: "undo".into(),
        plan_id: Some(plan_id),
        principal: principal.label(),
        timestamp: ledger::now(),
    });
    engine
        .ledger()
        .append(&intent, Durability::Now)
        .map_err(|e| Fault::new(contract::Code::LedgerUnavailable, e.to_string()))?;
    for (digest, bytes) in &proposal.blobs {
        engine.state().put_blob(digest, bytes, Durable::No)?;
    }
    apply::undo(root, engine.state(), applied, &proposal.plan, id)
}
