//! Sessions of the older era belong to whoever began them: for everybody else they do not exist.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::request::Parts;
use axum::http::{HeaderName, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use contract::{Digest, Principal};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// The header that names a session.
pub(crate) static SESSION: HeaderName = HeaderName::from_static(SESSION_NAME);

/// Its spelling.
pub(super) const SESSION_NAME: &str = "mcp-session-id";

/// Most sessions of one caller, and of all: each costs some 100 KB until it is idle for minutes. Those that were
/// used least recently make room, and then do not exist.
const MAX_OF_ONE: usize = 100;
const MAX_SESSIONS: usize = 1_000;

/// Whose each session is.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    owners: Mutex<Owners>,
    manager: Arc<LocalSessionManager>,
}

#[derive(Debug, Default)]
struct Owners {
    of: BTreeMap<String, (u64, Digest)>,
    /// The sessions by their last use.
    by_age: BTreeMap<u64, String>,
    next: u64,
}

impl Owners {
    /// The session that makes room for another of `owner`'s.
    fn in_the_way(&self, owner: &Digest) -> Option<String> {
        let is_his = |session: &&String| self.of.get(*session).is_some_and(|(_, whose)| whose == owner);
        if self.by_age.values().filter(is_his).count() >= MAX_OF_ONE {
            return self.by_age.values().find(is_his).cloned();
        }
        self.by_age.values().next().filter(|_| self.of.len() >= MAX_SESSIONS).cloned()
    }

    /// Notes whose `session` is, as the one that was used last.
    fn put(&mut self, session: String, owner: Digest) {
        self.forget(&session);
        let age = self.next;
        self.next += 1;
        self.by_age.insert(age, session.clone());
        self.of.insert(session, (age, owner));
    }

    fn forget(&mut self, session: &str) {
        if let Some((age, _)) = self.of.remove(session) {
            self.by_age.remove(&age);
        }
    }
}

impl Sessions {
    /// Of the sessions that `manager` keeps.
    pub(super) fn of(manager: Arc<LocalSessionManager>) -> Self {
        Self { owners: Mutex::default(), manager }
    }

    fn owners(&self) -> MutexGuard<'_, Owners> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `session` is `by`'s, who uses it now.
    fn is_owned(&self, session: &str, by: &Digest) -> bool {
        let mut owners = self.owners();
        if owners.of.get(session).is_none_or(|(_, owner)| owner != by) {
            return false;
        }
        owners.put(session.to_owned(), *by);
        true
    }

    /// Forgets sessions that ended by themselves.
    async fn tidy(&self) {
        let there = self.manager.sessions.read().await;
        let gone = |session: &&String| !there.contains_key(session.as_str());
        let mut owners = self.owners();
        let gone: Vec<String> = owners.of.keys().filter(gone).cloned().collect();
        for session in gone {
            owners.forget(&session);
        }
    }

    /// Notes whose `session` is; the one that it takes the place of is to be ended.
    fn begin(&self, session: &str, owner: Digest) -> Option<String> {
        let mut owners = self.owners();
        if owners.of.contains_key(session) {
            return None;
        }
        let ended = owners.in_the_way(&owner);
        if let Some(ended) = &ended {
            owners.forget(ended);
        }
        owners.put(session.to_owned(), owner);
        ended
    }

    fn end(&self, session: &str) {
        self.owners().forget(session);
    }
}

/// One request, as far as sessions are concerned.
pub(super) struct Visit {
    named: Option<String>,
    ends: bool,
}

impl Sessions {
    /// Lets a request of `caller`'s into its own session only.
    pub(super) fn enter(&self, head: &Parts, caller: &Principal) -> Result<Visit, Box<Response>> {
        let named = head.headers.get(&SESSION).map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
        if let Some(session) = &named
            && !self.is_owned(session, &caller.key())
        {
            let why = "there is no such session: initialize again";
            return Err(Box::new((StatusCode::NOT_FOUND, why).into_response()));
        }
        Ok(Visit { named, ends: head.method == Method::DELETE })
    }

    /// Notes whose the session is that `response` began, or that it ended.
    pub(super) async fn leave(&self, visit: Visit, caller: &Principal, mut response: Response) -> Response {
        let Visit { named, ends } = visit;
        if let (Some(session), true) = (&named, ends && response.status().is_success()) {
            self.end(session);
            if response.status() == StatusCode::ACCEPTED {
                // It has ended, and nothing more is to come: clients warn of anything but 200 and 204.
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
        }
        let begun = response.headers().get(&SESSION).and_then(|v| v.to_str().ok());
        let Some(begun) = begun.filter(|_| named.is_none()) else { return response };
        self.tidy().await;
        if let Some(ended) = self.begin(begun, caller.key())
            && let Err(error) = self.manager.close_session(&ended.into()).await
        {
            tracing::debug!(%error, "a session that made room could not be ended");
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h14_a_session_is_its_owners_and_the_one_used_longest_ago_is_forgotten_first() {
        let sessions = Sessions::default();
        let (me, you) = (Digest::of(b"me"), Digest::of(b"you"));
        sessions.begin("a", me);
        assert!(sessions.is_owned("a", &me) && !sessions.is_owned("a", &you) && !sessions.is_owned("b", &me));
        // A session that stands cannot be taken over.
        sessions.begin("a", you);
        assert!(sessions.is_owned("a", &me));
        // One caller's own make room for one another, and leave those of others alone.
        for n in 0..MAX_OF_ONE {
            assert_eq!(sessions.begin(&n.to_string(), you), None);
        }
        assert_eq!(sessions.begin("more", you).as_deref(), Some("0"));
        assert!(sessions.is_owned("a", &me) && !sessions.is_owned("0", &you) && sessions.is_owned("1", &you));
        sessions.end("1");
        assert!(!sessions.is_owned("1", &you));
        // All together they do, too.
        for n in 0..MAX_SESSIONS {
            sessions.begin(&format!("x{n}"), Digest::of(n.to_string().as_bytes()));
        }
        assert!(!sessions.is_owned("a", &me) && sessions.is_owned("x0", &Digest::of(b"0")));
        assert_eq!(sessions.owners().of.len(), MAX_SESSIONS);
    }
}
