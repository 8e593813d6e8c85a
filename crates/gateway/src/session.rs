//! One connection to an upstream, with one credential, in whichever era it speaks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::Digest;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult, SubscriptionFilter,
};
use rmcp::service::{ClientServiceExt as _, NotificationContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::Notify;
use zeroize::Zeroizing;

use crate::config::Upstream;
use crate::error::SessionError;
use crate::identity::{Listed, Server};
use crate::tap::{MAX_EVENT, Pages, Tap};

/// Longest that a whole list may take, where a call may take longer.
const LIST: Duration = Duration::from_secs(20);

/// Largest list, in bytes: all its pages.
const MAX_LIST: usize = 2 * 1024 * 1024;

/// Longest that it may take to connect.
const CONNECT: Duration = Duration::from_secs(15);

/// Most tools of one upstream.
const MAX_TOOLS: usize = 1_000;

/// Most pages of its list.
const MAX_PAGES: usize = 64;

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
    patience: Duration,
    server: Server,
    /// What was last listed over this connection, by name.
    said: Mutex<BTreeMap<String, Digest>>,
    retired: AtomicBool,
    secrets: Vec<Zeroizing<String>>,
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
        // Another session may be another server: it is looked at like one.
        config.reinit_on_expired_session = false;
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
            .map_err(SessionError::from)?;
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
            patience: upstream.timeout.min(LIST),
            server,
            said: Mutex::default(),
            retired: AtomicBool::new(false),
            secrets: token
                .into_iter()
                .map(|token| Zeroizing::new(token.to_owned()))
                .chain(upstream.headers.iter().map(|(_, value)| value.clone()))
                .collect(),
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
        !self.retired.load(Ordering::Relaxed)
            && !self.running.peer().is_transport_closed()
            && self.until.is_none_or(|until| Instant::now() < until)
    }

    /// Has nobody use it from now on.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    /// The digest of the identity that was last listed under this name, over this connection.
    pub(crate) fn last_said(&self, there: &str) -> Option<Digest> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).get(there).copied()
    }

    /// `text` without the credentials that the upstream was given: it may repeat them.
    pub(crate) fn masked(&self, mut text: String) -> String {
        for secret in self.secrets.iter().filter(|secret| secret.len() >= 6) {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "[credential]");
            }
        }
        text
    }

    /// Told when the upstream says that its list changed.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Every tool, as the upstream says it now. Nothing is kept from an earlier list, whatever the upstream allows.
    pub(crate) async fn tools(&self) -> Result<Listed, SessionError> {
        let whole = async {
            let _one = self.one_list.lock().await;
            self.every_page().await
        };
        let listed = tokio::time::timeout(self.patience, whole).await.unwrap_or_else(|_| {
            let longest = self.patience.as_secs();
            Err(SessionError::Failed(format!("its list of tools takes longer than {longest} s")))
        })?;
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = listed.digests();
        Ok(listed)
    }

    async fn every_page(&self) -> Result<Listed, SessionError> {
        let (mut tools, mut cursor, mut server) = (Vec::new(), None, self.server.clone());
        let mut bytes = 0;
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
            bytes += raw.bytes;
            if bytes > MAX_LIST {
                return Err(SessionError::Failed(format!(
                    "its list of tools is larger than {MAX_LIST} bytes"
                )));
            }
            // In the newer era every answer says who gives it.
            if let Some((name, version)) = raw.server {
                (server.name, server.version) = (name, version);
            }
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
