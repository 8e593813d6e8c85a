//! Tools for what a team knows: one file each under `tools/`, one line each in [`FAMILY`].
//!
//! - [`Libraries`]: where patterns and skills are kept on this machine.
//! - [`Serving`]: skills as they are, for clients that take them whole.
//! - [`Workers`]: the processes that skills run in.

pub mod artifacts;
pub mod executing;
mod files;
pub mod finding;
pub mod indexing;
mod libraries;
pub mod memory;
mod project;
mod promoting;
mod serving;
pub mod settings;
mod shelves;
mod stock;
pub mod tools;

use contract::Toolset;
use kit::{Entry, Family};

pub use executing::prepare::{Reviewed, review};
pub use executing::workers::Workers;
pub use files::BuiltIn;
pub use libraries::{Libraries, Overview, Place, Tier, overview};
pub use serving::Serving;

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
    guide: "Before writing something that others may have written: find_patterns, then load_skill for the one; execute_skill runs its code. What was decided, supposed and found in the way is in get_decisions, get_hypotheses and get_blockers: look there before deciding anew, and keep what is found with add_note. What earlier sessions did is found by search_artifacts; load_session reads one, get_session_code its code.",
    shelves: &[&shelves::Patterns],
    markers: &[".agent-memory", ".agent-artifacts", ".shared-patterns", ".agents", ".claude"],
    toolsets: &[PATTERNS, ARTIFACTS, MEMORY, METRICS],
    // In the order in which a menu that has not room for all takes them.
    tools: &[
        Entry::read::<tools::find_patterns::FindPatterns>(),
        Entry::read::<tools::load_skill::LoadSkill>(),
        Entry::run::<tools::execute_skill::ExecuteSkill>(),
        Entry::read::<tools::get_decisions::GetDecisions>(),
        Entry::record::<tools::add_note::AddNote>(),
        Entry::read::<tools::search_patterns::SearchPatterns>(),
        Entry::read::<tools::search_artifacts::SearchArtifacts>(),
        Entry::read::<tools::load_session::LoadSession>(),
        Entry::read::<tools::get_blockers::GetBlockers>(),
        Entry::read::<tools::get_hypotheses::GetHypotheses>(),
        Entry::read::<tools::get_session_code::GetSessionCode>(),
        Entry::read::<tools::index_pattern_library::IndexPatternLibrary>(),
        Entry::read::<tools::get_compression_ratio::GetCompressionRatio>(),
        Entry::record::<tools::track_pattern_usage::TrackPatternUsage>(),
        Entry::change::<tools::promote_pattern::PromotePattern>(),
        Entry::read::<tools::get_pattern_reuse::GetPatternReuse>(),
    ],
    sections: &[],
};
