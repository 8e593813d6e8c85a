//! An upstream's connections, one for each credential, and what was last seen of its tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::{Code, Digest, Fault};
use kit::Foreign;
use kit::call::Bearer;
use kit::lock;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::watch;

use crate::config::{Credential, Upstream};
use crate::error::SessionError;
use crate::identity::{self, Listed, Refusal};
use crate::pin::{self, Keys};
use crate::session::Session;
use crate::tool::UpstreamTool;
use crate::{GatewayError, Offered, exchange, name};

/// Most connections to one upstream: one for each caller where tokens are exchanged.
const MAX_SESSIONS: usize = 64;

/// Where the connection of one credential stands.
struct Slot {
    used: Instant,
    place: Arc<tokio::sync::Mutex<Place>>,
}

/// A connection, or why there was none the last time.
#[derive(Default)]
struct Place {
    session: Option<Arc<Session>>,
    failed: Option<(Instant, Fault)>,
}

/// How long an upstream that says that its list changed is left to itself before it is asked.
const PAUSE: Duration = Duration::from_millis(500);

/// An upstream.
pub(crate) struct Link {
    upstream: Upstream,
    client: reqwest::Client,
    sessions: Mutex<BTreeMap<Digest, Slot>>,
    keys: Keys,
    approved: Mutex<BTreeMap<String, Value>>,
    held_back: Mutex<BTreeSet<String>>,
    changes: watch::Sender<u64>,
}

