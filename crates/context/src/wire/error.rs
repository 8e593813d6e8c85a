//! Errors over the wire, and what they are in a store's words.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store_api::StoreError;
use store_api::id::SessionId;
use store_api::session::SessionStatus;

/// What went wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request is not one. 400.
    InvalidRequest,
    /// The body follows a version that is not known. 400.
    SchemaVersionUnsupported,
    /// The cursor is none of this list. 400.
    CursorInvalid,
    /// There is no key, or none that counts. 401.
    Unauthorized,
    /// The key is no administrator's. 403.
    AdminRequired,
    /// There is no such thing. 404.
    NotFound,
    /// The path takes another method. 405.
    MethodNotAllowed,
    /// The session is over. 409.
    SessionClosed,
    /// Somebody else changed it meanwhile. 409.
    VersionConflict,
    /// Something else has that name. 409.
    Exists,
    /// The idempotency key was used for something else. 409.
    IdempotencyReused,
    /// It is too large. 413.
    TooLarge,
    /// The body is no JSON. 415.
    UnsupportedMediaType,
    /// Too many requests. 429.
    RateLimited,
    /// It is the server's fault. 500.
    Internal,
    /// The store does not answer. 503.
    Unavailable,
    /// The server is about to end. 503.
    Draining,
}

impl ErrorCode {
    /// The HTTP status that it comes with.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidRequest | Self::SchemaVersionUnsupported | Self::CursorInvalid => 400,
            Self::Unauthorized => 401,
            Self::AdminRequired => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::SessionClosed | Self::VersionConflict | Self::Exists | Self::IdempotencyReused => 409,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::RateLimited => 429,
            Self::Internal => 500,
            Self::Unavailable | Self::Draining => 503,
        }
    }

    /// Whether the same request may go through later.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable | Self::Draining | Self::Internal)
    }
}

/// What a program needs to know besides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Details {
    /// A session that is over.
    Closed {
        /// It.
        id: SessionId,
        /// What became of it.
        status: SessionStatus,
    },
    /// A version that is another.
    Stale {
        /// The version that is there.
        found: i64,
        /// The version that was expected.
        expected: i64,
    },
    /// Something that is not there.
    Missing {
        /// What it would be.
        what: String,
        /// What it was called.
        id: String,
    },
    /// Something that has the name already.
    Exists {
        /// What it is.
        what: String,
    },
    /// Words that make no question.
    Query {
        /// Why.
        why: String,
    },
}

/// An error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// What went wrong, for programs.
    pub code: ErrorCode,
    /// What went wrong and what to do, for people.
    pub message: String,
    /// Whether the same request may go through later.
    pub retryable: bool,
    /// What joins it with its line in the server's log.
    pub correlation_id: String,
    /// What a program needs to know besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// The body of every answer that is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// The error.
    pub error: Problem,
}

/// An error before it has a correlation id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// What went wrong, for programs.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// What a program needs to know besides.
    pub details: Option<Details>,
    /// Seconds after which to try again.
    pub retry_after: Option<u64>,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl ApiError {
    /// An error without details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None, retry_after: None }
    }

    /// A request that is none.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// Something that is not there.
    #[must_use]
    pub fn missing(what: &str, id: &str) -> Self {
        let details = Some(Details::Missing { what: what.to_owned(), id: id.to_owned() });
        Self { details, ..Self::new(ErrorCode::NotFound, format!("there is no {what} {id}")) }
    }

    /// As it is answered.
    #[must_use]
    pub fn body(self, correlation_id: String) -> ErrorBody {
        ErrorBody {
            error: Problem {
                code: self.code,
                message: self.message,
                retryable: self.code.is_retryable(),
                correlation_id,
                details: self.details,
            },
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        let (code, details) = match error {
            StoreError::Closed { id, status } => {
                (ErrorCode::SessionClosed, Some(Details::Closed { id, status }))
            }
            StoreError::Stale { found, expected } => {
                (ErrorCode::VersionConflict, Some(Details::Stale { found, expected }))
            }
            StoreError::NotFound { what, id } => {
                (ErrorCode::NotFound, Some(Details::Missing { what: what.to_owned(), id }))
            }
            StoreError::Exists { what } => {
                (ErrorCode::Exists, Some(Details::Exists { what: what.to_owned() }))
            }
            StoreError::Query(why) => (ErrorCode::InvalidRequest, Some(Details::Query { why })),
            StoreError::OnceReused => (ErrorCode::IdempotencyReused, None),
            StoreError::TooLarge { .. } => (ErrorCode::TooLarge, None),
            StoreError::Invalid { .. } | StoreError::Refused(_) | StoreError::NoKey(_) => {
                (ErrorCode::InvalidRequest, None)
            }
            StoreError::Busy { .. } | StoreError::Unreachable(_) => (ErrorCode::Unavailable, None),
            other => {
                tracing::error!(error = %other, "the store failed");
                let message = "the store of the context failed: its log says more".to_owned();
                return Self::new(ErrorCode::Internal, message);
            }
        };
        Self { details, ..Self::new(code, message) }
    }
}

/// A word that errors hold without owning it.
fn known(what: &str) -> &'static str {
    ["session", "note", "document", "machine", "checkpoint", "handoff"]
        .into_iter()
        .find(|known| *known == what)
        .unwrap_or("thing")
}

impl From<Problem> for StoreError {
    fn from(problem: Problem) -> Self {
        match (problem.code, problem.details) {
            (_, Some(Details::Closed { id, status })) => Self::Closed { id, status },
            (_, Some(Details::Stale { found, expected })) => Self::Stale { found, expected },
            (_, Some(Details::Missing { what, id })) => Self::NotFound { what: known(&what), id },
            (_, Some(Details::Exists { what })) => Self::Exists { what: known(&what) },
            (_, Some(Details::Query { why })) => Self::Query(why),
            (ErrorCode::IdempotencyReused, None) => Self::OnceReused,
            (ErrorCode::Unauthorized | ErrorCode::AdminRequired, None) => Self::NoKey(problem.message),
            (code, None) if code.is_retryable() => Self::Unreachable(problem.message),
            (_, None) => Self::Refused(problem.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use store_api::Timestamp;

    use super::*;

    #[test]
    fn what_a_store_says_arrives_as_what_it_said() {
        let id = SessionId::new(Timestamp::from_millis(1), 2);
        for error in [
            StoreError::Closed { id, status: SessionStatus::Ended },
            StoreError::Stale { found: 3, expected: 2 },
            StoreError::NotFound { what: "note", id: "note_x".to_owned() },
            StoreError::Exists { what: "document" },
            StoreError::Query("nothing to search for".to_owned()),
            StoreError::OnceReused,
        ] {
            let said = error.to_string();
            let text = serde_json::to_string(&ApiError::from(error).body("corr_1".to_owned())).unwrap();
            let body: ErrorBody = serde_json::from_str(&text).unwrap();
            assert_eq!(StoreError::from(body.error).to_string(), said);
        }
    }

    #[test]
    fn what_a_driver_says_stays_with_the_server() {
        let error = StoreError::Damaged("a row says \"secret\"".to_owned());
        assert!(!ApiError::from(error).message.contains("secret"));
    }
}
