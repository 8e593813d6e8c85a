//! jq filters over JSON values: an engine without ambient authority, and the conversation with the process that it runs in.
//!
//! A filter can loop without ever giving a value and build values without bound, and the engine has no way to be interrupted.
//! So a parent starts its own program with [`MARK`] as the only argument, in a world without files and network, writes
//! [`Question::encode`], reads one line into [`Answer::decode`], and kills the process when its patience ends. What the process
//! says is believed as far as [`Answer::decode`] checked it. The library has no runtime, and does no I/O but in [`serve`].

mod engine;
mod json;
pub mod limits;
mod talk;
mod worker;

pub use engine::run;
pub use talk::{Answer, Failure, Kind, Place, Question, Style, TalkError};
pub use worker::{MARK, WorkerError, main_if_asked, serve};
