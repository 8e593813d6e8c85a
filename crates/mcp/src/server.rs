//! rmcp's handler over the engine.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use contract::{CallId, Media, MediaKind, Principal};
use kit::call::{Bearer, ClientInfo};
use kit::consent::Consent;
use kit::menu::Choose;
use kit::{Call, Done, House, Session};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskMethod, CancelTaskParams,
    CompleteRequestParams, CompleteResult, ConstString, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetSkillRequestMethod, GetSkillRequestParams,
    GetSkillResult, GetTaskMethod, GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListSkillsRequestMethod, ListSkillsResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    ReadResourceDirectoryRequestMethod, ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, ServerResult,
    SubscriptionFilter, Tool, UpdateTaskMethod, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::ServeError;
use crate::choosing;
use crate::confirm::{self, Asker, Asking};
use crate::direct::{Direct, Outcome};
use crate::inquiring::{self, Kept, Made};
use crate::line::shown;
use crate::listing::{self, Listing};
use crate::reading;
use crate::running::{Calling, Running, progress};
use crate::skills;
use crate::tasks;
use crate::visits::Visits;

/// What a model reads first; the guides of the families whose tools are offered follow it.
const INSTRUCTIONS: &str = "\
Gatewright does engineering work safely. Tools that change something rehearse by default: the result has a plan \
with a diff and an id. Show the plan; to perform exactly it, call the tool again with the same arguments, \
\"apply\": true and \"plan\": the id. If the result is `conflict`, rehearse again. Paths are relative to the root. \
Errors say what to do next in `suggestions`. Everything is recorded; an applied plan can be undone by a person \
with `gatewright undo`.";

/// The most that the instructions may take, in bytes: clients cut what is longer.
const MAX_INSTRUCTIONS: usize = 2048;

/// The server: tools over the engine, in both protocol eras.
#[derive(Clone)]
pub struct Server {
    house: Arc<House>,
    listing: Listing,
    stop: CancellationToken,
    running: Running,
    pub(crate) asker: Asker,
    pub(crate) kept: Kept,
    visits: Visits,
}

impl Server {
    /// A server over `house` that lists what `choose` chooses; when `stop` is cancelled, so are its calls. What is not
    /// listed is called by name all the same.
    pub fn new(house: House, choose: Choose, stop: CancellationToken) -> Result<Self, ServeError> {
        let listing = Listing::new(&house, choose);
        let asker = Asker::new().map_err(ServeError::Begin)?;
        let visits = Visits::new().map_err(|fault| ServeError::Begin(fault.message))?;
        let kept = Kept::default();
        Ok(Self { house: Arc::new(house), listing, stop, running: Running::default(), asker, kept, visits })
    }

    /// What is served.
    pub(crate) const fn house(&self) -> &Arc<House> {
        &self.house
    }

