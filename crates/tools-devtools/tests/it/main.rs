//! What must hold of the development tools.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests look at the disk from outside and make real repositories"
)]

use std::path::Path;

use exec::run::Level;
use gatewright_tools_devtools::FAMILIES;
use kit::testing::{self, laws};

#[test]
fn every_tool_keeps_the_laws() {
    laws::check(FAMILIES, Path::new(env!("CARGO_MANIFEST_DIR")));
}

/// A project that every tool which starts programs has something to do in.
const PROJECT: &[(&str, &str)] = &[
    ("Makefile", "lint test depend build clean:\n\ttrue\n"),
    ("go.mod", "module example.com/m\n\ngo 1.22\n"),
    ("main.go", "package main\n\nfunc main() {}\n"),
    ("api/go.mod", "module example.com/api\n\ngo 1.22\n"),
    ("store/store.go", "package store\n"),
    ("cmd/app/main.go", "package main\n\nfunc main() {}\n"),
    ("package.json", "{ \"name\": \"m\", \"devDependencies\": { \"eslint\": \"10\" } }\n"),
    ("README.md", "# M\n"),
    ("docs/index.md", "# Docs\n"),
    (".yamllint", "extends: default\n"),
    (".github/workflows/ci.yml", "on: push\n"),
    ("src/index.js", "1;\n"),
    ("web/Makefile", "lint test depend build clean:\n\ttrue\n"),
    ("web/README.md", "# Web\n"),
];

#[test]
fn whatever_a_program_writes_is_rehearsed_applied_and_undone_by_the_law() {
    let held = testing::runs(FAMILIES, PROJECT, Level::Full);
    assert_eq!((held.tools.len(), held.refused), (25, Vec::new()));
}

#[test]
fn whatever_a_program_writes_to_a_copy_is_held_to_the_same_law() {
    let held = testing::runs(FAMILIES, PROJECT, Level::Filters);
    // They are given the network, which takes a world of their own.
    let refused = ["go_mod_download", "go_mod_tidy", "go_vulncheck"];
    assert_eq!((held.tools.len(), held.refused), (22, refused.map(str::to_owned).to_vec()));
}
