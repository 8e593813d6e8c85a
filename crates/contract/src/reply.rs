//! The result of a call: what every front door returns around a tool's own output.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fault::Severity;
use crate::id::{PlanId, TranscriptId};
use crate::media::Media;

/// How far a call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Everything that was asked was done.
    Completed,
    /// A plan was made and not applied.
    Proposed,
    /// The call goes on as a job.
    Detached,
}

/// About the result, rather than of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Estimated tokens of the result without this object: `ceil(chars × 11 / 40)`.
    pub tokens_used: u64,
    /// How long the call took, in milliseconds.
    pub duration: u64,
    /// How many results a list holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results_count: Option<u64>,
    /// The transcript that records the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub transcript: Option<TranscriptId>,
}

/// The plan of a rehearsal or an apply, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanView {
    /// Pass it back as `plan` to apply exactly this.
    #[schemars(with = "String")]
    pub id: PlanId,
    /// One line per effect, in order.
    pub effects: Vec<String>,
    /// Unified diffs, redacted and cut to the budget.
    pub diff: String,
}

/// What was cut to keep a result within its budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Truncated {
    /// How much is shown.
    pub shown: u64,
    /// How much there is.
    pub total: u64,
    /// The call that shows more.
    pub next: String,
}

/// One program that a call ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// Its whole output: pass it to `run_output`.
    pub run: String,
    /// The command line.
    pub command: String,
    /// Its exit code; none when a signal ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration: u64,
    /// How far it was confined: full, filters, none.
    pub confinement: String,
    /// Hosts that it reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<String>,
    /// Hosts that it asked for and was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

/// What a run wrote besides its plan: caches and build folders that its tool declares and the project ignores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideWrites {
    /// The topmost folders and files.
    pub paths: Vec<String>,
    /// Their bytes.
    pub bytes: u64,
}

/// The envelope that is merged with the tool's own output into one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// False when a program ran and reported findings.
    pub success: bool,
    /// How far the call came.
    pub status: Status,
    /// Markdown, deterministic, written to be read and quoted.
    pub message: String,
    /// The plan, when the tool changes something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanView>,
    /// Caches and build folders that persist; undo leaves them.
    #[serde(rename = "sideWrites", default, skip_serializing_if = "Option::is_none")]
    pub side_writes: Option<SideWrites>,
    /// Changes that no plan can have: nothing is applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<String>,
    /// The programs that ran, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunView>,
    /// What to do about a run that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// Files that a failure names.
    #[serde(rename = "affectedFiles", default, skip_serializing_if = "Vec::is_empty")]
    pub affected_files: Vec<String>,
    /// How bad a failure is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The job that goes on: pass it to `job_status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// What was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
    /// About the result.
    pub metadata: Metadata,
}

impl Envelope {
    /// Its fields that only tools which start programs have.
    pub const OF_RUNS: [&'static str; 7] =
        ["sideWrites", "blocked", "runs", "suggestions", "affectedFiles", "severity", "job"];

    /// Whether a field of this name may be in one.
    #[must_use]
    pub fn may_have(name: &str) -> bool {
        static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
            let schema = schemars::schema_for!(Envelope);
            let properties = schema.get("properties").and_then(Value::as_object);
            properties.into_iter().flat_map(Map::keys).cloned().collect()
        });
        NAMES.contains(name)
    }

    /// An envelope with what every one has.
    #[must_use]
    pub const fn new(success: bool, status: Status, message: String, metadata: Metadata) -> Self {
        Self {
            success,
            status,
            message,
            plan: None,
            side_writes: None,
            blocked: Vec::new(),
            runs: Vec::new(),
            suggestions: Vec::new(),
            affected_files: Vec::new(),
            severity: None,
            job: None,
            truncated: None,
            metadata,
        }
    }
}

/// A successful result: the envelope and the tool's own output, one object on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The envelope.
    pub envelope: Envelope,
    /// The tool's own fields.
    pub output: Map<String, Value>,
    /// What goes beside that object, in the order of its `attached`.
    pub media: Vec<Media>,
}

impl Reply {
    /// The one object that goes out. The tool's fields never replace the envelope's.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        let mut output = self.output.clone();
        if let Value::Object(envelope) = serde_json::to_value(&self.envelope)? {
            output.extend(envelope);
        }
        Ok(Value::Object(output))
    }
}

/// As [`Reply::to_value`] has it, without a value between, and in another order: what the call came to stands first.
impl Serialize for Reply {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            #[serde(flatten)]
            envelope: &'a Envelope,
            #[serde(flatten)]
            output: &'a Map<String, Value>,
        }
        if self.output.keys().any(|name| Envelope::may_have(name)) {
            return self.to_value().map_err(serde::ser::Error::custom)?.serialize(serializer);
        }
        Whole { envelope: &self.envelope, output: &self.output }.serialize(serializer)
    }
}

/// The estimate that `tokensUsed` states: `ceil(chars × 11 / 40)`, in integers.
#[must_use]
pub const fn tokens_used(chars: u64) -> u64 {
    (chars * 11).div_ceil(40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_rounded_up_in_integers() {
        assert_eq!([0, 1, 40, 41].map(tokens_used), [0, 1, 11, 12]);
        assert_eq!(tokens_used(50_000), 13_750);
    }

    #[test]
    fn the_envelope_knows_the_names_of_its_fields_as_they_go_out() {
        for name in Envelope::OF_RUNS.into_iter().chain(["success", "status", "message", "plan", "metadata"])
        {
            assert!(Envelope::may_have(name), "{name}");
        }
        assert!(!Envelope::may_have("side_writes") && !Envelope::may_have("tools"));
    }

    #[test]
    fn output_cannot_shadow_the_envelope() {
        let metadata = Metadata { tokens_used: 1, duration: 2, results_count: None, transcript: None };
        let envelope = Envelope::new(true, Status::Completed, "m".into(), metadata);
        for shadowing in ["success", "plan", "y"] {
            let output = serde_json::json!({"x": 1, shadowing: 7}).as_object().unwrap().clone();
            let reply = Reply { envelope: envelope.clone(), output, media: Vec::new() };
            let value = reply.to_value().unwrap();
            assert_eq!((&value["success"], &value["x"]), (&Value::Bool(true), &Value::from(1)));
            // What the envelope has no word for just now is the tool's own.
            assert_eq!(value["y"] == 7, shadowing == "y");
            assert_eq!(value["plan"] == 7, shadowing == "plan");
            // Once each: what is written twice would not be read.
            let written = serde_json::to_string(&reply).unwrap();
            assert_eq!(crate::canonical::parse_strict(written.as_bytes()).unwrap(), value);
        }
    }
}