impl Link {
    pub(crate) fn new(upstream: Upstream, changes: watch::Sender<u64>) -> Result<Self, GatewayError> {
        let wrong = |why: String| GatewayError::Config { upstream: upstream.name.clone(), why };
        let mut headers = HeaderMap::new();
        for (header, value) in &upstream.headers {
            let bad = || wrong(format!("headers: {header} or its value is no header"));
            let named = HeaderName::from_bytes(header.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(named, value);
        }
        // Where it is there already, somebody else installed the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .user_agent(concat!("gatewright/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            // A redirect would take the credential along to somewhere that nobody named.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(Duration::from_secs(10));
        let keys = Keys::default();
        let client = if upstream.pin_key {
            let tls = pin::config(Arc::clone(&keys)).map_err(|e| GatewayError::Client(e.to_string()))?;
            client.tls_info(true).tls_backend_preconfigured(tls)
        } else {
            client
        };
        let client = client.build().map_err(|e| GatewayError::Client(e.to_string()))?;
        Ok(Self {
            upstream,
            client,
            sessions: Mutex::default(),
            keys,
            approved: Mutex::default(),
            held_back: Mutex::default(),
            changes,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.upstream.name
    }

    pub(crate) const fn timeout(&self) -> Duration {
        self.upstream.timeout
    }

    /// Which of its tools are approved, as they are.
    pub(crate) fn holds(&self, approved: BTreeMap<String, Value>) {
        let mut held = self.held_back.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        // What was approved anew is as it should be until it is seen otherwise.
        held.retain(|name| approved.get(name) == last.get(name));
        let keys = approved.values().filter_map(|identity| identity.pointer("/upstream/key"));
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) =
            keys.filter_map(|key| serde_json::from_value(key.clone()).ok()).collect();
        *last = approved;
    }

    pub(crate) fn held_back(&self) -> BTreeSet<String> {
        self.held_back.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The connection of whoever came with `bearer`, made if there is none.
    pub(crate) async fn session(self: &Arc<Self>, bearer: Option<&Bearer>) -> Result<Arc<Session>, Fault> {
        let key = match (&self.upstream.credential, bearer) {
            (Credential::Exchange(_), Some(bearer)) => Digest::of(bearer.expose().as_bytes()),
            _ => Digest::of(b""),
        };
        let asked = Instant::now();
        let place = self.place(key);
        let mut place = place.lock().await;
        if let Some(session) = place.session.as_ref().filter(|session| session.is_good()) {
            return Ok(Arc::clone(session));
        }
        // Whoever waited for a connection that could not be made does not wait for another try.
        if let Some((_, fault)) = place.failed.as_ref().filter(|(at, _)| *at >= asked) {
            return Err(fault.clone());
        }
        match self.connected(bearer).await {
            Ok(session) => {
                *place = Place { session: Some(Arc::clone(&session)), failed: None };
                self.look_again_when_it_says(&session);
                Ok(session)
            }
            Err(fault) => {
                *place = Place { session: None, failed: Some((Instant::now(), fault.clone())) };
                Err(fault)
            }
        }
    }

    /// Where the connection of a credential stands; the one used longest ago makes room.
    fn place(&self, key: Digest) -> Arc<tokio::sync::Mutex<Place>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if !sessions.contains_key(&key) && sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, slot)| slot.used).map(|(key, _)| *key);
            oldest.and_then(|key| sessions.remove(&key));
        }
        let slot =
            sessions.entry(key).or_insert_with(|| Slot { used: Instant::now(), place: Arc::default() });
        slot.used = Instant::now();
        Arc::clone(&slot.place)
    }

    async fn connected(&self, bearer: Option<&Bearer>) -> Result<Arc<Session>, Fault> {
        let (token, until) = match &self.upstream.credential {
            Credential::None => (None, None),
            Credential::Own(token) => (Some(token.clone()), None),
            Credential::Exchange(config) => {
                let issued = exchange::token(self.name(), config, bearer).await?;
                (Some(issued.token), Some(Instant::now() + issued.lasts))
            }
        };
        let token = token.as_ref().map(|token| token.as_str());
        let session = Session::connect(&self.upstream, self.client.clone(), token, until).await;
        session.map(Arc::new).map_err(|e| e.into_fault(self.name()))
    }

    /// Lists the tools anew whenever the upstream says that they changed.
    fn look_again_when_it_says(self: &Arc<Self>, session: &Arc<Session>) {
        let (link, session, changed) = (Arc::downgrade(self), Arc::downgrade(session), session.changed());
        tokio::spawn(async move {
            loop {
                // The session's end is looked for, since nobody tells of it.
                let told = tokio::time::timeout(Duration::from_mins(1), changed.notified()).await.is_ok();
                let (Some(link), Some(session)) = (link.upgrade(), session.upgrade()) else { return };
                if told {
                    // Whoever says it often is looked at no oftener.
                    tokio::time::sleep(PAUSE).await;
                    match session.tools().await {
                        Ok(listed) => link.compare(&listed),
                        Err(_) => session.retire(),
                    }
                }
            }
        });
    }

    /// Its tools as they are now. A connection that was lost meanwhile is made again, once.
    pub(crate) async fn listed(
        self: &Arc<Self>,
        bearer: Option<&Bearer>,
    ) -> Result<(Arc<Session>, Listed), Fault> {
        for last in [false, true] {
            let session = self.session(bearer).await?;
            match session.tools().await {
                Ok(listed) => {
                    self.compare(&listed);
                    return Ok((session, listed));
                }
                Err(SessionError::Lost) if !last => session.retire(),
                Err(error) => {
                    session.retire();
                    return Err(error.into_fault(self.name()));
                }
            }
        }
        Err(Fault::internal("an upstream was asked twice without an answer"))
    }

    /// Notes which approved tools are not as they were approved, and says so where that is news.
    ///
    /// Where tokens are exchanged, each caller may see other tools: what one of them sees says nothing to the others.
    fn compare(&self, listed: &Listed) {
        if matches!(self.upstream.credential, Credential::Exchange(_)) {
            return;
        }
        let now: BTreeSet<Digest> = listed.digests().into_values().collect();
        let mut last = self.held_back.lock().unwrap_or_else(PoisonError::into_inner);
        let approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let differs = |identity: &Value| !now.contains(&identity::digest(identity));
        let held: BTreeSet<String> =
            approved.iter().filter(|(_, i)| differs(i)).map(|(name, _)| name.clone()).collect();
        drop(approved);
        if *last != held {
            for name in held.difference(&last) {
                tracing::warn!(tool = %name, "it is not as it was approved, and is held back");
            }
            *last = held;
            drop(last);
            self.changes.send_modify(|version| *version += 1);
        }
    }

    /// Where a tool that is not there under its name is now: the same definition under another.
    pub(crate) fn renamed(&self, listed: &Listed, approved: &Value) -> Option<String> {
        let wanted = lock::unnamed(approved);
        let found = listed.identities().find(|identity| lock::unnamed(identity) == wanted)?;
        let there = identity::name_there(&found)?;
        name::wire(self.name(), there).ok().map(|name| name.to_string())
    }

    /// Everything that it offers now.
    pub(crate) async fn offered(self: &Arc<Self>) -> Result<Offered, Fault> {
        let (_, listed) = self.listed(None).await?;
        // By what the names look like: of those that pass for each other none is offered.
        let mut by_look: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
        let mut refused = Vec::new();
        for identity in listed.identities() {
            let there = identity::name_there(&identity).unwrap_or_default();
            match name::wire(self.name(), there) {
                Ok(name) => {
                    let look = name::skeleton(name.as_str());
                    by_look.entry(look).or_default().push((name.to_string(), identity));
                }
                Err(why) => {
                    let there = contract::text::spelled_name(there);
                    refused.push(format!("{}: {there}: {why}", self.name()));
                }
            }
        }
        let mut tools: Vec<Arc<dyn Foreign>> = Vec::new();
        for mut named in by_look.into_values() {
            let (Some((name, identity)), true) = (named.pop(), named.is_empty()) else {
                let names: Vec<String> = named.into_iter().map(|(name, _)| name).collect();
                refused.push(format!(
                    "{}: tools of {} that look alike or have one name",
                    names.join(", "),
                    self.name()
                ));
                continue;
            };
            match UpstreamTool::new(self, &name, identity) {
                Ok(tool) => tools.push(Arc::new(tool)),
                Err(Refusal(why)) => refused.push(format!("{name}: {why}")),
            }
        }
        Ok(Offered { tools, refused })
    }
}

/// What a tool that its upstream no longer has answers.
pub(crate) fn gone(wire: &str, renamed: Option<String>) -> Fault {
    let message = format!("{wire}: its upstream offers it no longer");
    match renamed {
        Some(name) => Fault::new(Code::ApprovalRequired, format!("{message}: it is called {name} now"))
            .suggest(format!(
                "A person runs `gatewright approvals accept {name}`; until then it is not called."
            )),
        None => Fault::new(Code::NotFound, message).suggest("`tools_search` finds what else there is."),
    }
}
