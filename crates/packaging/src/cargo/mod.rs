//! Packages of Cargo: what Cargo.toml says, what is in a `.crate`, what it brings with it, and what its public API is.
//!
//! The archive itself is made by `cargo package --no-verify`, run by whoever may run programs; its list by
//! `cargo package --list`. Here both are read and judged.

pub mod api;
pub mod archive;
pub mod bill;
pub mod checks;
pub mod dependency;
pub mod manifest;
pub mod members;
