//! The tools, one file each.

pub mod context;
pub mod doc;
pub mod doc_audit;
pub mod handoff;
pub mod note;
pub mod notes;
pub mod plan;
pub mod preflight;
pub mod sod;
pub mod status;
pub mod ventures;
