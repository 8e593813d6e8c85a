//! Plain calls over HTTP: the headers that they come with, and their answers.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use kit::call::{Bearer, ClientInfo};
use rmcp::model::{ErrorData, ProtocolVersion, RequestId, ServerJsonRpcMessage};
use serde_json::{Map, Value};

use super::VERSION_NAME;
use super::sessions::SESSION;
use crate::direct::{Direct, Form, Outcome, written};

static VERSION: HeaderName = HeaderName::from_static(VERSION_NAME);
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The call in `message`, if it is a plain one of the newer era and of a tool that is `known`, from a host that is ours; else the
/// message.
pub(super) fn stateless(
    head: &Parts,
    hosts: &[String],
    message: Map<String, Value>,
    known: impl FnOnce(&str) -> bool,
) -> Result<Direct, Map<String, Value>> {
    let fits = |name: &str| known(name) && is_plain(&head.headers, hosts) && names(&head.headers, name);
    let call = Direct::stateless(message, fits)?;
    Ok(Direct { bearer: head.extensions.get::<Bearer>().cloned(), ..call })
}

/// The same of the older era, in a session of `client`'s.
pub(super) fn in_session(
    head: &Parts,
    hosts: &[String],
    message: Map<String, Value>,
    client: Option<ClientInfo>,
    fits: impl FnOnce(&str) -> bool,
) -> Result<Direct, Map<String, Value>> {
    let fits = |name: &str| fits(name) && is_plain(&head.headers, hosts) && is_older(&head.headers);
    let call = Direct::in_session(message, client, fits)?;
    Ok(Direct { bearer: head.extensions.get::<Bearer>().cloned(), ..call })
}

/// The value of a header that is there once.
fn once<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    all.next().filter(|_| all.next().is_none()).and_then(|value| value.to_str().ok())
}

/// Whether the headers say, once each, what the newer era has them say about a call of `name`; and nothing more.
fn names(headers: &HeaderMap, name: &str) -> bool {
    once(headers, &VERSION) == Some(ProtocolVersion::V_2026_07_28.as_str())
        && once(headers, &METHOD) == Some("tools/call")
        && once(headers, &NAME) == Some(name)
        && !headers.contains_key(&SESSION)
        && !headers.keys().any(|key| key.as_str().starts_with("mcp-param-"))
}

/// Whether the headers name one session, and an older revision.
fn is_older(headers: &HeaderMap) -> bool {
    let current = ProtocolVersion::V_2026_07_28;
    once(headers, &SESSION).is_some()
        && once(headers, &VERSION).is_some_and(|named| {
            let mut older = ProtocolVersion::KNOWN_VERSIONS.iter().filter(|known| **known != current);
            older.any(|known| known.as_str() == named)
        })
}

/// Whether the headers are those of a plain request to a host that is ours, of no browser.
pub(super) fn is_plain(headers: &HeaderMap, hosts: &[String]) -> bool {
    let accepted = once(headers, &header::ACCEPT).is_some_and(|accept| {
        let mut kinds: Vec<&str> = accept.split(',').map(str::trim).collect();
        kinds.sort_unstable();
        kinds == ["application/json", "text/event-stream"]
    });
    let host = once(headers, &header::HOST).is_some_and(|host| {
        let bare = match host.rsplit_once(':') {
            Some((bare, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !bare.ends_with(':') => bare,
            _ => host,
        };
        let bare = bare.strip_prefix('[').and_then(|bare| bare.strip_suffix(']')).unwrap_or(bare);
        hosts.iter().any(|known| known.eq_ignore_ascii_case(bare))
    });
    accepted
        && host
        && once(headers, &header::CONTENT_TYPE) == Some("application/json")
        && !headers.contains_key(header::ORIGIN)
}

/// The message that answers.
pub(super) fn message(id: RequestId, made: Result<Outcome, ErrorData>, form: Form) -> Bytes {
    let refused =
        |error, id| serde_json::to_vec(&ServerJsonRpcMessage::error(error, Some(id))).unwrap_or_default();
    let written = match made.map(|outcome| written(&id, outcome, form)) {
        Ok(Ok(message)) => message,
        Ok(Err(error)) => refused(ErrorData::internal_error(error.to_string(), None), id),
        Err(error) => refused(error, id),
    };
    written.into()
}

/// An answer of one message.
pub(super) fn response(message: Bytes) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], message).into_response()
}

/// How often somebody who waits hears that his call is still being made: proxies cut what is silent.
pub(super) const BEATS: Duration = Duration::from_secs(15);

/// An answer whose message is still being made, as a stream of one event, with a sign of life each `beat`; of none where it comes to
/// none.
pub(super) fn streamed(
    made: impl Future<Output = Option<Bytes>> + Send + Unpin + 'static,
    beat: Duration,
) -> Response {
    let events = futures_util::stream::unfold(Some(made), move |made| async move {
        let mut made = made?;
        match tokio::time::timeout(beat, &mut made).await {
            Err(_) => Some((Bytes::from_static(b":\n\n"), Some(made))),
            Ok(message) => {
                let event = [&b"data: "[..], &message?, b"\n\n"].concat();
                Some((Bytes::from(event), None))
            }
        }
    });
    let head = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (head, Body::from_stream(events.map(Ok::<_, Infallible>))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_for_a_long_call_hears_that_it_is_still_being_made() {
        let made = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            Some(Bytes::from_static(b"{}"))
        };
        let said = streamed(Box::pin(made), Duration::from_millis(50));
        let said = axum::body::to_bytes(said.into_body(), 1_000).await.unwrap();
        let said = std::str::from_utf8(&said).unwrap();
        assert!(said.starts_with(":\n\n:\n\n"), "{said}");
        assert_eq!(said.trim_start_matches(":\n\n"), "data: {}\n\n");
        let none = streamed(std::future::ready(None), BEATS);
        assert!(axum::body::to_bytes(none.into_body(), 1_000).await.unwrap().is_empty());
    }
}
