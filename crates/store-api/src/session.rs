//! Sessions: who works where, and since when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::history::{Cursor, check_limit};
use crate::id::{MachineId, SessionId};
use crate::text::{MAX_KEY, at_most, each, named};
use crate::time::Timestamp;

/// Milliseconds of silence after which a session counts as abandoned: 45 minutes.
pub const SILENCE: i64 = 45 * 60 * 1_000;
/// Milliseconds between the signs of life of a session: ten minutes, give or take [`JITTER`].
pub const HEARTBEAT: i64 = 10 * 60 * 1_000;
/// By how many milliseconds signs of life are scattered, so that a fleet does not give them at once: two minutes.
pub const JITTER: i64 = 2 * 60 * 1_000;
/// Most bytes of a commit, branch or version.
const MAX_MARK: usize = 1_024;

/// What makes a session the same: of each key at most one is active.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct SessionKey {
    /// Who works.
    pub agent: String,
    /// The venture's code.
    pub venture: String,
    /// The repository, as `host/owner/name`; or a name for one that is nowhere else.
    pub repo: String,
    /// What tells two sessions of one agent in one repository apart; empty is a track of its own.
    #[serde(default)]
    pub track: String,
}

impl SessionKey {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        named("agent", &self.agent, MAX_KEY)?;
        named("venture", &self.venture, MAX_KEY)?;
        named("repository", &self.repo, MAX_KEY)?;
        at_most("track", &self.track, MAX_KEY)
    }
}

/// What became of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// It goes on.
    Active,
    /// Somebody ended it.
    Ended,
    /// Another of the same key took its place.
    Superseded,
    /// It fell silent.
    Abandoned,
}

impl SessionStatus {
    /// As it is stored and shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Ended => "ended",
            Self::Superseded => "superseded",
            Self::Abandoned => "abandoned",
        }
    }

    /// What `word` stands for.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Active, Self::Ended, Self::Superseded, Self::Abandoned]
            .into_iter()
            .find(|status| status.word() == word)
    }
}

/// Where the work stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Standing {
    /// The branch that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The issue that is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<u64>,
}

impl Standing {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        each("branch or commit", [&self.branch, &self.commit], MAX_MARK)?;
        check_issue(self.issue)
    }
}

/// Whether an issue's number can be stored: 1 to 2^63 - 1.
pub(crate) fn check_issue(issue: Option<u64>) -> Result<(), StoreError> {
    if issue.is_some_and(|issue| issue == 0 || i64::try_from(issue).is_err()) {
        return Err(StoreError::Invalid { what: "issue", why: "it is not a number from 1" });
    }
    Ok(())
}

/// Whether a session can be ended for that reason: at most 1,024 bytes.
pub fn check_reason(reason: &str) -> Result<(), StoreError> {
    at_most("reason", reason, MAX_MARK)
}

/// The program that speaks for somebody.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Speaker {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    /// The machine that it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineId>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Whose it is, and where.
    #[serde(flatten)]
    pub key: SessionKey,
    /// What became of it.
    pub status: SessionStatus,
    /// Who speaks.
    #[serde(flatten)]
    pub speaker: Speaker,
    /// Where the work stands.
    #[serde(flatten)]
    pub standing: Standing,
    /// The commit that was checked out when it began; it stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_commit: Option<String>,
    /// When it began.
    pub started: Timestamp,
    /// The last sign of life.
    pub heartbeat: Timestamp,
    /// When it ended; of one that fell silent its last sign of life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// How often it was changed, from 1.
    pub version: i64,
    /// The principal that began it.
    pub by: String,
}

/// A session that is to begin, or to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begin {
    /// The id, if it is new.
    pub id: SessionId,
    /// Whose it is, and where.
    pub key: SessionKey,
    /// Who speaks.
    pub speaker: Speaker,
    /// Where the work stands.
    pub standing: Standing,
    /// The principal.
    pub by: String,
}

impl Begin {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        self.key.check()?;
        self.standing.check()?;
        each("client", [&self.speaker.client, &self.speaker.client_version], MAX_KEY)?;
        named("principal", &self.by, MAX_MARK)
    }
}

/// A session that is no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Over {
    /// Its id.
    pub id: SessionId,
    /// What became of it.
    pub status: SessionStatus,
}

/// What beginning gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Begun {
    /// The session.
    pub session: Session,
    /// Whether it was there before.
    pub resumed: bool,
    /// Those of the same key that this put an end to.
    pub ended: Vec<Over>,
}

/// A change of a session. What is absent stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// The session.
    pub id: SessionId,
    /// The version that was changed; another one is [`StoreError::Stale`].
    pub expected: Option<i64>,
    /// Where the work stands.
    pub standing: Standing,
}

impl LiveQuery {
    /// All of everybody, as many as fit a page.
    #[must_use]
    pub const fn all(limit: u32) -> Self {
        Self { except: None, venture: None, repo: None, limit, after: None }
    }

    /// Whether it can be asked.
    pub fn check(&self) -> Result<(), StoreError> {
        check_limit(self.limit)?;
        each("venture or repository", [&self.venture, &self.repo], MAX_KEY)
    }
}

/// Which active sessions are asked for: those with a sign of life in the last [`SILENCE`], the latest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveQuery {
    /// All but this one.
    pub except: Option<SessionId>,
    /// Those of a venture.
    pub venture: Option<String>,
    /// Those in a repository.
    pub repo: Option<String>,
    /// Most entries, from 1 to [`crate::history::MAX_PAGE`].
    pub limit: u32,
    /// Goes on after a page.
    pub after: Option<Cursor>,
}
