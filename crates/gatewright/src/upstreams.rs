//! `[upstreams]`: other MCP servers whose tools are offered here, once a person has approved them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use contract::text::spelled_out;
use contract::{Fault, Head};
use exec::Root;
use gateway::config::{
    Asks, Chosen, Credential, Exchange, Ground, Http, Program, Questions, Reached, RootAccess, Upstream,
};
use gateway::{Gateway, Offered};
use kit::erased::Tool;
use kit::limits::Limits;
use kit::{Catalog, Label, Registry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::{approved, plugged};

/// `[upstreams.NAME]`: the user's alone. The name begins the names of the server's tools: `NAME__search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[allow(clippy::struct_excessive_bools, reason = "each is a key of the user's own table")]
pub struct UpstreamSection {
    /// Its MCP endpoint: https, or http on a loopback address. A server has this or `command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The program of a server that is started here: a name of the PATH, or its whole path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments; `{root}` in one stands for the root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Its environment variables. Secrets go into `env-from`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Its environment variables, by those of gatewright's that hold their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env_from: BTreeMap<String, String>,
    /// What the program may do to the root.
    #[serde(default)]
    pub root: RootWord,
    /// Folders that the program may read, by their whole paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<PathBuf>,
    /// Folders that the program may read and write, by their whole paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<PathBuf>,
    /// Hosts that the program may speak to: `example.com`, `*.example.com`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// After how many seconds without a call the program is ended.
    #[serde(default = "default_idle")]
    pub idle_seconds: u64,
    /// How many MiB of memory the program may hold.
    #[serde(default = "default_memory")]
    pub memory_mebibytes: u64,
    /// Whether it is used.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Only these of its tools, by the names that it has for them; `*` stands for anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// None of these, whatever is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Other names for its tools, by its own: `rename = { read_file = "look" }`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rename: BTreeMap<String, String>,
    /// Descriptions in the place of its own, by the names that it has for its tools.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub describe: BTreeMap<String, String>,
    /// Whether pictures from elsewhere and links with much in them are taken apart in what it answers.
    #[serde(default = "yes")]
    pub defang: bool,
    /// Whether pictures and sounds in what it answers are passed on, as they are.
    #[serde(default = "yes")]
    pub media: bool,
    /// Whether its resources are offered, as the tool `NAME__resource_read`.
    #[serde(default)]
    pub resources: bool,
    /// Whether its prompts are offered, as the tool `NAME__prompt_get`.
    #[serde(default)]
    pub prompts: bool,
    /// Before which calls a person is asked, by what its tools say of themselves.
    #[serde(default)]
    pub confirm: ConfirmWord,
    /// What it may ask the users of those who call it.
    #[serde(default)]
    pub questions: QuestionsWord,
    /// What its calls bring into a session or take out of it, for `[policy] taint`.
    #[serde(default = "stranger")]
    pub labels: Vec<Label>,
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

/// Before which calls a person is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConfirmWord {
    /// Those of tools that say that they may destroy.
    #[default]
    Destructive,
    /// Those of all tools but such as say that they only look.
    Writing,
    /// None.
    Never,
}

/// What a server may ask users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionsWord {
    /// To fill in forms.
    #[default]
    Forms,
    /// The same, and to open pages.
    Pages,
    /// Nothing.
    Never,
}

/// What a program may do to the root.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RootWord {
    /// It does not see it.
    #[default]
    None,
    /// It reads it.
    Read,
    /// It writes it, which is neither rehearsed nor undone.
    Write,
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

const fn default_idle() -> u64 {
    600
}

const fn default_memory() -> u64 {
    1_024
}

/// What anybody may have written, and is told what it is called with.
fn stranger() -> Vec<Label> {
    vec![Label::Untrusted, Label::Egress]
}

const fn yes() -> bool {
    true
}

/// The `[upstreams]` section.
pub type UpstreamsSection = BTreeMap<String, UpstreamSection>;

/// The gateway to what is configured. An upstream whose secrets are not there is left out, and that is said: the rest
/// works without it.
pub fn gateway(section: &UpstreamsSection, taken: &[&str], ground: Ground) -> Result<Gateway, Fault> {
    let mut upstreams = Vec::new();
    for (name, upstream) in section.iter().filter(|(_, upstream)| upstream.enabled) {
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
            Err(Unreadable::Wrong(why, fix)) => {
                return Err(Fault::invalid(format!("[upstreams.{name}]: {why}")).suggest(fix));
            }
        }
    }
    Gateway::new(upstreams, ground).map_err(|e| {
        Fault::invalid(e.to_string()).suggest("`gatewright config schema` prints what is understood.")
    })
}

enum Unreadable {
    Variable(String),
    Wrong(&'static str, &'static str),
}

