//! Which conversation a request is of, as far as that can be told: of a connection, of a session of the older era, or of what a
//! caller asks within an hour.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::request::Parts;
use contract::Principal;
use kit::Session;

use crate::http::SESSION;

/// Most conversations that are remembered; those that were silent longest are forgotten, and with them menus that no call
/// followed.
const MOST: usize = 2_000;

/// The conversations of one server. Cheap to share.
#[derive(Debug, Clone)]
pub(crate) struct Visits {
    /// Of the connection, where there is but one.
    own: Session,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    of: BTreeMap<String, (u64, Session)>,
    next: u64,
    /// Whose hour was asked for last: most calls are of whoever called before.
    last: Option<(Principal, u64, Session)>,
}

impl Known {
    /// The same conversation as before, where it is remembered.
    fn again(&mut self, session: Session) -> Session {
        self.next += 1;
        let now = self.next;
        if let Some((age, session)) = self.of.get_mut(session.id()) {
            *age = now;
            return session.clone();
        }
        if self.of.len() >= MOST {
            let oldest = self.of.iter().min_by_key(|(_, (age, _))| *age).map(|(id, _)| id.clone());
            oldest.and_then(|id| self.of.remove(&id));
        }
        self.of.insert(session.id().to_owned(), (now, session.clone()));
        session
    }
}

impl Visits {
    pub(crate) fn new() -> Result<Self, contract::Fault> {
        Ok(Self { own: Session::random()?, known: Arc::default() })
    }

    /// The conversation of the connection, where there is but one.
    pub(crate) fn own(&self) -> Session {
        self.own.clone()
    }

    /// The conversation of a request: with a head it came over HTTP.
    pub(crate) fn of(&self, head: Option<&Parts>, caller: &Principal) -> Session {
        let Some(head) = head else { return self.own() };
        match head.headers.get(&SESSION) {
            Some(session) => self.known(Session::named(&[b"session\0", session.as_bytes()])),
            None => self.hourly(caller),
        }
    }

    /// The conversation of what `caller` asks within this hour, where nothing else ties requests together.
    pub(crate) fn hourly(&self, caller: &Principal) -> Session {
        let hour = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 3_600);
        self.within(caller, hour)
    }

    fn within(&self, caller: &Principal, hour: u64) -> Session {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((who, when, session)) = &known.last {
            if who == caller && *when == hour {
                return session.clone();
            }
            // It was not silent since it was found: its calls were not counted one by one.
            let session = session.clone();
            known.again(session);
        }
        let session = known.again(Session::named(&[b"hour\0", caller.key().as_bytes(), &hour.to_be_bytes()]));
        known.last = Some((caller.clone(), hour, session.clone()));
        session
    }

    fn known(&self, session: Session) -> Session {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).again(session)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn head(session: Option<&str>) -> Parts {
        let request = Request::builder().uri("/mcp");
        let request = session.iter().fold(request, |request, id| request.header(&SESSION, *id));
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn a_conversation_is_that_of_a_connection_a_session_or_a_callers_hour() {
        let visits = Visits::new().unwrap();
        let (me, you) = (Principal::Local { uid: 1 }, Principal::Local { uid: 2 });
        let id = |head: Option<&Parts>, caller: &Principal| visits.of(head, caller).id().to_owned();
        assert_eq!(id(None, &me), id(None, &you), "there is one connection");
        assert_ne!(id(None, &me), Visits::new().unwrap().of(None, &me).id());
        let (a, b, without) = (head(Some("a")), head(Some("b")), head(None));
        assert_eq!(id(Some(&a), &me), id(Some(&a), &me));
        assert_ne!(id(Some(&a), &me), id(Some(&b), &me));
        assert_ne!(id(Some(&without), &me), id(Some(&without), &you));
        assert_ne!(id(Some(&without), &me), id(Some(&a), &me));
    }

    #[test]
    fn the_conversation_that_was_silent_longest_is_forgotten() {
        let visits = Visits::new().unwrap();
        let me = Principal::Local { uid: 1 };
        for n in 0..MOST {
            visits.of(Some(&head(Some(&n.to_string()))), &me);
        }
        visits.of(Some(&head(Some("0"))), &me);
        visits.of(Some(&head(Some("one more"))), &me);
        let known = visits.known.lock().unwrap();
        let is_known =
            |name: &str| known.of.contains_key(Session::named(&[b"session\0", name.as_bytes()]).id());
        assert_eq!(known.of.len(), MOST);
        assert!(is_known("0") && is_known("one more") && !is_known("1") && is_known("2"));
    }

    #[test]
    fn whoever_calls_again_within_the_hour_is_found_again_whoever_called_between() {
        let visits = Visits::new().unwrap();
        let (me, you) = (Principal::Local { uid: 1 }, Principal::Local { uid: 2 });
        let mine = visits.within(&me, 7);
        mine.listed(100);
        // What was counted in it is there again.
        let is_mine = |session: &Session| format!("{session:?}") == format!("{mine:?}");
        assert!(!is_mine(&Visits::new().unwrap().within(&me, 7)));
        assert!(is_mine(&visits.within(&me, 7)), "at once");
        assert!(!is_mine(&visits.within(&you, 7)) && !is_mine(&visits.within(&me, 8)));
        assert!(is_mine(&visits.within(&me, 7)), "later");
        // Nor is the one who calls without a pause forgotten for those who come once.
        for n in 0..MOST {
            visits.of(Some(&head(Some(&n.to_string()))), &me);
            if n % 100 == 0 {
                visits.within(&me, 7);
            }
        }
        visits.within(&you, 7);
        let known = visits.known.lock().unwrap();
        assert!(known.of.contains_key(mine.id()) && known.of.len() == MOST);
    }
}
