//! `cargo xtask compare`: every difference between our token builds and the peers', explained or an error.

use crate::node;
use crate::sh::{self, Done, output, target, top};

/// The page that the comparison is kept on.
const PAGE: &str = "docs/design/tokens-vs-peers.md";

const HEAD: &str = "\
# Where the outputs differ from the peers'

Written by `cargo xtask compare`, which compares every CSS custom property of the real sets of `dtcg-examples`, in their
default contexts, as gatewright, Style Dictionary and Terrazzo write them (versions: `xtask/npm/tokens/package-lock.json`). A
difference that fits no class below is an error of the command, and so is one that is a defect of ours.

";

/// Runs the comparison and writes the page, or with `check` says whether it is current.
pub(crate) fn run(check: bool) -> Done {
    node::TOKENS.install()?;
    sh::run("cargo", &["build", "--quiet", "--workspace"])?;
    println!("\n▶ compare");
    let script = node::TOKENS.dir().join("compare.mjs").display().to_string();
    let sets = node::TOKENS.dir().join("node_modules/dtcg-examples").display().to_string();
    let exe = target().join("debug/gatewright").display().to_string();
    let report = output("node", &[&script, &sets, &exe])?;
    let page = format!("{HEAD}{report}");
    let path = top().join(PAGE);
    if !check {
        return std::fs::write(path, page).map_err(|e| format!("{PAGE}: {e}"));
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    if there == page { Ok(()) } else { Err(format!("✗ {PAGE} is not current: cargo xtask compare")) }
}
