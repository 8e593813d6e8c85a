//! What must hold of the development tools.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests look at the disk from outside and make real repositories"
)]

use std::path::Path;

use gatewright_tools_devtools::FAMILIES;
use kit::testing::laws;

#[test]
fn every_tool_keeps_the_laws() {
    laws::check(FAMILIES, Path::new(env!("CARGO_MANIFEST_DIR")));
}
