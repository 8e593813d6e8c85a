//! Calls of the newer era that are as plain as most are, answered here. What the protocol library does with each besides (a
//! service of its own, two tasks, two more readings of the body) costs more than the call. Whatever is not exactly what
//! this looks for goes the library's way, and is answered or refused there.

use axum::body::Bytes;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use kit::Done;
use kit::call::{Bearer, ClientInfo};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::sessions::SESSION;
use crate::{confirm, inquiring};

/// A plain call.
pub(crate) struct Direct {
    pub(crate) id: RequestId,
    pub(crate) request: CallToolRequestParams,
    /// Whether the client shows forms to its user.
    pub(crate) can_ask: bool,
    /// Whether it opens pages for its user.
    pub(crate) opens_pages: bool,
    pub(crate) bearer: Option<Bearer>,
    pub(crate) client: Option<ClientInfo>,
}

/// What became of it.
pub(crate) enum Outcome {
    /// It was made.
    Done(Box<Done>),
    /// Its user is to be asked.
    Asks(Box<ServerResult>),
}

impl Direct {
    /// The call in `message`, if it is a plain one from a host that is ours; else the message.
    pub(super) fn of(
        head: &Parts,
        hosts: &[String],
        mut message: Map<String, Value>,
    ) -> Result<Self, Map<String, Value>> {
        let plain = || {
            let known = |key: &String| matches!(key.as_str(), "jsonrpc" | "id" | "method" | "params");
            let params = message.get("params")?.as_object()?;
            let ours = |key: &String| matches!(key.as_str(), "name" | "arguments" | "_meta");
            let name = params.get("name")?.as_str()?;
            let fits = message.keys().all(known)
                && params.keys().all(ours)
                && message.get("jsonrpc")? == "2.0"
                && message.get("method")? == "tools/call"
                && params.get("arguments").is_none_or(Value::is_object)
                && is_plain(&head.headers, hosts, name);
            let id: RequestId = serde_json::from_value(message.get("id")?.clone()).ok()?;
            let meta = params.get("_meta")?.as_object()?;
            let ways = ways(meta)?;
            fits.then(|| (id, name.to_owned(), ways, client(meta)))
        };
        let Some((id, name, (can_ask, opens_pages), client)) = plain() else { return Err(message) };
        let mut request = CallToolRequestParams::new(name);
        if let Some(Value::Object(arguments)) = message
            .get_mut("params")
            .and_then(Value::as_object_mut)
            .and_then(|params| params.remove("arguments"))
        {
            request = request.with_arguments(arguments);
        }
        Ok(Self {
            id,
            request,
            can_ask,
            opens_pages,
            bearer: head.extensions.get::<Bearer>().cloned(),
            client,
        })
    }
}

/// The client, as a request's meta names it.
fn client(meta: &Map<String, Value>) -> Option<ClientInfo> {
    let info = meta.get("io.modelcontextprotocol/clientInfo")?;
    ClientInfo::new(
        info.get("name")?.as_str()?,
        info.get("version").and_then(Value::as_str).unwrap_or_default(),
    )
}

/// Whether a request's meta is that of the newer era and asks for nothing on the way; then, whether its user can be asked, and
/// by pages, too.
fn ways(meta: &Map<String, Value>) -> Option<(bool, bool)> {
    let is_current =
        meta.get("io.modelcontextprotocol/protocolVersion")? == ProtocolVersion::V_2026_07_28.as_str();
    let capabilities = meta.get("io.modelcontextprotocol/clientCapabilities")?;
    if !is_current || meta.contains_key("progressToken") {
        return None;
    }
    if capabilities.as_object()?.is_empty() {
        return Some((false, false));
    }
    let capabilities: ClientCapabilities = serde_json::from_value(capabilities.clone()).ok()?;
    if capabilities.supports_tasks() {
        // The answer may be a task.
        return None;
    }
    Some((confirm::shows_forms(Some(&capabilities)), inquiring::opens_pages(Some(&capabilities))))
}

/// Whether the headers are those of a plain call of `name`: each once, none that says more.
fn is_plain(headers: &HeaderMap, hosts: &[String], name: &str) -> bool {
    let once = |name: &str| {
        let mut all = headers.get_all(name).iter();
        all.next().filter(|_| all.next().is_none()).and_then(|value| value.to_str().ok())
    };
    let accepted = once("accept").is_some_and(|accept| {
        let mut kinds: Vec<&str> = accept.split(',').map(str::trim).collect();
        kinds.sort_unstable();
        kinds == ["application/json", "text/event-stream"]
    });
    let host = once("host").is_some_and(|host| {
        let bare = match host.rsplit_once(':') {
            Some((bare, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !bare.ends_with(':') => bare,
            _ => host,
        };
        let bare = bare.strip_prefix('[').and_then(|bare| bare.strip_suffix(']')).unwrap_or(bare);
        hosts.iter().any(|known| known.eq_ignore_ascii_case(bare))
    });
    accepted
        && host
        && once("content-type") == Some("application/json")
        && once("mcp-protocol-version") == Some(ProtocolVersion::V_2026_07_28.as_str())
        && once("mcp-method") == Some("tools/call")
        && once("mcp-name") == Some(name)
        && !headers.contains_key("origin")
        && !headers.contains_key(SESSION)
        && !headers.keys().any(|key| key.as_str().starts_with("mcp-param-"))
}

/// The answer as it goes over the wire.
pub(super) fn response(id: &RequestId, outcome: &Outcome) -> Response {
    let body = match outcome {
        Outcome::Done(done) => written(id, done),
        Outcome::Asks(asks) => {
            serde_json::to_vec(&ServerJsonRpcMessage::response((**asks).clone(), id.clone()))
        }
    };
    let Ok(body) = body else { return StatusCode::INTERNAL_SERVER_ERROR.into_response() };
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (kind, Bytes::from(body)).into_response()
}

#[derive(Serialize)]
struct Message<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: Made<'a>,
}

/// `CallToolResult` (MCP 2026-07-28), whose structured content is written once and stands in it twice.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Made<'a> {
    result_type: &'static str,
    content: [Text<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    is_error: bool,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
}

#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: &'a str,
}

fn written(id: &RequestId, done: &Done) -> serde_json::Result<Vec<u8>> {
    let text = serde_json::value::to_raw_value(&done.to_value())?;
    let is_error = done.result.is_err();
    serde_json::to_vec(&Message {
        jsonrpc: "2.0",
        id,
        result: Made {
            result_type: "complete",
            content: [Text { r#type: "text", text: text.get() }],
            structured_content: (!is_error).then_some(&*text),
            is_error,
            meta: done.anchor.as_ref().map(|anchor| json!({ "gatewright/anchor": anchor })),
        },
    })
}
