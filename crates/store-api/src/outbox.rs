//! What is kept for a server that cannot be reached: writes that wait, and its last answers.

use contract::Digest;
use serde::{Deserialize, Serialize};

use crate::context::Answer;
use crate::error::StoreError;
use crate::text::named;
use crate::time::Timestamp;

/// Most writes that wait.
pub const MAX_WAITING: u64 = 10_000;
/// Most bytes of all of them: 64 MiB.
pub const MAX_WAITING_BYTES: u64 = 64 << 20;
/// How long an answer may be shown in place of one that cannot be had, in milliseconds: seven days.
pub const MIRRORED: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Most answers that are kept, besides those about sessions (`session:…`, `current:…`).
pub const MAX_MIRRORED: u32 = 200;

/// A write that is to be sent later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Its idempotency key.
    pub key: String,
    /// The digest of what it asks.
    pub request: Digest,
    /// The address of the context that it is for.
    pub context: String,
    /// Where it goes there.
    pub path: String,
    /// The body.
    pub body: String,
}

impl Letter {
    /// Whether it can be kept.
    pub fn check(&self) -> Result<(), StoreError> {
        named("idempotency key", &self.key, 256)?;
        named("address of a context", &self.context, 2_048)?;
        named("path", &self.path, 256)
    }
}

/// A write that was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its place in line.
    pub number: i64,
    /// Its idempotency key.
    pub key: String,
    /// The digest of what it asks.
    pub request: Digest,
    /// The address of the context that it is for.
    pub context: String,
    /// Where it goes there.
    pub path: String,
    /// The body.
    pub body: String,
    /// When it was kept.
    pub made: Timestamp,
    /// Why it was refused for good.
    pub why: Option<String>,
}

/// How many writes wait, and were refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Those that wait.
    pub waiting: u64,
    /// Those that were refused for good.
    pub failed: u64,
}

/// Writes that wait, in order, and the last answers.
pub trait Outbox: Send + Sync {
    /// Keeps a write at the end of the line; one whose key is there already is not kept twice.
    /// [`StoreError::TooLarge`] where no more may wait.
    fn post(&self, letter: Letter) -> Answer<i64>;

    /// The first that waits for a context.
    fn first(&self, context: String) -> Answer<Option<Waiting>>;

    /// Everything in line, whatever context it is for, in order: the first `limit`, with those that were refused.
    fn line(&self, limit: u32) -> Answer<Vec<Waiting>>;

    /// How long the line of a context is.
    fn length(&self, context: String) -> Answer<Line>;

    /// Takes one out of the line: it arrived, or nobody wants it any more. Whether it was there.
    fn take_out(&self, number: i64) -> Answer<bool>;

    /// Lets one wait no longer: it was refused. What waits behind it for the same note was made of what it would have left, and is refused
    /// with it.
    fn refuse(&self, number: i64, why: String) -> Answer<()>;

    /// Puts those that a context refused back in line; how many.
    fn retry(&self, context: String) -> Answer<u64>;

    /// Names a session anew, in all that waits and for whoever asks by its old name.
    fn rename(&self, id: String, becomes: String) -> Answer<()>;

    /// What a session is called now.
    fn named_now(&self, id: String) -> Answer<Option<String>>;

    /// Keeps an answer.
    fn mirror(&self, question: String, answer: String) -> Answer<()>;

    /// The last answer to a question, and when it was given: not older than [`MIRRORED`].
    fn mirrored(&self, question: String) -> Answer<Option<(Timestamp, String)>>;

    /// Takes what only one may do at a time, for so many milliseconds, or keeps it; whether it is `holder`'s now.
    fn lease(&self, name: String, holder: String, millis: i64) -> Answer<bool>;
}
