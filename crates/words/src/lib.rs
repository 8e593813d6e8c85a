//! Words as they are searched for.
//!
//! A text becomes terms ([`analyze`]), which go into an index of SQLite's FTS5 ([`fts5_text`]) or PostgreSQL ([`tsvector_literal`])
//! as they are: neither database analyses anything, so both find the same. What a user types becomes a [`Query`], and that
//! the databases' own questions ([`fts5_match`], [`tsquery_literal`]); nothing typed reaches them as an operator. Why a text was
//! found is shown by a [`snippet()`].
//!
//! A term is made of letters and digits of any script and the marks that belong to them, in lower case: no space, quote,
//! backslash, NUL, nor any other character of ASCII. One that is no word of the text as it stands (a stem, a part of an identifier) has
//! [`MARK`] before it, so that phrases find words alone; a [`Label`] has two.
//!
//! Nothing here reads a disk or a clock, and everything is linear in what it is given.

mod analyze;
mod ask;
mod chars;
mod index;
mod label;
mod query;
mod snippet;
mod split;

pub use analyze::{Form, MARK, MAX_TERM, MAX_TEXT, Token, Tokens, analyze};
pub use ask::{Columns, fts5_match, tsquery_literal, tsquery_rank};
pub use index::{
    FTS5_TOKENIZE, MAX_PLACES, MAX_POSITIONS, MAX_TSVECTOR, Tsvector, Weight, fts5_labels, fts5_text,
    tsvector_literal,
};
pub use label::{Label, MAX_LABEL, TAG};
pub use query::{MAX_ITEMS, MAX_QUERY, Query};
pub use snippet::{MAX_SNIPPET, Snippet, snippet, snippet_of};
