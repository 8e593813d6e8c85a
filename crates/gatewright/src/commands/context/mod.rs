//! `gatewright context`.

mod keys;
mod outbox;
mod serve;

use super::{CommandResult, runtime};
use crate::cli::ContextCommand;
use crate::config;
use contract::Fault;

pub fn run(command: ContextCommand) -> CommandResult {
    let config = config::load(None).map_err(|e| {
        Fault::invalid(e.to_string()).suggest("`gatewright config schema` prints what is understood.")
    })?;
    match command {
        ContextCommand::Serve(args) => serve::run(&config, args),
        ContextCommand::Key(command) => runtime()?.block_on(keys::run(&config, command)),
        ContextCommand::Status => runtime()?.block_on(outbox::status(&config)),
        ContextCommand::Outbox(command) => runtime()?.block_on(outbox::run(&config, command)),
    }
}