    /// Whether every root's record can be read.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.house.every_engine().all(|engine| engine.ledger().anchor().is_ok())
    }

    /// Waits until no call is being made, at most `longest`. Once `stop` is cancelled, none goes on for long.
    pub(crate) async fn drained(&self, longest: Duration) {
        if !self.running.none(longest).await {
            tracing::warn!("calls were cut off: they took longer than {} s to end", longest.as_secs());
        }
    }

    /// Who calls: over HTTP whoever the request was found to come from, else the local user.
    fn principal(&self, context: &RequestContext<RoleServer>) -> Result<Principal, ErrorData> {
        match context.extensions.get::<Parts>() {
            None => Ok(self.local()),
            Some(head) => head
                .extensions
                .get::<Principal>()
                .cloned()
                .ok_or_else(|| ErrorData::internal_error("the request has no principal", None)),
        }
    }

    /// Makes a call, which its own token cancels. A client that goes away, or a server that ends, does not take the record
    /// along.
    pub(crate) fn calling(&self, call: Call) -> Calling {
        let (house, one, ours) = (Arc::clone(&self.house), self.running.begin(), call.cancel.clone());
        Calling::new(ours, async move {
            let done = house.call(call).await;
            drop(one);
            done
        })
    }

    /// Whether there is a tool that answers to `name`.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.house.registry().resolve(name).is_some()
    }

    /// Whether there is such a tool, and all it does is look.
    pub(crate) fn only_looks(&self, name: &str) -> bool {
        self.house.registry().resolve(name).is_some_and(|tool| tool.head().annotations.read_only_hint)
    }

    /// Who calls over standard input.
    pub(crate) fn local(&self) -> Principal {
        Principal::Local { uid: self.house.first().uid() }
    }

    /// The conversation of the only connection.
    pub(crate) fn connection(&self) -> Session {
        self.visits.own()
    }

    /// The conversation of what `caller` asks within this hour.
    pub(crate) fn hourly(&self, caller: &Principal) -> Session {
        self.visits.hourly(caller)
    }

    /// The conversation of a request of `caller`'s with this `head`.
    pub(crate) fn visited(&self, head: &Parts, caller: &Principal) -> Session {
        self.visits.of(Some(head), caller)
    }

    /// Makes a plain call. Dropping this cancels it, as does `asked`.
    pub(crate) async fn direct(
        &self,
        call: Direct,
        caller: Principal,
        visit: Session,
        asked: &CancellationToken,
    ) -> Result<Outcome, ErrorData> {
        let Direct { id, mut request, can_ask, opens_pages, bearer, client } = call;
        // What is asked names the request that it is about.
        let arguments = if can_ask { request.arguments.clone() } else { request.arguments.take() };
        let call = Call {
            id: CallId(id.to_string()),
            tool: request.name.to_string(),
            arguments: Value::Object(arguments.unwrap_or_default()),
            principal: caller.clone(),
            bearer,
            client,
            from: None,
            session: Some(visit),
            consent: Consent::Unasked { can_ask },
            inquiries: None,
            detach: true,
            cancel: self.stop.child_token(),
            progress: Arc::new(|_| {}),
        };
        let open = self.open(call, can_ask, opens_pages);
        let done = match self.until_it_asks(open, asked, &request, &caller).await? {
            Made::Done(done) => *done,
            Made::Asks(asks) => return Ok(Outcome::Asks(Box::new(ServerResult::InputRequiredResult(*asks)))),
        };
        if let Some(error) = unknown(&done) {
            return Err(error);
        }
        let question = done.question.as_ref().map(|question| Asking::Consent(question, None));
        let asking = question.or_else(|| done.choice.as_ref().map(Asking::Choice));
        match asking.filter(|_| can_ask) {
            None => Ok(Outcome::Done(Box::new(done))),
            Some(asking) => {
                let asks = self.asker.asks(asking, &request, &caller)?;
                Ok(Outcome::Asks(Box::new(ServerResult::InputRequiredResult(asks))))
            }
        }
    }

    /// Who asks for what the newer era alone has: tasks, and skills.
    fn asks_newly<M: ConstString>(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Principal, ErrorData> {
        if is_current(context) { self.principal(context) } else { Err(ErrorData::method_not_found::<M>()) }
    }

    /// A read, as the pipeline's call.
    fn reads(&self, context: &RequestContext<RoleServer>) -> Result<Call, ErrorData> {
        let caller = self.principal(context)?;
        let session = self.visits.of(context.extensions.get::<Parts>(), &caller);
        let call = reading::call(context.id.to_string(), caller, session, self.stop.child_token());
        // What others hold is read with what the caller came with.
        let bearer =
            context.extensions.get::<Parts>().and_then(|head| head.extensions.get::<Bearer>().cloned());
        let client = context.client_info().and_then(|info| ClientInfo::new(&info.name, &info.version));
        Ok(Call { bearer, client, ..call })
    }

    /// What a model reads first.
    fn instructions(&self) -> String {
        let mut text = INSTRUCTIONS.to_owned();
        for guide in self.house.registry().guides() {
            let line = format!("\n- {guide}");
            if text.len() + line.len() > MAX_INSTRUCTIONS {
                break;
            }
            text.push_str(&line);
        }
        text
    }
}

/// Whether the request is of the newer era: no sessions, no handshake, and the server asks by answering.
pub(crate) fn is_current(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

/// Says for how long a result counts as fresh, and that it is its receiver's alone. Only the newer era knows such words.
macro_rules! hinted {
    ($result:expr, $context:expr, $fresh:expr) => {{
        let mut result = $result;
        if is_current(&$context) {
            result.ttl_ms = Some($fresh);
            result.cache_scope = Some(CacheScope::Private);
        }
        result
    }};
}

/// A list of one page has no cursor.
fn whole(request: Option<PaginatedRequestParams>, method: &str) -> Result<(), ErrorData> {
    match request.and_then(|r| r.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params(format!("unknown cursor: call {method} without one"), None)),
    }
}

