//! Plain calls over HTTP: the headers that they come with, and their answers.

use axum::body::Bytes;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use kit::call::Bearer;
use rmcp::model::{ProtocolVersion, RequestId};
use serde_json::{Map, Value};

use super::VERSION_NAME;
use super::sessions::SESSION;
use crate::direct::{Direct, Form, Outcome, written};

static VERSION: HeaderName = HeaderName::from_static(VERSION_NAME);
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The call in `message`, if it is a plain one of a tool that is `known`, from a host that is ours; else the message.
pub(super) fn of(
    head: &Parts,
    hosts: &[String],
    message: Map<String, Value>,
    known: impl FnOnce(&str) -> bool,
) -> Result<Direct, Map<String, Value>> {
    let call = Direct::stateless(message, |name| known(name) && is_plain(&head.headers, hosts, name))?;
    Ok(Direct { bearer: head.extensions.get::<Bearer>().cloned(), ..call })
}

/// Whether the headers are those of a plain call of `name`: each once, none that says more.
fn is_plain(headers: &HeaderMap, hosts: &[String], name: &str) -> bool {
    let once = |name: &HeaderName| {
        let mut all = headers.get_all(name).iter();
        all.next().filter(|_| all.next().is_none()).and_then(|value| value.to_str().ok())
    };
    let accepted = once(&header::ACCEPT).is_some_and(|accept| {
        let mut kinds: Vec<&str> = accept.split(',').map(str::trim).collect();
        kinds.sort_unstable();
        kinds == ["application/json", "text/event-stream"]
    });
    let host = once(&header::HOST).is_some_and(|host| {
        let bare = match host.rsplit_once(':') {
            Some((bare, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !bare.ends_with(':') => bare,
            _ => host,
        };
        let bare = bare.strip_prefix('[').and_then(|bare| bare.strip_suffix(']')).unwrap_or(bare);
        hosts.iter().any(|known| known.eq_ignore_ascii_case(bare))
    });
    accepted
        && host
        && once(&header::CONTENT_TYPE) == Some("application/json")
        && once(&VERSION) == Some(ProtocolVersion::V_2026_07_28.as_str())
        && once(&METHOD) == Some("tools/call")
        && once(&NAME) == Some(name)
        && !headers.contains_key(header::ORIGIN)
        && !headers.contains_key(&SESSION)
        && !headers.keys().any(|key| key.as_str().starts_with("mcp-param-"))
}

/// The answer as it goes over the wire.
pub(super) fn response(id: &RequestId, outcome: Outcome) -> Response {
    let Ok(body) = written(id, outcome, Form::Stateless) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (kind, Bytes::from(body)).into_response()
}
