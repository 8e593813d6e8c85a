//! What a page's thread hears and answers at once: requests, frames that come and go, dialogs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use exec::address::Reach;
use serde_json::{Value, json};

use crate::policy::{Credential, Decision, Given, MAX_REDIRECTS, MAX_REQUESTS, decide};
use crate::wire::{Event, Wire};

/// Most refused requests that are remembered.
const MAX_BLOCKED: usize = 200;

/// Most characters that are remembered of a URL.
const MAX_URL: usize = 300;

/// A request that was not let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// What was asked for.
    pub url: String,
    /// Why it failed.
    pub why: &'static str,
}

/// What is known of a page.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Sessions of frames that have a process of their own, by the frame.
    pub(crate) frames: BTreeMap<String, String>,
    /// What happened to which document: `(loader, name)`.
    pub(crate) lifecycle: BTreeSet<(String, String)>,
    /// The status of the last main document.
    pub(crate) status: Option<u16>,
    pub(crate) blocked: Vec<Blocked>,
    pub(crate) requests: u64,
    /// Whether a page is being opened, and not by another page.
    pub(crate) is_opening: bool,
    redirects: BTreeMap<String, u32>,
    /// Its process is no more.
    pub(crate) crashed: bool,
}

/// What a page's thread and whoever works with the page share.
pub(crate) struct Shared {
    pub(crate) wire: Arc<Wire>,
    known: Mutex<Known>,
    changed: Condvar,
    pub(crate) reach: Reach,
    pub(crate) given: Given,
    /// Where new sessions are heard.
    pub(crate) events: Sender<Event>,
    /// The main frame's session.
    pub(crate) session: String,
    /// The main frame.
    pub(crate) main: String,
}

