//! Code of WebAssembly plugins: components of the world in `wit/plugin.wit`, an engine that gives them nothing but what was
//! declared, and the conversation with the process that they run in.
//!
//! A parent starts its own program with [`MARK`] as the only argument, in a world without files and network, writes what
//! [`Hearing::load`] and [`Hearing::call`] give, hands what comes to [`Hearing::hear`], answers the questions, and kills the
//! process when its patience ends. It compiles nothing and believes nothing that it did not check. The library has no runtime
//! and does no I/O but in [`serve`], over what it is given.

mod described;
mod engine;
mod hearing;
mod imports;
pub mod limits;
mod lines;
pub mod talk;
mod worker;

pub use engine::{Host, Loaded};
pub use hearing::Hearing;
pub use limits::{Grants, Limits};
pub use talk::{Answer, Call, Effect, Event, Failure, File, Kind, Level, Question, Request, TalkError, Tool};
pub use worker::{MARK, WorkerError, main_if_asked, serve};

/// The world that is offered: a component of another version is refused.
pub const WORLD: &str = "0.1.0";
