//! What is posted: read whole, within limits, and held to the same rules as a line of standard input, before the protocol
//! sees it. A call for which the caller's token does not suffice is recorded, and answered by a challenge.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use contract::{CallId, Principal};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use kit::Call;
use kit::consent::Consent;
use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::caller::Identify;
use super::direct::{self, BEATS};
use super::sessions::{SESSION, Visit};
use super::talk::Talk;
use super::{Protocol, Served};
use crate::conversation::Era;
use crate::direct::{Direct, Form};
use crate::line;
use crate::running::GoesOn;

/// Largest body of a request, in bytes: read, it takes some fifty times as much memory at worst.
pub(super) const MAX_BODY: usize = 4 * 1024 * 1024;

/// Most KiB of bodies that are read or answered at once, of all callers; who finds no room in time is told to come back.
const IN_FLIGHT: usize = 4 * MAX_BODY / KIB;
const KIB: usize = 1024;

/// Longest body that is read on the protocol's own threads, in bytes.
const READ_HERE: usize = 64 * 1024;

/// Longest that a body may take to arrive.
const ARRIVES: Duration = Duration::from_secs(30);

/// How soon a call of a session is answered by one message.
const SOON: Duration = Duration::from_secs(2);

/// What the check asks.
pub(super) struct Doorkeeper<S> {
    server: S,
    who: Arc<dyn Identify>,
    hosts: Vec<String>,
    room: Semaphore,
}

impl<S: Served> Doorkeeper<S> {
    /// For `server`, which is called by the names in `hosts`, and whose callers are known by `who`.
    pub(super) fn new(server: S, who: Arc<dyn Identify>, hosts: Vec<String>) -> Self {
        Self { server, who, hosts, room: Semaphore::new(IN_FLIGHT) }
    }

    /// Answers what `caller` posted: here, or by the protocol.
    pub(super) async fn posted(
        &self,
        protocol: &Protocol<S>,
        head: Parts,
        body: Incoming,
        caller: &Principal,
        visit: &mut Visit,
    ) -> Response {
        if body.size_hint().lower() > MAX_BODY as u64 {
            return too_large();
        }
        // What does not say how long it is may be as long as any.
        let length =
            body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(MAX_BODY);
        let room = length.min(MAX_BODY).div_ceil(KIB).max(1);
        let room = self.room.acquire_many(u32::try_from(room).unwrap_or(u32::MAX));
        let Ok(Ok(mut room)) = tokio::time::timeout(ARRIVES, room).await else {
            let later = [(header::RETRY_AFTER, "5")];
            return (StatusCode::SERVICE_UNAVAILABLE, later, "too much at once").into_response();
        };
        let body = match tokio::time::timeout(ARRIVES, Limited::new(body, MAX_BODY).collect()).await {
            Ok(Ok(whole)) => whole.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => return too_large(),
            Ok(Err(_)) => return (StatusCode::BAD_REQUEST, "the body broke off").into_response(),
            Err(_) => {
                let why = "the body did not arrive in time";
                return (StatusCode::REQUEST_TIMEOUT, why).into_response();
            }
        };
        // It is known now.
        let spare = room.num_permits().saturating_sub(body.len().div_ceil(KIB).max(1));
        drop(room.split(spare));
        let checked = if body.len() <= READ_HERE {
            match line::object(&body) {
                Ok(Some(object)) => match self.direct(&head, object, visit.session()) {
                    Ok(Plain::Alone(call)) => return self.answered(call, caller).await,
                    Ok(Plain::Within(talk, call)) => {
                        // It may take long, and holds no more than a call that the library makes.
                        drop((body, room));
                        return self.answered_in(talk, call, &head, caller).await;
                    }
                    Err(object) => line::understood(object),
                },
                Ok(None) => Ok(None),
                Err(refusal) => Err(refusal),
            }
        } else {
            let whole = body.clone();
            match tokio::task::spawn_blocking(move || line::check(&whole)).await {
                Ok(checked) => checked,
                Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            }
        };
        let message = match checked {
            Ok(Some(message)) => Some(message),
            // A notification that is not understood is ignored, as on standard input.
            Ok(None) if !body.trim_ascii().is_empty() => None,
            Ok(None) => return refused(StatusCode::BAD_REQUEST, &line::empty()),
            Err(refusal) => return refused(StatusCode::BAD_REQUEST, &refusal),
        };
        // Calls of the older revisions are made in sessions only.
        let outside = message.as_ref().filter(|_| !head.headers.contains_key(&SESSION));
        if let Some(refusal) = outside.and_then(|message| line::without_handshake(message)) {
            return refused(StatusCode::BAD_REQUEST, &refusal);
        }
        let message = message.as_deref();
        if visit.session().is_none() {
            visit.begins(message.and_then(Talk::begun));
        }
        if let (Some(talk), Some(message)) = (visit.session(), message)
            && direct::is_plain(&head.headers, &self.hosts)
        {
            // Whatever else the library has to do.
            talk.cancels(message);
        }
        let challenge = message.and_then(|message| self.challenge(caller, message));
        let response = protocol.handle(Request::from_parts(head, Full::new(body))).await;
        if let (Some(talk), true) = (visit.session(), response.status().is_success()) {
            talk.heard(message);
        }
        challenged(response.map(Body::new), challenge)
    }
}

