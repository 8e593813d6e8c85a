//! What is held to the rules of JSON-RPC 2.0 before the protocol library sees it.

use contract::{canonical, text};
use kit::shape;
use rmcp::model::{
    CallToolRequest, ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, GetMeta as _, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::MAX_LINE;

/// The error that answers what is no message.
pub(crate) type Refusal = Box<ServerJsonRpcMessage>;

pub(crate) fn refuse(error: ErrorData, id: Option<RequestId>) -> Refusal {
    Box::new(ServerJsonRpcMessage::error(error, id))
}

pub(super) fn too_long() -> Refusal {
    refuse(ErrorData::invalid_request(format!("a message of more than {MAX_LINE} bytes"), None), None)
}

/// Nothing where a message should be.
pub(crate) fn empty() -> Refusal {
    refuse(ErrorData::invalid_request("a message is one object", None), None)
}

/// What a client said, as an error may repeat it: short, and nothing hidden in it.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    text::spelled_name(&shape::bounded(text, LONGEST))
}

/// The revision that a request names, with the request's id.
fn revision(message: &ClientJsonRpcMessage) -> Option<(ProtocolVersion, RequestId)> {
    let JsonRpcMessage::Request(request) = message else { return None };
    Some((request.request.get_meta().protocol_version()?, request.id.clone()))
}

fn unsupported(
    why: String,
    (named, id): (ProtocolVersion, RequestId),
    served: Vec<&ProtocolVersion>,
) -> Refusal {
    let data = json!({ "requested": shown(named.as_str()), "supported": served });
    refuse(ErrorData::new(ErrorCode::UNSUPPORTED_PROTOCOL_VERSION, why, Some(data)), Some(id))
}

/// Refuses a request that names a revision which is not served: rmcp would repeat the name as it is.
pub(crate) fn unserved(message: &ClientJsonRpcMessage) -> Option<Refusal> {
    let known = ProtocolVersion::KNOWN_VERSIONS;
    let named = revision(message).filter(|(named, _)| !known.contains(named))?;
    Some(unsupported("Unsupported protocol version".into(), named, known.iter().collect()))
}

/// Refuses a call outside of a session that names a revision whose calls need one: naming an older revision is no way
/// around its handshake.
pub(crate) fn without_handshake(message: &ClientJsonRpcMessage) -> Option<Refusal> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let needs_none = matches!(
        request.request,
        ClientRequest::InitializeRequest(_)
            | ClientRequest::PingRequest(_)
            | ClientRequest::DiscoverRequest(_)
    );
    let (older, stateless): (Vec<_>, Vec<_>) =
        ProtocolVersion::KNOWN_VERSIONS.iter().partition(|version| version.has_initialize());
    let named = revision(message).filter(|(named, _)| !needs_none && older.contains(&named))?;
    let why = format!("{} begins with `initialize`: no call is made without it", named.0);
    Some(unsupported(why, named, stateless))
}

/// The message in `line`; `None` for an empty line, and for a notification or an answer that cannot be understood.
pub(crate) fn check(line: &[u8]) -> Result<Option<Box<ClientJsonRpcMessage>>, Refusal> {
    match object(line)? {
        None => Ok(None),
        Some(object) => understood(object),
    }
}

/// The object in `line`; `None` for an empty line.
pub(crate) fn object(line: &[u8]) -> Result<Option<Map<String, Value>>, Refusal> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    match canonical::parse_strict(line.trim_ascii()) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(refuse(
            ErrorData::invalid_request("a message is one object; batches are not supported", None),
            None,
        )),
        Err(error) => {
            Err(refuse(ErrorData::parse_error(format!("not acceptable JSON: {error}"), None), None))
        }
    }
}

/// The call of a tool in a message that is nothing else: by its method, without trying the others. Anything that does not
/// fit is left to whoever says what is wrong with it.
fn call(object: &Map<String, Value>) -> Option<ClientJsonRpcMessage> {
    let known = |key: &String| matches!(key.as_str(), "jsonrpc" | "id" | "method" | "params");
    let is_call = object.get("method")? == "tools/call" && object.get("jsonrpc")? == "2.0";
    if !is_call || !object.get("params")?.is_object() || !object.keys().all(known) {
        return None;
    }
    let id = RequestId::deserialize(object.get("id")?).ok()?;
    let request = CallToolRequest::deserialize(object).ok()?;
    Some(ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(request), id))
}

/// The message in `object`; `None` for a notification or an answer that cannot be understood.
pub(crate) fn understood(object: Map<String, Value>) -> Result<Option<Box<ClientJsonRpcMessage>>, Refusal> {
    if let Some(call) = call(&object) {
        return Ok(Some(Box::new(call)));
    }
    let asks = object.get("method").is_some_and(Value::is_string);
    let answers = object.contains_key("result") || object.contains_key("error");
    if answers && !object.contains_key("method") {
        // Nothing was asked that it could answer, and an answer is never answered.
        return Ok(serde_json::from_value(Value::Object(object)).ok());
    }
    let id = object.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    if object.contains_key("id") && id.is_none() {
        return Err(refuse(ErrorData::invalid_request("an id is a string or an integer", None), None));
    }
    let params = object.get("params");
    if params.is_some_and(|p| !p.is_object()) {
        return match id {
            Some(_) => Err(refuse(ErrorData::invalid_params("params is an object", None), id)),
            None => Ok(None),
        };
    }
    let cursor = params.and_then(|p| p.get("cursor"));
    if cursor.is_some_and(|c| !c.is_string() && !c.is_null()) {
        return Err(refuse(ErrorData::invalid_params("cursor is a string", None), id));
    }
    let is_request = asks && !answers && object.get("jsonrpc").is_some_and(|v| v == "2.0");
    match serde_json::from_value::<ClientJsonRpcMessage>(Value::Object(object)) {
        Ok(message) => Ok(Some(Box::new(message))),
        // All else is as it should be.
        Err(_) if is_request && id.is_some() => {
            Err(refuse(ErrorData::invalid_params("the parameters do not fit", None), id))
        }
        Err(_) if asks && id.is_none() => Ok(None),
        Err(_) => Err(refuse(ErrorData::invalid_request("not a JSON-RPC 2.0 message", None), id)),
    }
}
