//! Streamable HTTP, in both protocol eras: sessions for clients of the older one, none for the newer. Never HTTP+SSE as
//! its own transport, and nothing that a client sends is decompressed.

mod caller;
mod direct;
mod endpoint;
mod message;
pub mod oauth;
mod sessions;
mod talk;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use contract::Principal;
use kit::menu::Choose;
use kit::{Call, House};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::ServeError;
use crate::server::Server;
pub use caller::{Identify, Loopback, Refused};
use endpoint::{App, Endpoint, Protocol};
use listen::{Shards, Tls};
use message::{Doorkeeper, MAX_BODY};
pub(crate) use sessions::SESSION;
use sessions::Sessions;
use talk::UNHEARD;

/// Where the protocol is spoken.
pub(crate) const ENDPOINT: &str = "/mcp";

/// The header that names a revision of the protocol.
const VERSION_NAME: &str = "mcp-protocol-version";

/// How long a shutdown waits for requests that are being answered.
const DRAIN: Duration = Duration::from_secs(10);

/// Who may ask, and from where.
pub struct Options {
    /// Tells who calls.
    pub identify: Arc<dyn Identify>,
    /// Names that the `Host` header may have, besides loopback's and the resource's own.
    pub hosts: Vec<String>,
    /// Origins that a browser may come from, with scheme and port (`https://app.example:443`), besides loopback's.
    pub origins: Vec<String>,
    /// The certificate, where TLS does not end in front of this server.
    pub tls: Option<Tls>,
    /// Most connections at once; who comes later waits. Fewer than the process may have files open: calls need some.
    pub connections: usize,
    /// What answers connections; where there is none, the runtime that serves.
    pub shards: Option<Arc<Shards>>,
}

/// What stands behind the stack: the product's server, or the fixtures of the conformance suite.
pub(crate) trait Served: ServerHandler + Clone {
    /// The handler of a new session, or of a request that needs none.
    fn begin(&self) -> Self {
        self.clone()
    }

    /// Whether it can answer.
    fn is_ready(&self) -> bool;

    /// The scope that a call needs and its caller was not granted.
    fn lacking(&self, _call: &Call) -> Option<String> {
        None
    }

    /// The scope that a caller needs to look at what is its own, where it was granted nothing here.
    fn lacking_for_reading(&self, _caller: &Principal) -> Option<String> {
        None
    }

    /// Whose calls may be answered without the protocol library, if any's: only a tool's that is ours.
    fn direct(&self) -> Option<&Server> {
        None
    }

    /// Waits until no call is being made, at most `longest`.
    fn drained(&self, longest: Duration) -> impl Future<Output = ()> + Send;
}

impl Served for Server {
    fn is_ready(&self) -> bool {
        Server::is_ready(self)
    }

    fn lacking(&self, call: &Call) -> Option<String> {
        self.house().lacking(call).map(|scope| scope.to_string())
    }

    fn lacking_for_reading(&self, caller: &Principal) -> Option<String> {
        self.house().lacking_for_reading(caller).map(|scope| scope.to_string())
    }

    fn direct(&self) -> Option<&Server> {
        Some(self)
    }

    fn drained(&self, longest: Duration) -> impl Future<Output = ()> + Send {
        Server::drained(self, longest)
    }
}

/// Serves `house` on `listener`, listing what `menu` chooses, until `stop` is cancelled; requests that are being answered are waited for.
pub async fn serve_http(
    house: House,
    menu: Choose,
    listener: TcpListener,
    options: Options,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let server = Server::new(house, menu, stop.child_token())?;
    serve_over(server, listener, options, stop).await;
    Ok(())
}

/// As [`serve_http`], for anything whose calls end once `stop` is cancelled.
pub(crate) async fn serve_over<S: Served>(
    server: S,
    listener: TcpListener,
    options: Options,
    stop: CancellationToken,
) {
    // What ends when: first nobody is let in and the calls are cancelled, then their answers go out, then the streams.
    let streams = CancellationToken::new();
    let (tls, places, shards) = (options.tls.clone(), options.connections, options.shards.clone());
    let app = app(server.clone(), options, &streams);
    let late = async {
        stop.cancelled().await;
        server.drained(DRAIN).await;
        tokio::time::sleep(LAST_WORDS).await;
        streams.cancel();
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        // Of calls whose callers went away nobody waits for the answer, but for the record.
        () = listen::serve(listener, tls, (places, shards.as_deref()), app, stop.clone()) => server.drained(DRAIN).await,
        () = late => tracing::warn!("requests were cut off: they took longer than {} s to end", DRAIN.as_secs()),
    }
}

/// How long a session lasts in which nothing happens: longer than the longest call, and than a question to a person.
const IDLE: Duration = Duration::from_mins(30);

/// How long answers that are ready have to go out.
const LAST_WORDS: Duration = Duration::from_millis(200);

fn app<S: Served>(server: S, options: Options, streams: &CancellationToken) -> App<S> {
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    hosts.extend(options.hosts);
    hosts.extend(options.identify.metadata().map(|metadata| metadata.host().to_owned()));
    let mut origins: Vec<String> =
        ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"].map(str::to_owned).to_vec();
    origins.extend(options.origins);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts.clone())
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY)
        .with_cancellation_token(streams.child_token());
    let ready = server.clone();
    let mut kept = LocalSessionManager::default();
    kept.session_config.keep_alive = Some(IDLE + UNHEARD);
    let kept = Arc::new(kept);
    let protocol = StreamableHttpService::new(move || Ok(server.begin()), Arc::clone(&kept), config);
    let metadata = options.identify.metadata().cloned();
    let door = Doorkeeper::new(ready.clone(), Arc::clone(&options.identify), hosts);
    let endpoint = Endpoint { who: options.identify, sessions: Sessions::of(kept), door, protocol };
    let mut open = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(is_ready::<S>).with_state(ready));
    for path in metadata.iter().flat_map(oauth::Metadata::paths) {
        let document = metadata.as_ref().map(|m| m.document().clone());
        open = open.route(&path, get(move || std::future::ready(Json(document))));
    }
    App { endpoint: Arc::new(endpoint), open }
}

/// Ready means that every root's record can be read.
async fn is_ready<S: Served>(State(server): State<S>) -> StatusCode {
    let whole = tokio::task::spawn_blocking(move || server.is_ready()).await;
    if whole.unwrap_or(false) { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}
