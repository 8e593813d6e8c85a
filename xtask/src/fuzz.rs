//! `cargo xtask fuzz TARGET [SECONDS]`: a target of `fuzz/`, guided by coverage.

use std::process::Command;

use crate::sh::{Done, step, target, top};
use crate::tools;

const TARGETS: [&str; 12] = [
    "tokens",
    "path",
    "plan",
    "canonical",
    "ledger",
    "redact",
    "front",
    "locks",
    "meta",
    "notes",
    "words",
    "strip",
];

pub(crate) fn run(name: &str, seconds: u32) -> Done {
    if !TARGETS.contains(&name) {
        return Err(format!("the targets are {}", TARGETS.join(", ")));
    }
    let program = tools::FUZZ.program()?;
    let limit = format!("-max_total_time={seconds}");
    let dir = target().join("fuzz").display().to_string();
    let args = [
        "run",
        name,
        "--fuzz-dir",
        "fuzz/guided",
        "--target-dir",
        &dir,
        "--",
        &limit,
        "-max_len=8192",
        "-timeout=20",
    ];
    let mut command = Command::new(program);
    // Sanitizers are behind a flag of the unstable compiler; the stable one has them when it is told that it may.
    command.args(args).current_dir(top()).env("RUSTC_BOOTSTRAP", "1");
    step("cargo-fuzz", &mut command, &args)
}
