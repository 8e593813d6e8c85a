//! What must hold of the setup tools.

use std::path::Path;

use gatewright_tools_setup::FAMILY;
use kit::testing::laws;

#[test]
fn every_tool_keeps_the_laws() {
    laws::check(&[&FAMILY], Path::new(env!("CARGO_MANIFEST_DIR")));
}
