//! The request effect: one outbound request per plan, last, with an idempotency key, never retried blindly.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use contract::effect::Request;
use contract::{Code, Fault, Key};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::address::is_public;
use crate::fetch::manners;
use crate::push::Remote;

/// Largest answer that is kept, in bytes.
pub const MAX_ANSWER: u64 = 1 << 20;

/// Most characters of a refusal that its fault has.
const MOST_SAID: usize = 500;

/// How long one request may take.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// How often a request is tried when the connection fails; the idempotency key stays the same.
const TRIES: u32 = 3;

/// How a request went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Outcome {
    /// Answered.
    Answered {
        /// The HTTP status.
        status: u16,
        /// The beginning of the body.
        body: String,
        /// The key that was sent.
        key: Key,
    },
    /// Nothing was sent.
    NotSent {
        /// Why not.
        why: String,
    },
    /// It may have been sent; nobody heard the answer. Not retried without this key.
    Unknown {
        /// The key that was sent.
        key: Key,
    },
    /// The refs were pushed.
    Pushed,
    /// The other side, or the user's git, did not take them: nothing was pushed.
    Refused {
        /// What it said.
        why: String,
    },
    /// They may have been pushed. Pushing again does no harm: each goes only from where it was seen.
    PushUnknown,
}

impl Outcome {
    /// Whether the other side took it: a status of success. A redirect is not followed, and nothing was done by one.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Pushed | Self::Answered { status: 200..300, .. })
    }

    /// The fault that a failed one is.
    #[must_use]
    pub fn into_fault(self) -> Fault {
        match self {
            Self::Answered { status, body, .. } => {
                let said: String = contract::text::visible(&body).trim().chars().take(MOST_SAID).collect();
                let said = if said.is_empty() { said } else { format!(": {said}") };
                let fault = Fault::new(
                    Code::ToolExecutionFailed,
                    format!("what the plan changes here was changed; the request was answered {status}{said}"),
                );
                match status {
                    300..400 => fault.suggest("What it is about has moved: name its new address, such as with `git remote set-url`."),
                    _ => fault,
                }
            }
            Self::NotSent { why } => Fault::new(
                Code::ToolExecutionFailed,
                format!("what the plan changes here was changed; the request was not sent: {why}"),
            ),
            Self::Unknown { key } => Fault::new(
                Code::ToolExecutionFailed,
                format!("what the plan changes here was changed; whether the request {key} arrived is unknown"),
            )
            .suggest("Look whether it did, by its idempotency key where the other side knows those, before sending again."),
            Self::Pushed => Fault::internal("a push that went well is no fault"),
            Self::Refused { why } => Fault::new(
                Code::ToolExecutionFailed,
                format!("what the plan changes here was changed; nothing was pushed: {why}"),
            )
            .suggest("Fetch what is there now (`git fetch`, or the plugin's sync), and call the tool again."),
            Self::PushUnknown => Fault::new(
                Code::ToolExecutionFailed,
                "what the plan changes here was changed; whether the push arrived is unknown",
            )
            .suggest("Call the tool again: refs are pushed only from where they were seen, so nothing happens twice."),
        }
    }
}

/// Sends bytes over the network: the one place that does.
pub trait Sender: Send + Sync {
    /// Sends `request` with `body` and the headers given; `Err` says whether it may have arrived.
    fn send(&self, request: &Request, body: &[u8], key: &Key) -> Result<(u16, String), SendError>;

    /// Whether another git repository may be spoken to through the user's own git; else why not. Nobody's is, unless said so.
    fn reaches(&self, place: &Remote) -> Result<(), String> {
        Err(format!("{place} is not allowed by configuration"))
    }
}

/// Why no answer came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The connection was never made: nothing arrived.
    #[error("{0}")]
    NotSent(String),
    /// The connection broke or timed out afterwards.
    #[error("{0}")]
    Unknown(String),
}

