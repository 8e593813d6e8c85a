//! The one door: nothing else writes files, starts processes or opens outbound connections for a tool.
//!
//! - [`root`]: named directories with rights, held open by handle.
//! - [`jail`]: how a path beneath a root is opened.
//! - [`view`]: a tool's read-only window, which remembers what was seen through it.
//! - [`draft`]: where a tool says what it would change; it becomes a plan.
//! - [`state`]: where plans, pre-images and journals are kept, outside every tool's reach.
//! - [`apply`]: a plan happens all or not at all, also across a crash; and is taken back.
//! - [`branch`] and [`request`]: the effects that are not files.
#![allow(clippy::disallowed_methods, reason = "this crate is the door that the lint keeps others away from")]

pub mod apply;
pub mod branch;
pub mod diff;
pub mod draft;
pub mod jail;
pub mod request;
pub mod root;
pub mod state;
pub mod view;

pub use apply::{Applied, apply, recover};
pub use draft::{Draft, Proposal};
pub use root::{Rights, Root};
pub use state::StateDir;
pub use view::View;
