//! Review kits: what a change to a design system does, as pages that stand alone.
//!
//! A kit is a folder of files: an index page with verdicts, pages of tokens, components, accessibility and notes, the pictures that
//! they show, the project's own examples, and `kit.json` with the hash of every file. It is opened as a file or served from
//! anywhere, asks nothing of a network, and the same facts always give the same bytes: no page holds a date, a duration or a
//! path of a machine.

mod build;
mod draw;
mod error;
pub mod facts;
mod guard;
mod looks;
mod pages;
mod paths;
mod policy;

pub use build::build;
pub use error::{KitError, PathFault};
pub use facts::*;
pub use guard::guard_example;
pub use paths::{MAX_QUERY, is_generated, is_path};
pub use policy::{example_policy, page_policy};

/// Most components that a kit has pages for.
pub const MAX_COMPONENTS: usize = 2_000;