/// A picture or a sound on the wire. Bytes for programs are only read as resources.
pub(crate) fn block(media: Media) -> Option<ContentBlock> {
    match media.kind {
        MediaKind::Image => Some(ContentBlock::image(media.data, media.mime)),
        MediaKind::Audio => Some(ContentBlock::audio(media.data, media.mime)),
        MediaKind::Other => None,
    }
}

/// The error of the protocol that answers a call of a tool that is not there.
fn unknown(done: &Done) -> Option<ErrorData> {
    let fault = done.result.as_ref().err().filter(|_| done.unknown_tool)?;
    let words: Vec<&str> =
        std::iter::once(&fault.message).chain(&fault.suggestions).map(String::as_str).collect();
    Some(ErrorData::invalid_params(words.join(". "), None))
}

/// What a call's end is on the wire.
pub(crate) fn result(done: &Done) -> CallToolResult {
    let value = done.to_value();
    // A value has its keys in the order of the alphabet.
    let text = serde_json::to_string(done).unwrap_or_else(|_| value.to_string());
    let mut text = vec![ContentBlock::text(text)];
    let mut result = match &done.result {
        Ok(reply) => {
            text.extend(reply.media.iter().cloned().filter_map(block));
            let mut result = CallToolResult::success(text);
            result.structured_content = Some(value);
            result
        }
        Err(_) => CallToolResult::error(text),
    };
    if let Some(anchor) = &done.anchor {
        let mut meta = MetaObject::new();
        meta.0.insert("gatewright/anchor".into(), json!(anchor));
        result.meta = Some(meta);
    }
    result
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_tasks()
            .enable_tools();
        let mut capabilities = match self.house.changes() {
            None => capabilities.build(),
            Some(_) => capabilities
                .enable_tool_list_changed()
                .enable_resources_list_changed()
                .enable_prompts_list_changed()
                .build(),
        };
        if self.house.serves_skills() {
            skills::declare(&mut capabilities);
        }
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("gatewright", env!("CARGO_PKG_VERSION")).with_title("Gatewright"),
            )
            .with_instructions(self.instructions())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut about = self.negotiate_initialize(&request)?;
        // Tasks and skills are the newer era's.
        about.capabilities.extensions = None;
        Ok(about)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        whole(request, "tools/list")?;
        let now = self.listing.now(&self.house);
        // Whoever is not known gets no menu that counts: its request ends elsewhere.
        if let Ok(caller) = self.principal(&context) {
            self.visits.of(context.extensions.get::<Parts>(), &caller).listed(now.tokens());
        }
        let tools = ListToolsResult::with_all_items(now.listed().to_vec());
        Ok(hinted!(tools, context, reading::STEADY))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.listing.now(&self.house).tool(name)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(changes) = self.house.changes() {
            listing::tell(context.peer, Arc::clone(&self.house), changes, self.stop.child_token());
        }
    }

    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // What was not asked for is taken out by the caller.
        let filter = SubscriptionFilter::builder();
        let filter = filter.tools_list_changed().resources_list_changed().prompts_list_changed();
        self.house.changes().map(|_| filter.build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        if let Some(changes) = self.house.changes() {
            listing::serve_listener(context, &self.house, changes, self.stop.child_token()).await;
        }
        Ok(())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.principal(&context)?;
        let is_current = is_current(&context);
        let said = if is_current { self.asker.answer(&request, &caller)? } else { None };
        let (answer, mut chosen) = said.clone().map_or((None, None), |said| (said.consent, said.chosen));
        let (can_ask, opens_pages) = inquiring::ways(&context);
        let arguments = request.arguments.clone().unwrap_or_default();
        let arguments = chosen.as_ref().map_or(arguments.clone(), |chosen| chosen.applied_to(arguments));
        let mut call = Call {
            id: CallId(context.id.to_string()),
            tool: request.name.to_string(),
            arguments: Value::Object(arguments),
            principal: caller.clone(),
            bearer: context
                .extensions
                .get::<Parts>()
                .and_then(|head| head.extensions.get::<Bearer>().cloned()),
            client: context.client_info().and_then(|info| ClientInfo::new(&info.name, &info.version)),
            from: None,
            session: Some(self.visits.of(context.extensions.get::<Parts>(), &caller)),
            consent: answer.unwrap_or(Consent::Unasked { can_ask }),
            inquiries: None,
            detach: true,
            cancel: self.stop.child_token(),
            progress: progress(&context),
        };
        let made = async |call: &Call| {
            let open = self.open(call.clone(), can_ask, opens_pages);
            if is_current {
                return self.until_it_asks(open, &context.ct, &request, &caller).await;
            }
            self.attend(open, &context).await.map(|done| Made::Done(Box::new(done)))
        };
        let first = match said.as_ref().and_then(|said| said.waits.clone()) {
            Some((name, replied)) => self.go_on((&name, replied), &call, &context.ct, &request).await?,
            None => made(&call).await?,
        };
        let mut done = match first {
            Made::Done(done) => *done,
            Made::Asks(asks) => return Ok((*asks).into()),
        };
        if let (Some(choice), None, true) = (&done.choice, &said, can_ask) {
            if is_current {
                return Ok(self.asker.asks(Asking::Choice(choice), &request, &caller)?.into());
            }
            chosen = choosing::ask(&context, choice).await;
            if let (Some(chosen), Value::Object(arguments)) = (&chosen, &call.arguments) {
                call.arguments = Value::Object(chosen.applied_to(arguments.clone()));
                done = match made(&call).await? {
                    Made::Done(done) => *done,
                    Made::Asks(asks) => return Ok((*asks).into()),
                };
            }
        }
        if let (Some(question), None, true) = (&done.question, answer, can_ask) {
            if is_current {
                let asking = Asking::Consent(question, chosen.as_ref());
                return Ok(self.asker.asks(asking, &request, &caller)?.into());
            }
            let consent = confirm::ask(&context, question).await;
            done = match made(&Call { consent, ..call }).await? {
                Made::Done(done) => *done,
                Made::Asks(asks) => return Ok((*asks).into()),
            };
        }
        if let Some(error) = unknown(&done) {
            return Err(error);
        }
        if tasks::takes(&context)
            && let Some(task) = tasks::begun(&self.house, &done, &caller)
        {
            return Ok(CallToolResponse::Task(task));
        }
        Ok(result(&done).into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let caller = self.asks_newly::<GetTaskMethod>(&context)?;
        tasks::now(&self.house, &request.task_id, &caller).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.asks_newly::<UpdateTaskMethod>(&context)?;
        tasks::update(&self.house, &request.task_id, &caller)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.asks_newly::<CancelTaskMethod>(&context)?;
        tasks::cancel(&self.house, &request.task_id, &caller)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        whole(request, "prompts/list")?;
        let listed = reading::prompts(&self.house, &self.principal(&context)?);
        Ok(hinted!(listed, context, reading::STEADY))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let call = self.reads(&context)?;
        Ok(reading::prompt(&self.house, request, call).await?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|r| r.cursor);
        let listed = reading::resources(&self.house, &self.principal(&context)?, cursor).await?;
        Ok(hinted!(listed, context, reading::FLEETING))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        whole(request, "resources/templates/list")?;
        let listed = reading::templates(&self.house, &self.principal(&context)?);
        Ok(hinted!(listed, context, reading::STEADY))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let call = self.reads(&context)?;
        let read = reading::read(&self.house, &request.uri, call).await?;
        Ok(hinted!(read, context, skills::freshness_of(&request.uri)).into())
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let caller = self.asks_newly::<ListSkillsRequestMethod>(&context)?;
        let listed = skills::list(&self.house, &caller, request.and_then(|r| r.cursor)).await?;
        Ok(hinted!(listed, context, reading::FLEETING))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let caller = self.asks_newly::<GetSkillRequestMethod>(&context)?;
        let found = skills::get(&self.house, &caller, &request.uri).await?;
        Ok(hinted!(found, context, skills::freshness_of(&request.uri)))
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        let caller = self.asks_newly::<ReadResourceDirectoryRequestMethod>(&context)?;
        let read = skills::folder(&self.house, &caller, &request.uri, request.cursor).await?;
        Ok(hinted!(read, context, skills::freshness_of(&request.uri)))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        reading::complete(&self.house, &request, &self.principal(&context)?).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A known method whose parameters did not parse arrives here too.
        let known = [
            "completion/complete",
            "prompts/get",
            "prompts/list",
            "resources/list",
            "resources/read",
            "resources/templates/list",
            "server/discover",
            "tools/call",
            "tools/list",
        ];
        let of_its_era: &[&str] = if is_current(&context) {
            &[
                "resources/directory/read",
                "skills/get",
                "skills/list",
                "tasks/cancel",
                "tasks/get",
                "tasks/update",
            ]
        } else {
            &["initialize", "ping"]
        };
        let method = request.method.as_str();
        if known.contains(&method) || of_its_era.contains(&method) {
            let message = format!("the parameters of {} do not fit", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, Cow::Owned(shown(&request.method)), None))
    }
}
