//! Handoffs and checkpoints over the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store_api::Timestamp;
use store_api::handoff::{Anchor, Checkpoint, Handoff, HandoffStatus, NewCheckpoint, NewHandoff};
use store_api::id::{CheckpointId, HandoffId, SessionId};

use super::{Page, Part, endpoint};

/// What is handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HandoffIn {
    /// Its id; the server makes one where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<HandoffId>,
    /// What is told, in Markdown.
    pub summary: String,
    /// How the work is handed over.
    pub status: HandoffStatus,
    /// The issue that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<u64>,
    /// Where the repository stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// What programs tell each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
}

impl From<NewHandoff> for HandoffIn {
    fn from(new: NewHandoff) -> Self {
        let NewHandoff { id, summary, status, issue, anchor, payload } = new;
        Self { id: Some(id), summary, status, issue, anchor, payload }
    }
}

impl HandoffIn {
    /// As a store takes it; `id` is for one that has none.
    pub(crate) fn kept(self, id: HandoffId) -> NewHandoff {
        let Self { id: own, summary, status, issue, anchor, payload } = self;
        NewHandoff { id: own.unwrap_or(id), summary, status, issue, anchor, payload }
    }
}

/// Keeps where a session stands while it goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointIn {
    /// Its id; the server makes one where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<CheckpointId>,
    /// The session.
    pub session_id: SessionId,
    /// What is told, in Markdown.
    pub summary: String,
    /// Where the repository stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// What programs tell each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
}

impl From<NewCheckpoint> for CheckpointIn {
    fn from(new: NewCheckpoint) -> Self {
        let NewCheckpoint { id, session, summary, anchor, payload } = new;
        Self { id: Some(id), session_id: session, summary, anchor, payload }
    }
}

/// What was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checked {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// When the next sign of life is due.
    pub next_heartbeat_at: Timestamp,
}

endpoint!(CheckpointIn: Post "/checkpoint" (ONCE: bool = true), "Keeps where a session stands while it goes on, which is a sign of life" => Checked);

/// The checkpoints of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoints {
    /// The session.
    pub session_id: SessionId,
    /// Which part.
    #[serde(flatten)]
    pub part: Part,
}

endpoint!(Checkpoints: Get "/checkpoints", "The checkpoints of a session, the first first" => Page<Checkpoint>);

/// What was handed over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Handoffs {
    /// In a venture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venture: Option<String>,
    /// In a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// On a track, also the empty one; on all where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track: Option<String>,
    /// By a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Which part.
    #[serde(flatten)]
    pub part: Part,
}

endpoint!(Handoffs: Get "/handoffs", "What was handed over, the newest first" => Page<Handoff>);

/// What was handed over last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Latest {
    /// In a venture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venture: Option<String>,
    /// In a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// On a track, also the empty one; on all where none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub track: Option<String>,
}

/// A handoff, where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaybeHandoff {
    /// It.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Handoff>,
}

endpoint!(Latest: Get "/handoffs/latest", "What was handed over last" => MaybeHandoff);
