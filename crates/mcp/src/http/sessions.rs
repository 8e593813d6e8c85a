//! Sessions of the older era belong to whoever began them: for everybody else they do not exist.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::request::Parts;
use axum::http::{HeaderName, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use contract::{Digest, Principal};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::talk::Talk;

/// The header that names a session.
pub(crate) static SESSION: HeaderName = HeaderName::from_static(SESSION_NAME);

/// Its spelling.
pub(super) const SESSION_NAME: &str = "mcp-session-id";

/// Most sessions of one caller, and of all: each costs some 100 KB until it is idle for minutes. Those that were
/// used least recently make room, and then do not exist.
const MAX_OF_ONE: usize = 100;
const MAX_SESSIONS: usize = 1_000;

/// Whose each session is.
#[derive(Default)]
pub(super) struct Sessions {
    owners: Mutex<Owners>,
    manager: Arc<LocalSessionManager>,
}

#[derive(Default)]
struct Owners {
    of: BTreeMap<String, Owned>,
    /// The sessions by their last use.
    by_age: BTreeMap<u64, String>,
    next: u64,
}

/// One session.
struct Owned {
    /// When it was used last.
    age: u64,
    by: Digest,
    talk: Arc<Talk>,
}

impl Owners {
    /// The session that makes room for another of `owner`'s.
    fn in_the_way(&self, owner: &Digest) -> Option<String> {
        let is_his = |session: &&String| self.of.get(*session).is_some_and(|owned| owned.by == *owner);
        if self.by_age.values().filter(is_his).count() >= MAX_OF_ONE {
            return self.by_age.values().find(is_his).cloned();
        }
        self.by_age.values().next().filter(|_| self.of.len() >= MAX_SESSIONS).cloned()
    }

    /// Notes whose `session` is, as the one that was used last.
    fn put(&mut self, session: String, by: Digest, talk: Arc<Talk>) {
        let age = self.next;
        self.next += 1;
        self.by_age.insert(age, session.clone());
        self.of.insert(session, Owned { age, by, talk });
    }

    /// The `session`, if it is `by`'s, as the one that was used last.
    fn used(&mut self, session: &str, by: &Digest) -> Option<Arc<Talk>> {
        let owned = self.of.get_mut(session).filter(|owned| owned.by == *by)?;
        if let Some(name) = self.by_age.remove(&owned.age) {
            owned.age = self.next;
            self.next += 1;
            self.by_age.insert(owned.age, name);
        }
        Some(Arc::clone(&owned.talk))
    }

    fn forget(&mut self, session: &str) {
        if let Some(owned) = self.of.remove(session) {
            self.by_age.remove(&owned.age);
            owned.talk.end();
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

    /// The `session`, if it is `by`'s, who uses it now, and has not ended by itself.
    async fn used(&self, session: &str, by: &Digest) -> Option<Arc<Talk>> {
        let is_there = self.manager.sessions.read().await.contains_key(session);
        let mut owners = self.owners();
        let talk = owners.used(session, by)?;
        if !is_there {
            owners.forget(session);
            return None;
        }
        Some(talk)
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
    fn begin(&self, session: &str, owner: Digest, talk: Talk) -> Option<String> {
        let mut owners = self.owners();
        if owners.of.contains_key(session) {
            return None;
        }
        let ended = owners.in_the_way(&owner);
        if let Some(ended) = &ended {
            owners.forget(ended);
        }
        owners.put(session.to_owned(), owner, Arc::new(talk));
        ended
    }

    fn end(&self, session: &str) {
        self.owners().forget(session);
    }
}

/// One request, as far as sessions are concerned.
pub(super) struct Visit {
    named: Option<(String, Arc<Talk>)>,
    begins: Option<Talk>,
    ends: bool,
}

impl Visit {
    /// The session that it is of.
    pub(super) fn session(&self) -> Option<&Arc<Talk>> {
        self.named.as_ref().map(|(_, talk)| talk)
    }

    /// It may begin this one.
    pub(super) fn begins(&mut self, talk: Option<Talk>) {
        self.begins = talk;
    }
}

impl Sessions {
    /// Lets a request of `caller`'s into its own session only.
    pub(super) async fn enter(&self, head: &Parts, caller: &Principal) -> Result<Visit, Box<Response>> {
        let (begins, ends) = (None, head.method == Method::DELETE);
        let Some(session) = head.headers.get(&SESSION) else {
            return Ok(Visit { named: None, begins, ends });
        };
        let session = String::from_utf8_lossy(session.as_bytes()).into_owned();
        let Some(talk) = self.used(&session, &caller.key()).await else {
            let why = "there is no such session: initialize again";
            return Err(Box::new((StatusCode::NOT_FOUND, why).into_response()));
        };
        Ok(Visit { named: Some((session, talk)), begins, ends })
    }

    /// Notes whose the session is that `response` began, or that it ended.
    pub(super) async fn leave(&self, visit: Visit, caller: &Principal, mut response: Response) -> Response {
        let Visit { named, begins, ends } = visit;
        if let (Some((session, _)), true) = (&named, ends && response.status().is_success()) {
            self.end(session);
            if response.status() == StatusCode::ACCEPTED {
                // It has ended, and nothing more is to come: clients warn of anything but 200 and 204.
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
        }
        let begun = response.headers().get(&SESSION).and_then(|v| v.to_str().ok());
        let (Some(begun), Some(talk), None) = (begun, begins, named) else { return response };
        self.tidy().await;
        if let Some(ended) = self.begin(begun, caller.key(), talk)
            && let Err(error) = self.manager.close_session(&ended.into()).await
        {
            tracing::debug!(%error, "a session that made room could not be ended");
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;

    use super::super::talk::tests::talk;
    use super::*;

    #[tokio::test]
    async fn a_session_that_ended_by_itself_is_not_there() {
        let (sessions, me) = (Sessions::default(), Digest::of(b"me"));
        let (id, _transport) = sessions.manager.create_session().await.unwrap();
        sessions.begin(&id, me, talk());
        assert!(sessions.used(&id, &me).await.is_some());
        sessions.manager.close_session(&id).await.unwrap();
        assert!(sessions.used(&id, &me).await.is_none() && sessions.owners().of.is_empty());
    }

    #[test]
    fn h14_a_session_is_its_owners_and_the_one_used_longest_ago_is_forgotten_first() {
        let sessions = Sessions::default();
        let (me, you) = (Digest::of(b"me"), Digest::of(b"you"));
        let is_owned = |session: &str, by: &Digest| sessions.owners().used(session, by).is_some();
        let begin = |session: &str, by: Digest| sessions.begin(session, by, talk());
        begin("a", me);
        assert!(is_owned("a", &me) && !is_owned("a", &you) && !is_owned("b", &me));
        // A session that stands cannot be taken over.
        begin("a", you);
        assert!(is_owned("a", &me));
        // One caller's own make room for one another, and leave those of others alone.
        for n in 0..MAX_OF_ONE {
            assert_eq!(begin(&n.to_string(), you), None);
        }
        assert_eq!(begin("more", you).as_deref(), Some("0"));
        assert!(is_owned("a", &me) && !is_owned("0", &you) && is_owned("1", &you));
        let one = sessions.owners().used("1", &you).unwrap();
        let call = one.begin(&RequestId::Number(1)).unwrap();
        sessions.end("1");
        assert!(!is_owned("1", &you) && call.cancel.is_cancelled(), "its calls end with it");
        // All together they do, too.
        for n in 0..MAX_SESSIONS {
            begin(&format!("x{n}"), Digest::of(n.to_string().as_bytes()));
        }
        assert!(!is_owned("a", &me) && is_owned("x0", &Digest::of(b"0")));
        assert_eq!(sessions.owners().of.len(), MAX_SESSIONS);
    }
}
