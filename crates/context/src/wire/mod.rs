//! What goes over the wire.

pub mod admin;
pub mod cursor;
pub mod document;
pub mod error;
pub mod handoff;
pub mod key;
pub mod machine;
pub mod note;
pub mod session;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store_api::StoreError;
use store_api::history::Page as Kept;

pub use error::{ErrorBody, ErrorCode};

/// What every body says it follows.
pub const SCHEMA_VERSION: &str = "1.0";
/// The header with a key.
pub const KEY_HEADER: &str = "x-context-key";
/// The header with an administrator's key.
pub const ADMIN_HEADER: &str = "x-admin-key";
/// The header that makes a write the same write when it is sent again, for an hour.
pub const ONCE_HEADER: &str = "idempotency-key";
/// The digest of what is asked, where it is not that of the body: a client that makes a new id each time says it.
pub const DIGEST_HEADER: &str = "x-request-digest";
/// The header that says that the answer is the one of the first time.
pub const REPLAYED_HEADER: &str = "idempotency-replayed";
/// The header that joins a request with its line in the log.
pub const CORRELATION_HEADER: &str = "x-correlation-id";
/// Entries of a page that asks for no number.
pub const PAGE: u32 = 20;
/// Most entries of a page.
pub const MAX_PAGE: u32 = 100;
/// Most bytes of a body: 1 MiB.
pub const MAX_BODY: usize = 1 << 20;
/// Most bytes of a body that holds a document or a script, whose JSON is longer than it: 2 MiB.
pub const MAX_LARGE_BODY: usize = 2 << 20;

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads. What is asked is the query.
    Get,
    /// Writes. What is asked is the body.
    Post,
    /// Puts in place. What is asked is the body.
    Put,
    /// Removes. What is asked is the query.
    Delete,
}

impl Method {
    /// As HTTP spells it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }

    /// Whether what is asked is in the body.
    #[must_use]
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Put)
    }
}

/// Who may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Whoever has a key.
    Key,
    /// Whoever has a key of an administrator.
    Admin,
}

/// A request: its fields that the path names stand there, the others in the query or the body.
pub trait Endpoint: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// How it is sent.
    const METHOD: Method;
    /// Where: a segment in braces is the field of that name.
    const PATH: &'static str;
    /// Who may ask.
    const AUTH: Auth = Auth::Key;
    /// Whether its body may be [`MAX_LARGE_BODY`] long.
    const LARGE: bool = false;
    /// Whether an idempotency key makes it the same write; what else writes is the same when it is done twice.
    const ONCE: bool = false;
    /// What it does, in a sentence.
    const ABOUT: &'static str;
    /// What it answers.
    type Answer: Serialize + DeserializeOwned + JsonSchema + Send;
}

/// An endpoint's constants and answer.
macro_rules! endpoint {
    ($of:ty: $method:ident $path:literal $(($($option:ident: $kind:ty = $value:expr),*))?, $about:literal => $answer:ty) => {
        impl $crate::wire::Endpoint for $of {
            const METHOD: $crate::wire::Method = $crate::wire::Method::$method;
            const PATH: &'static str = $path;
            $($(const $option: $kind = $value;)*)?
            const ABOUT: &'static str = $about;
            type Answer = $answer;
        }
    };
}

pub(crate) use endpoint;

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    /// The entries.
    pub items: Vec<T>,
    /// Goes on after them, as `cursor`; none at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How many there are on all pages.
    pub total: u64,
}

impl<T> Page<T> {
    /// A page of a list that `question` names.
    pub(crate) fn of(page: Kept<T>, question: &str) -> Self {
        let next_cursor = page.next.map(|next| cursor::written(next, question));
        Self { items: page.items, next_cursor, total: page.total }
    }

    /// As a store has it.
    pub(crate) fn kept(self) -> Result<Kept<T>, StoreError> {
        let next = self.next_cursor.as_deref().map(cursor::read).transpose();
        let next = next.map_err(|_| StoreError::Refused("the context's cursor is not one".to_owned()))?;
        Ok(Kept { items: self.items, next, total: self.total })
    }
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Most entries, from 1 to 100; 20 where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u32>,
    /// Goes on after a page: its `next_cursor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Which list a request asks for, whatever the part of it: what cursors belong to.
pub(crate) fn question<E: Endpoint>(request: &E) -> String {
    let mut asked = serde_json::to_value(request).unwrap_or_default();
    if let Some(fields) = asked.as_object_mut() {
        fields.remove("limit");
        fields.remove("cursor");
    }
    format!("{} {asked}", E::PATH)
}

/// Something was done, or was not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoneOrNot {
    /// Whether it was there.
    pub done: bool,
}

/// Who writes, where nothing else is said.
pub(crate) fn nobody() -> String {
    "context".to_owned()
}
