//! `gatewright context status` and `outbox`.

use std::process::ExitCode;
use std::time::Duration;

use contract::text::{counted, visible};
use contract::{Code, Fault};
use store_api::{Outbox as _, StoreError};

use super::super::{CommandError, CommandResult};
use crate::cli::OutboxCommand;
use crate::config::Config;
use crate::remembered::{self, Remembered};
use crate::term::{BAD, BOLD, GOOD, NOTE};

/// Most lines that are shown.
const SHOWN: u32 = 200;
/// How long sending may take.
const SENDING: Duration = Duration::from_mins(5);

pub async fn status(config: &Config) -> CommandResult {
    let Remembered { store, offline, using, .. } = remembered::remembered(config)?;
    let Some(offline) = offline else {
        say!(
            "no context is configured: what is remembered is in {}",
            match using {
                tools_session::workplace::StoreKind::Sqlite => "a file of this machine",
                _ => "the database of `[store] url`",
            }
        );
        say!("{NOTE}→{NOTE:#} `[context] url` or GATEWRIGHT_CONTEXT_URL names one");
        return Ok(ExitCode::SUCCESS);
    };
    let remote = offline.context_itself();
    let answered = match remote.ready().await {
        Ok(()) => remote.ventures().await.map(|_| ()),
        error => error,
    };
    let line = store.length(remote.base().to_owned()).await.map_err(Fault::from)?;
    store.close().await;
    match &answered {
        Ok(()) => say!("{GOOD}✓{GOOD:#} {} answers, and takes the key", remote.base()),
        Err(error) => say!("{BAD}✗{BAD:#} {}: {}", remote.base(), visible(&error.to_string())),
    }
    say!("{} waiting for it, {} refused", counted(line.waiting, "write"), line.failed);
    Ok(if answered.is_ok() && line.failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

pub async fn run(config: &Config, command: OutboxCommand) -> CommandResult {
    let Remembered { store, offline, .. } = remembered::remembered(config)?;
    match command {
        OutboxCommand::List => {
            let line = store.line(SHOWN).await.map_err(Fault::from)?;
            if line.is_empty() {
                say!("{NOTE}Nothing waits.{NOTE:#}");
            }
            for letter in line {
                let why = letter
                    .why
                    .map_or_else(|| "waits".to_owned(), |why| format!("refused: {}", visible(&why)));
                say!(
                    "{BOLD}{}{BOLD:#}  {}  {}{}  {} bytes  {why}",
                    letter.number,
                    letter.made,
                    letter.context,
                    letter.path,
                    letter.body.len()
                );
            }
        }
        OutboxCommand::Retry => {
            let offline = offline.ok_or_else(none)?;
            let base = offline.context_itself().base().to_owned();
            let again = store.retry(base.clone()).await.map_err(Fault::from)?;
            let whole = offline.deliver(SENDING).await.map_err(Fault::from)?;
            let line = store.length(base).await.map_err(Fault::from)?;
            say!(
                "{} tried once more; {} wait, {} refused",
                counted(again, "refused write"),
                line.waiting,
                line.failed
            );
            store.close().await;
            if !whole {
                let away =
                    StoreError::Unreachable("nobody answers, or another process is sending".to_owned());
                return Err(CommandError::Fault(away.into()));
            }
            return Ok(if line.failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
        OutboxCommand::Drop { number } => {
            if !store.take_out(number).await.map_err(Fault::from)? {
                let fault = Fault::new(Code::NotFound, format!("nothing of the number {number} waits"));
                return Err(fault.suggest("`gatewright context outbox list` shows what does.").into());
            }
            say!("{number} is never sent.");
        }
    }
    store.close().await;
    Ok(ExitCode::SUCCESS)
}

fn none() -> Fault {
    Fault::invalid("no context is configured").suggest("`[context] url` or GATEWRIGHT_CONTEXT_URL names one.")
}
