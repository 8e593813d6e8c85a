//! What is done again and again until it breaks.
//!
//! - `cargo xtask soak kill N`: a process killed while it applies plans and appends; the tests' own rounds, many times over.
//! - `cargo xtask soak scans N`: one server that looks at pages again and again ([`scans`]).
//! - `cargo xtask soak kills --rounds N`: whole servers killed while they work ([`kills`]).

pub(crate) mod kills;
pub(crate) mod scans;

use std::process::Command;

use crate::sh::{Done, step, target, top};

/// Rounds of [`servers`] unless it is said otherwise.
pub(crate) const ROUNDS: u64 = 1_000;

/// Rounds that every `cargo xtask test` makes.
pub(crate) const FEW: u64 = 20;

/// Builds the server, and kills it `rounds` times.
pub(crate) fn servers(rounds: u64) -> Done {
    let args = ["build", "--release", "-p", "gatewright"];
    step("cargo", Command::new("cargo").args(args).current_dir(top()), &args)?;
    kills::run(&target().join("release/gatewright"), rounds)
}

/// Builds the server, and has it look at pages.
pub(crate) fn looking(scans: u64) -> Done {
    let args = ["build", "--release", "-p", "gatewright"];
    step("cargo", Command::new("cargo").args(args).current_dir(top()), &args)?;
    scans::run(&target().join("release/gatewright"), scans)
}

/// The same, of a server that is built already.
pub(crate) fn looking_with(scans: u64, program: &str) -> Done {
    let path = std::fs::canonicalize(program).map_err(|e| format!("{program}: {e}"))?;
    scans::run(&path, scans)
}

/// Scans that every `cargo xtask test` makes.
pub(crate) const FEW_SCANS: u64 = 30;

pub(crate) fn kill(rounds: u32) -> Done {
    for package in ["gatewright-exec", "gatewright-audit"] {
        let args = ["test", "--release", "-p", package, "--test", "it", "--", "killed", "--nocapture"];
        let mut command = Command::new("cargo");
        command.args(args).current_dir(top()).env("GATEWRIGHT_KILL_ROUNDS", rounds.to_string());
        step("cargo", &mut command, &args)?;
    }
    Ok(())
}
