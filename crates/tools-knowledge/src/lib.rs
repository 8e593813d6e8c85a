//! Tools for what a team knows: one file each under `tools/`, one line each in [`FAMILY`].
//!
//! - [`Libraries`]: where patterns and skills are kept on this machine.

mod libraries;
mod project;
pub mod settings;
pub mod tools;

use contract::Toolset;
use kit::{Entry, Family};

pub use libraries::{Libraries, Place};

/// Patterns and skills.
pub const PATTERNS: Toolset = Toolset("patterns");
/// What earlier sessions left behind.
pub const ARTIFACTS: Toolset = Toolset("artifacts");
/// What was decided, supposed and what is in the way.
pub const MEMORY: Toolset = Toolset("memory");
/// What all of it saved.
pub const METRICS: Toolset = Toolset("metrics");
