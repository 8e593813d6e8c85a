//! What must hold of any text and any question.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::indexing_slicing, reason = "tests may panic")]

mod properties;
mod time;
