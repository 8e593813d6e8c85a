//! An upstream's connections, one for each credential, and what was last seen of its tools.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use contract::{Code, Digest, Fault};
use kit::Foreign;
use kit::call::Bearer;
use kit::lock;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tokio::sync::watch;

use crate::config::{Credential, Ground, Reached, Upstream};
use crate::error::SessionError;
use crate::identity::{self, Listed, Refusal};
use crate::life::{self, Breaker};
use crate::media::Gallery;
use crate::pin::{self, Keys};
use crate::session::Session;
use crate::tool::UpstreamTool;
use crate::{GatewayError, Health, Offered, exchange, name};

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
    /// How often in a row its program could not be started, or ended soon.
    ends: u32,
}

/// How long a program must have been there for its end to be no sign that the next one ends, too.
const STEADY: Duration = Duration::from_mins(1);

/// How long a caller waits for a program to be started again; where it is left alone for longer, it is told so.
const WORTH_WAITING: Duration = Duration::from_secs(5);

/// How long a program may take to answer after a call of it was given up.
const ALIVE: Duration = Duration::from_secs(5);

/// How often it is looked whether a connection is still there.
const LOOK: Duration = Duration::from_mins(1);

/// How long an upstream that says that its list changed is left to itself before it is asked.
const PAUSE: Duration = Duration::from_millis(500);

/// An upstream.
pub(crate) struct Link {
    upstream: Upstream,
    headers: HeaderMap,
    /// Made when it is needed: it reads the system's authorities, and nobody waits for that who calls nothing.
    client: OnceLock<reqwest::Client>,
    sessions: Mutex<BTreeMap<Digest, Slot>>,
    keys: Keys,
    approved: Mutex<BTreeMap<String, Value>>,
    /// Their digests.
    as_approved: Mutex<BTreeMap<String, Digest>>,
    held_back: Mutex<BTreeSet<String>>,
    changes: watch::Sender<u64>,
    ground: Arc<Ground>,
    pub(crate) breaker: Mutex<Breaker>,
}

impl Link {
    pub(crate) fn new(
        upstream: Upstream,
        ground: Arc<Ground>,
        changes: watch::Sender<u64>,
    ) -> Result<Self, GatewayError> {
        let wrong = |why: String| GatewayError::Config { upstream: upstream.name.clone(), why };
        let mut headers = HeaderMap::new();
        for (header, value) in upstream.http().map(|http| http.headers.iter()).into_iter().flatten() {
            let bad = || wrong(format!("headers: {header} or its value is no header"));
            let named = HeaderName::from_bytes(header.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(named, value);
        }
        Ok(Self {
            upstream,
            headers,
            client: OnceLock::new(),
            sessions: Mutex::default(),
            keys: Keys::default(),
            approved: Mutex::default(),
            as_approved: Mutex::default(),
            held_back: Mutex::default(),
            changes,
            ground,
            breaker: Mutex::default(),
        })
    }

    /// The HTTP client.
    fn client(&self) -> Result<reqwest::Client, SessionError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        // Where it is there already, somebody else installed the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .user_agent(concat!("gatewright/", env!("CARGO_PKG_VERSION")))
            .default_headers(self.headers.clone())
            // A redirect would take the credential along to somewhere that nobody named.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(Duration::from_secs(10));
        let client = if self.upstream.http().is_some_and(|http| http.pin_key) {
            let tls = pin::config(Arc::clone(&self.keys))
                .map_err(|e| SessionError::Failed(format!("the HTTP client cannot be made: {e}")))?;
            client.tls_info(true).tls_backend_preconfigured(tls)
        } else {
            client
        };
        let client = client
            .build()
            .map_err(|e| SessionError::Failed(format!("the HTTP client cannot be made: {e}")))?;
        Ok(self.client.get_or_init(|| client).clone())
    }

    /// What a tool of it is called here.
    pub(crate) fn wire(&self, there: &str) -> Result<contract::ToolName, String> {
        name::wire(self.name(), self.upstream.chosen.called(there))
    }

    /// Whether the configuration has a tool of it offered.
    pub(crate) fn wants(&self, there: &str) -> bool {
        self.upstream.chosen.wants(there)
    }

    /// Where pictures and sounds of one result go.
    pub(crate) const fn gallery(&self) -> Gallery {
        Gallery::new(self.upstream.media)
    }

    /// Whether links in its results are taken apart.
    pub(crate) const fn defangs(&self) -> bool {
        self.upstream.defang
    }

    /// Whether its program may write: not while all that is approved of it says that it only looks.
    fn may_write(&self) -> bool {
        let approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let is_wanted =
            |identity: &Value| identity::name_there(identity).is_some_and(|there| self.wants(there));
        approved.values().any(|identity| is_wanted(identity) && !identity::says_it_reads(identity))
    }

