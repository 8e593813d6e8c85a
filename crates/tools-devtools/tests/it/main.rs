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
    ("package-lock.json", "{ \"lockfileVersion\": 3, \"packages\": {} }\n"),
    (
        "package.json",
        "{ \"name\": \"m\", \"scripts\": { \"build\": \"tsc\", \"start\": \"node .\" }, \"devDependencies\": { \"eslint\": \"10\" } }\n",
    ),
    ("README.md", "# M\n"),
    ("docs/index.md", "# Docs\n"),
    (".yamllint", "extends: default\n"),
    (".github/workflows/ci.yml", "on: push\n"),
    ("src/index.js", "1;\n"),
    ("web/Makefile", "lint test depend build clean:\n\ttrue\n"),
    ("web/README.md", "# Web\n"),
    ("pyproject.toml", "[project]\nname = \"m\"\nversion = \"1\"\n"),
    ("uv.lock", "version = 1\n"),
    ("app.py", "print(1)\n"),
];

/// Says loudly that a part was left out, where the summary of `cargo xtask test` counts it.
fn skip(part: &str) {
    eprintln!("SKIPPED: {part}");
    if let Some(file) = std::env::var_os("GATEWRIGHT_SKIPS") {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "{part}").unwrap();
    }
}

#[test]
fn whatever_a_program_writes_is_rehearsed_applied_and_undone_by_the_law() {
    let scratch = tempfile::tempdir().unwrap();
    let launcher = testing::launcher();
    let offer = launcher.offer(scratch.path());
    if offer.level < Level::Full {
        return skip(&format!("the law over tools in a world of their own ({})", offer.missing.join("; ")));
    }
    let held = testing::runs(FAMILIES, PROJECT, Level::Full);
    assert_eq!((held.tools.len(), held.refused), (53, Vec::new()));
}

#[test]
fn whatever_a_program_writes_to_a_copy_is_held_to_the_same_law() {
    let held = testing::runs(FAMILIES, PROJECT, Level::Filters);
    // They are given the network, which takes a world of their own.
    let refused = [
        "go_mod_download",
        "go_mod_tidy",
        "go_vulncheck",
        "nodejs_install_deps",
        "nodejs_security",
        "nodejs_update_deps",
        "python_install_deps",
        "python_update_deps",
    ];
    assert_eq!((held.tools.len(), held.refused), (45, refused.map(str::to_owned).to_vec()));
}
