//! What patterns, skills, sessions and notes are in files.
//!
//! Texts and paths come in, facts and problems come out: nothing here reads a disk, a clock or a network, and nothing
//! panics on what is read. Everything has a bound, which its constant states.

pub mod category;
pub mod front;
pub mod id;
pub mod markdown;
pub mod problem;
pub mod text;

pub use category::Category;
pub use id::{IdError, LibraryName, PatternId, ProjectName, SessionId};
pub use problem::{Code, Place, Problem, Problems};
