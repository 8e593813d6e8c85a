//! What is posted: read whole, within limits, and held to the same rules as a line of standard input, before the protocol
//! sees it. A call for which the caller's token does not suffice is recorded, and answered by a challenge.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use contract::{CallId, Principal};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kit::Call;
use kit::consent::Consent;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::caller::Identify;
use super::sessions::SESSION;
use crate::line;

/// Largest body of a request, in bytes; the same as the longest line on standard input.
pub(super) const MAX_BODY: usize = line::MAX_LINE;

/// Longest that a body may take to arrive.
const ARRIVES: Duration = Duration::from_secs(30);

/// Tells which scope a call needs that its caller was not granted.
pub(super) type Lacking = Arc<dyn Fn(&Call) -> Option<String> + Send + Sync>;

/// What the check asks.
#[derive(Clone)]
pub(super) struct Doorkeeper {
    pub(super) lacking: Lacking,
    pub(super) who: Arc<dyn Identify>,
}

pub(super) async fn check(State(door): State<Doorkeeper>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let body = match tokio::time::timeout(ARRIVES, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(whole)) => whole.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            return (StatusCode::PAYLOAD_TOO_LARGE, format!("a body has at most {MAX_BODY} bytes"))
                .into_response();
        }
        Ok(Err(_)) => return (StatusCode::BAD_REQUEST, "the body broke off").into_response(),
        Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time").into_response(),
    };
    let message = match line::check(&body) {
        Ok(Some(message)) => Some(message),
        // A notification that is not understood is ignored, as on standard input.
        Ok(None) if !body.trim_ascii().is_empty() => None,
        Ok(None) => return refused(StatusCode::BAD_REQUEST, &line::empty()),
        Err(refusal) => return refused(StatusCode::BAD_REQUEST, &refusal),
    };
    // Calls of the older revisions are made in sessions only.
    let outside = message.as_ref().filter(|_| !head.headers.contains_key(SESSION));
    if let Some(refusal) = outside.and_then(|message| line::without_handshake(message)) {
        return refused(StatusCode::BAD_REQUEST, &refusal);
    }
    let challenge = message.and_then(|message| door.challenge(head.extensions.get()?, *message));
    let mut response = next.run(Request::from_parts(head, Body::from(body))).await;
    if let Some(challenge) = challenge.and_then(|text| HeaderValue::from_str(&text).ok()) {
        *response.status_mut() = StatusCode::FORBIDDEN;
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

impl Doorkeeper {
    /// The challenge for a call that `caller` may not make.
    fn challenge(&self, caller: &Principal, message: ClientJsonRpcMessage) -> Option<String> {
        let Principal::Token { scopes, .. } = caller else { return None };
        let JsonRpcMessage::Request(request) = message else { return None };
        let ClientRequest::CallToolRequest(call) = request.request else { return None };
        let call = Call {
            id: CallId(request.id.to_string()),
            tool: call.params.name.into_owned(),
            arguments: Value::Object(call.params.arguments.unwrap_or_default()),
            consent: Consent::Unasked,
            principal: caller.clone(),
            cancel: CancellationToken::new(),
            progress: Arc::new(|_| {}),
        };
        self.who.step_up(scopes, &(self.lacking)(&call)?)
    }
}

/// A refusal as a message that clients understand.
pub(super) fn refused(status: StatusCode, message: &ServerJsonRpcMessage) -> Response {
    let Ok(body) = serde_json::to_vec(message) else { return status.into_response() };
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (status, kind, body).into_response()
}
