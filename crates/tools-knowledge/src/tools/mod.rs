//! One tool, one file.

pub mod add_note;
pub mod get_blockers;
pub mod get_decisions;
pub mod get_hypotheses;
