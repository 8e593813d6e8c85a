//! Sessions over the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store_api::Timestamp;
use store_api::day::NOTE_CHARACTERS;
use store_api::document::DocumentRow;
use store_api::handoff::Handoff;
use store_api::id::SessionId;
use store_api::note::Note;
use store_api::session::{Over, Session, SessionKey, Speaker, Standing};

use super::handoff::HandoffIn;
use super::{Page, Part, endpoint, nobody};

const fn notes() -> u64 {
    NOTE_CHARACTERS
}

/// Begins a session or goes on with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sod {
    /// The id, if it is new; the server makes one where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Whose it is, and where.
    #[serde(flatten)]
    pub key: SessionKey,
    /// Who speaks.
    #[serde(flatten)]
    pub speaker: Speaker,
    /// Where the work stands.
    #[serde(flatten)]
    pub standing: Standing,
    /// The principal, as the client knows it.
    #[serde(default = "nobody")]
    pub by: String,
    /// Most characters of notes that are given along.
    #[serde(default = "notes")]
    pub notes_characters: u64,
    /// Gives nothing but the session.
    #[serde(default)]
    pub only_session: bool,
}

/// The documents that there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocIndex {
    /// How many there are.
    pub total: u64,
    /// The first of them.
    pub docs: Vec<DocumentRow>,
}

/// The documents that there must be, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DocAudit {
    /// Those that are there.
    pub present: Vec<String>,
    /// Those that are not.
    pub missing: Vec<String>,
    /// Those that nobody changed for too long.
    pub stale: Vec<String>,
}

/// What a day begins with, besides the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Morning {
    /// What was handed over in the last day, the newest first.
    pub handoffs: Vec<Handoff>,
    /// The last handoff of this place, however old.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handoff: Option<Handoff>,
    /// Others at work in the venture.
    pub active_sessions: Vec<Session>,
    /// The documents of the venture and of all.
    pub doc_index: DocIndex,
    /// The documents that there must be.
    pub doc_audit: DocAudit,
    /// Notes with their texts, own ones first.
    pub notes: Vec<Note>,
    /// Whether the last note's text is cut.
    pub notes_cut: bool,
    /// How many notes there are.
    pub notes_total: u64,
}

/// What beginning gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Day {
    /// The session.
    pub session: Session,
    /// Whether it was there before.
    pub resumed: bool,
    /// Those of the same key that this put an end to.
    pub ended: Vec<Over>,
    /// When the next sign of life is due.
    pub next_heartbeat_at: Timestamp,
    /// What the day begins with; nothing where only the session was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub morning: Option<Morning>,
}

endpoint!(Sod: Post "/sod" (ONCE: bool = true), "Begins a session, or goes on with the one of the same agent, venture, repository and track" => Day);

fn manual() -> String {
    "manual".to_owned()
}

/// Ends a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Eod {
    /// The session.
    pub session_id: SessionId,
    /// What is handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<HandoffIn>,
    /// Why it ends.
    #[serde(default = "manual")]
    pub reason: String,
}

/// What ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// The session.
    pub session: Session,
    /// What was handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Handoff>,
}

endpoint!(Eod: Post "/eod" (ONCE: bool = true), "Ends a session, with what it hands over" => Ended);

/// Changes where the work of a session stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Update {
    /// The session.
    pub session_id: SessionId,
    /// Where the work stands; what is absent stays.
    #[serde(flatten)]
    pub standing: Standing,
    /// The version that was changed; another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<i64>,
}

/// A session that goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Alive {
    /// The session.
    pub session: Session,
    /// When the next sign of life is due.
    pub next_heartbeat_at: Timestamp,
}

endpoint!(Update: Post "/update" (ONCE: bool = true), "Changes where the work of a session stands, which is a sign of life" => Alive);

/// Gives a sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heartbeat {
    /// The session.
    pub session_id: SessionId,
}

endpoint!(Heartbeat: Post "/heartbeat", "Gives a sign of life of a session" => Alive);

/// A session by its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionById {
    /// The session.
    pub session_id: SessionId,
}

/// A session, where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaybeSession {
    /// It.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
}

endpoint!(SessionById: Get "/sessions/{session_id}", "A session" => MaybeSession);

/// The session of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Current {
    /// Whose, and where.
    #[serde(flatten)]
    pub key: SessionKey,
}

endpoint!(Current: Get "/current", "The active session of an agent, venture, repository and track" => MaybeSession);

/// Others at work beside a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Siblings {
    /// The session.
    pub session_id: SessionId,
    /// Which part.
    #[serde(flatten)]
    pub part: Part,
}

endpoint!(Siblings: Get "/siblings", "Active sessions of the same venture as this one, but not it" => Page<Session>);

/// Who is at work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Active {
    /// All but this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except: Option<SessionId>,
    /// In a venture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venture: Option<String>,
    /// In a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Which part.
    #[serde(flatten)]
    pub part: Part,
}

endpoint!(Active: Get "/active", "Active sessions of everybody, the latest sign of life first" => Page<Session>);
