//! What can go wrong.

use thiserror::Error;

/// Why something was refused, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SearchError {
    /// Bytes of another analysis.
    #[error("written by analysis {found}, this is {wanted}: analyse the documents again and build anew")]
    Version {
        /// What they say.
        found: u8,
        /// What this program writes.
        wanted: u8,
    },
    /// Bytes that are not what they are said to be.
    #[error("{0} is damaged: build the index anew")]
    Corrupt(&'static str),
    /// More than is taken.
    #[error("{what} has more than {most} bytes: leave it out")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// Documents out of order, or one id twice.
    #[error(
        "document `{0}` does not come behind the one before it: give documents in the order of their ids, each once"
    )]
    Order(String),
    /// More documents than there are numbers, or more categories.
    #[error("more {0} than an index holds: split the library")]
    TooMany(&'static str),
    /// A question that is too long.
    #[error("the query has {0} characters; the most is 256: ask with fewer words")]
    QueryTooLong(usize),
    /// The caller did not bring what the plan asked for.
    #[error("term {term} of library {library} was asked for and not given: fetch every term of the plan")]
    Missing {
        /// By its place in the list of libraries.
        library: usize,
        /// The number in that library's vocabulary.
        term: u32,
    },
    /// The plan was made for other libraries.
    #[error("the plan is for {planned} libraries, {given} were given: plan again")]
    OtherLibraries {
        /// When it was made.
        planned: usize,
        /// Now.
        given: usize,
    },
}
