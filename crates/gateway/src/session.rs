//! One connection to an upstream, with one credential, in whichever era it speaks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::{Code, Digest, Fault};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientServiceExt as _, NotificationContext, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use crate::config::Upstream;
use crate::identity::{Listed, Server};
use crate::tap::{Pages, Tap};

/// Longest that it may take to connect.
const CONNECT: Duration = Duration::from_secs(15);

/// Most tools of one upstream.
const MAX_TOOLS: usize = 1_000;

/// Most pages of its list.
const MAX_PAGES: usize = 64;

/// Largest event of a stream, in bytes.
const MAX_EVENT: usize = 8 * 1024 * 1024;

/// Why an upstream did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    /// The connection is of no use any more.
    #[error("the connection was lost")]
    Lost,
    /// It could not be made, or what came over it is not to be used.
    #[error("{0}")]
    Failed(String),
}

impl SessionError {
    pub(crate) fn into_fault(self, upstream: &str) -> Fault {
        Fault::new(Code::ToolExecutionFailed, format!("{upstream}: the upstream server: {self}")).suggest(
            format!("A person checks that the server runs, and [upstreams.{upstream}]; then call again."),
        )
    }
}

impl From<ServiceError> for SessionError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::TransportClosed => Self::Lost,
            // The library's own words begin with the names of its types.
            ServiceError::TransportSend(failed) => Self::Failed(chain(failed.error.as_ref())),
            other => Self::Failed(other.to_string()),
        }
    }
}

/// What the upstream may say unasked: that its list changed. Nothing else is offered to it, no sampling, no roots, no
/// questions to the user.
struct Ears {
    changed: Arc<Notify>,
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("gatewright", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

/// A connection.
pub(crate) struct Session {
    running: RunningService<RoleClient, Ears>,
    pages: Arc<Pages>,
    one_list: tokio::sync::Mutex<()>,
    changed: Arc<Notify>,
    until: Option<Instant>,
    pins: bool,
    server: Server,
}

impl Session {
    /// Connects with `token`, which is good until `until`.
    pub(crate) async fn connect(
        upstream: &Upstream,
        client: reqwest::Client,
        token: Option<&str>,
        until: Option<Instant>,
    ) -> Result<Self, SessionError> {
        let pages = Arc::new(Pages::default());
        let mut config = StreamableHttpClientTransportConfig::with_uri(upstream.url.as_str());
        config.auth_header = token.map(str::to_owned);
        config.max_sse_event_size = MAX_EVENT;
        let tap = Tap { client, pages: Arc::clone(&pages) };
        let transport = StreamableHttpClientTransport::with_client(tap, config);
        let changed = Arc::new(Notify::new());
        let lifecycle = rmcp::service::ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let connecting = Ears { changed: Arc::clone(&changed) }.serve_with_lifecycle(transport, lifecycle);
        let running = tokio::time::timeout(CONNECT, connecting)
            .await
            .map_err(|_| SessionError::Failed(format!("it does not answer within {} s", CONNECT.as_secs())))?
            .map_err(|e| SessionError::Failed(begun(&e)))?;
        let info = running.peer().peer_info();
        let said = info.as_ref().and_then(|info| info.server_info.as_ref());
        let server = Server {
            url: upstream.url.clone(),
            name: said.map(|server| server.name.clone()).unwrap_or_default(),
            version: said.map(|server| server.version.clone()).unwrap_or_default(),
            key: None,
        };
        let session = Self {
            running,
            pages,
            one_list: tokio::sync::Mutex::default(),
            changed,
            until,
            pins: upstream.pin_key,
            server,
        };
        let is_current = info.as_ref().is_some_and(|i| !i.protocol_version.has_initialize());
        let tells =
            info.is_some_and(|i| i.capabilities.tools.as_ref().is_some_and(|t| t.list_changed == Some(true)));
        if is_current && tells {
            session.listen();
        }
        Ok(session)
    }

    /// In the newer era a client says that it wants to hear of changes.
    fn listen(&self) {
        let (peer, changed) = (self.running.peer().clone(), Arc::clone(&self.changed));
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let Ok(mut subscription) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = subscription.next().await {
                changed.notify_one();
            }
        });
    }

    /// Whether it can still be used.
    pub(crate) fn is_good(&self) -> bool {
        !self.running.peer().is_transport_closed() && self.until.is_none_or(|until| Instant::now() < until)
    }

    /// Told when the upstream says that its list changed.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Every tool, as the upstream says it now. Nothing is kept from an earlier list, whatever the upstream allows.
    pub(crate) async fn tools(&self) -> Result<Listed, SessionError> {
        let _one = self.one_list.lock().await;
        let (mut tools, mut cursor, mut server) = (Vec::new(), None, self.server.clone());
        for _ in 0..MAX_PAGES {
            self.pages.clear();
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let ServerResult::ListToolsResult(page) = self.running.peer().send_request(request).await? else {
                return Err(SessionError::Failed("its list of tools is none".to_owned()));
            };
            let Some(raw) = self.pages.take() else {
                return Err(SessionError::Failed("its list of tools could not be read".to_owned()));
            };
            if self.pins {
                let differs = |key: &Digest| Some(key) != raw.key.as_ref();
                if raw.key.is_none() || server.key.as_ref().is_some_and(differs) {
                    return Err(SessionError::Failed(
                        "its TLS key cannot be told, or is not always the same".to_owned(),
                    ));
                }
                server.key = raw.key;
            }
            tools.extend(raw.tools);
            if tools.len() > MAX_TOOLS {
                return Err(SessionError::Failed(format!("it has more than {MAX_TOOLS} tools")));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(Listed { server, tools });
            }
        }
        Err(SessionError::Failed(format!("its list of tools has more than {MAX_PAGES} pages")))
    }

    /// Calls a tool. Dropping this cancels the call there.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<CallToolResponse, SessionError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        Ok(self.running.peer().call_tool_once(params).await?)
    }
}

/// Why a connection could not be begun. The library's own words begin with the names of its types.
fn begun(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => chain(error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => begun(fallback),
        other => chain(other),
    }
}

/// An error with what caused it: the library's own words say little.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    // The one kind of the library's errors that does not tell what caused it.
    if let Some(StreamableHttpError::Client(inner)) =
        error.downcast_ref::<StreamableHttpError<reqwest::Error>>()
    {
        return chain(inner);
    }
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !said.contains(&text) {
            said = format!("{said}: {text}");
        }
        cause = inner.source();
    }
    said
}
