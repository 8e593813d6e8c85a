//! `gatewright serve`.

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use browser::Pool;
use context::Offline;
use contract::Fault;
use kit::House;
use kit::house::Access;
use kit::jobs::Jobs;
use kit::menu::Choose;
use listen::{Shards, Tls};
use mcp::http::{Identify, Loopback, Options};
use rustix::process::getppid;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{CommandError, CommandResult, runtime};
use crate::cli::ServeArgs;
use crate::compose::{self, Callers, Offer, Offered};
use crate::config::{self, Config};
use crate::roots::Asked;
use crate::sweeping::{Folders, Sweeping};
use crate::upstreams::Refresh;

pub fn run(asked: &Asked, args: ServeArgs) -> CommandResult {
    let offer = Offer {
        toolsets: args.toolsets.clone(),
        read_only: args.read_only,
        check_outputs: true,
        callers: if args.http.is_some() { Callers::Others } else { Callers::Own },
    };
    let Some(address) = args.http else {
        let Offered { house, menu, jobs, browsers, refresh, sweeping, offline } =
            offered(asked, &offer, None)?;
        let runtime = runtime()?;
        let served = runtime.block_on(async {
            let stop = stopped_by_signals()?;
            stop_with_parent(&stop);
            let folders = Arc::clone(&sweeping.folders);
            keep_up_to_date(refresh, sweeping, &stop);
            deliver(offline);
            let served = mcp::serve_stdio(house, menu, stop).await.map_err(std::io::Error::other);
            end(&jobs, browsers, folders).await;
            served
        });
        // Calls that were cancelled end their programs. A read of standard input may be pending: it is left.
        runtime.shutdown_timeout(Duration::from_millis(500));
        served?;
        return Ok(ExitCode::SUCCESS);
    };
    let config = config::load(None).map_err(|e| Fault::invalid(e.to_string()))?;
    let gate = Gate::chosen(address, &args, &config)?;
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(chain), Some(key)) => Some(tls(chain, key)?),
        _ => None,
    };
    let access = gate.access();
    let Offered { house, menu, jobs, browsers, refresh, sweeping, offline } = offered(asked, &offer, access)?;
    let identify = gate.identify(&house)?;
    let many = std::thread::available_parallelism().map_or(1, NonZero::get);
    let shards = Arc::new(Shards::start(many)?);
    let options = Options {
        identify,
        hosts: args.allow_host,
        origins: args.allow_origin,
        tls,
        connections: connections(),
        shards: Some(Arc::clone(&shards)),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    #[cfg(feature = "conformance")]
    if args.conformance {
        runtime.block_on(async {
            let (stop, listener) = (stopped_by_signals()?, bound(address, &options, &gate).await?);
            mcp::conformance::serve_http(listener, options, stop).await.map_err(std::io::Error::other)
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let served = runtime.block_on(async {
        deliver(offline);
        let folders = Arc::clone(&sweeping.folders);
        let served = over_http(house, menu, (refresh, sweeping), address, options, &gate).await;
        end(&jobs, browsers, folders).await;
        served
    });
    runtime.shutdown_timeout(Duration::from_millis(500));
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Sends what waits for a context, as long as the server lives.
fn deliver(offline: Option<Offline>) {
    if let Some(offline) = offline {
        tokio::spawn(offline.rounds());
    }
}

/// How long jobs have to end with the server.
const PATIENCE: Duration = Duration::from_secs(5);

/// Ends the calls that go on after they were answered: each comes to its record. Then the browsers. Then what is over goes.
async fn end(jobs: &Jobs, browsers: Arc<Pool>, folders: Arc<Folders>) {
    if !jobs.end(PATIENCE).await {
        tracing::warn!("a job did not end in time: its record holds that it went on, and no end");
    }
    // Whoever still waits for one is told.
    let _ = tokio::task::spawn_blocking(move || browsers.close()).await;
    folders.end().await;
}

/// What is served, and what of it is listed.
fn offered(asked: &Asked, offer: &Offer, access: Option<Arc<dyn Access>>) -> Result<Offered, CommandError> {
    let offered = compose::offered(asked, offer, access)?;
    let registry = offered.house.registry();
    let is_front = |tool: &Arc<kit::registry::Registered>| tool.head().toolset == tools_front::FRONT.0;
    // Those that cannot be used here say so: they count, and need not be made where others are.
    if registry.listed().all(is_front) && registry.iter().all(is_front) {
        return Err(CommandError::Usage("no tool is left to offer: check --toolsets and --read-only".into()));
    }
    tracing::info!(listed = (offered.menu)(&registry).len(), tools = registry.listed().count(), "serving");
    Ok(offered)
}

/// Where upstreams are configured, what is offered follows what is approved. What is over is let go of.
fn keep_up_to_date(refresh: Option<Refresh>, sweeping: Sweeping, stop: &CancellationToken) {
    if let Some(refresh) = refresh {
        tokio::spawn(refresh.run(stop.clone()));
    }
    tokio::spawn(sweeping.run(stop.clone()));
}

/// Who is let in over HTTP.
enum Gate {
    /// Everyone on this machine, as the local user.
    Loopback,
    /// Whoever has a token.
    OAuth(Arc<crate::oauth::OAuthSection>),
}

impl Gate {
    /// Without an identity provider only a loopback address is served, and only when that is asked for.
    fn chosen(address: SocketAddr, args: &ServeArgs, config: &Config) -> Result<Self, CommandError> {
        let usage = |text: String| Err(CommandError::Usage(text));
        if !args.insecure_loopback {
            if config.oauth.is_empty() {
                return usage(
                    "HTTP without an identity provider lets everyone in: name one under [oauth] in your configuration, \
                     or say --insecure-loopback to serve a loopback address to everyone on this machine"
                        .into(),
                );
            }
            return Ok(Self::OAuth(Arc::new(config.oauth.clone())));
        }
        if !address.ip().is_loopback() {
            return usage(format!(
                "--insecure-loopback serves loopback addresses only, and {} is none: use 127.0.0.1 or [::1]",
                address.ip()
            ));
        }
        Ok(Self::Loopback)
    }

    fn access(&self) -> Option<Arc<dyn Access>> {
        match self {
            Self::Loopback => None,
            Self::OAuth(section) => Some(Arc::clone(section) as Arc<dyn Access>),
        }
    }

    fn identify(&self, house: &House) -> Result<Arc<dyn Identify>, Fault> {
        Ok(match self {
            Self::Loopback => Arc::new(Loopback { uid: house.first().uid() }),
            Self::OAuth(section) => {
                let scopes = house.scopes().iter().map(ToString::to_string).collect();
                let roots: Vec<&str> =
                    house.engines().filter_map(|e| e.root()).map(|root| root.name()).collect();
                Arc::new(section.resource_server(scopes, &roots)?)
            }
        })
    }
}

/// Most connections at once.
const CONNECTIONS: u64 = 1024;

/// Files that calls may have open beside the connections.
const FOR_CALLS: u64 = 512;

/// How many connections the process can hold and still work. It takes as many open files as it may have.
pub(super) fn connections() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = CONNECTIONS + FOR_CALLS;
    let may = limit.maximum.unwrap_or(wanted).min(wanted).max(limit.current.unwrap_or(wanted));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(may), maximum: limit.maximum });
    let has = if raised.is_ok() { may } else { limit.current.unwrap_or(wanted) };
    let places = has.saturating_sub(FOR_CALLS).clamp(16, CONNECTIONS);
    if places < CONNECTIONS {
        tracing::warn!(places, "the limit of open files allows few connections: raise it (`ulimit -n`)");
    }
    usize::try_from(places).unwrap_or(16)
}

pub(super) fn tls(chain: &Path, key: &Path) -> Result<Tls, CommandError> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|e| Fault::invalid(format!("{} cannot be read: {e}", path.display())))
    };
    Tls::new(&read(chain)?, &read(key)?).map_err(|e| {
        let fault = Fault::invalid(format!("--tls-cert, --tls-key: {e}"));
        fault.suggest("Give the certificate chain and its private key as PEM files.").into()
    })
}

