//! What the crate promises, on outputs of real programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(clippy::disallowed_methods, reason = "fixtures are read from the crate's own folder")]
#![allow(clippy::float_cmp, reason = "figures have two digits and are pinned exactly")]

mod analysis;
mod bounds;
mod corpus;
mod fixture;
mod own;
mod sources;
