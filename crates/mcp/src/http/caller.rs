//! Who calls: every request is asked, before anything of it is read.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use contract::Principal;

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The status: 401, 403 or 503.
    pub status: StatusCode,
    /// The `WWW-Authenticate` challenge (RFC 6750, RFC 9728), where there is one.
    pub challenge: Option<String>,
}

/// Tells who calls from the request's head alone.
pub trait Identify: Send + Sync + 'static {
    /// The principal, or why there is none.
    fn identify(&self, head: &Parts) -> Result<Principal, Refused>;
}

/// Everyone who reaches a loopback address is the local user: for development, and only when asked for.
#[derive(Debug, Clone, Copy)]
pub struct Loopback {
    /// The numeric id of the user that the process runs under.
    pub uid: u32,
}

impl Identify for Loopback {
    fn identify(&self, _head: &Parts) -> Result<Principal, Refused> {
        Ok(Principal::Local { uid: self.uid })
    }
}

/// Puts the principal beside the request. A header that may stand once and stands twice is nobody's.
pub(super) async fn identify(State(who): State<Arc<dyn Identify>>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    for once in [header::ORIGIN, header::HOST, header::AUTHORIZATION] {
        if head.headers.get_all(&once).iter().nth(1).is_some() {
            let status = if once == header::ORIGIN { StatusCode::FORBIDDEN } else { StatusCode::BAD_REQUEST };
            return (status, format!("the header {once} stands twice")).into_response();
        }
    }
    if head.uri.authority().is_some() {
        return (StatusCode::BAD_REQUEST, "this is no proxy: ask for a path").into_response();
    }
    let encoded = head.headers.get(header::CONTENT_ENCODING);
    if encoded.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return (StatusCode::UNSUPPORTED_MEDIA_TYPE, "send the body as it is, without an encoding")
            .into_response();
    }
    match who.identify(&head) {
        Ok(principal) => {
            head.extensions.insert(principal);
            next.run(Request::from_parts(head, body)).await
        }
        Err(refused) => {
            let mut response = refused.status.into_response();
            if let Some(challenge) = refused.challenge.and_then(|c| HeaderValue::from_str(&c).ok()) {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            response
        }
    }
}
