//! Puts an engine together for this user, here.

use std::sync::Arc;

use audit::{Ledger, Redactor};
use contract::{Code, Fault, Spec};
use exec::request::{Egress, Sender};
use exec::{Root, StateDir};
use jiff::SignedDuration;
use kit::desk::Services;
use kit::engine::Parts;
use kit::house::Access;
use kit::limits::Limiter;
use kit::menu;
use kit::registry::{Registered, Roots};
use kit::{Approvals, Engine, House, Registry};

use crate::config::{self, Config};
use crate::families;
use crate::roots::Asked;

/// What is to be offered.
#[derive(Debug, Default)]
pub struct Offer {
    /// Toolsets by name; none means all.
    pub toolsets: Vec<String>,
    /// Only tools that look.
    pub read_only: bool,
    /// Whether results are held to their schemas.
    pub check_outputs: bool,
}

impl Offer {
    fn wants(&self, spec: &Spec) -> bool {
        let named = self.is_auto() || self.toolsets.iter().any(|t| t == "all" || *t == spec.toolset);
        // The front door is always open: it finds and calls what is enabled, and nothing else.
        let named = named || spec.toolset == tools_front::FRONT.0;
        named && (!self.read_only || spec.annotations.read_only_hint)
    }

    fn check(&self) -> Result<(), Fault> {
        let known: Vec<&str> = families::ALL.iter().flat_map(|f| f.toolsets).map(|t| t.0).collect();
        let is_known = |t: &String| matches!(t.as_str(), "all" | AUTO) || known.contains(&t.as_str());
        match self.toolsets.iter().find(|t| !is_known(t)) {
            None => Ok(()),
            Some(unknown) => Err(Fault::invalid(format!("there is no toolset {unknown:?}"))
                .suggest(format!("The toolsets are {}, `all`, or `auto`.", known.join(", ")))),
        }
    }

    /// The names of the tools that are listed: what was asked for, or a menu that fits, chosen by the project.
    pub fn menu(&self, house: &House) -> Vec<String> {
        let names = |tool: &Registered| tool.spec().name.to_string();
        if !self.is_auto() {
            return house.registry().iter().map(|tool| names(tool)).collect();
        }
        let root = house.first().root().map(|root| &**root);
        let detected = menu::detected(families::ALL, root);
        menu::chosen(house.registry(), tools_front::FRONT.0, &detected).into_iter().map(names).collect()
    }

    fn is_auto(&self) -> bool {
        self.toolsets.is_empty() || self.toolsets.iter().any(|t| t == AUTO)
    }
}

/// The menu that is chosen where none is asked for.
const AUTO: &str = "auto";

/// The registry of everything that is compiled in and wanted, over these roots.
pub fn registry(offer: &Offer, roots: Roots) -> Result<Registry, Fault> {
    offer.check()?;
    Registry::over(families::ALL, |spec| offer.wants(spec), roots).map_err(|e| Fault::internal(e.to_string()))
}

/// The state folder of the root, or of calls that have none.
pub fn state(root: Option<&Root>) -> Result<StateDir, Fault> {
    let base = StateDir::base()?;
    match root {
        Some(root) => StateDir::for_root(&base, root),
        None => StateDir::at(base.join("no-root")),
    }
}

/// What the engines of one process share.
struct Shared {
    registry: Arc<Registry>,
    limiter: Arc<Limiter>,
    config: Config,
    others: Vec<Arc<Root>>,
    check_outputs: bool,
}

/// Everything that is offered: an engine per root. What an earlier process left unfinished is recovered first.
///
/// With `access` not everyone may work everywhere.
pub fn house(asked: &Asked, offer: &Offer, access: Option<Arc<dyn Access>>) -> Result<House, Fault> {
    let first = asked.first()?;
    let config = configuration(first.as_deref())?;
    let roots = asked.all(first, &config.roots)?;
    let names: Vec<&str> = roots.iter().map(|r| r.name()).collect();
    let offered = if access.is_some() { Roots::Given } else { Roots::of(&names) };
    let registry = Arc::new(registry(offer, offered)?);
    let limiter = Arc::new(Limiter::new(config.limits.enabled));
    let engine = |root: Option<&Arc<Root>>| {
        let config = configuration(root.map(|r| &**r))?;
        let others = roots.iter().filter(|r| Some(*r) != root).cloned().collect();
        let (registry, limiter) = (Arc::clone(&registry), Arc::clone(&limiter));
        let shared = Shared { registry, limiter, config, others, check_outputs: offer.check_outputs };
        engine_of(root.cloned(), shared)
    };
    let others = roots.iter().skip(1).map(|root| engine(Some(root))).collect::<Result<_, Fault>>()?;
    let house = House::new(engine(roots.first())?, others);
    match access {
        None => Ok(house),
        Some(access) => Ok(house.guarded(access, engine(None)?)),
    }
}

fn configuration(root: Option<&Root>) -> Result<Config, Fault> {
    let config = config::load(root.map(Root::path)).map_err(|e| {
        Fault::invalid(e.to_string()).suggest("`gatewright config schema` prints what is understood.")
    })?;
    for section in &config.inert {
        tracing::warn!("[{section}] in gatewright.toml is inert: only your own configuration may say it");
    }
    Ok(config)
}

fn engine_of(root: Option<Arc<Root>>, shared: Shared) -> Result<Arc<Engine>, Fault> {
    let Shared { registry, limiter, config, others, check_outputs } = shared;
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
    Ok(Engine::new(Parts {
        registry,
        policy: config.policy,
        // No tool of others is offered yet.
        approvals: Approvals::default(),
        limiter,
        redactor,
        ledger,
        root,
        other_roots: others,
        state,
        settings: config.settings,
        services: Services::default(),
        sender,
        budget: config.limits.result_tokens.clamp(500, kit::shape::HARD_CAP),
        check_outputs,
        uid: rustix::process::getuid().as_raw(),
    }))
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
