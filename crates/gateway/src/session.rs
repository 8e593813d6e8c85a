//! One connection to an upstream, with one credential, in whichever era it speaks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use contract::Digest;
use exec::run::Resident;
use kit::ForeignDesk;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, ClientRequest, GetPromptRequestParams,
    GetPromptResponse, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerResult, SubscriptionFilter,
};
use rmcp::service::{ClientServiceExt as _, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use tokio::sync::Notify;
use zeroize::Zeroizing;

use crate::asking::Calls;
use crate::beside::{self, Wanted};
use crate::config::{Ground, Http, Program, Upstream};
use crate::ears::{Ears, Steps, Teller};
use crate::error::SessionError;
use crate::identity::{At, Listed, Server};
use crate::program;
use crate::stream::{Heard, Lines};
use crate::tap::{MAX_EVENT, Pages, Tap};

/// Longest that a whole list may take, where a call may take longer.
const LIST: Duration = Duration::from_secs(20);

/// Largest list, in bytes: all its pages.
const MAX_LIST: usize = 2 * 1024 * 1024;

/// Longest that it may take to connect.
const CONNECT: Duration = Duration::from_secs(15);

/// Longest that a program may take to begin, once it was started.
const BEGIN: Duration = Duration::from_secs(30);

/// Longest end of what a program said that is repeated to a person, in bytes.
const TAIL: usize = 2_000;

/// Most tools of one upstream.
const MAX_TOOLS: usize = 1_000;

/// Most pages of its list.
const MAX_PAGES: usize = 64;

/// A connection.
pub(crate) struct Session {
    running: RunningService<RoleClient, Ears>,
    pages: Arc<Pages>,
    /// The last list, and when it was asked for.
    one_list: tokio::sync::Mutex<Option<(Instant, Arc<Listed>)>>,
    changed: Arc<Notify>,
    steps: Steps,
    calls: Calls,
    until: Option<Instant>,
    pins: bool,
    patience: Duration,
    server: Server,
    /// What was last listed over this connection, by name.
    said: Mutex<Option<Arc<Listed>>>,
    described: Vec<(String, String)>,
    wanted: Wanted,
    instructions: Option<String>,
    retired: AtomicBool,
    secrets: Vec<Zeroizing<String>>,
    /// The program, where it is one.
    child: Option<Child>,
    began: Instant,
    used: Mutex<Instant>,
    is_current: bool,
}

/// A program, and what was heard of it.
struct Child {
    /// Taken when the session ends.
    resident: Option<Resident>,
    heard: Arc<Heard>,
    may_write: bool,
}

impl Drop for Child {
    fn drop(&mut self) {
        // Ending it takes a moment, which nobody need wait.
        let resident = self.resident.take();
        std::thread::spawn(move || drop(resident));
    }
}

/// What a connection is made with.
struct Ways {
    pages: Arc<Pages>,
    at: At,
    patience: Duration,
    pins: bool,
    until: Option<Instant>,
    token: Option<Zeroizing<String>>,
    child: Option<Child>,
}

impl Session {
    /// Connects with `token`, which is good until `until`.
    pub(crate) async fn over_http(
        upstream: &Upstream,
        http: &Http,
        client: reqwest::Client,
        token: Option<&str>,
        until: Option<Instant>,
    ) -> Result<Self, SessionError> {
        let pages = Arc::new(Pages::default());
        let mut config = StreamableHttpClientTransportConfig::with_uri(http.url.as_str());
        config.auth_header = token.map(str::to_owned);
        config.max_sse_event_size = MAX_EVENT;
        // Another session may be another server: it is looked at like one.
        config.reinit_on_expired_session = false;
        let tap = Tap { client, pages: Arc::clone(&pages) };
        let transport = StreamableHttpClientTransport::with_client(tap, config);
        let token = token.map(|token| Zeroizing::new(token.to_owned()));
        let at = At::Url(http.url.clone());
        let ways = Ways { pages, at, patience: CONNECT, pins: http.pin_key, until, token, child: None };
        Self::begin(upstream, transport, ways).await
    }

    /// Starts a program, and connects to it.
    pub(crate) async fn over_program(
        upstream: &Upstream,
        program: &Program,
        ground: &Arc<Ground>,
        may_write: bool,
    ) -> Result<Self, SessionError> {
        let started = program::start(program.clone(), Arc::clone(ground), may_write).await?;
        let (pages, heard) = (Arc::new(Pages::default()), Arc::new(Heard::default()));
        let child = Child { resident: Some(started.resident), heard: Arc::clone(&heard), may_write };
        let lines = Lines::new(started.socket, Arc::clone(&pages), heard)
            .map_err(|e| SessionError::Failed(format!("its streams cannot be used: {e}")))?;
        let at = At::Program(started.identity);
        let ways =
            Ways { pages, at, patience: BEGIN, pins: false, until: None, token: None, child: Some(child) };
        Self::begin(upstream, lines, ways).await
    }

    async fn begin<E, A>(
        upstream: &Upstream,
        transport: impl IntoTransport<RoleClient, E, A>,
        ways: Ways,
    ) -> Result<Self, SessionError>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let changed = Arc::new(Notify::new());
        let lifecycle = rmcp::service::ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let steps = Steps::default();
        let calls = Calls::default();
        let ears = Ears {
            changed: Arc::clone(&changed),
            steps: steps.clone(),
            calls: calls.clone(),
            questions: upstream.questions,
        };
        let connecting = ears.serve_with_lifecycle(transport, lifecycle);
        let connected = match tokio::time::timeout(ways.patience, connecting).await {
            Ok(connected) => connected.map_err(SessionError::from),
            Err(_) => {
                let longest = ways.patience.as_secs();
                Err(SessionError::Failed(format!("it does not answer within {longest} s")))
            }
        };
        let masks = || ways.token.iter().chain(upstream.secrets()).cloned().collect::<Vec<_>>();
        let running = match connected {
            Ok(running) => running,
            Err(error) => {
                let Some(child) = &ways.child else { return Err(error) };
                return Err(child.ended(error, &upstream.name, &masks()).await);
            }
        };
        let info = running.peer().peer_info();
        let said = info.as_ref().and_then(|info| info.server_info.as_ref());
        let server = Server {
            at: ways.at.clone(),
            name: said.map(|server| server.name.clone()).unwrap_or_default(),
            version: said.map(|server| server.version.clone()).unwrap_or_default(),
            key: None,
        };
        let is_current = info.as_ref().is_some_and(|i| !i.protocol_version.has_initialize());
        let can = info.as_ref().map(|info| &info.capabilities);
        let wanted = Wanted {
            resources: upstream.resources && can.is_some_and(|can| can.resources.is_some()),
            prompts: upstream.prompts && can.is_some_and(|can| can.prompts.is_some()),
        };
        let instructions = info.as_ref().and_then(|info| info.instructions.clone());
        let tells = can.and_then(|can| hears_of(can, wanted));
        let secrets = masks();
        let session = Self {
            running,
            pages: ways.pages,
            one_list: tokio::sync::Mutex::default(),
            changed,
            steps,
            calls,
            until: ways.until,
            pins: ways.pins,
            patience: upstream.timeout.min(LIST),
            server,
            said: Mutex::default(),
            described: upstream.chosen.describe.clone(),
            wanted,
            instructions,
            retired: AtomicBool::new(false),
            secrets,
            child: ways.child,
            began: Instant::now(),
            used: Mutex::new(Instant::now()),
            is_current,
        };
        if let Some(tells) = tells.filter(|_| is_current) {
            session.listen(tells);
        }
        Ok(session)
    }

    /// In the newer era a client says that it wants to hear of changes.
    fn listen(&self, filter: SubscriptionFilter) {
        let (peer, changed) = (self.running.peer().clone(), Arc::clone(&self.changed));
        tokio::spawn(async move {
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

    /// Whether its program may write where it may at most; what is no program is none of ours to hold.
    pub(crate) fn may_write(&self) -> Option<bool> {
        self.child.as_ref().map(|child| child.may_write)
    }

    /// Whether it went away by itself.
    pub(crate) fn is_lost(&self) -> bool {
        !self.retired.load(Ordering::Relaxed) && self.running.peer().is_transport_closed()
    }

    /// For how long it has been there.
    pub(crate) fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// For how long nobody has used it.
    pub(crate) fn idle(&self) -> Duration {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether it speaks the newer era.
    pub(crate) const fn is_current(&self) -> bool {
        self.is_current
    }

    /// What it calls itself, and its version.
    pub(crate) fn called(&self) -> (&str, &str) {
        (&self.server.name, &self.server.version)
    }

    /// How many lines of its program were no messages.
    pub(crate) fn noise(&self) -> u64 {
        self.child.as_ref().map_or(0, |child| child.heard.noise())
    }

    /// An error that says how its program ended, where that is why.
    pub(crate) async fn explained(&self, error: SessionError, upstream: &str) -> SessionError {
        match &self.child {
            Some(child) => child.ended(error, upstream, &self.secrets).await,
            None => error,
        }
    }

    /// Has nobody use it from now on.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    /// The digest of the identity that was last listed under this name, over this connection.
    pub(crate) fn last_said(&self, there: &str) -> Option<Digest> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        said?.digests().get(there).copied()
    }

    /// `text` without the credentials that the upstream was given: it may repeat them.
    pub(crate) fn masked(&self, text: String) -> String {
        masked(&self.secrets, text)
    }

    /// Told when the upstream says that its list changed.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Every tool, as the upstream says it now. Nothing is kept from an earlier list, whatever the upstream allows.
    ///
    /// Whoever waited while others asked may have what they got, if it was asked for after he began to wait.
    pub(crate) async fn tools(&self) -> Result<Arc<Listed>, SessionError> {
        let wanted = Instant::now();
        let whole = async {
            let mut last = self.one_list.lock().await;
            if let Some((asked, listed)) = last.as_ref().filter(|(asked, _)| *asked >= wanted) {
                tracing::trace!(?asked, "a list that was asked for meanwhile");
                return Ok(Arc::clone(listed));
            }
            let asked = Instant::now();
            let listed = Arc::new(self.every_page().await?);
            *last = Some((asked, Arc::clone(&listed)));
            Ok(listed)
        };
        let listed = tokio::time::timeout(self.patience, whole).await.unwrap_or_else(|_| {
            let longest = self.patience.as_secs();
            Err(SessionError::Failed(format!("its list of tools takes longer than {longest} s")))
        })?;
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&listed));
        self.touch();
        Ok(listed)
    }

    async fn every_page(&self) -> Result<Listed, SessionError> {
        let (mut tools, mut cursor, mut server) = (Vec::new(), None, self.server.clone());
        let mut bytes = 0;
        for _ in 0..MAX_PAGES {
            self.pages.clear();
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let answered = self.running.peer().send_request(request).await;
            if let Some(why) = self.pages.refused() {
                return Err(SessionError::Failed(why));
            }
            let ServerResult::ListToolsResult(page) = answered? else {
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
                tools.extend(beside::definitions(self, self.wanted).await?);
                let described = self.described.clone();
                return Ok(Listed { server, tools, described, digests: OnceLock::new() });
            }
        }
        Err(SessionError::Failed(format!("its list of tools has more than {MAX_PAGES} pages")))
    }

    /// Asks for a list.
    pub(crate) async fn ask(&self, request: ClientRequest) -> Result<ServerResult, SessionError> {
        Ok(self.running.peer().send_request(request).await?)
    }

    /// What it says that it is for: nobody is shown that but a person.
    pub(crate) fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Reads a resource.
    pub(crate) async fn resource(
        &self,
        params: ReadResourceRequestParams,
    ) -> Result<ReadResourceResponse, SessionError> {
        self.touch();
        Ok(self.running.peer().read_resource_once(params).await?)
    }

    /// Gets a prompt.
    pub(crate) async fn prompt(
        &self,
        params: GetPromptRequestParams,
    ) -> Result<GetPromptResponse, SessionError> {
        self.touch();
        Ok(self.running.peer().get_prompt_once(params).await?)
    }

    /// The calls that are being made over it.
    pub(crate) const fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Calls a tool, and tells the caller at `desk` how far it says that it is. Dropping this cancels the call there.
    pub(crate) async fn call(
        &self,
        params: CallToolRequestParams,
        upstream: &str,
        desk: &ForeignDesk,
    ) -> Result<CallToolResponse, SessionError> {
        let secrets = self.secrets.clone();
        let teller = Teller::new(desk.clone(), upstream, move |text| masked(&secrets, text.to_owned()));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.touch();
        let answered = self.steps.heard(&self.running, request, teller).await;
        self.touch();
        match answered? {
            ServerResult::CallToolResult(result) => Ok(CallToolResponse::Complete(result)),
            ServerResult::InputRequiredResult(result) => Ok(CallToolResponse::InputRequired(result)),
            ServerResult::CreateTaskResult(result) => Ok(CallToolResponse::Task(result)),
            _ => Err(SessionError::Failed("its answer is not what the protocol says".to_owned())),
        }
    }
}

impl Child {
    /// Why its program is of no use any more, in our words; what it said itself is for a person.
    async fn ended(
        &self,
        error: SessionError,
        upstream: &str,
        secrets: &[Zeroizing<String>],
    ) -> SessionError {
        if matches!(error, SessionError::Answered { .. }) {
            return error;
        }
        let Some(resident) = &self.resident else { return error };
        // Its end is known a moment after its streams end.
        for _ in 0..10 {
            if resident.ended().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let said = contract::text::visible(&masked(secrets, resident.tail()));
        let from = said.len().saturating_sub(TAIL);
        let said = said.get(said.ceil_char_boundary(from)..).unwrap_or_default();
        if !said.trim().is_empty() {
            tracing::warn!("{upstream}: its program said: {}", contract::text::spelled_out(said.trim()));
        }
        match self.heard.why().or_else(|| resident.ended().map(|why| format!("its program is gone: {why}"))) {
            Some(why) => SessionError::Failed(why),
            None => error,
        }
    }
}

/// Of which changes of its lists it says that it tells, as far as they are wanted.
fn hears_of(can: &ServerCapabilities, wanted: Wanted) -> Option<SubscriptionFilter> {
    let tells = |said: Option<Option<bool>>| said.flatten() == Some(true);
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = tells(can.tools.as_ref().map(|it| it.list_changed)).then_some(true);
    filter.resources_list_changed =
        (wanted.resources && tells(can.resources.as_ref().map(|it| it.list_changed))).then_some(true);
    filter.prompts_list_changed =
        (wanted.prompts && tells(can.prompts.as_ref().map(|it| it.list_changed))).then_some(true);
    (filter != SubscriptionFilter::default()).then_some(filter)
}

/// `text` without `secrets`.
fn masked(secrets: &[Zeroizing<String>], mut text: String) -> String {
    for secret in secrets.iter().filter(|secret| secret.len() >= 6) {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), "[credential]");
        }
    }
    text
}
