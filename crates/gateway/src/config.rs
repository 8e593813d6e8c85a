//! Which servers, and with whose credentials.

use std::time::Duration;

use zeroize::Zeroizing;

use crate::name;

/// An upstream server, over Streamable HTTP.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// What its tools' names begin with.
    pub name: String,
    /// Its MCP endpoint.
    pub url: String,
    /// What it is called with.
    pub credential: Credential,
    /// Headers that go with every request; their values are secrets.
    pub headers: Vec<(String, Zeroizing<String>)>,
    /// Whether the server's TLS key is a part of who it is: another key, another approval.
    pub pin_key: bool,
    /// How long one call may take.
    pub timeout: Duration,
}

/// What an upstream is called with.
#[derive(Debug, Clone)]
pub enum Credential {
    /// Nothing.
    None,
    /// Gatewright's own token, the same for all callers.
    Own(Zeroizing<String>),
    /// A token of the caller's own, which its issuer gives for the one that the caller came with.
    Exchange(Exchange),
}

/// Where a caller's token is exchanged (RFC 8693).
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The issuer's token endpoint.
    pub endpoint: String,
    /// Gatewright's client id there.
    pub client_id: String,
    /// And its secret.
    pub client_secret: Zeroizing<String>,
    /// Whom the new token is for: the upstream as its issuer names it (RFC 8707).
    pub resource: String,
    /// What it may grant; empty leaves that to the issuer.
    pub scopes: Vec<String>,
}

/// Headers that are the protocol's own.
const RESERVED: [&str; 8] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "last-event-id",
];

impl Upstream {
    /// Says what is wrong with it.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !name::is_upstream(&self.name) {
            return Err(format!(
                "the name has at most {} lower-case letters, digits and single underscores, a letter first",
                name::MAX_UPSTREAM
            ));
        }
        exec::fetch::checked(&self.url).map_err(|e| format!("url: {e}"))?;
        if self.url.contains('?') {
            return Err("url: no query: what is secret goes into token-env or headers-env".to_owned());
        }
        if self.pin_key && !self.url.starts_with("https:") {
            return Err("pin-key: there is a key only where the url begins with https".to_owned());
        }
        if let Credential::Exchange(exchange) = &self.credential {
            exec::fetch::checked(&exchange.endpoint).map_err(|e| format!("exchange: {e}"))?;
        }
        for (header, _) in &self.headers {
            let name = header.to_ascii_lowercase();
            if RESERVED.contains(&name.as_str()) || name.starts_with("mcp-") || name.starts_with("proxy-") {
                return Err(format!("headers: {header} is the protocol's own"));
            }
        }
        Ok(())
    }
}
