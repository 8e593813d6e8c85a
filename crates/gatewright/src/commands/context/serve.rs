//! `gatewright context serve`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use context::serve::Options;
use context::wire::machine::Venture;
use contract::Fault;
use store_api::Timestamp;
use tokio::net::TcpListener;

use super::super::CommandResult;
use super::super::serve::{connections, stopped_by_signals, tls};
use crate::cli::ContextServeArgs;
use crate::config::Config;
use crate::remembered;

pub fn run(config: &Config, args: ContextServeArgs) -> CommandResult {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(chain), Some(key)) => Some(tls(chain, key)?),
        _ => None,
    };
    let (store, _) = remembered::store(&config.store)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let options = Options {
        store: Arc::new(store.clone()),
        clock: Arc::new(|| Timestamp::from(jiff::Timestamp::now())),
        ventures: ventures(config),
        hosts: args.allow_host,
        per_minute: args.per_minute.max(1),
        tls,
        connections: connections(),
        keep_days: Some(config.store.keep_days),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = stopped_by_signals()?;
        let listener = TcpListener::bind(args.listen).await.map_err(|e| {
            Fault::invalid(format!("--listen {}: {e}", args.listen)).suggest("Is it another server's already?")
        })?;
        let address = listener.local_addr()?;
        if scheme == "http" && !address.ip().is_loopback() {
            tracing::warn!("keys arrive here unencrypted: let TLS end in front of {address}, or use --tls-cert and --tls-key");
        }
        tracing::info!("serving the context on {scheme}://{address}");
        context::serve::serve(listener, options, stop).await;
        store.close().await;
        Ok::<_, super::super::CommandError>(())
    })?;
    runtime.shutdown_timeout(Duration::from_millis(500));
    Ok(ExitCode::SUCCESS)
}

fn ventures(config: &Config) -> Vec<Venture> {
    let all = config.ventures.iter();
    all.map(|(code, entry)| Venture {
        code: code.clone(),
        name: entry.name.clone(),
        organisation: entry.organisation.clone(),
        repositories: entry.repositories.clone(),
        capabilities: entry.capabilities.clone(),
    })
    .collect()
}