impl Shared {
    pub(crate) fn new(
        wire: Arc<Wire>,
        (session, main): (String, String),
        events: Sender<Event>,
        reach: Reach,
        given: Given,
    ) -> Arc<Self> {
        Arc::new(Self {
            wire,
            known: Mutex::default(),
            changed: Condvar::new(),
            reach,
            given,
            events,
            session,
            main,
        })
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits a moment for something new.
    pub(crate) fn pause(&self, time: std::time::Duration) {
        let known = self.known();
        drop(self.changed.wait_timeout(known, time).unwrap_or_else(PoisonError::into_inner));
    }

    /// What a session of a page is told before its document begins.
    pub(crate) fn prepare(&self, session: &str) {
        let tell = |method, params| self.wire.tell(session, method, params);
        tell("Fetch.enable", json!({ "patterns": [{ "urlPattern": "*" }], "handleAuthRequests": true }));
        tell("Network.enable", json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0 }));
        // A worker would ask on behalf of the page where nobody looks.
        tell("Network.setBypassServiceWorker", json!({ "bypass": true }));
        tell("Page.enable", json!({}));
        tell("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        tell("Inspector.enable", json!({}));
        tell(
            "Target.setAutoAttach",
            json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true }),
        );
    }

    /// Takes in something that happened.
    pub(crate) fn take(&self, event: &Event) {
        self.heard(event);
        self.changed.notify_all();
    }

    fn heard(&self, event: &Event) {
        let Event { method, session, params } = event;
        match method.as_str() {
            "Fetch.requestPaused" => self.asked(session, params),
            "Fetch.authRequired" => self.wire.tell(
                session,
                "Fetch.continueWithAuth",
                json!({ "requestId": params["requestId"], "authChallengeResponse": { "response": "CancelAuth" } }),
            ),
            "Target.attachedToTarget" => self.attached(params),
            "Target.detachedFromTarget" => {
                let gone = params["sessionId"].as_str().unwrap_or_default();
                self.wire.leave(gone);
                self.known().frames.retain(|_, session| session != gone);
            }
            "Page.javascriptDialogOpening" => {
                // Only "leave this page?" is said yes to.
                let accept = params["type"] == "beforeunload";
                self.wire.tell(session, "Page.handleJavaScriptDialog", json!({ "accept": accept }));
            }
            "Page.lifecycleEvent" if *session == self.session => {
                let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
                self.known().lifecycle.insert((text("loaderId"), text("name")));
            }
            "Network.responseReceived" if *session == self.session && params["type"] == "Document" => {
                let status = params["response"]["status"].as_u64().and_then(|s| u16::try_from(s).ok());
                // The main document's request has its loader's number.
                if params["requestId"] == params["loaderId"] && params["frameId"] == self.main.as_str() {
                    self.known().status = status;
                }
            }
            "Inspector.targetCrashed" if *session == self.session => self.known().crashed = true,
            _ => {}
        }
    }

    /// A frame or worker with a process of its own: it waits until it is told to go on.
    fn attached(&self, params: &Value) {
        let session = params["sessionId"].as_str().unwrap_or_default();
        let info = &params["targetInfo"];
        match info["type"].as_str().unwrap_or_default() {
            "iframe" => {
                self.wire.attend(session, self.events.clone());
                let frame = info["targetId"].as_str().unwrap_or_default();
                self.known().frames.insert(frame.to_owned(), session.to_owned());
                self.prepare(session);
            }
            // A window that the page opens: it is not looked at.
            "page" => {
                self.wire.tell("", "Target.closeTarget", json!({ "targetId": info["targetId"] }));
                return;
            }
            _ => {}
        }
        self.wire.tell(session, "Runtime.runIfWaitingForDebugger", json!({}));
    }

    fn asked(&self, session: &str, params: &Value) {
        let id = &params["requestId"];
        let url = params["request"]["url"].as_str().unwrap_or_default();
        let decision = self.decided(url, params["networkId"].as_str());
        match decision {
            Decision::GoesOn => {
                let mut go_on = json!({ "requestId": id });
                if let (Some(headers), Some(object)) = (self.credited(url, params), go_on.as_object_mut()) {
                    object.insert("headers".to_owned(), headers);
                }
                self.wire.tell(session, "Fetch.continueRequest", go_on);
            }
            Decision::Served(served) => {
                let mut headers = vec![json!({ "name": "content-type", "value": served.mime })];
                headers.extend(served.headers.iter().map(|(n, v)| json!({ "name": n, "value": v })));
                self.wire.tell(
                    session,
                    "Fetch.fulfillRequest",
                    json!({
                        "requestId": id,
                        "responseCode": served.status,
                        "responseHeaders": headers,
                        "body": STANDARD.encode(&served.body),
                    }),
                );
            }
            Decision::Refused(why) => {
                let mut known = self.known();
                if known.blocked.len() < MAX_BLOCKED {
                    let url = url.chars().take(MAX_URL).collect();
                    known.blocked.push(Blocked { url, why });
                }
                drop(known);
                self.wire.tell(
                    session,
                    "Fetch.failRequest",
                    json!({ "requestId": id, "errorReason": "BlockedByClient" }),
                );
            }
        }
    }

    /// Whether a request is made for an origin that a credential is for: it opens the page that was asked for, or a document of
    /// that origin makes it. Whoever else asks would borrow the credential. A document can leave its address out of what it
    /// asks, but never give another's (Referrer Policy §8).
    fn is_own(&self, credential: &Credential, params: &Value) -> bool {
        let opens = params["resourceType"] == "Document"
            && params["frameId"] == self.main.as_str()
            && self.known().is_opening;
        let headers = params["request"]["headers"].as_object();
        let referrer =
            headers.and_then(|all| all.iter().find(|(name, _)| name.eq_ignore_ascii_case("referer")));
        let referrer = referrer.and_then(|(_, value)| url::Url::parse(value.as_str()?).ok());
        opens || referrer.is_some_and(|from| credential.is_for(&from))
    }

    /// The head of a request with what it is given, where it is given something.
    fn credited(&self, url: &str, params: &Value) -> Option<Value> {
        let url = url::Url::parse(url).ok()?;
        let given: Vec<_> =
            self.given.credentials.iter().filter(|c| c.is_for(&url) && self.is_own(c, params)).collect();
        if given.is_empty() {
            return None;
        }
        let own = params["request"]["headers"].as_object()?;
        let mut fields: Vec<(String, String)> =
            own.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
        // Not put into the browser's jar of cookies: that one gives them to every port of a host.
        for credential in given {
            let name = if credential.is_cookie { "Cookie" } else { &credential.name };
            let at = fields.iter().position(|(own, _)| own.eq_ignore_ascii_case(name));
            let own = at.map(|at| fields.swap_remove(at).1).filter(|_| credential.is_cookie);
            let value = match (credential.is_cookie, own) {
                (true, Some(own)) => format!("{own}; {}={}", credential.name, credential.value),
                (true, None) => format!("{}={}", credential.name, credential.value),
                (false, _) => credential.value.clone(),
            };
            fields.push((name.to_owned(), value));
        }
        Some(fields.into_iter().map(|(name, value)| json!({ "name": name, "value": value })).collect())
    }

    fn decided(&self, url: &str, network: Option<&str>) -> Decision {
        {
            let mut known = self.known();
            known.requests += 1;
            if known.requests > MAX_REQUESTS {
                return Decision::Refused("the page asks for too much");
            }
            // A redirect is asked about under the number of the request that led there.
            if let Some(network) = network {
                let times = known.redirects.entry(network.to_owned()).or_default();
                *times += 1;
                if *times > MAX_REDIRECTS + 1 {
                    return Decision::Refused("it was redirected too often");
                }
            }
        }
        decide(url, &self.reach, self.given.pages.as_ref())
    }
}
