//! Behaviour of the grammars: one binary, a module for each reason.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]

mod files;
mod laws;
mod limits;
mod names;
mod splitting;
mod suites;
