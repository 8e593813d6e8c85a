//! `gatewright context key`.

use std::process::ExitCode;

use context::wire::key::Key;
use contract::{Code, Fault};
use store_api::id::KeyId;
use store_api::server::NewKey;
use store_api::{Keys as _, Timestamp};

use super::super::CommandResult;
use crate::cli::KeyCommand;
use crate::config::Config;
use crate::term::{BOLD, NOTE};
use crate::{remembered, workplace};

pub async fn run(config: &Config, command: KeyCommand) -> CommandResult {
    let (store, _) = remembered::store(&config.store)?;
    match command {
        KeyCommand::Add { name, admin } => {
            let mut random = [0; 32];
            getrandom::fill(&mut random)
                .map_err(|e| Fault::internal(format!("there is no randomness: {e}")))?;
            let id = KeyId::new(Timestamp::from(jiff::Timestamp::now()), workplace::random()?);
            let key = Key::new(id.clone(), &random);
            let new = NewKey { id: id.clone(), name, admin, hash: key.digest() };
            let kept = store.add_key(new).await.map_err(Fault::from)?;
            // The key alone is standard output, so that it can be put somewhere without being seen.
            told(&kept.name, id.as_str());
            say!("{}", key.reveal());
        }
        KeyCommand::List => {
            let keys = store.keys().await.map_err(Fault::from)?;
            if keys.is_empty() {
                say!("{NOTE}There is no key.{NOTE:#} `gatewright context key add NAME` makes one.");
            }
            for key in keys {
                let admin = if key.admin { "  admin" } else { "" };
                let used = key.used.map_or_else(|| "never used".to_owned(), |at| format!("used {at}"));
                let state = key.revoked.map_or(used, |at| format!("revoked {at}"));
                say!(
                    "{BOLD}{}{BOLD:#}  {}{admin}  made {}  {state}",
                    key.id,
                    contract::text::visible(&key.name),
                    key.created
                );
            }
        }
        KeyCommand::Revoke { id } => {
            let id: KeyId = id.parse().map_err(|e: store_api::StoreError| Fault::from(e))?;
            if !store.revoke(id.clone()).await.map_err(Fault::from)? {
                let fault = Fault::new(Code::NotFound, format!("there is no key {id} that counts"));
                return Err(fault.suggest("`gatewright context key list` shows them.").into());
            }
            say!("{id} is revoked: servers refuse it within five seconds.");
        }
    }
    store.close().await;
    Ok(ExitCode::SUCCESS)
}

/// What belongs to a key and is no part of it.
fn told(name: &str, id: &str) {
    anstream::eprintln!(
        "{NOTE}The key of {} ({id}). It is shown this once; on its machine: GATEWRIGHT_CONTEXT_KEY, or `gatewright context login URL`.{NOTE:#}",
        contract::text::visible(name)
    );
}
