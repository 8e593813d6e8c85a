//! What a crash left gets its transcript: the call was recorded as intended, and recovery knows what became of it.

use std::collections::BTreeSet;

use audit::record::ExecutionMode;
use audit::verify::{With, verify};
use audit::{Body, Durability, Ledger, LedgerError, Transcript, ledger};
use contract::{CallId, Code, Effect, Fault, Plan, TranscriptId};
use exec::apply::Recovered;

/// Appends the transcripts of the calls that `recovered` finished or took back. A call that has its transcript already
/// gets no second one: after a power cut a journal may be there again that had been removed.
pub fn record(ledger: &Ledger, recovered: &Recovered) -> Result<(), LedgerError> {
    if recovered.finished.is_empty() && recovered.taken_back.is_empty() {
        return Ok(());
    }
    let mut known = BTreeSet::new();
    verify(ledger.dir(), &With::default(), |entry| {
        if let Body::Transcript(transcript) = &entry.body {
            known.insert(transcript.id.clone());
        }
    })?;
    for applied in recovered.finished.iter().filter(|a| !known.contains(&a.receipt.transcript)) {
        append(ledger, &applied.receipt.transcript, &applied.plan, None)?;
    }
    for (id, plan) in recovered.taken_back.iter().filter(|(id, _)| !known.contains(id)) {
        let message = "the process stopped while the plan was applied; recovery took it back";
        let fault = Fault::new(Code::ToolExecutionFailed, message).suggest("Call the tool again.");
        append(ledger, id, plan, Some(fault))?;
    }
    Ok(())
}

fn append(ledger: &Ledger, id: &TranscriptId, plan: &Plan, error: Option<Fault>) -> Result<(), LedgerError> {
    let changes = plan.effects.iter().filter_map(Effect::change);
    let artifacts = if error.is_none() { changes.map(|c| c.path.to_string()).collect() } else { Vec::new() };
    let now = ledger::now();
    let transcript = Transcript {
        id: id.clone(),
        tool_call_id: CallId("recovered".into()),
        timestamp_start: now.clone(),
        timestamp_end: now,
        tool_name: plan.tool.to_string(),
        tool_args: serde_json::json!({ "digest": plan.arguments }),
        execution_mode: ExecutionMode::Apply,
        exit_code: None,
        stdout: "recovered after a crash".into(),
        stderr: error.as_ref().map(|f| f.message.clone()).unwrap_or_default(),
        artifacts,
        redactions: Vec::new(),
        principal: "see the intent of the same id".into(),
        decision: "allow (see the intent of the same id)".into(),
        plan_id: plan.id().ok(),
        definition_hash: None,
        confinement: "none".into(),
        error,
        root: None,
        reached: Vec::new(),
        refused: Vec::new(),
        effects: plan.effects.iter().map(Effect::summary).collect(),
        diff: String::new(),
        upstream: None,
        labels: Vec::new(),
        cost: None,
    };
    ledger.append(&Body::Transcript(Box::new(transcript)), Durability::Now).map(|_| ())
}
