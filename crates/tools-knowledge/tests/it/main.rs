//! What must hold of the family of what a team knows. What its tools do is tried over real files, in `gatewright/tests/it/knowledge/`.

mod judged;
mod quality;

use std::path::Path;

use gatewright_tools_knowledge::FAMILY;
use kit::testing::laws;

#[test]
fn the_family_keeps_the_laws() {
    laws::check(&[&FAMILY], Path::new(env!("CARGO_MANIFEST_DIR")));
}
