//! Upstream MCP servers as tools of gatewright's.
//!
//! - [`config`]: which servers, and with whose credentials.
//! - `asking`: what an upstream asks users, and whose call that is for.
//! - `beside`: resources and prompts, as two tools more.
//! - `name`: one wire-safe name for each of their tools, `<upstream>__<tool>`.
//! - `identity`: what an approval is bound to, and what is offered of it.
//! - `pin`: only under the TLS key that was approved.
//! - `tap`: lists of tools as they came over the wire, keys that nobody understands included.
//! - `stream`: the messages of a program's standard input and output, as they came; `program`: which one it is.
//! - `session`, `link`: one connection for each credential, made when it is needed; `life`, `trial`: when an
//!   upstream is left alone.
//! - `ears`: what is heard of one unasked: that a list changed, how far a call is.
//! - `defang`: links in results that could carry something away.
//! - `error`: why an upstream did not answer, without its words.
//! - `stand`: how one stands, without starting what nobody approved.
//! - `exchange`: another token for a caller's (RFC 8693). The caller's own goes to its issuer alone.
//! - `tool`: a tool of theirs, as the kit calls it.
//!
//! What an upstream says is never shown or called before a person has approved it: tools are offered as they were
//! approved, without asking anybody, and asked for again before every call.

mod asking;
mod beside;
pub mod config;
mod defang;
mod ears;
mod error;
mod exchange;
mod identity;
mod life;
mod link;
mod media;
mod name;
mod pin;
mod program;
mod session;
mod stand;
mod stream;
mod tap;
mod tool;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract::Fault;
use kit::Foreign;
use kit::lock::Lock;
use serde_json::Value;
use tokio::sync::watch;

use config::{Ground, Upstream};
use identity::Refusal;
use link::Link;
pub use stand::Stand;
use tool::UpstreamTool;

/// Why an upstream cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// Its configuration is wrong.
    #[error("[upstreams.{upstream}]: {why}")]
    Config {
        /// Its name.
        upstream: String,
        /// What is wrong.
        why: String,
    },
}

/// The upstreams that are configured.
pub struct Gateway {
    links: BTreeMap<String, Arc<Link>>,
    changes: watch::Sender<u64>,
}

/// Whose tool has this wire name, where it is an upstream's.
#[must_use]
pub fn upstream_of(wire: &str) -> Option<&str> {
    name::upstream(wire)
}

/// How an upstream that was asked is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// What it calls itself: the upstream's own words.
    pub server: String,
    /// Its version: the same.
    pub version: String,
    /// Whether it speaks the newer era (2026-07-28).
    pub is_current: bool,
    /// How many tools it offers that are wanted.
    pub tools: usize,
    /// How many tools it has besides: left out by the configuration, or refused.
    pub others: usize,
    /// How many lines of its program were no messages.
    pub noise: u64,
    /// How long it took to connect and to list.
    pub took: std::time::Duration,
}

/// What an upstream offers now.
pub struct Offered {
    /// Its tools.
    pub tools: Vec<Arc<dyn Foreign>>,
    /// Those that cannot be offered here, and why.
    pub refused: Vec<String>,
}

impl Gateway {
    /// A gateway to `upstreams`. Nothing is connected to before it is needed.
    pub fn new(upstreams: Vec<Upstream>, ground: Ground) -> Result<Self, GatewayError> {
        let (changes, ground) = (watch::Sender::new(0), Arc::new(ground));
        let mut links = BTreeMap::new();
        for upstream in upstreams {
            upstream.check().map_err(|why| GatewayError::Config { upstream: upstream.name.clone(), why })?;
            let name = upstream.name.clone();
            links.insert(name, Arc::new(Link::new(upstream, Arc::clone(&ground), changes.clone())?));
        }
        Ok(Self { links, changes })
    }

    /// Whether there is no upstream.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The names of the upstreams.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.links.keys().map(String::as_str)
    }

    /// The tools that stand in `approved`, as they stand there. Nobody is asked.
    #[must_use]
    pub fn approved(&self, approved: &Lock) -> Offered {
        let mut offered = Offered { tools: Vec::new(), refused: Vec::new() };
        let mut of: BTreeMap<&str, BTreeMap<String, Value>> = BTreeMap::new();
        for (name, identity) in approved.iter() {
            let Some((upstream, link)) = name::upstream(name).and_then(|u| self.links.get_key_value(u))
            else {
                continue;
            };
            // What it holds to is what is approved; what is offered, what is wanted of that and is called so.
            of.entry(upstream).or_default().insert(name.to_owned(), identity.clone());
            let there = identity::name_there(identity).unwrap_or_default();
            if !link.wants(there) || link.wire(there).is_ok_and(|called| called.as_str() != name) {
                continue;
            }
            match UpstreamTool::new(link, name, identity.clone()) {
                Ok(tool) => offered.tools.push(Arc::new(tool)),
                Err(Refusal(why)) => offered.refused.push(format!("{name}: {why}")),
            }
        }
        for (name, link) in &self.links {
            link.holds(of.remove(name.as_str()).unwrap_or_default());
        }
        offered
    }

    /// What each upstream offers now, approved or not: it is asked, with gatewright's own credential.
    pub async fn offered(&self) -> Vec<(&str, Result<Offered, Fault>)> {
        let asked =
            self.links.iter().map(|(name, link)| async move { (name.as_str(), link.offered().await) });
        futures_util::future::join_all(asked).await
    }

    /// How each upstream is: it is asked, with gatewright's own credential.
    pub async fn health(&self) -> Vec<(&str, Result<Health, Fault>)> {
        let asked = self.links.iter().map(|(name, link)| async move { (name.as_str(), link.health().await) });
        futures_util::future::join_all(asked).await
    }

    /// The tools that were found to be other than approved, or gone: not to be listed.
    #[must_use]
    pub fn held_back(&self) -> BTreeSet<String> {
        self.links.values().flat_map(|link| link.held_back()).collect()
    }

    /// Hears when what is [held back](Gateway::held_back) may be different.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
