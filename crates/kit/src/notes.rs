//! What is gathered about a call while it goes through the pipeline: it becomes the call's transcript.

use std::collections::BTreeSet;
use std::time::Instant;

use audit::record::{Cost, ExecutionMode, Upstream};
use audit::{Redactor, Transcript, ledger};
use contract::{Digest, Fault, PlanId, Reply, TranscriptId, canonical};
use exec::run::Level;
use serde_json::Value;

use crate::call::Call;
use crate::choice::Choice;
use crate::consent::Question;
use crate::cost::Measured;
use crate::course::{Course, Ended};
use crate::shape::{self, Cleaner};

/// Most bytes of arguments that a transcript keeps; larger ones are named by digest.
const MAX_ARGUMENTS: usize = 256 * 1024;

/// Most bytes of text that a transcript keeps of each stream and of the diff.
pub(crate) const MAX_STREAM: usize = 64 * 1024;

/// The same, for a call that is refused before anything looked at them.
const MAX_REFUSED: usize = 4 * 1024;

/// The decision of a call that never came to one.
const EARLY: &str = "refused before policy";

/// Deepest nesting of arguments that a transcript keeps as it is.
const MAX_DEPTH: usize = 48;

/// What was gathered so far.
pub(crate) struct Notes {
    pub(crate) id: TranscriptId,
    pub(crate) started: Instant,
    pub(crate) tool: String,
    pub(crate) mode: ExecutionMode,
    pub(crate) decision: String,
    pub(crate) plan: Option<PlanId>,
    pub(crate) definition: Option<Digest>,
    pub(crate) effects: Vec<String>,
    pub(crate) diff: String,
    pub(crate) artifacts: Vec<String>,
    pub(crate) unknown_tool: bool,
    /// What the caller's user could be asked.
    pub(crate) question: Option<Question>,
    /// What the caller's user could choose from.
    pub(crate) choice: Option<Choice>,
    /// Whether the call is recorded: all are, but for repeated refusals of a limit.
    pub(crate) record: bool,
    /// Whose tool it is, where it is another server's.
    pub(crate) upstream: Option<Upstream>,
    /// What the call brings into its session, or takes out, where that counts.
    pub(crate) labels: Vec<String>,
    started_at: String,
    pub(crate) arguments: Value,
    redactions: Vec<String>,
    /// Its programs.
    pub(crate) course: Course,
    /// Its answer, as far as it is made.
    pub(crate) measured: Measured,
}

impl Notes {
    /// What is known before the first step.
    pub(crate) fn begin(
        call: &Call,
        id: TranscriptId,
        course: Course,
        redactor: &Redactor,
        cleaner: &Cleaner<'_>,
    ) -> Self {
        let redacted = redactor.value(&call.arguments);
        let is_large = written(&redacted.value) > MAX_ARGUMENTS;
        let arguments = if is_large { omitted(&redacted.value) } else { exact(redacted.value, 0) };
        Self {
            id,
            started: Instant::now(),
            started_at: ledger::now(),
            tool: cleaner.named(&shape::bounded(&call.tool, 256)),
            arguments,
            redactions: redacted.redactions,
            course,
            measured: Measured::default(),
            mode: ExecutionMode::DryRun,
            decision: EARLY.into(),
            plan: None,
            definition: None,
            effects: Vec::new(),
            diff: String::new(),
            artifacts: Vec::new(),
            unknown_tool: false,
            question: None,
            choice: None,
            record: true,
            upstream: None,
            labels: Vec::new(),
        }
    }

    /// The transcript of a call that ended with `result`.
    pub(crate) fn into_transcript(
        self,
        call: &Call,
        root: Option<&str>,
        result: &Result<Reply, Fault>,
        cost: Option<Cost>,
    ) -> Transcript {
        let (message, error) = match result {
            Ok(reply) => (reply.envelope.message.as_str(), None),
            Err(fault) => ("", Some(fault.clone())),
        };
        let large = self.decision == EARLY && written(&self.arguments) > MAX_REFUSED;
        let tool_args = if large { omitted(&self.arguments) } else { self.arguments };
        let runs = self.course.ended();
        Transcript {
            id: self.id,
            tool_call_id: call.id.clone(),
            timestamp_start: self.started_at,
            timestamp_end: ledger::now(),
            tool_name: self.tool,
            tool_args,
            execution_mode: self.mode,
            exit_code: runs.last().and_then(Ended::code),
            stdout: shape::bounded(message, MAX_STREAM),
            stderr: error.as_ref().map(|f| shape::bounded(&f.message, MAX_STREAM)).unwrap_or_default(),
            artifacts: self.artifacts,
            redactions: self.redactions,
            principal: call.principal.label(),
            decision: self.decision,
            plan_id: self.plan,
            definition_hash: self.definition,
            // Of several programs, that of the one that was confined least.
            confinement: self.course.level().map_or("no program ran", Level::word).into(),
            error,
            root: root.map(str::to_owned),
            reached: hosts(&runs, |run| &run.reached),
            refused: hosts(&runs, |run| &run.refused),
            effects: self.effects,
            diff: self.diff,
            upstream: self.upstream,
            labels: self.labels,
            cost,
        }
    }
}

/// The hosts of all runs, each once.
fn hosts(runs: &[Ended], of: impl Fn(&Ended) -> &Vec<String>) -> Vec<String> {
    let all: BTreeSet<&String> = runs.iter().flat_map(of).collect();
    all.into_iter().cloned().collect()
}

/// Arguments, named by what they are and no more.
fn omitted(arguments: &Value) -> Value {
    let text = arguments.to_string();
    serde_json::json!({ "omitted": format!("{} bytes", text.len()), "digest": Digest::of(text.as_bytes()) })
}

/// How many bytes `value` takes in JSON.
fn written(value: &Value) -> usize {
    let mut bytes = Bytes(0);
    // It counts, and cannot fail.
    let _ = serde_json::to_writer(&mut bytes, value);
    bytes.0
}

/// Counts what is written to it.
struct Bytes(usize);

impl std::io::Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Numbers that have no exact double, and what is nested too deep, become text: a record reads back as it was written.
fn exact(value: Value, depth: usize) -> Value {
    match value {
        Value::Number(n) => {
            #[expect(clippy::cast_precision_loss, reason = "compared with the bound itself")]
            let safe =
                n.as_f64().is_some_and(|f| f.fract() != 0.0 || f.abs() <= canonical::MAX_SAFE_INTEGER as f64);
            if safe { Value::Number(n) } else { Value::String(n.to_string()) }
        }
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => Value::String(value.to_string()),
        Value::Array(items) => items.into_iter().map(|v| exact(v, depth + 1)).collect(),
        Value::Object(mut map) => {
            for item in map.values_mut() {
                *item = exact(item.take(), depth + 1);
            }
            Value::Object(map)
        }
        other => other,
    }
}
