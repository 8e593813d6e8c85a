//! What can go wrong, in types: the product decides how each is said.

use std::time::Duration;

/// Why a repository is not used at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// `.git` is a file: a submodule, or a repository whose folder lies elsewhere.
    #[error("`.git` is a file that leads to a folder elsewhere")]
    GitFile,
    /// A linked worktree whose repository nobody vouched for.
    #[error("it is a linked worktree of a repository outside this folder")]
    LinkedWorktree,
    /// A link in a place that would be followed.
    #[error("`{0}` is a symbolic link")]
    Link(String),
    /// Neither a file nor a directory, such as a pipe, in a place that would be read.
    #[error("`{0}` is neither a file nor a directory")]
    Special(String),
    /// A file that makes git read another repository.
    #[error("`{0}` leads to another repository")]
    LeadsElsewhere(String),
    /// The git folder lacks what makes it one.
    #[error("`{0}` is missing or not what it must be")]
    Incomplete(String),
    /// A repository without a work tree.
    #[error("it is a bare repository")]
    Bare,
    /// `core.worktree` is set.
    #[error("its configuration names a work tree of its own (core.worktree)")]
    WorkTree,
    /// A format or extension that is not supported: its name.
    #[error("it uses `{0}`, which is not supported")]
    Format(String),
    /// gix does not open it; what it said.
    #[error("it could not be opened: {0}")]
    Unreadable(String),
}

/// Why a reading failed. No variant holds bytes of files outside the repository.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The folder has no `.git`.
    #[error("there is no git repository at this folder's top")]
    NotARepository,
    /// The repository is of a kind that is not used.
    #[error("the git repository is not used: {0}")]
    Refused(#[from] Refusal),
    /// The text does not fit the grammar of revisions.
    #[error("{text:?} is not accepted as a revision: {why}")]
    BadRevision {
        /// What was given.
        text: String,
        /// Which rule it breaks.
        why: &'static str,
    },
    /// The text fits the grammar and names nothing.
    #[error("the revision {0:?} does not exist here")]
    UnknownRevision(String),
    /// An abbreviated id that several objects begin with.
    #[error("the abbreviated id {0:?} is ambiguous")]
    Ambiguous(String),
    /// The revision names something else than what is needed.
    #[error("{text:?} names a {found}, not a {wanted}")]
    WrongKind {
        /// What was given.
        text: String,
        /// The kind of the object.
        found: String,
        /// The kind that is needed.
        wanted: &'static str,
    },
    /// HEAD has no commit yet.
    #[error("there is no commit yet")]
    Unborn,
    /// The two have no common ancestor.
    #[error("the two revisions have no common ancestor")]
    NoMergeBase,
    /// A path that leaves the repository or has an unusual part.
    #[error("{0:?} is not a path inside the repository")]
    BadPath(String),
    /// A time that is neither RFC 3339 nor a date.
    #[error("{0:?} is neither a date nor a time of RFC 3339")]
    BadTime(String),
    /// The pattern of a search is not a regular expression.
    #[error("the pattern is not a regular expression: {0}")]
    BadPattern(#[from] regex::Error),
    /// A bound was reached.
    #[error("{what}: more than the limit of {limit}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much is read.
        limit: u64,
    },
    /// The time for the reading was up.
    #[error("reading the repository took longer than {0:?}")]
    TimedOut(Duration),
    /// The caller does not wait any more.
    #[error("reading the repository was cancelled")]
    Cancelled,
    /// gix failed; mostly a damaged or incomplete repository.
    #[error("{doing}: {source}")]
    Git {
        /// What was being done.
        doing: &'static str,
        /// What gix said.
        source: gix::Error,
    },
    /// The file system failed.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl HistoryError {
    /// For `map_err` over what gix says.
    pub(crate) fn git<E: Into<gix::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Git { doing, source: error.into() }
    }

    /// For `map_err` over what the system says.
    pub(crate) fn io<E: Into<std::io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Io { doing, source: error.into() }
    }
}

/// What a reading gives.
pub(crate) type Done<T> = Result<T, HistoryError>;
