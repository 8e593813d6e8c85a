//! Connections: accepted up to a number, plain or by TLS, given so long to say what they want, and let go of in good order.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto::ring};
use tokio_util::sync::CancellationToken;

mod attention;
mod shards;

use self::attention::{Attention, Heeded};

pub use shards::Shards;

/// Longest that a connection may take to send the head of its next request, waiting for it included.
const HEAD_ARRIVES: Duration = Duration::from_secs(30);

/// Longest that a TLS handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long accepting rests when the system refuses: it has run out of something.
const REST: Duration = Duration::from_millis(100);

/// Why a certificate cannot be served with.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Not PEM, or not what should be in it.
    #[error("{0}")]
    Pem(String),
    /// The certificate and the key do not go together, or are of no kind that is understood.
    #[error("the certificate cannot be used: {0}")]
    Refused(#[from] tokio_rustls::rustls::Error),
}

/// TLS 1.2 and 1.3 with one certificate.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Serves `chain`, the server's own certificate first, with its private `key`, both as PEM.
    pub fn new(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<_, _>>()
            .map_err(|e| TlsError::Pem(format!("the certificate: {e}")))?;
        if chain.is_empty() {
            return Err(TlsError::Pem("the certificate's file holds none".into()));
        }
        let key =
            PrivateKeyDer::from_pem_slice(key).map_err(|e| TlsError::Pem(format!("the private key: {e}")))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }
}

/// What answers requests. Each connection has its own clone.
pub trait App:
    Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send> + Clone + Send + 'static
{
}

impl<A> App for A where
    A: Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static
{
}

/// A router as what answers requests.
#[must_use]
pub fn routed(router: Router) -> impl App {
    TowerToHyperService::new(router)
}

/// Serves `app` on `listener` until `stop` is cancelled and every connection has ended.
///
/// Of `places` connections at once; who comes later waits to be accepted. Connections are answered by `shards`, or where this
/// itself runs.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Tls>,
    (places, shards): (usize, Option<&Shards>),
    app: impl App,
    stop: CancellationToken,
) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(places));
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = stop.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(REST).await;
                continue;
            }
        };
        let (tls, app, watcher) = (tls.clone(), app.clone(), graceful.watcher());
        let Some(shards) = shards else {
            tokio::spawn(async move {
                connection(stream, tls, app, watcher, None).await;
                drop(place);
            });
            continue;
        };
        // It goes to another runtime, which is to be told of it.
        let moved = stream.into_std();
        let (shard, attention) = shards.next();
        shard.spawn(async move {
            match moved.and_then(TcpStream::from_std) {
                Ok(stream) => connection(stream, tls, app, watcher, Some(attention)).await,
                Err(error) => tracing::warn!(%error, "a connection could not be answered"),
            }
            drop(place);
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

async fn connection(
    stream: TcpStream,
    tls: Option<Tls>,
    app: impl App,
    watcher: Watcher,
    attention: Option<Arc<Attention>>,
) {
    // Without it every event that is streamed waits for the other side's acknowledgement: 44 ms a call.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let stream = Heeded::new(stream, attention);
    match tls {
        None => requests(stream, app, watcher).await,
        Some(Tls(acceptor)) => match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => requests(stream, app, watcher).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        },
    }
}

async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    app: impl App,
    watcher: Watcher,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_ARRIVES);
    let connection = http.serve_connection(TokioIo::new(stream), app);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection ended early");
    }
}
