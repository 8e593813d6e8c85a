//! Sessions of the older era belong to whoever began them: for everybody else they do not exist.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use contract::{Digest, Principal};

/// The header that names a session.
pub(super) const SESSION: &str = "mcp-session-id";

/// Most sessions that are remembered; the oldest are forgotten first, and then do not exist.
const MAX_SESSIONS: usize = 10_000;

/// Whose each session is.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<Owners>);

#[derive(Debug, Default)]
struct Owners {
    of: BTreeMap<String, (u64, Digest)>,
    /// The sessions by age.
    by_age: BTreeMap<u64, String>,
    next: u64,
}

impl Sessions {
    fn is_owned(&self, session: &str, by: &Digest) -> bool {
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners.of.get(session).is_some_and(|(_, owner)| owner == by)
    }

    fn begin(&self, session: &str, owner: Digest) {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if owners.of.contains_key(session) {
            return;
        }
        if owners.of.len() >= MAX_SESSIONS
            && let Some((_, oldest)) = owners.by_age.pop_first()
        {
            owners.of.remove(&oldest);
        }
        let age = owners.next;
        owners.next += 1;
        owners.by_age.insert(age, session.to_owned());
        owners.of.insert(session.to_owned(), (age, owner));
    }

    fn end(&self, session: &str) {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((age, _)) = owners.of.remove(session) {
            owners.by_age.remove(&age);
        }
    }
}

/// Lets a request into its own session only, and notes whose a new one is.
pub(super) async fn bind(State(sessions): State<Arc<Sessions>>, request: Request, next: Next) -> Response {
    let Some(caller) = request.extensions().get::<Principal>().map(Principal::key) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let named = request.headers().get(SESSION).map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
    let ends = request.method() == Method::DELETE;
    if let Some(session) = &named
        && !sessions.is_owned(session, &caller)
    {
        return (StatusCode::NOT_FOUND, "there is no such session: initialize again").into_response();
    }
    let mut response = next.run(request).await;
    if let (Some(session), true) = (&named, ends) {
        sessions.end(session);
        if response.status() == StatusCode::ACCEPTED {
            // It has ended, and nothing more is to come: clients warn of anything but 200 and 204.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
    }
    if let (None, Some(begun)) = (&named, response.headers().get(SESSION).and_then(|v| v.to_str().ok())) {
        sessions.begin(begun, caller);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h14_a_session_is_its_owners_and_the_oldest_is_forgotten_first() {
        let sessions = Sessions::default();
        let (me, you) = (Digest::of(b"me"), Digest::of(b"you"));
        sessions.begin("a", me);
        assert!(sessions.is_owned("a", &me) && !sessions.is_owned("a", &you) && !sessions.is_owned("b", &me));
        // A session that stands cannot be taken over.
        sessions.begin("a", you);
        assert!(sessions.is_owned("a", &me));
        for n in 0..MAX_SESSIONS {
            sessions.begin(&n.to_string(), you);
        }
        assert!(!sessions.is_owned("a", &me) && sessions.is_owned("0", &you));
        sessions.end("0");
        assert!(!sessions.is_owned("0", &you));
    }
}
