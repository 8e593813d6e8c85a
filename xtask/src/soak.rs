//! `cargo xtask soak kill N`: the kill rounds of the tests, many times over.

use std::process::Command;

use crate::sh::{Done, step, top};

pub(crate) fn kill(rounds: u32) -> Done {
    for package in ["gatewright-exec", "gatewright-audit"] {
        let args = ["test", "--release", "-p", package, "--test", "it", "--", "killed", "--nocapture"];
        let mut command = Command::new("cargo");
        command.args(args).current_dir(top()).env("GATEWRIGHT_KILL_ROUNDS", rounds.to_string());
        step("cargo", &mut command, &args)?;
    }
    Ok(())
}
