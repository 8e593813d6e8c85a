//! Tools for what a team knows: one file each under `tools/`, one line each in [`FAMILY`].

pub mod memory;
mod project;
pub mod settings;
pub mod tools;

use contract::Toolset;
use kit::{Entry, Family};

/// Patterns and skills.
pub const PATTERNS: Toolset = Toolset("patterns");
/// What earlier sessions left behind.
pub const ARTIFACTS: Toolset = Toolset("artifacts");
/// What was decided, supposed and what is in the way.
pub const MEMORY: Toolset = Toolset("memory");
/// What all of it saved.
pub const METRICS: Toolset = Toolset("metrics");

/// The tools.
pub static FAMILY: Family = Family {
    name: "knowledge",
    guide: "What was decided, supposed and found in the way is in get_decisions, get_hypotheses and get_blockers: look there before deciding anew, and keep what is found with add_note.",
    shelves: &[],
    markers: &[".agent-memory"],
    toolsets: &[PATTERNS, ARTIFACTS, MEMORY, METRICS],
    // In the order in which a menu that has not room for all takes them.
    tools: &[
        Entry::read::<tools::get_decisions::GetDecisions>(),
        Entry::record::<tools::add_note::AddNote>(),
        Entry::read::<tools::get_blockers::GetBlockers>(),
        Entry::read::<tools::get_hypotheses::GetHypotheses>(),
    ],
    sections: &[],
};
