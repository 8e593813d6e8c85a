//! The smallest server on the same library, tuned: pipes and one thread over standard input and output; hyper, JSON
//! responses and `TCP_NODELAY` over HTTP, where `--sessions` adds the older era's sessions. It validates nothing, decides
//! nothing and records nothing.

use std::net::SocketAddr;
use std::sync::Arc;

use gatewright_peers::{ARGUMENT, Error, TOOL, address, answer};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Clone)]
struct Minimal {
    tool: Arc<Tool>,
}

impl Minimal {
    fn new() -> Self {
        let object =
            |schema: Value| -> Arc<JsonObject> { Arc::new(schema.as_object().cloned().unwrap_or_default()) };
        let input = object(json!({
            "type": "object",
            "properties": { ARGUMENT: { "type": "string" } },
            "required": [ARGUMENT],
        }));
        let output = object(json!({ "type": "object", "properties": { "tools": { "type": "array" } } }));
        Self { tool: Arc::new(Tool::new(TOOL, "Finds tools.", input).with_raw_output_schema(output)) }
    }
}

impl ServerHandler for Minimal {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == TOOL).then(|| (*self.tool).clone())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![(*self.tool).clone()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let query = request.arguments.as_ref().and_then(|own| own.get(ARGUMENT)).and_then(Value::as_str);
        query.ok_or_else(|| ErrorData::invalid_params("query is missing", None))?;
        Ok(CallToolResult::structured(answer()).into())
    }
}

async fn over_stdio() -> Result<(), Error> {
    let running = Minimal::new().serve(rmcp::transport::stdio_pipes()).await?;
    running.waiting().await?;
    Ok(())
}

async fn over_http<M: SessionManager>(address: SocketAddr, sessions: bool, manager: M) -> Result<(), Error> {
    let config =
        StreamableHttpServerConfig::default().with_legacy_session_mode(sessions).with_json_response(true);
    let server = Minimal::new();
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::new(manager), config);
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(address) = address(&args)? else {
        return tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(over_stdio());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if args.iter().any(|arg| arg == "--sessions") {
        runtime.block_on(over_http(address, true, LocalSessionManager::default()))
    } else {
        runtime.block_on(over_http(address, false, NeverSessionManager::default()))
    }
}
