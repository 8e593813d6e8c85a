//! What must hold of code of skills.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests start the worker and what poses as one")]

mod blanked;
mod conversation;
mod engine;
mod errors;
mod hostile;
mod killed;
mod modules;
mod refusals;
mod support;
mod texts;
