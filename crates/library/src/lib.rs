//! What patterns, skills, sessions and notes are in files.
//!
//! Texts and paths come in, facts and problems come out: nothing here reads a disk, a clock or a network, and nothing
//! panics on what is read. Everything has a bound, which its constant states.

pub mod category;
pub mod code;
pub mod contradict;
pub mod entry;
pub mod folder;
pub mod front;
pub mod grants;
pub mod id;
pub mod markdown;
pub mod meta;
pub mod notes;
pub mod pattern;
pub mod problem;
pub mod quality;
pub mod schema;
pub mod session;
pub mod text;

pub use category::Category;
pub use id::{IdError, LibraryName, PatternId, ProjectName, SessionId};
pub use problem::{Code, Place, Problem, Problems};
