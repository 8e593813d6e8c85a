//! The binary: command line and composition root. It knows everything; nothing knows it.
#![allow(
    clippy::disallowed_methods,
    reason = "the composition root: configuration, state and a person's own files are named here; tools go through exec"
)]
#![allow(unreachable_pub, reason = "a binary has no public surface")]
#![allow(
    clippy::print_stdout,
    reason = "a command line prints; `serve` is the one command that must not, and does not"
)]

mod cli;
mod commands;
mod compose;
mod config;
mod families;
mod term;

use std::process::ExitCode;

use clap::Parser as _;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match commands::run(cli) {
        Ok(code) => code,
        Err(error) => {
            term::error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