async fn over_http(
    house: House,
    menu: Choose,
    (refresh, sweeping): (Option<Refresh>, Sweeping),
    address: SocketAddr,
    options: Options,
    gate: &Gate,
) -> Result<(), CommandError> {
    let stop = stopped_by_signals()?;
    let listener = bound(address, &options, gate).await?;
    keep_up_to_date(refresh, sweeping, &stop);
    let served = mcp::http::serve_http(house, menu, listener, options, stop).await;
    served.map_err(|e| CommandError::Io(std::io::Error::other(e)))
}

/// Listens, and says so.
async fn bound(address: SocketAddr, options: &Options, gate: &Gate) -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind(address).await?;
    let (address, scheme) = (listener.local_addr()?, if options.tls.is_some() { "https" } else { "http" });
    match gate {
        Gate::Loopback => tracing::warn!("everyone who reaches {address} on this machine is let in as you"),
        Gate::OAuth(_) if scheme == "http" && !address.ip().is_loopback() => tracing::warn!(
            "tokens arrive here unencrypted: let TLS end in front of {address}, or use --tls-cert and --tls-key"
        ),
        Gate::OAuth(_) => {}
    }
    tracing::info!("serving on {scheme}://{address}/mcp");
    Ok(listener)
}

/// Cancelled by the first SIGINT or SIGTERM.
pub(super) fn stopped_by_signals() -> std::io::Result<CancellationToken> {
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

/// How often the parent is looked for.
const LOOK: Duration = Duration::from_secs(1);

/// Cancels `stop` once the process that started this one has ended: its client is gone, and the end of the input, which
/// says the same, does not come while somebody else holds the other end open.
///
/// It is asked, rather than told by a parent-death signal: that one is sent when the *thread* that started this process
/// ends, which in clients that start their servers from a pool is long before they do. Asking works on every Unix.
fn stop_with_parent(stop: &CancellationToken) {
    // None: the parent is in another PID namespace, and nothing tells of its end.
    let Some(parent) = getppid() else { return };
    let stop = stop.clone();
    tokio::spawn(async move {
        let mut looks = tokio::time::interval(LOOK);
        while getppid() == Some(parent) {
            looks.tick().await;
        }
        tracing::info!("whoever started this server has ended, and so does it");
        stop.cancel();
    });
}
