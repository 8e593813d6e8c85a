//! What the protocol's conformance suite calls: tools, prompts and resources whose names and answers it prescribes.
//!
//! They stand on the same router, checks, session store and streams as the product, so that a run judges those. They touch
//! nothing outside the process. The cargo feature `conformance` builds them; what is shipped does not have it.

#![allow(
    deprecated,
    reason = "the older revision, which is served too, has sampling, roots, logging and subscribe"
)]

mod asks;
mod prompts;
mod resources;
mod rounds;
mod tasks;
mod tools;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
    CompletionInfo, ErrorData, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingLevel, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
    Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::task_manager::TaskManager;
use rmcp::{RoleServer, ServerHandler};
use tokio::net::TcpListener;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use crate::ServeError;
use crate::http::{Options, Served, serve_over};
use crate::server::is_current;

/// Serves the fixtures on `listener` until `stop` is cancelled.
pub async fn serve_http(
    listener: TcpListener,
    options: Options,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|e| ServeError::Begin(e.to_string()))?;
    let states = RequestStateCodec::try_new(key).map_err(|e| ServeError::Begin(e.to_string()))?;
    let all = All {
        states,
        tasks: TaskManager::new(),
        changes: broadcast::Sender::new(16),
        more_tools: AtomicBool::new(false),
        more_prompts: AtomicBool::new(false),
        stop: stop.child_token(),
    };
    let fixtures = Fixtures { all: Arc::new(all), session: Arc::default() };
    serve_over(fixtures, listener, options, stop).await;
    Ok(())
}

/// A list that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Tools,
    Prompts,
}

/// What all sessions and requests share.
struct All {
    /// Signs what a client hands back in the next round.
    states: RequestStateCodec,
    tasks: TaskManager,
    changes: broadcast::Sender<Change>,
    /// Whether the list has the tool that comes and goes.
    more_tools: AtomicBool,
    more_prompts: AtomicBool,
    stop: CancellationToken,
}

impl All {
    /// Lets a tool or a prompt come or go, and says so.
    fn change(&self, change: Change) {
        let more = match change {
            Change::Tools => &self.more_tools,
            Change::Prompts => &self.more_prompts,
        };
        more.fetch_not(Ordering::SeqCst);
        // Nobody may be listening.
        let _ = self.changes.send(change);
    }
}

/// What one session of the older revision has set.
#[derive(Debug, Default)]
struct Session {
    /// The least that is logged; unset, everything is.
    level: Mutex<Option<LoggingLevel>>,
    watched: Mutex<BTreeSet<String>>,
}

/// The fixtures, as one session or one request sees them.
#[derive(Clone)]
struct Fixtures {
    all: Arc<All>,
    session: Arc<Session>,
}

impl Served for Fixtures {
    fn begin(&self) -> Self {
        Self { all: Arc::clone(&self.all), session: Arc::default() }
    }

    fn is_ready(&self) -> bool {
        true
    }

    async fn drained(&self, _longest: Duration) {
        self.all.tasks.shutdown();
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("gatewright-conformance", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list(self.all.more_tools.load(Ordering::SeqCst))))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::list(true).into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(self, request, &context).await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list(self.all.more_prompts.load(Ordering::SeqCst))))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request, &context)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = prompts::completions(&request.argument.value);
        let info = CompletionInfo::with_all_values(values).map_err(|e| ErrorData::internal_error(e, None))?;
        Ok(CompleteResult::new(info))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&request.uri)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.watched.lock().unwrap_or_else(PoisonError::into_inner).insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session.watched.lock().unwrap_or_else(PoisonError::into_inner).remove(&request.uri);
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_current(&context) {
            return Err(ErrorData::method_not_found::<rmcp::model::SetLevelRequestMethod>());
        }
        *self.session.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.all.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.all.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.all.tasks.cancel_task(&request.task_id)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.all.changes.subscribe();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.all.stop.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            let wanted = context.accepted();
            let sent = match change {
                Ok(Change::Tools) if wanted.tools_list_changed == Some(true) => {
                    context.sink().notify_tool_list_changed().await
                }
                Ok(Change::Prompts) if wanted.prompts_list_changed == Some(true) => {
                    context.sink().notify_prompt_list_changed().await
                }
                _ => Ok(()),
            };
            if sent.is_err() {
                return Ok(());
            }
        }
    }
}
