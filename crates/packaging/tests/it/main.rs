//! What must hold of packages that are packed, on data that other programs made.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests fail and tell")]

mod cargo;
mod lint;
mod list;
mod python;
mod types;
