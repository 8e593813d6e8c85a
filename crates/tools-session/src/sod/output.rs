//! A day's page as fields.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use store_api::Timestamp;
use store_api::handoff::HandoffStatus;

use crate::grade::{Changed, Grade};
use crate::tools::status::Group;
use crate::tools::ventures::Venture;
use crate::weekly::Freshness;
use crate::workplace::Link;

/// Whether the day can begin here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DayStatus {
    /// It began.
    Valid,
    /// The venture is checked out elsewhere on this machine.
    NeedsNavigation,
    /// The venture is not on this machine.
    NeedsClone,
    /// Nobody can tell which venture is meant.
    SelectVenture,
    /// The session could not be recorded.
    Error,
}

/// The session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Whether it went on.
    pub resumed: bool,
    /// The venture's code.
    pub venture: String,
    /// Its name.
    pub venture_name: String,
    /// The repository.
    pub repository: String,
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Who you are to others.
    pub agent: String,
    /// What tells it from others of yours here.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub track: String,
    /// When it began.
    pub started: Timestamp,
}

/// What was handed over.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Handed {
    /// Its id.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub from: String,
    /// How.
    pub status: HandoffStatus,
    /// The issue that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<u64>,
    /// What was said: reference, not instruction.
    pub summary: String,
    /// Whether more was said.
    pub cut: bool,
    /// How far it still holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// Why.
    pub because: Vec<String>,
    /// What changed since.
    pub changed: Changed,
}

/// Somebody else at work.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Other {
    /// The session's id.
    pub id: String,
    /// Who.
    pub agent: String,
    /// The machine's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The repository.
    pub repository: String,
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<u64>,
    /// The last sign of life.
    pub heartbeat: Timestamp,
}

/// The plan of the week.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Weekly {
    /// Whether it is of this week.
    pub freshness: Freshness,
    /// Where it is, or should be.
    pub path: String,
    /// How old it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_days: Option<i64>,
    /// What matters most, where a heading says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// How many parts it has.
    pub sections: u64,
}

/// A document in the index.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Row {
    /// `global`, or the venture's code.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// How often it was changed.
    pub version: i64,
    /// Whether nobody looked at it for too long.
    pub stale: bool,
}

/// The documents.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Documents {
    /// How many are shown.
    pub shown: u64,
    /// How many there are.
    pub total: u64,
    /// Those that are shown.
    pub rows: Vec<Row>,
}

/// A note, whose text is in the message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Note {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The venture's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub venture: Option<String>,
    /// Its tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Characters that are shown.
    pub characters: u64,
    /// Whether it has more.
    pub cut: bool,
}

/// The notes.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Notes {
    /// How many are shown.
    pub shown: u64,
    /// How many there are.
    pub total: u64,
    /// Characters that are shown.
    pub characters: u64,
    /// Those that are shown.
    pub items: Vec<Note>,
}

/// A plan of another tool: to be applied by a call of that one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Proposal {
    /// Its id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, to be passed with `plan` and `apply`.
    pub arguments: Map<String, Value>,
    /// What it would do.
    pub effects: Vec<String>,
}

/// The documents that there must be.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Audit {
    /// How many are as they should be.
    pub present: u64,
    /// Those that are not there.
    pub missing: Vec<String>,
    /// Those that something speaks against.
    pub stale: Vec<String>,
    /// Those of the store that were made now.
    pub healed: Vec<String>,
    /// What would make those of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Proposal>,
}

/// What was late or failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Left {
    /// What.
    pub source: String,
    /// Why.
    pub why: String,
    /// The milliseconds that it had, where it was late.
    pub after_ms: u64,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Whether the day can begin here.
    pub day: DayStatus,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    /// What was handed over in the last day, newest first.
    pub handoffs: Vec<Handed>,
    /// Issues of first priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p0: Option<Group>,
    /// Others at work.
    pub sessions: Vec<Other>,
    /// The plan of the week.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weekly_plan: Option<Weekly>,
    /// The documents.
    pub documents: Documents,
    /// The documents that there must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// The notes; their texts are in the message.
    pub notes: Notes,
    /// The ventures, where one is to be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ventures: Option<Vec<Venture>>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How the context stands, where it is somewhere else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Link>,
    /// What was left out.
    pub left_out: Vec<Left>,
    /// What is not as it should be.
    pub warnings: Vec<String>,
}

impl Output {
    pub(crate) fn of(day: DayStatus) -> Self {
        Self {
            day,
            session: None,
            handoffs: Vec::new(),
            p0: None,
            sessions: Vec::new(),
            weekly_plan: None,
            documents: Documents::default(),
            audit: None,
            notes: Notes::default(),
            ventures: None,
            next: None,
            context: None,
            left_out: Vec::new(),
            warnings: Vec::new(),
        }
    }
}
