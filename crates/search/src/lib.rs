//! Lexical search: no model, no I/O, and the same answers on every machine (§4 and §5 of `docs/design/library.md`).
//!
//! A [`Document`] becomes an [`Analysed`] one ([`Analyst`]); those, in the order of their ids, become a base
//! ([`build`], [`Builder`]) whose parts somebody stores. What changes after that is in a [`Delta`] until the base is built
//! anew: both together answer as if they had been built anew, with the same scores in the same order (§5 names an exception).
//!
//! A [`Query`] is answered in steps, since the store is elsewhere and may take its time: [`Plan::new`] looks into
//! vocabularies and deltas, [`Plan::needs`] says what is to be fetched, [`answer`] does the rest. Several libraries are
//! searched as if they were one, with the same exception. [`Memory`] is a library that has everything at hand.
//!
//! Nothing here reads a disk or a clock. What is decoded is checked; what is damaged is an error, never a panic.

mod analysed;
mod analyst;
mod base;
mod build;
mod bytes;
mod delta;
mod expand;
mod fault;
mod fields;
mod hot;
pub mod judge;
mod living;
mod memory;
mod near;
mod nearest;
mod one_off;
mod passage;
mod phrase;
mod places;
mod plan;
mod postings;
mod query;
mod reach;
mod scan;
mod score;
mod share;
mod tier;
mod why;
mod words;

pub use analysed::{Analysed, MAX_ANALYSED, MAX_ID};
pub use analyst::{Analyst, Document, MAX_TEXT, analyse};
pub use base::{Columns, Vocabulary};
pub use build::{Builder, Encoded, MAX_DOCUMENTS, TermBlobs, build};
pub use delta::{Delta, MAX_DELTA};
pub use fault::SearchError;
pub use fields::{Field, Shape, Tuning};
pub use memory::Memory;
pub use nearest::nearest;
pub use passage::{MAX_PASSAGE, Passages};
pub use plan::{LibraryView, MAX_TERMS, Need, Plan};
pub use query::{Filters, MAX_QUERY, MAX_WORDS, Mode, Query};
pub use score::{Answer, Hit, Order, answer};
pub use tier::Blob;
pub use why::{Found, How, Why};
pub use words::{ANALYSIS, MAX_WORD, words_of};
