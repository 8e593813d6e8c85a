//! The one door: nothing else writes files, starts processes or opens outbound connections for a tool.
//!
//! - [`root`]: named directories with rights, held open by handle.
//! - [`jail`]: how a path beneath a root is opened.
//! - [`view`]: a tool's read-only window, which remembers what was seen through it.
//! - [`archive`]: what an archive holds, as changes of a draft.
//! - [`draft`]: where a tool says what it would change; it becomes a plan.
//! - [`state`]: where plans, pre-images and journals are kept, outside every tool's reach.
//! - [`handle`]: random names for what a caller may come back to.
//! - [`apply`]: a plan happens all or not at all, also across a crash; and is taken back.
//! - [`run`] and [`workshop`]: one program in a world of its own, and what programs work over instead of the root.
//! - [`kept`] and [`reports`]: what they said, whole, and what tools made of it.
//! - [`branch`], [`refs`], [`request`] and [`push`]: the effects that are not files.
//! - `stand`: where tools with a place of their own in a repository stand.
//! - [`address`]: which addresses are public.
//! - [`census`]: which files there are, for indexes over many.
//! - [`lines`]: lines put to files that others write to as well.
//! - [`ondisk`]: how the cache asks whether files are as they were.
//! - [`helper`]: programs that act with the user's own credentials.
//! - [`fetch`]: questions to servers that the user configured, outside every plan.
#![allow(clippy::disallowed_methods, reason = "this crate is the door that the lint keeps others away from")]

pub mod address;
pub mod apply;
pub mod archive;
pub mod branch;
pub mod census;
pub mod changes;
pub mod diff;
pub mod draft;
pub mod fetch;
pub mod handle;
pub mod helper;
pub mod jail;
pub mod kept;
pub mod lines;
pub mod ondisk;
pub mod push;
pub mod refs;
pub mod reports;
pub mod request;
pub mod root;
pub mod run;
mod scratch;
mod stand;
pub mod state;
pub mod view;
pub mod workshop;

pub use apply::{Applied, Unfinished, apply, apply_from, recover, unfinished};
pub use draft::{Draft, Proposal};
pub use fetch::Fetcher;
pub use history;
pub use ondisk::OnDisk;
pub use root::{Rights, Root};
pub use state::StateDir;
pub use view::View;
pub use workshop::Workshop;
