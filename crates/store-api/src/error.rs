//! Why a store did not answer.

use contract::{Code, Fault};

use crate::id::SessionId;
use crate::session::SessionStatus;

/// Why a store did not answer. No message holds a path: errors reach clients.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database was written by a newer program. Nothing was changed.
    #[error(
        "the store has schema {found}, and this program knows schemas up to {known}: a newer gatewright wrote it; \
         update this one"
    )]
    NewerSchema {
        /// The schema's number in the database.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// There is a database of something else where the store should be. Nothing was changed.
    #[error("the store's file is a database of another program: configure another place for the store")]
    Foreign,
    /// The database cannot be read as one.
    #[error(
        "the store is damaged ({0}): move its file and those named like it aside, and a fresh one is made"
    )]
    Damaged(String),
    /// Others kept the database busy for longer than a call waits.
    #[error("the store was busy for {seconds} s: try again")]
    Busy {
        /// How long the call waited.
        seconds: u64,
    },
    /// The database or the context cannot be reached, or the connection broke: whether a write was done is not known. One that is sent
    /// again with the same id or idempotency key is done once.
    #[error(
        "what is remembered cannot be reached ({0}): see that its server runs, that you are in its network and that its address is right, then try again"
    )]
    Unreachable(String),
    /// The disk is full.
    #[error("the store cannot grow: free some space on the disk that holds gatewright's state")]
    Full,
    /// A list or a text is longer than a store takes.
    #[error("{what}: {got}, and a store takes at most {most}")]
    TooLarge {
        /// Of what there is too much.
        what: &'static str,
        /// How much there is.
        got: usize,
        /// The most that fits.
        most: usize,
    },
    /// A value that cannot be stored.
    #[error("{what} is not valid: {why}")]
    Invalid {
        /// The field.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The run was recorded before, too long ago for its answer to be kept.
    #[error("the run was recorded before; what was answered then is no longer kept")]
    AlreadyRecorded,
    /// There is no such thing.
    #[error("there is no {what} {id}")]
    NotFound {
        /// What it would be.
        what: &'static str,
        /// What it was called.
        id: String,
    },
    /// The session is over.
    #[error("session {id} is {}: begin another one", .status.word())]
    Closed {
        /// The session.
        id: SessionId,
        /// What became of it.
        status: SessionStatus,
    },
    /// Somebody else changed it meanwhile.
    #[error("it was changed meanwhile: version {found} is there, and {expected} was expected; read it again")]
    Stale {
        /// The version that is there.
        found: i64,
        /// The version that was expected.
        expected: i64,
    },
    /// Something else has that name.
    #[error("there is a {what} of that name that somebody wrote: it is not overwritten")]
    Exists {
        /// What it is.
        what: &'static str,
    },
    /// The key was used for something else.
    #[error("the idempotency key was used for another request within the last hour: use a new one")]
    OnceReused,
    /// There is no key for a server that others share, or none that counts.
    #[error("{0}")]
    NoKey(String),
    /// A server that others share refused it.
    #[error("the context refused it: {0}")]
    Refused(String),
    /// The words that were searched for make no question.
    #[error("q: {0}")]
    Query(String),
    /// The store's place cannot be used.
    #[error("the store's place cannot be used ({doing}): {source}")]
    Place {
        /// What was being done.
        doing: &'static str,
        /// Why it did not work.
        source: std::io::Error,
    },
    /// The driver failed in another way.
    #[error("the store did not answer ({doing}): {source}")]
    Driver {
        /// What was being done.
        doing: &'static str,
        /// What the driver says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::Invalid { .. } => Code::InvalidArgument,
            StoreError::TooLarge { .. } => Code::TooLarge,
            StoreError::Query(_) | StoreError::Refused(_) => Code::InvalidArgument,
            StoreError::NoKey(_) => Code::Forbidden,
            StoreError::NotFound { .. } => Code::NotFound,
            StoreError::AlreadyRecorded
            | StoreError::Closed { .. }
            | StoreError::Stale { .. }
            | StoreError::Exists { .. }
            | StoreError::OnceReused => Code::Conflict,
            StoreError::Busy { .. } | StoreError::Unreachable(_) => Code::Timeout,
            StoreError::Full | StoreError::Place { .. } | StoreError::Damaged(_) => Code::FilesystemError,
            StoreError::NewerSchema { .. } | StoreError::Foreign | StoreError::Driver { .. } => {
                Code::Internal
            }
        };
        Self::new(code, error.to_string())
    }
}
