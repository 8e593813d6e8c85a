//! What must hold of reading repositories that the git program made, field by field, and of hostile ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "tests run git and look at the disk from outside")]
#![allow(clippy::format_collect, reason = "generated texts are short")]

mod bounded;
mod diffs;
mod generated;
mod hostile;
mod ignores;
mod logs;
mod opened;
mod place;
mod snapshots;
mod statuses;
mod unchanged;
