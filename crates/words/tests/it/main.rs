//! What must hold of any text and any question.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::indexing_slicing, reason = "tests may panic")]
#![allow(clippy::disallowed_methods, reason = "the kernel is asked how long a thread worked")]

mod properties;
mod time;
