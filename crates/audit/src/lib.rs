//! What happened, kept so that anyone can check it.
//!
//! - [`record`]: what one call leaves behind.
//! - [`redact`]: secrets leave before anything is written, indexed or returned.
//! - [`chain`]: every record points at the one before and carries a MAC whose key ratchets forward.
//! - [`merkle`] and [`checkpoint`]: a tree over all records, signed, so that a short anchor pins the whole past.
//! - [`ledger`]: the append-only files, shared by any number of processes. The only I/O of this crate.
//! - [`gain`]: what answers saved, from what the record has of them.
//! - [`recent`]: the latest records, for whoever only looks.
//! - [`verify`] and [`proof`]: what anyone can check, with what is in hand.
//! - [`report`]: the same as one HTML page.

pub mod chain;
pub mod checkpoint;
pub mod gain;
pub mod ledger;
pub mod merkle;
pub mod proof;
pub mod recent;
pub mod record;
pub mod redact;
pub mod report;
pub mod verify;

pub use ledger::{Anchor, Durability, Ledger, LedgerError};
pub use record::{Body, Entry, Intent, Transcript};
pub use redact::Redactor;