/// Performs a planned request: again when the connection could not be made, with the same key.
pub(crate) fn perform(sender: &dyn Sender, request: &Request, body: &[u8], key: &Key) -> Outcome {
    let mut last = String::new();
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(Duration::from_millis(200 << attempt));
        }
        match sender.send(request, body, key) {
            Ok((status, body)) => return Outcome::Answered { status, body, key: key.clone() },
            Err(SendError::Unknown(_)) => return Outcome::Unknown { key: key.clone() },
            Err(SendError::NotSent(why)) => last = why,
        }
    }
    Outcome::NotSent { why: last }
}

/// Checks method and URL of a planned request.
pub(crate) fn check(method: &str, url: &str) -> Result<(), Fault> {
    if !matches!(method, "POST" | "PUT" | "PATCH" | "DELETE") {
        return Err(Fault::internal(format!("a plan does not send {method}")));
    }
    let parsed = Url::parse(url).map_err(|e| Fault::invalid(format!("{url}: {e}")))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host().is_none() {
        return Err(Fault::new(Code::Forbidden, "requests go to http and https only"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(Fault::new(Code::Forbidden, "a URL with credentials in it is not sent"));
    }
    Ok(())
}

/// What a credential's header says, found out when it is sent; nothing where there is none.
pub type Told = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// A header that goes to one host and to no other.
#[derive(Clone)]
struct Credential {
    host: String,
    header: String,
    told: Told,
}

/// Sends to hosts that a person has allowed, and to nothing else. No proxy from the environment, no redirects.
#[derive(Clone)]
pub struct Egress {
    hosts: Vec<String>,
    allow_private: bool,
    credentials: Vec<Credential>,
}

impl std::fmt::Debug for Egress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let to: Vec<&str> = self.credentials.iter().map(|credential| credential.host.as_str()).collect();
        f.debug_struct("Egress")
            .field("hosts", &self.hosts)
            .field("allow_private", &self.allow_private)
            .field("credentials", &to)
            .finish()
    }
}

impl Egress {
    /// Allows `hosts` (exact names, with a port where it is not the scheme's). Private addresses only if said so.
    #[must_use]
    pub fn new(hosts: Vec<String>, allow_private: bool) -> Self {
        Self { hosts, allow_private, credentials: Vec::new() }
    }

    /// Adds a header for one host (as `hosts` has it): the server's own credential, never the caller's. It is sent over https, or on
    /// this machine.
    #[must_use]
    pub fn with_credential(mut self, host: &str, header: &str, told: Told) -> Self {
        self.credentials.push(Credential { host: host.to_owned(), header: header.to_owned(), told });
        self
    }

    fn allowed(&self, url: &Url) -> Result<(String, SocketAddr), SendError> {
        let no = |why: String| SendError::NotSent(why);
        let host = url.host().ok_or_else(|| no("the URL names no host".into()))?;
        let shown = url.port().map_or_else(|| host.to_string(), |port| format!("{host}:{port}"));
        if !self.hosts.contains(&shown) {
            return Err(no(format!("the host {shown} is not allowed by configuration")));
        }
        let port = url.port_or_known_default().ok_or_else(|| no("the URL names no port".into()))?;
        let addresses: Vec<SocketAddr> = match host {
            Host::Ipv4(a) => vec![(a, port).into()],
            Host::Ipv6(a) => vec![(a, port).into()],
            Host::Domain(name) => {
                let resolved = (name, port).to_socket_addrs();
                resolved.map_err(|_| no(format!("{name} could not be resolved")))?.collect()
            }
        };
        let first = *addresses.first().ok_or_else(|| no(format!("{shown} has no address")))?;
        if !self.allow_private && addresses.iter().any(|a| !is_public(a.ip())) {
            return Err(no(format!("{shown} leads to a private address")));
        }
        Ok((shown, first))
    }
}

/// Connects to the one address that was checked, whatever the name resolves to by then.
#[derive(Debug)]
struct Pinned(SocketAddr);

