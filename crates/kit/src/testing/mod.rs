//! The laws that every family is held to, and the bench that they are tried on.
#![allow(clippy::missing_panics_doc, reason = "a law that does not hold panics: that is what it is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]
#![allow(
    clippy::disallowed_methods,
    reason = "test support: builds fixtures and looks at the disk from outside"
)]

pub mod bench;
pub mod laws;

pub use bench::Bench;
