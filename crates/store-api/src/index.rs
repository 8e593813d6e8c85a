//! Indexes of libraries, kept so that a process that has just begun need not read every file again.
//!
//! Files are the truth and an index is made of them: it may be dropped at any time, and whoever misses it makes it anew. What the
//! blobs mean is the reader's affair; `format` is the number of what wrote them.
//!
//! An index has a *generation*, which is written whole and does not change, and what changed since. Every change has a number, the
//! *epoch*; who changes something says which one it goes by, so that two processes do not write over each other.

use crate::context::Answer;
use crate::error::StoreError;
use crate::text::{MAX_KEY, named};

/// Documents that are listed at a time.
pub const LISTED_AT_ONCE: usize = 1_000;

/// Most terms, spans or documents that are asked for, or put in, at a time.
pub const MAX_AT_ONCE: usize = 10_000;
/// Most bytes of the place of a library.
pub const MAX_PLACE: usize = 4_096;

/// Which library an index is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Whose {
    /// Where the library is, on this machine.
    pub place: String,
    /// What it is called.
    pub name: String,
}

impl Whose {
    /// Whether an index can be kept of it.
    pub fn check(&self) -> Result<(), StoreError> {
        named("a library's name", &self.name, MAX_KEY)?;
        named("a library's place", &self.place, MAX_PLACE)
    }
}

/// What is told of an index as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What wrote it.
    pub format: u32,
    /// The terms, and how many documents have each.
    pub vocabulary: Vec<u8>,
    /// What is known of each document besides its words.
    pub columns: Vec<u8>,
    /// What else its maker knows.
    pub notes: String,
}

/// An index as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// What is asked for by [`Indexes::terms`] and the others.
    pub generation: i64,
    /// The number of its last change.
    pub epoch: i64,
    /// What is told of it.
    pub facts: Facts,
    /// Documents that are no longer as they were when the generation was made.
    pub dead: Vec<Span>,
    /// Documents that changed since, as they were analysed.
    pub changed: Vec<Vec<u8>>,
}

/// The documents of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The term's number in the vocabulary.
    pub number: u32,
    /// Which documents have it.
    pub postings: Vec<u8>,
    /// Where in them; may be empty.
    pub positions: Vec<u8>,
}

/// A term that is asked for, once in a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The term's number in the vocabulary.
    pub number: u32,
    /// Whether with its positions, which are longer than its postings: without, they are empty.
    pub positions: bool,
}

/// The terms of a document of the generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The document's number.
    pub number: u32,
    /// Its terms.
    pub terms: Vec<u8>,
}

/// A document as it is known, without its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Unique in its index.
    pub id: String,
    /// The file that it begins with, from the root.
    pub main: String,
    /// What of its files tells whether it has changed.
    pub state: String,
    /// How often it was used, as it says itself.
    pub stated: u64,
    /// Whether it counted as verified when it was read.
    pub verified: bool,
    /// How much is wrong with it.
    pub wrong: u32,
}

/// A document with all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it is known by.
    pub known: Known,
    /// What else its maker knows.
    pub facts: String,
}

/// A piece of a generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Documents.
    Documents(Vec<Document>),
    /// Terms.
    Terms(Vec<Term>),
    /// Terms of documents.
    Spans(Vec<Span>),
}

impl Piece {
    /// How many rows it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Documents(all) => all.len(),
            Self::Terms(all) => all.len(),
            Self::Spans(all) => all.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Documents that are there now, or are there otherwise; with their words, where they can be found by them.
    pub put: Vec<(Document, Option<Vec<u8>>)>,
    /// Ids of documents that are no more.
    pub gone: Vec<String>,
    /// Documents of the generation that are not as they were.
    pub dead: Vec<Span>,
    /// [`Facts::notes`] from now on.
    pub notes: String,
}

/// Indexes of libraries. What is answered may be of an earlier epoch than the one that is there by then; a generation that is gone
/// answers with less than was asked for.
pub trait Indexes: Send + Sync {
    /// The number of the last change of a library's index; none where there is no index.
    fn epoch(&self, whose: Whose) -> Answer<Option<i64>>;

    /// A library's index without its lists.
    fn head(&self, whose: Whose) -> Answer<Option<Head>>;

    /// Terms by their numbers, in order: those that are there.
    fn terms(&self, generation: i64, wanted: Vec<Wanted>) -> Answer<Vec<Term>>;

    /// The terms of documents of the generation by their numbers, in order: those that are there.
    fn spans(&self, generation: i64, numbers: Vec<u32>) -> Answer<Vec<Span>>;

    /// Documents by their ids, in order: those that are there.
    fn documents(&self, generation: i64, ids: Vec<String>) -> Answer<Vec<Document>>;

    /// What is known of all documents, by id: the next [`LISTED_AT_ONCE`] behind one.
    fn known(&self, generation: i64, after: Option<String>) -> Answer<Vec<Known>>;

    /// Documents with something wrong, by the file that they begin with: at most `most`.
    fn wrong(&self, generation: i64, most: u32) -> Answer<Vec<Document>>;

    /// Begins a generation, which nobody sees before it is [finished](Self::finish). One that is left so for an hour is let go of.
    fn begin(&self) -> Answer<i64>;

    /// Puts something into a generation that is not finished: at most [`MAX_AT_ONCE`] at a time.
    fn put(&self, generation: i64, piece: Piece) -> Answer<()>;

    /// The generation is the library's index from now on; the one before is let go of. The new epoch, or [`StoreError::Stale`] where
    /// the epoch is not `expected`: then the generation is gone.
    fn finish(&self, whose: Whose, expected: Option<i64>, generation: i64, facts: Facts) -> Answer<i64>;

    /// Changes an index; the new epoch, or [`StoreError::Stale`] where the epoch is not `expected`.
    fn change(&self, whose: Whose, expected: i64, changes: Changes) -> Answer<i64>;

    /// Lets go of a library's index, where there is one.
    fn forget(&self, whose: Whose) -> Answer<()>;
}