    pub(crate) fn name(&self) -> &str {
        &self.upstream.name
    }

    /// What of it is approved, as it was said.
    pub(crate) fn identities(&self) -> Vec<Value> {
        self.approved.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(crate) const fn ground(&self) -> &Arc<Ground> {
        &self.ground
    }

    pub(crate) const fn upstream(&self) -> &Upstream {
        &self.upstream
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
        let digests = approved.iter().map(|(name, identity)| (name.clone(), identity::digest(identity)));
        *self.as_approved.lock().unwrap_or_else(PoisonError::into_inner) = digests.collect();
        *last = approved;
    }

    /// Whether a tool is approved as it was.
    pub(crate) fn is_approved(&self, wire: &str, as_it_was: &Digest) -> bool {
        self.as_approved.lock().unwrap_or_else(PoisonError::into_inner).get(wire) == Some(as_it_was)
    }

    pub(crate) fn held_back(&self) -> BTreeSet<String> {
        self.held_back.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The connection of whoever came with `bearer`, made if there is none.
    pub(crate) async fn session(self: &Arc<Self>, bearer: Option<&Bearer>) -> Result<Arc<Session>, Fault> {
        let key = match (self.credential(), bearer) {
            (Some(Credential::Exchange(_)), Some(bearer)) => Digest::of(bearer.expose().as_bytes()),
            _ => Digest::of(b""),
        };
        let asked = Instant::now();
        let place = self.place(key);
        let mut place = place.lock().await;
        let may_write = self.upstream.program().map(|_| self.may_write());
        let good = place.session.as_ref().filter(|s| s.is_good() && s.may_write() == may_write);
        if let Some(session) = good {
            return Ok(Arc::clone(session));
        }
        // Whoever waited for a connection that could not be made does not wait for another try.
        if let Some((_, fault)) = place.failed.as_ref().filter(|(at, _)| *at >= asked) {
            return Err(fault.clone());
        }
        if let Some(before) = place.session.take().filter(|_| may_write.is_some())
            && before.is_lost()
        {
            place.ends = if before.age() >= STEADY { 1 } else { place.ends + 1 };
            place.failed = Some((Instant::now(), self.left_alone(Duration::ZERO)));
        }
        self.wait_for_its_turn(&place).await?;
        match self.connected(bearer, may_write).await {
            Ok(session) => {
                // One that begins well may end soon: that is known when it has stayed.
                *place = Place { session: Some(Arc::clone(&session)), failed: None, ends: place.ends };
                self.look_again_when_it_says(&session);
                Ok(session)
            }
            Err(fault) => {
                let ends = place.ends + u32::from(may_write.is_some());
                *place = Place { session: None, failed: Some((Instant::now(), fault.clone())), ends };
                Err(fault)
            }
        }
    }

    /// A program that ended is started again after a while, longer each time.
    async fn wait_for_its_turn(&self, place: &Place) -> Result<(), Fault> {
        let (Some((at, _)), 1..) = (&place.failed, place.ends) else { return Ok(()) };
        let digits = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let digits = digits.map(|now| now.subsec_micros()).unwrap_or_default();
        let left = life::backoff(place.ends, digits).saturating_sub(at.elapsed());
        if left > WORTH_WAITING {
            return Err(self.left_alone(left));
        }
        tokio::time::sleep(left).await;
        Ok(())
    }

    const fn credential(&self) -> Option<&Credential> {
        match self.upstream.http() {
            Some(http) => Some(&http.credential),
            None => None,
        }
    }

    /// Has nobody use a connection any more; what is called over it goes on.
    pub(crate) fn forget(&self, session: &Arc<Session>) {
        session.retire();
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        for slot in sessions.values() {
            // Whoever holds it is about to see for himself.
            if let Ok(mut place) = slot.place.try_lock()
                && place.session.as_ref().is_some_and(|there| Arc::ptr_eq(there, session))
            {
                place.session = None;
            }
        }
    }

    /// A call of a program was given up, which it was told. One that does not answer then is ended.
    pub(crate) fn gave_up(self: &Arc<Self>, session: &Arc<Session>) {
        if self.upstream.program().is_none() {
            return;
        }
        // Where everything ends, so does this.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (link, session) = (Arc::clone(self), Arc::clone(session));
        runtime.spawn(async move {
            if !matches!(tokio::time::timeout(ALIVE, session.tools()).await, Ok(Ok(_))) {
                tracing::warn!(upstream = %link.name(), "it does not answer after a call was given up, and is ended");
                link.failed(&SessionError::Lost);
                link.forget(&session);
            }
        });
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

    async fn connected(
        &self,
        bearer: Option<&Bearer>,
        may_write: Option<bool>,
    ) -> Result<Arc<Session>, Fault> {
        let http = match &self.upstream.reached {
            Reached::Http(http) => http,
            Reached::Program(program) => {
                let may_write = may_write.unwrap_or_default();
                let session = Session::over_program(&self.upstream, program, &self.ground, may_write).await;
                return session.map(Arc::new).map_err(|e| e.into_fault(self.name()));
            }
        };
        let (token, until) = match &http.credential {
            Credential::None => (None, None),
            Credential::Own(token) => (Some(token.clone()), None),
            Credential::Exchange(config) => {
                let issued = exchange::token(self.name(), config, bearer).await?;
                (Some(issued.token), Some(Instant::now() + issued.lasts))
            }
        };
        let token = token.as_ref().map(|token| token.as_str());
        let client = self.client().map_err(|e| e.into_fault(self.name()))?;
        let session = Session::over_http(&self.upstream, http, client, token, until).await;
        session.map(Arc::new).map_err(|e| e.into_fault(self.name()))
    }

    /// Lists the tools anew whenever the upstream says that they changed.
    fn look_again_when_it_says(self: &Arc<Self>, session: &Arc<Session>) {
        let (link, session, changed) = (Arc::downgrade(self), Arc::downgrade(session), session.changed());
        let idle = self.upstream.program().map(|program| program.idle);
        let look = idle.map_or(LOOK, |idle| (idle / 2).clamp(Duration::from_millis(200), LOOK));
        tokio::spawn(async move {
            loop {
                // The session's end is looked for, since nobody tells of it.
                let told = tokio::time::timeout(look, changed.notified()).await.is_ok();
                let (Some(link), Some(session)) = (link.upgrade(), session.upgrade()) else { return };
                // Its place has it, and this: nobody else does while nothing is called.
                if idle.is_some_and(|idle| session.idle() >= idle) && Arc::strong_count(&session) <= 2 {
                    tracing::info!(upstream = %link.name(), "nobody calls it, and it is ended");
                    link.forget(&session);
                    return;
                }
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
    ) -> Result<(Arc<Session>, Arc<Listed>), Fault> {
        for last in [false, true] {
            let trial = self.trial()?;
            let session = match self.session(bearer).await {
                Ok(session) => session,
                Err(fault) => {
                    trial.over(Some(&SessionError::Lost));
                    return Err(fault);
                }
            };
            match session.tools().await {
                Ok(listed) => {
                    trial.over(None);
                    self.compare(&listed);
                    return Ok((session, listed));
                }
                // One that was lost before it was asked says nothing of the next.
                Err(SessionError::Lost) if !last => {
                    drop(trial);
                    if session.may_write().is_none() {
                        session.retire();
                    }
                }
                Err(error) => {
                    let error = session.explained(error, self.name()).await;
                    trial.over(Some(&error));
                    self.forget(&session);
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
        if matches!(self.credential(), Some(Credential::Exchange(_))) {
            return;
        }
        let now: BTreeSet<Digest> = listed.digests().values().copied().collect();
        let mut last = self.held_back.lock().unwrap_or_else(PoisonError::into_inner);
        let approved = self.as_approved.lock().unwrap_or_else(PoisonError::into_inner);
        let held: BTreeSet<String> = approved
            .iter()
            .filter(|(_, digest)| !now.contains(digest))
            .map(|(name, _)| name.clone())
            .collect();
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
        self.wire(there).ok().map(|name| name.to_string())
    }

    /// How it is.
    pub(crate) async fn health(self: &Arc<Self>) -> Result<Health, Fault> {
        let began = Instant::now();
        let (session, listed) = self.listed(None).await?;
        let all = listed.tools.len();
        let tools = listed.identities().filter(|identity| {
            identity::name_there(identity).is_some_and(|there| self.wants(there) && self.wire(there).is_ok())
        });
        let (tools, (server, version)) = (tools.count(), session.called());
        let (server, version) = (session.masked(server.to_owned()), session.masked(version.to_owned()));
        Ok(Health {
            server,
            version,
            is_current: session.is_current(),
            tools,
            others: all - tools,
            noise: session.noise(),
            took: began.elapsed(),
        })
    }

    /// Everything that it offers now.
    pub(crate) async fn offered(self: &Arc<Self>) -> Result<Offered, Fault> {
        let (_, listed) = self.listed(None).await?;
        // By what the names look like: of those that pass for each other none is offered.
        let mut by_look: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
        let mut refused = Vec::new();
        for identity in listed.identities() {
            let there = identity::name_there(&identity).unwrap_or_default();
            if !self.wants(there) {
                continue;
            }
            match self.wire(there) {
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
