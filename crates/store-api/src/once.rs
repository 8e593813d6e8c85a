//! Writes that are sent again.

use contract::Digest;

use crate::error::StoreError;
use crate::text::named;

/// How long the answer to a key is kept, in milliseconds: one hour. Compared as numbers.
pub const KEPT: i64 = 60 * 60 * 1_000;
/// Most bytes of a key.
const MAX: usize = 128;

/// What makes a write the same write when it is sent again: within [`KEPT`] it is done once, and answered as the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Once {
    /// Whose key it is: nobody meets another's.
    pub owner: String,
    /// The key: letters, digits, `_` and `-`, at most 128.
    pub key: String,
    /// The digest of what is written. Another one under the same key is [`StoreError::OnceReused`].
    pub request: Digest,
}

impl Once {
    /// Whether it can be used.
    pub fn check(&self) -> Result<(), StoreError> {
        let what = "idempotency key";
        named(what, &self.key, MAX)?;
        named("owner of an idempotency key", &self.owner, 1_024)?;
        let is_of_it = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if self.key.chars().all(is_of_it) {
            Ok(())
        } else {
            Err(StoreError::Invalid {
                what,
                why: "it has other characters than letters, digits, `_` and `-`",
            })
        }
    }
}

/// What a write gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done<T> {
    /// The answer.
    pub value: T,
    /// Whether it was done before, and this is the answer of then.
    pub replayed: bool,
}

impl<T> Done<T> {
    /// What was done now.
    pub const fn now(value: T) -> Self {
        Self { value, replayed: false }
    }
}
