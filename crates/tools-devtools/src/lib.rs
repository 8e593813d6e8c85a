//! Development tools: one file each under `tools/`, one line each in the family of its ecosystem.

pub mod families;
pub mod tools;

pub use families::FAMILIES;
