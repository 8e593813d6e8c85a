//! The tools, one file each.

pub mod context;
pub mod doc;
pub mod handoff;
pub mod note;
pub mod notes;
pub mod plan;
pub mod preflight;
pub mod sod;
pub mod ventures;
