//! What a server of contexts keeps for itself: keys, how often each asked, what was asked, and texts of administrators.

use contract::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Answer;
use crate::document::placed;
use crate::error::StoreError;
use crate::id::KeyId;
use crate::text::{MAX_KEY, at_most, named};
use crate::time::Timestamp;

/// How long requests stay in the log, in milliseconds: seven days.
pub const LOGGED: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Most bytes of a text: 1 MiB.
pub const MAX_TEXT: usize = 1_048_576;

/// A key of the API. The secret itself is kept nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Its id, which is a part of the key and no secret.
    pub id: KeyId,
    /// Whose it is.
    pub name: String,
    /// Whether it may administer.
    pub admin: bool,
    /// The digest of the secret.
    pub hash: Digest,
    /// When it was made.
    pub created: Timestamp,
    /// When it was used last, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Timestamp>,
}

/// A key that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// Its id.
    pub id: KeyId,
    /// Whose it is.
    pub name: String,
    /// Whether it may administer.
    pub admin: bool,
    /// The digest of the secret.
    pub hash: Digest,
}

impl NewKey {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        named("name of a key", &self.name, MAX_KEY)
    }
}

/// Keys.
pub trait Keys: Send + Sync {
    /// Keeps a key.
    fn add_key(&self, key: NewKey) -> Answer<ApiKey>;

    /// A key, also a revoked one.
    fn key(&self, id: KeyId) -> Answer<Option<ApiKey>>;

    /// All keys, the newest first: the first 10,000.
    fn keys(&self) -> Answer<Vec<ApiKey>>;

    /// Revokes a key for good; whether there was one that was not revoked.
    fn revoke(&self, id: KeyId) -> Answer<bool>;
}

/// A request, as the log has it: nothing of what was asked or answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// When.
    pub at: Timestamp,
    /// The correlation id that the answer named.
    pub correlation: String,
    /// The key, where one was known.
    pub key: Option<KeyId>,
    /// The HTTP method.
    pub method: String,
    /// The route's template.
    pub route: String,
    /// The HTTP status.
    pub status: u16,
    /// How long it took.
    pub millis: u64,
}

/// Requests: counted and logged.
pub trait Traffic: Send + Sync {
    /// Counts a request of `owner` in the current minute, together with all other servers of the same database; how many there are
    /// now. A crash of the database may forget them.
    fn count(&self, owner: String) -> Answer<u64>;

    /// Keeps requests in the log, and when each key was used last.
    fn log(&self, requests: Vec<Logged>) -> Answer<()>;

    /// The last `limit` requests, the newest first.
    fn logged(&self, limit: u32) -> Answer<Vec<Logged>>;

    /// Lets go of requests that are older than [`LOGGED`] and of counts of minutes that are over; how many requests.
    fn sweep_traffic(&self) -> Answer<u64>;
}

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// A document that there must be, as JSON.
    Requirement,
    /// A script for machines.
    Script,
}

impl TextKind {
    /// As it is stored and shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Requirement => "requirement",
            Self::Script => "script",
        }
    }
}

/// A text of an administrator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Text {
    /// Its name.
    pub name: String,
    /// How often it was changed, from 1.
    pub version: i64,
    /// The digest of the text, in hexadecimal.
    pub sha256: String,
    /// When it was changed last.
    pub updated: Timestamp,
    /// The text.
    pub content: String,
}

/// A text that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewText {
    /// What it is for.
    pub kind: TextKind,
    /// Its name: letters, digits, `.`, `_` and `-`, at most 120.
    pub name: String,
    /// The text.
    pub content: String,
    /// The version that was changed, 0 for none; another one is [`StoreError::Stale`].
    pub expected: Option<i64>,
}

impl NewText {
    /// Whether it can be stored.
    pub fn check(&self) -> Result<(), StoreError> {
        placed(self.kind.word(), &self.name)?;
        at_most("content", &self.content, MAX_TEXT)
    }
}

/// Texts of administrators.
pub trait Texts: Send + Sync {
    /// Keeps a text in place of what was there; the same again changes nothing.
    fn put_text(&self, text: NewText) -> Answer<Text>;

    /// A text.
    fn text(&self, kind: TextKind, name: String) -> Answer<Option<Text>>;

    /// All texts of a kind, by name: the first 1,000.
    fn texts(&self, kind: TextKind) -> Answer<Vec<Text>>;

    /// Removes a text; whether there was one.
    fn remove_text(&self, kind: TextKind, name: String) -> Answer<bool>;
}
