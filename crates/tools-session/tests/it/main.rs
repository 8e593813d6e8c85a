//! What must hold of the family of the working day. What its tools do is tried over the real store, in `gatewright/tests/it/session/`.

use std::path::Path;

use gatewright_tools_session::FAMILY;
use kit::testing::laws;

#[test]
fn the_family_keeps_the_laws() {
    laws::check(&[&FAMILY], Path::new(env!("CARGO_MANIFEST_DIR")));
}
