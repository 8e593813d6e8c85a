//! The server: any number of them over one PostgreSQL database behave as one, one alone over a file.

mod auth;
mod door;
mod handlers;
mod input;
mod log;
mod openapi;
mod strict;
mod table;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, get, on};
use listen::Tls;
use store_api::server::{Keys, Texts, Traffic};
use store_api::{Clock, Context, Timestamp, Upkeep};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::wire::Method;
use crate::wire::error::{ApiError, ErrorCode};
use crate::wire::machine::Venture;
use auth::{Known, Strangers};
use log::Log;
pub use openapi::document as openapi;

/// All that a server needs of a store.
pub trait Backend: Context + Keys + Traffic + Texts + Upkeep {}

impl<T: Context + Keys + Traffic + Texts + Upkeep> Backend for T {}

/// How long a shutdown waits for requests that are being answered.
const DRAIN: Duration = Duration::from_secs(10);
/// How long the store has to say that it is ready.
const READY: Duration = Duration::from_secs(1);
/// How often what is old is let go of.
const SWEEP: Duration = Duration::from_mins(10);

/// How a server is set up.
pub struct Options {
    /// Its store.
    pub store: Arc<dyn Backend>,
    /// What time it is.
    pub clock: Clock,
    /// What the team works on.
    pub ventures: Vec<Venture>,
    /// Names that the `Host` header may have, besides loopback's; any where none is named.
    pub hosts: Vec<String>,
    /// Requests a minute and key.
    pub per_minute: u64,
    /// The certificate, where TLS does not end in front of this server.
    pub tls: Option<Tls>,
    /// Most connections at once; who comes later waits.
    pub connections: usize,
    /// Days for which what has ended is kept; for ever where none is said.
    pub keep_days: Option<u32>,
    /// The program's version.
    pub version: String,
    /// What it was built for.
    pub build: String,
}

/// What all requests share.
pub(crate) struct App {
    store: Arc<dyn Backend>,
    clock: Clock,
    ventures: Vec<Venture>,
    hosts: Vec<String>,
    per_minute: u64,
    keep_days: Option<u32>,
    version: String,
    build: String,
    known: Mutex<Known>,
    strangers: Mutex<Strangers>,
    ready: Mutex<Option<(Instant, bool)>>,
    log: Log,
    stop: CancellationToken,
}

impl App {
    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Randomness for an id.
    fn random() -> Result<u128, ApiError> {
        Ok(crate::client::random()?)
    }
}

/// Serves on `listener` until `stop` is cancelled; requests that are being answered are waited for, and the log is written.
pub async fn serve(listener: TcpListener, options: Options, stop: CancellationToken) {
    let (tls, places) = (options.tls.clone(), options.connections);
    let (log, writing) = log::start(Arc::clone(&options.store));
    let app = Arc::new(App {
        store: options.store,
        clock: options.clock,
        ventures: options.ventures,
        hosts: options.hosts,
        per_minute: options.per_minute,
        keep_days: options.keep_days,
        version: options.version,
        build: options.build,
        known: Mutex::default(),
        strangers: Mutex::default(),
        ready: Mutex::default(),
        log,
        stop: stop.clone(),
    });
    let sweeping = tokio::spawn(sweep(Arc::clone(&app)));
    let late = async {
        stop.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        () = listen::serve(listener, tls, (places, None), listen::routed(router(&app)), stop.clone()) => {}
        () = late => tracing::warn!("requests were cut off: they took longer than {} s to end", DRAIN.as_secs()),
    }
    sweeping.abort();
    drop(app);
    writing.end().await;
}

async fn sweep(app: Arc<App>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        if let Err(error) = app.store.sweep(app.keep_days).await {
            tracing::warn!(%error, "what is over was not let go of");
        }
    }
}

fn router(app: &Arc<App>) -> Router {
    let mut by_path: BTreeMap<&'static str, axum::routing::MethodRouter> = BTreeMap::new();
    for route in table::routes() {
        let (route, app) = (Arc::new(route), Arc::clone(app));
        let (path, filter) = (route.path, filter(route.method));
        let answer = move |request: axum::extract::Request| {
            let (route, app) = (Arc::clone(&route), Arc::clone(&app));
            async move { door::pass(&app, &route, request).await }
        };
        let methods = by_path.remove(path).unwrap_or_default();
        by_path.insert(path, on_also(methods, filter, answer));
    }
    let mut router = Router::new();
    for (path, methods) in by_path {
        let app = Arc::clone(app);
        let other = move |request: axum::extract::Request| {
            let app = Arc::clone(&app);
            async move {
                door::refused(&app, request, ErrorCode::MethodNotAllowed, "this path takes another method")
            }
        };
        router = router.route(path, methods.fallback(other));
    }
    let (health, ready) = (Arc::clone(app), Arc::clone(app));
    let document = Arc::new(openapi(&app.version).to_string());
    let nowhere = Arc::clone(app);
    router
        .route("/health", get(move || std::future::ready(said(&health, StatusCode::OK, "ok"))))
        .route("/ready", get(move || is_ready(Arc::clone(&ready))))
        .route("/openapi.json", get(move || std::future::ready(json((*document).clone()))))
        .fallback(move |request: axum::extract::Request| {
            let app = Arc::clone(&nowhere);
            async move {
                let message = "there is no such path: /openapi.json lists those that there are";
                door::refused(&app, request, ErrorCode::NotFound, message)
            }
        })
}

fn on_also<H, T>(
    methods: axum::routing::MethodRouter,
    filter: MethodFilter,
    handler: H,
) -> axum::routing::MethodRouter
where
    H: axum::handler::Handler<T, ()>,
    T: 'static,
{
    methods.merge(on(filter, handler))
}

const fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Delete => MethodFilter::DELETE,
    }
}

fn json(text: String) -> Response {
    ([(axum::http::header::CONTENT_TYPE, "application/json")], text).into_response()
}

fn said(app: &App, status: StatusCode, word: &str) -> Response {
    let body = serde_json::json!({ "status": word, "version": app.version, "build": app.build });
    (status, json(body.to_string())).into_response()
}

/// Ready means that the store answers and that the server is not about to end.
async fn is_ready(app: Arc<App>) -> Response {
    if app.stop.is_cancelled() {
        return said(&app, StatusCode::SERVICE_UNAVAILABLE, "draining");
    }
    // Whoever asks without a key asks the store once a second at most.
    let known = *app.ready.lock().unwrap_or_else(PoisonError::into_inner);
    let is_ready = match known {
        Some((at, is_ready)) if at.elapsed() < READY => is_ready,
        _ => {
            let answered = tokio::time::timeout(READY, app.store.logged(1)).await;
            if let Ok(Err(error)) = &answered {
                tracing::warn!(%error, "the store is not ready");
            }
            let is_ready = matches!(answered, Ok(Ok(_)));
            *app.ready.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), is_ready));
            is_ready
        }
    };
    if is_ready {
        said(&app, StatusCode::OK, "ready")
    } else {
        said(&app, StatusCode::SERVICE_UNAVAILABLE, "unavailable")
    }
}