impl ureq::unversioned::resolver::Resolver for Pinned {
    fn resolve(
        &self,
        _uri: &ureq::http::Uri,
        _config: &ureq::config::Config,
        _timeout: ureq::unversioned::transport::NextTimeout,
    ) -> Result<ureq::unversioned::resolver::ResolvedSocketAddrs, ureq::Error> {
        let mut addresses = self.empty();
        addresses.push(self.0);
        Ok(addresses)
    }
}

impl Sender for Egress {
    fn reaches(&self, place: &Remote) -> Result<(), String> {
        let shown = place.to_string();
        if self.hosts.contains(&shown) {
            return Ok(());
        }
        Err(format!(
            "{shown} is not allowed by configuration: a person's [egress] hosts = [{shown:?}] allows it"
        ))
    }

    fn send(&self, request: &Request, body: &[u8], key: &Key) -> Result<(u16, String), SendError> {
        let url = Url::parse(&request.url).map_err(|e| SendError::NotSent(e.to_string()))?;
        let (shown, address) = self.allowed(&url)?;
        let connector = ureq::unversioned::transport::DefaultConnector::default();
        let agent = ureq::Agent::with_parts(manners(TIMEOUT), connector, Pinned(address));
        let mut builder = ureq::http::Request::builder()
            .method(request.method.as_str())
            .uri(request.url.as_str())
            .header("idempotency-key", key.as_str());
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let is_private = url.scheme() == "https" || address.ip().is_loopback();
        for credential in self.credentials.iter().filter(|one| one.host == shown) {
            if !is_private {
                return Err(SendError::NotSent(format!(
                    "{shown} wants a credential, which only goes over https"
                )));
            }
            // What is meant for an account says nothing to whoever hears it without.
            let value = (credential.told)().ok_or_else(|| {
                SendError::NotSent(format!("there is no credential for {shown}: sign in, or set its token"))
            })?;
            builder = builder.header(&credential.header, value);
        }
        let outgoing = builder.body(body).map_err(|e| SendError::NotSent(e.to_string()))?;
        match agent.run(outgoing) {
            Ok(mut answer) => {
                let status = answer.status().as_u16();
                let body =
                    answer.body_mut().with_config().limit(MAX_ANSWER).lossy_utf8(true).read_to_string();
                Ok((status, body.unwrap_or_default()))
            }
            Err(e @ (ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::BadUri(_))) => {
                Err(SendError::NotSent(e.to_string()))
            }
            Err(ureq::Error::Io(e)) if e.kind() == std::io::ErrorKind::ConnectionRefused => {
                Err(SendError::NotSent("connection refused".into()))
            }
            Err(error) => Err(SendError::Unknown(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_hosts_are_spoken_to() {
        let egress = Egress::new(vec!["127.0.0.1:1".into()], false);
        let url = |text| Url::parse(text).unwrap();
        assert!(matches!(egress.allowed(&url("http://example.org/")), Err(SendError::NotSent(_))));
        // Every spelling of loopback is the same host after parsing, and still private.
        for text in ["http://127.0.0.1:1/", "http://2130706433:1/", "http://0x7f.1:1/"] {
            let Err(SendError::NotSent(why)) = egress.allowed(&url(text)) else { panic!("{text}") };
            assert!(why.contains("private"), "{why}");
        }
    }

    #[test]
    fn n02_no_spelling_of_loopback_is_public() {
        for host in [
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "0",
            "127.1",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "localhost",
            "localhost.",
        ] {
            let url = Url::parse(&format!("http://{host}:1/")).unwrap();
            // Even where it is allowed by every name that it may be called.
            let shown = url.host_str().unwrap().to_owned();
            let egress = Egress::new(vec![format!("{shown}:1"), format!("{host}:1")], false);
            let Err(SendError::NotSent(why)) = egress.allowed(&url) else { panic!("{host}") };
            assert!(
                why.contains("private") || why.contains("address") || why.contains("resolve"),
                "{host}: {why}"
            );
        }
    }
}
