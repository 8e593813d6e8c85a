//! Files of clients edited, places of clients, migration, and the seven phases.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]

mod edits;
mod migration;
mod phases;
mod places;
