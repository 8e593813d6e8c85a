//! Calls of tools that are as plain as most are, told apart and answered without the protocol library. What that does with
//! each besides (a service of its own, tasks, channels, more readings) costs more than the call. Whatever is not exactly what
//! this looks for goes the library's way, and is answered or refused there.

use kit::Done;
use kit::call::{Anchor, Bearer, ClientInfo};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ContentBlock, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use serde::{Deserialize as _, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::server::block;
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

/// Of which era its answer is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// 2025-11-25 and before.
    Session,
    /// 2026-07-28.
    Stateless,
}

impl Direct {
    /// The call in `message`, if it is a plain one of the newer era and of a tool that `fits`; else the message.
    pub(crate) fn stateless(
        message: Map<String, Value>,
        fits: impl FnOnce(&str) -> bool,
    ) -> Result<Self, Map<String, Value>> {
        let Some((id, params)) = plain(&message, &["name", "arguments", "_meta"], fits) else {
            return Err(message);
        };
        let meta = params.get("_meta").and_then(Value::as_object);
        let Some((meta, (can_ask, opens_pages))) = meta.and_then(|meta| Some((meta, ways(meta)?))) else {
            return Err(message);
        };
        let client = client(meta);
        Ok(Self { request: request(message), id, can_ask, opens_pages, bearer: None, client })
    }

    /// The same of the older era, in a session in which `client` said who it is and that its user cannot be asked.
    pub(crate) fn in_session(
        message: Map<String, Value>,
        client: Option<ClientInfo>,
        fits: impl FnOnce(&str) -> bool,
    ) -> Result<Self, Map<String, Value>> {
        let Some((id, _)) = plain(&message, &["name", "arguments"], fits) else { return Err(message) };
        Ok(Self { request: request(message), id, can_ask: false, opens_pages: false, bearer: None, client })
    }
}

/// The id and the parameters of a call that has nothing but `keys` in them, of a tool that `fits`.
fn plain<'a>(
    message: &'a Map<String, Value>,
    keys: &[&str],
    fits: impl FnOnce(&str) -> bool,
) -> Option<(RequestId, &'a Map<String, Value>)> {
    let known = |key: &String| matches!(key.as_str(), "jsonrpc" | "id" | "method" | "params");
    let params = message.get("params")?.as_object()?;
    let is_plain = message.keys().all(known)
        && params.keys().all(|key| keys.contains(&key.as_str()))
        && message.get("jsonrpc")? == "2.0"
        && message.get("method")? == "tools/call"
        && params.get("arguments").is_none_or(Value::is_object)
        && fits(params.get("name")?.as_str()?);
    let id = if is_plain { message.get("id") } else { None };
    Some((RequestId::deserialize(id?).ok()?, params))
}

/// What is asked, taken out of a message that was found to be plain.
fn request(mut message: Map<String, Value>) -> CallToolRequestParams {
    let mut params = message.get_mut("params").and_then(Value::as_object_mut);
    let mut take = |key| params.as_mut().and_then(|params| params.remove(key));
    let (name, arguments) = (take("name"), take("arguments"));
    let request = CallToolRequestParams::new(match name {
        Some(Value::String(name)) => name,
        _ => String::new(),
    });
    match arguments {
        Some(Value::Object(arguments)) => request.with_arguments(arguments),
        _ => request,
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

/// The answer as it goes over the wire.
pub(crate) fn written(id: &RequestId, outcome: Outcome, form: Form) -> serde_json::Result<Vec<u8>> {
    match outcome {
        Outcome::Done(done) => of_done(id, *done, form),
        Outcome::Asks(asks) => serde_json::to_vec(&ServerJsonRpcMessage::response(*asks, id.clone())),
    }
}

#[derive(Serialize)]
struct Message<'a> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: Made<'a>,
}

/// `CallToolResult`, whose structured content is written once and stands in it twice.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Made<'a> {
    /// Of the newer era alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    is_error: bool,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta<'a>>,
}

#[derive(Serialize)]
struct Meta<'a> {
    #[serde(rename = "gatewright/anchor")]
    anchor: &'a Anchor,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Block<'a> {
    Text { r#type: &'static str, text: &'a str },
    Media(Box<ContentBlock>),
}

fn of_done(id: &RequestId, mut done: Done, form: Form) -> serde_json::Result<Vec<u8>> {
    let is_error = done.result.is_err();
    let media = done.result.as_mut().map(|reply| std::mem::take(&mut reply.media)).unwrap_or_default();
    let text = serde_json::value::to_raw_value(&done)?;
    let mut content = vec![Block::Text { r#type: "text", text: text.get() }];
    content.extend(media.into_iter().filter_map(block).map(|shown| Block::Media(Box::new(shown))));
    // The text stands in it twice, once with its quotes escaped.
    let mut written = Vec::with_capacity(text.get().len() * 5 / 2 + 512);
    let message = Message {
        jsonrpc: "2.0",
        id,
        result: Made {
            result_type: (form == Form::Stateless).then_some("complete"),
            content,
            structured_content: (!is_error).then_some(&*text),
            is_error,
            meta: done.anchor.as_ref().map(|anchor| Meta { anchor }),
        },
    };
    serde_json::to_writer(&mut written, &message)?;
    Ok(written)
}
