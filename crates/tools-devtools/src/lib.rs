//! Development tools: one file each under `tools/`, one line each in the family of its ecosystem.
//!
//! - [`running`]: a program's arguments held to its grammar, its output read.
//! - [`findings`]: what results show of that.

pub mod families;
pub mod findings;
mod go;
mod make;
mod running;
pub mod tools;

pub use families::FAMILIES;
