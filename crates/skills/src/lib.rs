//! Code of skills: TypeScript without its types, an embedded engine without ambient authority, and the conversation with the
//! process that it runs in.
//!
//! A parent starts its own program with [`MARK`] as the first argument, in a world without files and network, writes what
//! [`Hearing::begin`] gives, reads what comes into [`Hearing::hear`], and kills the process when its patience ends. It parses no
//! code and believes nothing that it did not check. The library has no runtime and does no I/O but in [`serve`], over what it
//! is given.

mod engine;
mod failure;
mod hearing;
pub mod imports;
pub mod limits;
pub mod strip;
pub mod talk;
mod worker;

pub use engine::{Host, Outcome, run};
pub use hearing::Hearing;
pub use limits::{Grants, Limits};
pub use strip::{Dialect, Refusal, Stripped, strip};
pub use talk::{Event, Failure, Frame, Kind, Request, Run, SourceFile, TalkError};
pub use worker::{AHEAD, MARK, WorkerError, main_if_asked, serve};
