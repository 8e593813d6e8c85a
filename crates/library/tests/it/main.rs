//! Files as people write them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
mod contradict;
mod entries;
mod time;
