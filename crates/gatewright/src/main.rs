//! The binary: command line and composition root. It knows everything; nothing knows it.
#![allow(
    clippy::disallowed_methods,
    reason = "the composition root: configuration, state and a person's own files are named here; tools go through exec"
)]
#![allow(unreachable_pub, reason = "a binary has no public surface")]

mod approved;
mod built_in;
mod cli;
mod clients;
#[macro_use]
mod term;
mod commands;
mod compose;
mod config;
mod families;
mod forge;
mod keyring;
mod libraries;
mod oauth;
mod plugged;
mod releases;
mod remembered;
mod roots;
mod setup;
mod sweeping;
mod trusted;
mod upstreams;
mod workplace;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Programs are started by this one, started again: nothing else has happened in it by then.
    launcher::main_if_asked();
    skills::main_if_asked();
    query::main_if_asked();
    #[cfg(feature = "wasm")]
    components::main_if_asked();
    let cli = cli::Cli::of_process();
    match commands::run(cli) {
        Ok(code) => code,
        Err(commands::CommandError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::from(term::unsaid(&error))
        }
        Err(error) => {
            term::error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
