//! What must hold of the pipeline, whatever the tool: specimens of every kind, on a real bench.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests look at the disk from outside")]

mod definitions;
mod kinds;
mod pipeline;
mod settle;
