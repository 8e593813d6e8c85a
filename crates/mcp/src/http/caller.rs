//! Who calls: every request is asked, before anything of it is read.

use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use contract::Principal;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use kit::call::Bearer;
use rmcp::model::{ErrorCode, ErrorData, ServerJsonRpcMessage};

use super::VERSION_NAME;
use super::message;
use super::oauth::Metadata;
use super::sessions::SESSION_NAME;

/// JSON-RPC leaves -32000 to -32099 to servers.
const REFUSED: i32 = -32_000;

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    status: StatusCode,
    challenge: Option<String>,
}

impl Refused {
    /// Refused with a `WWW-Authenticate` challenge (RFC 6750 §3, RFC 9728 §5.1).
    #[must_use]
    pub const fn challenged(status: StatusCode, challenge: String) -> Self {
        Self { status, challenge: Some(challenge) }
    }

    /// Whoever could tell does not answer: to be tried again.
    #[must_use]
    pub const fn unavailable() -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, challenge: None }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        // Clients show what a body says, where they show anything of a refusal.
        let message = match self.status {
            StatusCode::UNAUTHORIZED => {
                "no token, or none that is accepted here: the WWW-Authenticate header says why, and where to get one"
            }
            _ => "tokens cannot be checked at the moment: try again in 5 seconds",
        };
        let error = ErrorData::new(ErrorCode(REFUSED), message, None);
        let mut response = message::refused(self.status, &ServerJsonRpcMessage::error(error, None));
        if let Some(challenge) = self.challenge.and_then(|c| HeaderValue::from_str(&c).ok()) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

/// Tells who calls from the request's head alone.
pub trait Identify: Send + Sync + 'static {
    /// The principal, or why there is none.
    fn identify<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, Refused>>;

    /// The challenge for a caller who was `granted` these scopes and needs another.
    fn step_up(&self, _granted: &[String], _needed: &str) -> Option<String> {
        None
    }

    /// Where callers learn whom to ask for a token.
    fn metadata(&self) -> Option<&Metadata> {
        None
    }
}

/// Everyone who reaches a loopback address is the local user: for development, and only when asked for.
#[derive(Debug, Clone, Copy)]
pub struct Loopback {
    /// The numeric id of the user that the process runs under.
    pub uid: u32,
}

impl Identify for Loopback {
    fn identify<'a>(&'a self, _head: &'a Parts) -> BoxFuture<'a, Result<Principal, Refused>> {
        std::future::ready(Ok(Principal::Local { uid: self.uid })).boxed()
    }
}

/// Headers that may stand once: of two, one reader would believe the first and another the last.
static ONCE: [HeaderName; 5] = [
    header::ORIGIN,
    header::HOST,
    header::AUTHORIZATION,
    HeaderName::from_static(VERSION_NAME),
    HeaderName::from_static(SESSION_NAME),
];

/// The token of a request whose token was accepted.
fn token(head: &Parts) -> Option<&str> {
    head.headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ').map(|(_, token)| token)
}

/// Who sent the request whose head this is; beside the head, then, for whoever answers. A header that may stand once and
/// stands twice is nobody's.
pub(super) async fn of(who: &dyn Identify, head: &mut Parts) -> Result<Principal, Box<Response>> {
    for once in &ONCE {
        if head.headers.get_all(once).iter().nth(1).is_some() {
            let status =
                if *once == header::ORIGIN { StatusCode::FORBIDDEN } else { StatusCode::BAD_REQUEST };
            return Err(Box::new((status, format!("the header {once} stands twice")).into_response()));
        }
    }
    if head.uri.authority().is_some() {
        let why = "this is no proxy: ask for a path";
        return Err(Box::new((StatusCode::BAD_REQUEST, why).into_response()));
    }
    let encoded = head.headers.get(header::CONTENT_ENCODING);
    if encoded.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let why = "send the body as it is, without an encoding";
        return Err(Box::new((StatusCode::UNSUPPORTED_MEDIA_TYPE, why).into_response()));
    }
    let principal = who.identify(head).await.map_err(|refused| Box::new(refused.into_response()))?;
    if let (Principal::Token { .. }, Some(token)) = (&principal, token(head)) {
        let bearer = Bearer::new(token);
        head.extensions.insert(bearer);
    }
    head.extensions.insert(principal.clone());
    Ok(principal)
}
