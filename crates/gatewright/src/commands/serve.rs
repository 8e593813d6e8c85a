//! `gatewright serve`.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use kit::House;
use mcp::http::{Loopback, Options};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{CommandError, CommandResult, runtime};
use crate::cli::ServeArgs;
use crate::compose::{self, Offer};
use crate::roots::Asked;

pub fn run(asked: &Asked, args: ServeArgs) -> CommandResult {
    let offer = Offer { toolsets: args.toolsets.clone(), read_only: args.read_only, check_outputs: true };
    let address = args.http.map(|address| http_address(address, &args)).transpose()?;
    let house = compose::house(asked, &offer)?;
    if house.registry().iter().all(|tool| tool.spec().toolset == tools_front::FRONT.0) {
        return Err(CommandError::Usage("no tool is left to offer: check --toolsets and --read-only".into()));
    }
    let menu = offer.menu(&house);
    let (listed, tools) = (menu.len(), house.registry().len());
    match address {
        None => {
            let runtime = runtime()?;
            let served = runtime.block_on(async {
                let stop = stopped_by_signals()?;
                tracing::info!(listed, tools, "serving on standard input and output");
                mcp::serve_stdio(house, &menu, stop).await.map_err(std::io::Error::other)
            });
            // Calls that were cancelled end their programs. A read of standard input may be pending: it is left.
            runtime.shutdown_timeout(Duration::from_millis(500));
            served?;
        }
        Some(address) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            let served = runtime.block_on(over_http(house, &menu, address, args));
            runtime.shutdown_timeout(Duration::from_millis(500));
            served?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Without an identity provider only a loopback address is served, and only when that is asked for.
fn http_address(address: SocketAddr, args: &ServeArgs) -> Result<SocketAddr, CommandError> {
    if !args.insecure_loopback {
        return Err(CommandError::Usage(
            "HTTP without an identity provider lets everyone in: --insecure-loopback says that this is meant, on a \
             loopback address"
                .into(),
        ));
    }
    if !address.ip().is_loopback() {
        return Err(CommandError::Usage(format!(
            "--insecure-loopback serves loopback addresses only, and {} is none: use 127.0.0.1 or [::1]",
            address.ip()
        )));
    }
    Ok(address)
}

async fn over_http(
    house: House,
    menu: &[String],
    address: SocketAddr,
    args: ServeArgs,
) -> Result<(), CommandError> {
    let stop = stopped_by_signals()?;
    let listener = TcpListener::bind(address).await?;
    tracing::warn!("everyone who reaches {} on this machine is let in as you", listener.local_addr()?);
    tracing::info!("serving on http://{}/mcp", listener.local_addr()?);
    let identify = Arc::new(Loopback { uid: house.first().uid() });
    let options = Options { identify, hosts: args.allow_host, origins: args.allow_origin };
    #[cfg(feature = "conformance")]
    if args.conformance {
        let served = mcp::conformance::serve_http(listener, options, stop).await;
        return served.map_err(|e| CommandError::Io(std::io::Error::other(e)));
    }
    let served = mcp::http::serve_http(house, menu, listener, options, stop).await;
    served.map_err(|e| CommandError::Io(std::io::Error::other(e)))
}

/// Cancelled by the first SIGINT or SIGTERM.
fn stopped_by_signals() -> std::io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stopper = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stopper.cancel();
    });
    Ok(stop)
}
