//! Development tools: one file each under `tools/`, one line each in the family of its ecosystem.
//!
//! - [`running`]: a program's arguments held to its grammar, its output read.
//! - [`findings`]: what results show of that.
//! - [`registries`]: where packages come from.
//! - [`packages`]: what package managers have in common.

mod cargo;
pub mod families;
mod files;
pub mod findings;
mod flames;
mod git;
mod go;
mod make;
pub mod memory;
mod message;
mod newline;
mod node;
mod own;
mod packages;
mod python;
pub mod querying;
pub mod registries;
mod review;
mod rounds;
mod running;
pub mod settings;
mod smart;
mod tests_of;
pub mod tools;
mod window;

pub use families::FAMILIES;
