//! The words that every other crate speaks: what a tool is called, what it may change, what was planned,
//! what happened, and what went wrong.
//!
//! Nothing here touches the machine. A value of one of these types is either valid or could not be made.

pub mod canonical;
pub mod digest;
pub mod effect;
pub mod fault;
pub mod id;
pub mod media;
pub mod name;
pub mod path;
pub mod plan;
pub mod principal;
pub mod refs;
pub mod reply;
pub mod spec;
pub mod text;

pub use digest::Digest;
pub use effect::{Effect, FileMode, Mode, State};
pub use fault::{Code, Fault, FaultKind, Severity};
pub use id::{CallId, Key, PlanId, TranscriptId};
pub use media::{Media, MediaKind};
pub use name::{ToolName, Toolset};
pub use path::{PathRefusal, RelPath};
pub use plan::{Observation, Plan, PlanFile, Precondition, Receipt, Source};
pub use principal::Principal;
pub use refs::{Push, RefMove, Refs, SeenRef};
pub use reply::{Envelope, Metadata, PlanView, Reply, RunView, SideWrites, Status, Truncated, tokens_used};
pub use spec::{Annotations, Head, Kind, Spec};