/// The same answer, as a challenge where there is one.
fn challenged(mut response: Response, challenge: Option<String>) -> Response {
    if let Some(challenge) = challenge.and_then(|text| HeaderValue::from_str(&text).ok())
        && response.status().is_success()
    {
        *response.status_mut() = StatusCode::FORBIDDEN;
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

fn too_large() -> Response {
    (StatusCode::PAYLOAD_TOO_LARGE, format!("a body has at most {MAX_BODY} bytes")).into_response()
}

/// A plain call.
enum Plain<'a> {
    /// That stands for itself.
    Alone(Direct),
    /// Of a session.
    Within(&'a Arc<Talk>, Direct),
}

impl<S: Served> Doorkeeper<S> {
    /// The plain call of a tool that is there, where such are answered here; else the message.
    /// In sessions it is of a tool that only looks: an answer that got lost can be fetched again from the library alone, and such
    /// a call can be made again instead.
    fn direct<'a>(
        &self,
        head: &Parts,
        object: Map<String, Value>,
        session: Option<&'a Arc<Talk>>,
    ) -> Result<Plain<'a>, Map<String, Value>> {
        let Some(server) = self.server.direct() else { return Err(object) };
        let Some(talk) = session else {
            let known = |name: &str| server.knows(name);
            return Ok(Plain::Alone(direct::stateless(head, &self.hosts, object, known)?));
        };
        let Some(Era::Session(client)) = talk.plainly() else { return Err(object) };
        let looks = |name: &str| server.only_looks(name);
        Ok(Plain::Within(talk, direct::in_session(head, &self.hosts, object, client, looks)?))
    }

    async fn answered(&self, call: Direct, caller: &Principal) -> Response {
        let Some(server) = self.server.direct() else {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        let challenge = self.call_challenge(caller, &call.id, &call.request);
        let id = call.id.clone();
        let visit = server.hourly(caller);
        let made = server.direct(call, caller.clone(), visit, &CancellationToken::new()).await;
        challenged(direct::response(direct::message(id, made, Form::Stateless)), challenge)
    }

    /// As [`Self::answered`], in a session: whoever loses the connection has not cancelled the call, and whoever cancels it gets
    /// no answer. One that takes longer is answered by a stream.
    async fn answered_in(
        &self,
        talk: &Arc<Talk>,
        call: Direct,
        head: &Parts,
        caller: &Principal,
    ) -> Response {
        let Some(server) = self.server.direct() else {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        let begun = match talk.begin(&call.id) {
            Ok(begun) => begun,
            Err(refusal) => return refused(StatusCode::BAD_REQUEST, &refusal),
        };
        let challenge = self.call_challenge(caller, &call.id, &call.request);
        let visit = server.visited(head, caller);
        let (server, caller) = (server.clone(), caller.clone());
        let mut made = GoesOn::new(async move {
            let id = call.id.clone();
            let made = server.direct(call, caller, visit, &begun.cancel).await;
            begun.ends().then(|| direct::message(id, made, Form::Session))
        });
        match tokio::time::timeout(SOON, &mut made).await {
            Ok(Some(message)) => challenged(direct::response(message), challenge),
            Ok(None) => direct::streamed(std::future::ready(None), BEATS),
            Err(_) => challenged(direct::streamed(made, BEATS), challenge),
        }
    }

    /// The challenge for a call that `caller` may not make.
    fn call_challenge(
        &self,
        caller: &Principal,
        id: &RequestId,
        call: &CallToolRequestParams,
    ) -> Option<String> {
        let Principal::Token { scopes, .. } = caller else { return None };
        let needed = self.server.lacking(&Call {
            id: CallId(id.to_string()),
            tool: call.name.to_string(),
            arguments: Value::Object(call.arguments.clone().unwrap_or_default()),
            consent: Consent::default(),
            principal: caller.clone(),
            bearer: None,
            client: None,
            from: None,
            inquiries: None,
            session: None,
            detach: false,
            cancel: CancellationToken::new(),
            progress: Arc::new(|_| {}),
        });
        self.who.step_up(scopes, &needed?)
    }

    /// The challenge for what `caller` may not do.
    fn challenge(&self, caller: &Principal, message: &ClientJsonRpcMessage) -> Option<String> {
        let Principal::Token { scopes, .. } = caller else { return None };
        let JsonRpcMessage::Request(request) = message else { return None };
        let needed = match &request.request {
            ClientRequest::CallToolRequest(call) => {
                return self.call_challenge(caller, &request.id, &call.params);
            }
            ClientRequest::ListResourcesRequest(_)
            | ClientRequest::ReadResourceRequest(_)
            | ClientRequest::ReadResourceDirectoryRequest(_)
            | ClientRequest::ListSkillsRequest(_)
            | ClientRequest::GetSkillRequest(_)
            | ClientRequest::GetPromptRequest(_)
            | ClientRequest::GetTaskRequest(_)
            | ClientRequest::UpdateTaskRequest(_)
            | ClientRequest::CancelTaskRequest(_)
            | ClientRequest::CompleteRequest(_) => self.server.lacking_for_reading(caller),
            _ => None,
        };
        self.who.step_up(scopes, &needed?)
    }
}

/// A refusal as a message that clients understand.
pub(super) fn refused(status: StatusCode, message: &ServerJsonRpcMessage) -> Response {
    let Ok(body) = serde_json::to_vec(message) else { return status.into_response() };
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (status, kind, body).into_response()
}
