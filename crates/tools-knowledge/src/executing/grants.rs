//! What a skill is granted: what it asks for, as far as the user allows it.

use contract::Fault;
use exec::address::covers;
use exec::view::Pattern;
use library::grants::{Asks, Runtime};
use schemars::JsonSchema;
use serde::Serialize;
use skills::{Grants, Limits};

use crate::settings::SkillsSection;

/// What one execution may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Granted {
    /// Globs of the project's files that it reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reads: Vec<String>,
    /// It knows what time it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) clock: bool,
    /// It has random numbers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) random: bool,
    /// Hosts that it reaches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) network: Vec<String>,
    /// Milliseconds that it may take.
    pub(crate) milliseconds: u64,
    /// Bytes of memory that it may take.
    pub(crate) memory: u64,
    /// What it asks for and does not get.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) refused: Vec<String>,
}

impl Granted {
    /// Of what is asked. Of two times, in milliseconds, the first is the caller's, the second what is usual where nobody says.
    pub(crate) fn of(
        asks: &Asks,
        user: &SkillsSection,
        (timeout, usually): (Option<u64>, Option<u64>),
    ) -> Self {
        let usual = Limits::default();
        let mut refused = Vec::new();
        let mut grant = |asked: bool, allowed: bool, what: &str| {
            if asked && !allowed {
                refused.push(what.to_owned());
            }
            asked && allowed
        };
        let reads = grant(!asks.reads.is_empty(), user.reads, "reads");
        let clock = grant(asks.clock, user.clock, "clock");
        let random = grant(asks.random, user.random, "random");
        let in_node = asks.runtime != Some(Runtime::Embedded);
        let is_allowed = |host: &&String| in_node && user.network.iter().any(|named| covers(named, host));
        let (network, beyond): (Vec<&String>, Vec<&String>) = asks.network.iter().partition(is_allowed);
        refused.extend(beyond.into_iter().map(|host| format!("network {host}")));
        let most = user.most_seconds.saturating_mul(1_000).max(1);
        let memory = asks.memory.unwrap_or(usual.memory as u64);
        Self {
            reads: if reads { asks.reads.clone() } else { Vec::new() },
            clock,
            random,
            network: network.into_iter().cloned().collect(),
            milliseconds: timeout.or(asks.timeout).or(usually).unwrap_or(usual.milliseconds).clamp(1, most),
            memory: memory.min(user.most_mebibytes.saturating_mul(1 << 20)),
            refused,
        }
    }

    pub(crate) fn grants(&self) -> Grants {
        Grants { reads: !self.reads.is_empty(), clock: self.clock, random: self.random }
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits { milliseconds: self.milliseconds, memory: usize::try_from(self.memory).unwrap_or(usize::MAX) }
    }

    /// The globs, understood.
    pub(crate) fn patterns(&self) -> Result<Vec<Pattern>, Fault> {
        self.reads.iter().map(|glob| Pattern::new(glob)).collect()
    }

    /// In words.
    pub(crate) fn said(&self) -> Vec<String> {
        let mut said: Vec<String> = self.reads.iter().map(|glob| format!("read {glob}")).collect();
        said.extend(self.clock.then(|| "clock".to_owned()));
        said.extend(self.random.then(|| "random".to_owned()));
        said.extend(self.network.iter().map(|host| format!("network {host}")));
        said
    }
}