impl UpstreamSection {
    /// The environment variables that it names.
    fn variables(&self) -> impl Iterator<Item = &String> {
        let exchange = self.exchange.as_ref().map(|exchange| &exchange.client_secret_env);
        self.token_env.iter().chain(self.headers_env.values()).chain(exchange).chain(self.env_from.values())
    }

    /// The first of them that is not set.
    pub fn missing(&self) -> Option<&String> {
        self.variables().find(|variable| std::env::var(variable).is_err())
    }

    fn read(&self, name: &str) -> Result<Upstream, Unreadable> {
        let reached = match (&self.url, &self.command) {
            (Some(url), None) => Reached::Http(self.http(url)?),
            (None, Some(command)) => Reached::Program(self.program(command)?),
            _ => {
                let fix = "Say where it is: `url` of a server, or `command` of one that is started here.";
                return Err(Unreadable::Wrong("it has url or command, and not both", fix));
            }
        };
        let pairs = |map: &BTreeMap<String, String>| map.clone().into_iter().collect();
        Ok(Upstream {
            name: name.to_owned(),
            reached,
            chosen: Chosen {
                allow: self.allow.clone(),
                deny: self.deny.clone(),
                rename: pairs(&self.rename),
                describe: pairs(&self.describe),
            },
            defang: self.defang,
            media: self.media,
            resources: self.resources,
            prompts: self.prompts,
            asks: match self.confirm {
                ConfirmWord::Destructive => Asks::Destructive,
                ConfirmWord::Writing => Asks::Writing,
                ConfirmWord::Never => Asks::Never,
            },
            questions: match self.questions {
                QuestionsWord::Forms => Questions::Forms,
                QuestionsWord::Pages => Questions::Pages,
                QuestionsWord::Never => Questions::Never,
            },
            labels: self.labels.clone(),
            timeout: Duration::from_secs(self.timeout_seconds.clamp(1, 600)),
        })
    }

    fn http(&self, url: &str) -> Result<Http, Unreadable> {
        let of_programs = !self.args.is_empty()
            || !self.env.is_empty()
            || !self.env_from.is_empty()
            || !self.reads.is_empty()
            || !self.writes.is_empty()
            || !self.hosts.is_empty()
            || self.root != RootWord::None;
        if of_programs {
            let fix = "Leave out args, env, env-from, root, reads, writes and hosts.";
            return Err(Unreadable::Wrong("what is for a program stands beside a url", fix));
        }
        let credential = match (&self.token_env, &self.exchange) {
            (None, None) => Credential::None,
            (Some(variable), None) => Credential::Own(secret(variable)?),
            (None, Some(exchange)) => Credential::Exchange(Exchange {
                endpoint: exchange.endpoint.clone(),
                client_id: exchange.client_id.clone(),
                client_secret: secret(&exchange.client_secret_env)?,
                resource: exchange.resource.clone().unwrap_or_else(|| url.to_owned()),
                scopes: exchange.scopes.clone(),
            }),
            (Some(_), Some(_)) => {
                let fix = "Say with whose credential it is called: gatewright's own, or each caller's.";
                return Err(Unreadable::Wrong("token-env and exchange exclude each other", fix));
            }
        };
        Ok(Http {
            url: url.to_owned(),
            credential,
            headers: secrets_of(&self.headers_env)?,
            pin_key: self.pin_key,
        })
    }

    fn program(&self, command: &str) -> Result<Program, Unreadable> {
        let of_servers = self.token_env.is_some()
            || !self.headers_env.is_empty()
            || self.exchange.is_some()
            || self.pin_key;
        if of_servers {
            let fix = "Leave out token-env, headers-env, exchange and pin-key; secrets go into env-from.";
            return Err(Unreadable::Wrong("what is for a url stands beside a command", fix));
        }
        Ok(Program {
            command: command.to_owned(),
            args: self.args.clone(),
            env: self.env.clone().into_iter().collect(),
            secrets: secrets_of(&self.env_from)?,
            root: match self.root {
                RootWord::None => RootAccess::None,
                RootWord::Read => RootAccess::Read,
                RootWord::Write => RootAccess::Write,
            },
            reads: self.reads.clone(),
            writes: self.writes.clone(),
            hosts: self.hosts.clone(),
            memory: self.memory_mebibytes.clamp(64, 65_536) << 20,
            idle: Duration::from_secs(self.idle_seconds.max(1)),
        })
    }
}

fn secret(variable: &String) -> Result<Zeroizing<String>, Unreadable> {
    std::env::var(variable).map(Zeroizing::new).map_err(|_| Unreadable::Variable(variable.clone()))
}

fn secrets_of(names: &BTreeMap<String, String>) -> Result<Vec<(String, Zeroizing<String>)>, Unreadable> {
    names.iter().map(|(name, variable)| Ok((name.clone(), secret(variable)?))).collect()
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
