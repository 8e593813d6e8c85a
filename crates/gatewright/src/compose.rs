//! Puts an engine together for this user, here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use audit::{Ledger, Redactor};
use contract::{Code, Fault, Spec};
use exec::request::{Egress, Sender};
use exec::{Rights, Root, StateDir};
use jiff::SignedDuration;
use kit::desk::Services;
use kit::limits::Limiter;
use kit::pipeline::Parts;
use kit::{Engine, Registry};

use crate::config::{self, Config};
use crate::families;

/// What is to be offered.
#[derive(Debug, Default)]
pub struct Offer {
    /// Toolsets by name; none means all.
    pub toolsets: Vec<String>,
    /// Only tools that look.
    pub read_only: bool,
}

impl Offer {
    fn wants(&self, spec: &Spec) -> bool {
        let named =
            self.toolsets.is_empty() || self.toolsets.iter().any(|t| t == "all" || *t == spec.toolset);
        named && (!self.read_only || spec.annotations.read_only_hint)
    }

    fn check(&self) -> Result<(), Fault> {
        let known: Vec<&str> = families::ALL.iter().flat_map(|f| f.toolsets).map(|t| t.0).collect();
        match self.toolsets.iter().find(|t| *t != "all" && !known.contains(&t.as_str())) {
            None => Ok(()),
            Some(unknown) => Err(Fault::invalid(format!("there is no toolset {unknown:?}"))
                .suggest(format!("The toolsets are {}, or `all`.", known.join(", ")))),
        }
    }
}

/// The directory that tools work in: `--root`, else the git top level of the working directory, else none.
pub fn root_path(asked: Option<&Path>) -> Option<PathBuf> {
    match asked {
        Some(path) => Some(path.to_owned()),
        None => std::env::current_dir().ok().and_then(|here| Root::git_top_level(&here)),
    }
}

/// The registry of everything that is compiled in and wanted.
pub fn registry(offer: &Offer) -> Result<Registry, Fault> {
    offer.check()?;
    Registry::new(families::ALL, |spec| offer.wants(spec)).map_err(|e| Fault::internal(e.to_string()))
}

/// The state folder of the root, or of calls that have none.
pub fn state(root: Option<&Root>) -> Result<StateDir, Fault> {
    let base = StateDir::base()?;
    match root {
        Some(root) => StateDir::for_root(&base, root),
        None => StateDir::at(base.join("no-root")),
    }
}

/// Opens the root that was asked for, or found.
pub fn root(asked: Option<&Path>) -> Result<Option<Arc<Root>>, Fault> {
    root_path(asked).map(|path| Root::open(&path, "root", Rights::ReadWrite).map(Arc::new)).transpose()
}

/// The engine. What an earlier process left unfinished is recovered first.
pub fn engine(asked: Option<&Path>, offer: &Offer) -> Result<(Arc<Engine>, Config), Fault> {
    let root = root(asked)?;
    let config = config::load(root.as_ref().map(|r| r.path())).map_err(|e| {
        Fault::invalid(e.to_string()).suggest("`gatewright config schema` prints what is understood.")
    })?;
    for section in &config.inert {
        tracing::warn!("[{section}] in gatewright.toml is inert: only your own configuration may say it");
    }
    let state = state(root.as_deref())?;
    let ledger =
        Ledger::open(&state.ledger()).map_err(|e| Fault::new(Code::LedgerUnavailable, e.to_string()))?;
    if let Some(root) = &root {
        recover(root, &state, &ledger, config.limits.keep_days);
    }
    let secrets = audit::redact::from_environment(std::env::vars());
    let redactor = Redactor::new(&secrets, ledger.tag_key()).map_err(|e| Fault::internal(e.to_string()))?;
    let sender = (!config.egress.hosts.is_empty()).then(|| {
        Arc::new(Egress::new(config.egress.hosts.clone(), config.egress.allow_private)) as Arc<dyn Sender>
    });
    let parts = Parts {
        registry: registry(offer)?,
        policy: config.policy.clone(),
        limiter: Limiter::new(config.limits.enabled),
        redactor,
        ledger,
        root,
        state,
        settings: config.settings.clone(),
        services: Services::default(),
        sender,
        budget: config.limits.result_tokens.clamp(500, kit::shape::HARD_CAP),
        uid: rustix::process::getuid().as_raw(),
    };
    Ok((Engine::new(parts), config))
}

/// Finishes or takes back what earlier processes left. What stands in the way is said; looking around goes on, and an
/// apply is refused until it is settled.
fn recover(root: &Root, state: &StateDir, ledger: &Ledger, keep_days: u32) {
    match exec::recover(root, state) {
        Err(fault) => tracing::warn!("recovery: {}", fault.message),
        Ok(recovered) => {
            if let Err(error) = kit::recovery::record(ledger, &recovered) {
                tracing::warn!(%error, "recovery could not be recorded");
            }
            for (transcript, _) in &recovered.taken_back {
                tracing::warn!(%transcript, "an interrupted plan was taken back");
            }
            for blocked in &recovered.blocked {
                tracing::warn!("{blocked}: run `gatewright recover`");
            }
        }
    }
    if let Err(fault) = state.expire(SignedDuration::from_hours(24 * i64::from(keep_days))) {
        tracing::warn!("{}", fault.message);
    }
}
