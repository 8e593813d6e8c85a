//! `[upstreams]`: other MCP servers whose tools are offered here, once a person has approved them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use contract::text::spelled_out;
use contract::{Fault, Head};
use exec::Root;
use gateway::config::{Credential, Exchange, Upstream};
use gateway::{Gateway, Offered};
use kit::erased::Tool;
use kit::limits::Limits;
use kit::{Catalog, Registry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::{approved, plugged};

/// `[upstreams.NAME]`: the user's alone. The name begins the names of the server's tools: `NAME__search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UpstreamSection {
    /// Its MCP endpoint: https, or http on a loopback address.
    pub url: String,
    /// The environment variable that holds gatewright's own bearer token for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// Headers for every request, by the environment variables that hold their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers_env: BTreeMap<String, String>,
    /// Where the caller's token is exchanged for one that is for the upstream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<ExchangeSection>,
    /// Whether the server's TLS key is a part of who it is, so that another key needs another approval.
    #[serde(default)]
    pub pin_key: bool,
    /// How long one call may take, in seconds; at most 600.
    #[serde(default = "default_timeout")]
    pub timeout_seconds: u64,
}

/// `[upstreams.NAME.exchange]` (RFC 8693)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExchangeSection {
    /// The issuer's token endpoint.
    pub endpoint: String,
    /// This server's client id there.
    pub client_id: String,
    /// The environment variable that holds its secret.
    pub client_secret_env: String,
    /// The upstream as the issuer names it. Default: its URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// What the new token may grant. Default: what the issuer gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

const fn default_timeout() -> u64 {
    Limits::DEFAULT.timeout.as_secs()
}

/// The `[upstreams]` section.
pub type UpstreamsSection = BTreeMap<String, UpstreamSection>;

/// The gateway to what is configured. An upstream whose secrets are not there is left out, and that is said: the rest
/// works without it.
pub fn gateway(section: &UpstreamsSection, taken: &[&str]) -> Result<Gateway, Fault> {
    let mut upstreams = Vec::new();
    for (name, upstream) in section {
        if taken.contains(&name.as_str()) {
            return Err(Fault::invalid(format!(
                "[upstreams.{name}]: {name:?} is a toolset of gatewright's own"
            ))
            .suggest("Give the upstream another name."));
        }
        match upstream.read(name) {
            Ok(upstream) => upstreams.push(upstream),
            Err(Unreadable::Variable(variable)) => tracing::warn!(
                "[upstreams.{name}]: the environment variable {variable} is not set: its tools are not offered"
            ),
            Err(Unreadable::Both) => {
                return Err(Fault::invalid(format!(
                    "[upstreams.{name}]: token-env and exchange exclude each other"
                ))
                .suggest("Say with whose credential it is called: gatewright's own, or each caller's."));
            }
        }
    }
    Gateway::new(upstreams).map_err(|e| {
        Fault::invalid(e.to_string()).suggest("`gatewright config schema` prints what is understood.")
    })
}

enum Unreadable {
    Variable(String),
    Both,
}

impl UpstreamSection {
    /// The environment variables that it names.
    fn variables(&self) -> impl Iterator<Item = &String> {
        let exchange = self.exchange.as_ref().map(|exchange| &exchange.client_secret_env);
        self.token_env.iter().chain(self.headers_env.values()).chain(exchange)
    }

    /// The first of them that is not set.
    pub fn missing(&self) -> Option<&String> {
        self.variables().find(|variable| std::env::var(variable).is_err())
    }

    fn read(&self, name: &str) -> Result<Upstream, Unreadable> {
        let secret = |variable: &String| {
            std::env::var(variable).map(Zeroizing::new).map_err(|_| Unreadable::Variable(variable.clone()))
        };
        let credential = match (&self.token_env, &self.exchange) {
            (None, None) => Credential::None,
            (Some(variable), None) => Credential::Own(secret(variable)?),
            (None, Some(exchange)) => Credential::Exchange(Exchange {
                endpoint: exchange.endpoint.clone(),
                client_id: exchange.client_id.clone(),
                client_secret: secret(&exchange.client_secret_env)?,
                resource: exchange.resource.clone().unwrap_or_else(|| self.url.clone()),
                scopes: exchange.scopes.clone(),
            }),
            (Some(_), Some(_)) => return Err(Unreadable::Both),
        };
        let headers =
            self.headers_env.iter().map(|(header, variable)| Ok((header.clone(), secret(variable)?)));
        Ok(Upstream {
            name: name.to_owned(),
            url: self.url.clone(),
            credential,
            headers: headers.collect::<Result<_, _>>()?,
            pin_key: self.pin_key,
            timeout: Duration::from_secs(self.timeout_seconds.clamp(1, 600)),
        })
    }
}

/// The values of every environment variable that the section names: secrets, whatever they are called.
pub fn secrets(section: &UpstreamsSection) -> Vec<String> {
    let named = section.values().flat_map(UpstreamSection::variables);
    named.filter_map(|variable| std::env::var(variable).ok()).collect()
}

/// Adds `offered` to `registry`, as far as `wanted` says yes. What cannot be offered is said.
pub fn add(registry: &mut Registry, offered: Offered, wanted: impl Fn(&Head) -> bool) {
    for why in offered.refused {
        tracing::warn!("{}", spelled_out(&why));
    }
    for tool in offered.tools.into_iter().map(|tool| Arc::new(Tool::foreign(tool))) {
        if wanted(tool.head())
            && let Err(error) = registry.add(tool)
        {
            let why = kit::shape::bounded(&error.to_string(), 300);
            tracing::warn!("a tool of an upstream is not offered: {}", spelled_out(&why));
        }
    }
}

/// How often it is looked whether a person approved something, or took it back.
const LOOK: Duration = Duration::from_secs(2);

/// Keeps what a server offers up to date with what is approved.
pub struct Refresh {
    /// The upstreams.
    pub gateway: Arc<Gateway>,
    /// What is offered.
    pub catalog: Arc<Catalog>,
    /// Which of it is wanted.
    pub wanted: Box<dyn Fn(&Head) -> bool + Send + Sync>,
    /// The root whose plugins are offered with the user's.
    pub root: Option<Arc<Root>>,
    /// What decided about plugins when they were looked at.
    pub stamp: Stamp,
}

/// What decides which plugins there are.
type Stamp = Vec<(PathBuf, Option<SystemTime>, u64)>;

impl Refresh {
    /// Runs until `stop` is cancelled.
    pub async fn run(self, stop: CancellationToken) {
        let mut held = self.gateway.changes();
        let root = self.root.as_deref().map(Root::path);
        let mut last = self.stamp.clone();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                changed = held.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(LOOK) => {
                    if plugged::stamp(root) == last {
                        continue;
                    }
                }
            }
            let now = plugged::stamp(root);
            match approved::own() {
                Ok(own) => {
                    let mut registry = self.catalog.now().ours();
                    add(&mut registry, self.gateway.approved(&own), &self.wanted);
                    let mut held_back = self.gateway.held_back();
                    // A configuration that does not read any longer takes plugins away, and nothing else.
                    let plugins = crate::compose::plugins(self.root.as_deref()).unwrap_or_else(|fault| {
                        tracing::warn!("{}: no plugin is offered", fault.message);
                        Vec::new()
                    });
                    let taken = crate::compose::taken();
                    held_back.extend(plugged::add(&mut registry, &plugins, &taken, &own, &self.wanted));
                    self.catalog.replace(registry.holding_back(held_back));
                    last = now;
                }
                Err(fault) => tracing::warn!("{}", fault.message),
            }
        }
    }
}
