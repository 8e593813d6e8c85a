//! Every definition there is, ours and what the upstreams say now, and how that differs from what was accepted.

use std::sync::Arc;

use contract::Kind;
use kit::Registry;
use kit::lock::{Difference, Lock};
use kit::registry::{Registered, Roots};

use super::internal;
use crate::commands::{CommandError, runtime};
use crate::compose::{self, Offer};
use crate::plugged::{self, Found};
use crate::roots::Asked;
use crate::upstreams;

/// What there is.
pub struct Looked {
    /// The definitions.
    pub registry: Registry,
    /// The plugins whose tools are among them.
    pub plugins: Vec<Found>,
    /// Upstreams that could not be asked.
    pub silent: Vec<String>,
    /// Upstreams that were.
    asked: Vec<String>,
}

impl Looked {
    /// Asks every upstream that is configured.
    pub fn at_everything(asked: &Asked) -> Result<Self, CommandError> {
        let root = asked.first()?;
        let registry = compose::registry(&Offer::default(), Roots::One)?;
        let mut looked = Self {
            registry,
            plugins: compose::plugins(root.as_deref())?,
            silent: Vec::new(),
            asked: Vec::new(),
        };
        let gateway = compose::gateway(root.as_deref())?;
        let (taken, nothing) = (compose::taken(), Lock::default());
        plugged::add(&mut looked.registry, &looked.plugins, &taken, &nothing, |_| true);
        if gateway.is_empty() {
            return Ok(looked);
        }
        for (name, offered) in runtime()?.block_on(gateway.offered()) {
            match offered {
                Ok(offered) => {
                    upstreams::add(&mut looked.registry, offered, |_| true);
                    looked.asked.push(name.to_owned());
                }
                Err(fault) => {
                    tracing::warn!("{}", contract::text::spelled_out(&fault.message));
                    looked.silent.push(name.to_owned());
                }
            }
        }
        Ok(looked)
    }

    /// Whether a name that was accepted can be said anything about here.
    pub fn knows(&self, name: &str) -> bool {
        gateway::upstream_of(name).is_none_or(|upstream| self.asked.iter().any(|known| known == upstream))
    }

    fn is_ours(&self, name: &str) -> bool {
        self.registry.resolve(name).is_none_or(|tool| tool.head().kind != Kind::Foreign)
    }

    /// Whether somebody has to approve the tool: not what is built in, even where others' programs do its work.
    fn is_others(&self, name: &str) -> bool {
        let asks =
            |tool: &Arc<Registered>| tool.head().kind == Kind::Foreign && tool.tool.identity().is_some();
        self.registry.resolve(name).is_some_and(asks)
    }

    /// How what there is differs from what the team looked at. Tools of others are not the team's to add.
    pub fn against_team(&self, team: &Lock) -> Result<Vec<Difference>, CommandError> {
        let all = team.differences(&self.registry).map_err(internal)?;
        Ok(all
            .into_iter()
            .filter(|difference| match difference {
                Difference::Added { tool, .. } => self.is_ours(tool),
                Difference::Removed { tool } => self.knows(tool),
                Difference::Renamed { .. } | Difference::Changed { .. } => true,
            })
            .collect())
    }

    /// How the tools of others differ from what the user approved.
    pub fn against_own(&self, own: &Lock) -> Result<Vec<Difference>, CommandError> {
        let all = own.differences(&self.registry).map_err(internal)?;
        Ok(all
            .into_iter()
            .filter(|difference| match difference {
                Difference::Added { tool, .. } | Difference::Changed { tool, .. } => self.is_others(tool),
                Difference::Removed { tool } => self.knows(tool),
                Difference::Renamed { to, .. } => self.is_others(to),
            })
            .collect())
    }
}
