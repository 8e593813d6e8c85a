//! What one session tells the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StoreError;
use crate::history::{Cursor, check_limit};
use crate::id::{CheckpointId, HandoffId, MachineId, SessionId};
use crate::session::check_issue;
use crate::text::{MAX_KEY, each, named};
use crate::time::Timestamp;

/// Most bytes of a summary together with its payload and anchor: 800 KiB.
pub const MAX_HANDOFF: usize = 800 * 1_024;
/// Most files that an anchor names.
pub const MAX_FILES: usize = 200;
/// Most paths that an anchor names as not committed.
pub const MAX_DIRTY: usize = 50;

/// How work is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandoffStatus {
    /// It goes on.
    InProgress,
    /// It waits for something.
    Blocked,
    /// It is done.
    Done,
}

impl HandoffStatus {
    /// As it is stored and shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Done => "done",
        }
    }

    /// What `word` stands for.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::InProgress, Self::Blocked, Self::Done].into_iter().find(|status| status.word() == word)
    }
}

/// The branch that a branch follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Upstream {
    /// Its name.
    pub name: String,
    /// Commits that it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// Commits that it has alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
}

/// What was not committed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dirty {
    /// Paths staged.
    pub staged: u64,
    /// Paths changed and not staged.
    pub unstaged: u64,
    /// Paths that git does not know.
    pub untracked: u64,
    /// Paths in conflict.
    pub conflicted: u64,
    /// Some of them, at most [`MAX_DIRTY`], with the digest of each file.
    #[serde(default)]
    pub paths: Vec<Touched>,
    /// SHA-256 over all of them and their contents; none where nothing was dirty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Added,
    /// It has another content.
    Modified,
    /// It is no more.
    Deleted,
}

/// A file that the work touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Touched {
    /// From the root.
    pub path: String,
    /// What happened to it.
    pub change: Change,
    /// The SHA-256 of its content, in hexadecimal; none of what is gone or could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Where the repository stood: what a handoff is held against later.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Anchor {
    /// The commit that was checked out; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Whether none was.
    #[serde(default)]
    pub detached: bool,
    /// The commit at which the session began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// What the branch follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Upstream>,
    /// What was not committed.
    #[serde(default)]
    pub dirty: Dirty,
    /// What was committed since the start, at most [`MAX_FILES`].
    #[serde(default)]
    pub files: Vec<Touched>,
    /// How many more files there were.
    #[serde(default)]
    pub more: u64,
}

/// A handoff that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewHandoff {
    /// Its id.
    pub id: HandoffId,
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

impl NewHandoff {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        check_issue(self.issue)?;
        told(&self.summary, self.anchor.as_ref(), self.payload.as_ref())
    }
}

/// Whether a summary and what belongs to it can be stored.
fn told(summary: &str, anchor: Option<&Anchor>, payload: Option<&Value>) -> Result<(), StoreError> {
    named("summary", summary, MAX_HANDOFF)?;
    let (files, dirty) = anchor.map_or((0, 0), |anchor| (anchor.files.len(), anchor.dirty.paths.len()));
    for (what, got, most) in [("files of an anchor", files, MAX_FILES), ("dirty paths", dirty, MAX_DIRTY)] {
        if got > most {
            return Err(StoreError::TooLarge { what, got, most });
        }
    }
    let size = |text: Result<String, serde_json::Error>| text.map_or(0, |text| text.len());
    let anchor = anchor.map_or(0, |anchor| size(serde_json::to_string(anchor)));
    let payload = payload.map_or(0, |payload| size(serde_json::to_string(payload)));
    let got = summary.len() + anchor + payload;
    if got > MAX_HANDOFF {
        Err(StoreError::TooLarge { what: "handoff in bytes", got, most: MAX_HANDOFF })
    } else {
        Ok(())
    }
}

/// Who handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct From {
    /// The agent.
    pub agent: String,
    /// Its machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineId>,
}

/// A handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Handoff {
    /// Its id.
    pub id: HandoffId,
    /// The session that it ended.
    pub session: SessionId,
    /// The venture's code.
    pub venture: String,
    /// The repository.
    pub repo: String,
    /// The track.
    #[serde(default)]
    pub track: String,
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
    /// When.
    pub at: Timestamp,
    /// From whom.
    pub from: From,
}

/// Which handoffs are asked for, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffQuery {
    /// Those of a venture.
    pub venture: Option<String>,
    /// Those of a repository.
    pub repo: Option<String>,
    /// Those of a track, also of the empty one; all where none is named.
    pub track: Option<String>,
    /// Those of a session.
    pub session: Option<SessionId>,
    /// Those since then.
    pub since: Option<Timestamp>,
    /// Most entries, from 1 to [`crate::history::MAX_PAGE`].
    pub limit: u32,
    /// Goes on after a page.
    pub after: Option<Cursor>,
}

impl HandoffQuery {
    /// All of everybody, as many as fit a page.
    #[must_use]
    pub const fn all(limit: u32) -> Self {
        Self { venture: None, repo: None, track: None, session: None, since: None, limit, after: None }
    }

    /// Whether it can be asked.
    pub fn check(&self) -> Result<(), StoreError> {
        check_limit(self.limit)?;
        each("venture, repository or track", [&self.venture, &self.repo, &self.track], MAX_KEY)
    }
}

/// A checkpoint that is to be kept: where a session stands while it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCheckpoint {
    /// Its id.
    pub id: CheckpointId,
    /// The session.
    pub session: SessionId,
    /// What is told, in Markdown.
    pub summary: String,
    /// Where the repository stood.
    pub anchor: Option<Anchor>,
    /// What programs tell each other.
    pub payload: Option<Value>,
}

impl NewCheckpoint {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        told(&self.summary, self.anchor.as_ref(), self.payload.as_ref())
    }
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// Its id.
    pub id: CheckpointId,
    /// The session.
    pub session: SessionId,
    /// Which one of the session, from 1.
    pub ordinal: u64,
    /// What is told, in Markdown.
    pub summary: String,
    /// Where the repository stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
    /// What programs tell each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// When.
    pub at: Timestamp,
}
