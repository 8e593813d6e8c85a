//! Puts an engine together for this user, here.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use audit::{Ledger, Redactor};
use cache::Cache;
use contract::{Code, Fault, Head};
use exec::lines::Lines;
use exec::request::{Egress, Sender};
use exec::run::{Launcher, Outside};
use exec::{Root, StateDir};
use failures::Analyzer;
use gateway::Gateway;
use gateway::config::Ground;
use kit::desk::Services;
use kit::engine::Parts;
use kit::house::Access;
use kit::jobs::Jobs;
use kit::limits::Limiter;
use kit::lock::Lock;
use kit::menu::{self, Choose};
use kit::registry::Roots;
use kit::skills::Served;
use kit::{Annex, Catalog, Engine, House, Registry};
use store_api::{Context, Failures, Indexes, Uses};
use tools_devtools::querying::Queries;
use tools_devtools::registries::Registries;
use tools_knowledge::{Libraries, Serving, Workers};
use tools_session::Workplace;
use tools_setup::facts::Itself;

use browser::Pool;
use context::Offline;

use crate::approved::{self, Kept};
use crate::config::{self, Config, SecuritySection};
use crate::families;
use crate::forge;
use crate::plugged::{self, Found, Hosting};
use crate::remembered;
use crate::roots::Asked;
use crate::sweeping::{Folders, Sweeping, Swept};
use crate::upstreams::{self, Refresh};
use crate::workplace;

/// What is to be offered.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    /// Toolsets by name; none means all.
    pub toolsets: Vec<String>,
    /// Only tools that look.
    pub read_only: bool,
    /// Whether results are held to their schemas.
    pub check_outputs: bool,
    /// Who calls.
    pub callers: Callers,
}

/// Who calls what is offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Callers {
    /// A command, once.
    #[default]
    Once,
    /// A client of whoever started this. Many calls are to come: what they will need is made ahead.
    Own,
    /// Others, too.
    Others,
}

impl Callers {
    const fn are_many(self) -> bool {
        !matches!(self, Self::Once)
    }
}

impl Offer {
    fn wants(&self, head: &Head) -> bool {
        let named = self.is_auto() || self.toolsets.iter().any(|t| t == "all" || *t == head.toolset);
        // The front door is always open: it finds and calls what is enabled, and nothing else.
        let named = named || head.toolset == tools_front::FRONT.0;
        named && (!self.read_only || head.annotations.read_only_hint)
    }

    fn check(&self, upstreams: &[String]) -> Result<(), Fault> {
        let mut known: Vec<&str> = toolsets().collect();
        known.extend(upstreams.iter().map(String::as_str));
        let is_known = |t: &String| matches!(t.as_str(), "all" | AUTO) || known.contains(&t.as_str());
        match self.toolsets.iter().find(|t| !is_known(t)) {
            None => Ok(()),
            Some(unknown) => Err(Fault::invalid(format!("there is no toolset {unknown:?}"))
                .suggest(format!("The toolsets are {}, `all`, or `auto`.", known.join(", ")))),
        }
    }

    /// Chooses the tools that are listed: what was asked for, or a menu that fits, chosen by the project. What is
    /// held back is on neither.
    fn menu(&self, house: &House, gateway: &Gateway) -> Choose {
        let (is_auto, compiled_in) = (self.is_auto(), taken());
        let root = house.first().root().map(|root| &**root);
        let mut detected: Vec<String> =
            menu::detected(families::ALL, root).into_iter().map(str::to_owned).collect();
        // Whoever configured an upstream has use for it.
        detected.extend(gateway.names().map(str::to_owned));
        Arc::new(move |registry| {
            let mut detected: Vec<&str> = detected.iter().map(String::as_str).collect();
            // Whoever approved a plugin has use for it.
            let of_plugins = registry.listed().map(|tool| &*tool.head().toolset);
            detected.extend(of_plugins.filter(|toolset| !compiled_in.contains(toolset)));
            detected.dedup();
            if is_auto {
                let chosen = menu::chosen(registry, tools_front::FRONT.0, &detected);
                return chosen.into_iter().map(|tool| tool.head().name.to_string()).collect();
            }
            registry.listed().map(|tool| tool.head().name.to_string()).collect()
        })
    }

    fn is_auto(&self) -> bool {
        self.toolsets.is_empty() || self.toolsets.iter().any(|t| t == AUTO)
    }
}

/// The menu that is chosen where none is asked for.
const AUTO: &str = "auto";

/// The names that no upstream may have, and that no plugin's tools may begin with: our toolsets, and the words for all of them.
pub fn taken() -> Vec<&'static str> {
    toolsets().chain(["all", AUTO]).collect()
}

/// The toolsets of what is compiled in.
fn toolsets() -> impl Iterator<Item = &'static str> {
    families::ALL.iter().flat_map(|f| f.toolsets).map(|t| t.0)
}

/// The upstreams that are configured for this root; their programs see it as far as they may.
pub fn gateway(root: Option<&Root>) -> Result<Gateway, Fault> {
    let config = configuration(root)?;
    let launcher = Arc::new(launcher(&config)?);
    gateway_of(&config, &launcher, root, state(root)?)
}

/// The plugins that there are for this root.
pub fn plugins(root: Option<&Root>) -> Result<Vec<Found>, Fault> {
    let config = configuration(root)?;
    let found = plugged::discover(root, &config);
    plugged::warn(&found, &config.plugins);
    Ok(found)
}

/// What starts programs.
fn launcher(config: &Config) -> Result<Launcher, Fault> {
    let level = config.security.confinement.level();
    Ok(Launcher::own().at_least(level).with_outside(outside(&config.security)?))
}

fn gateway_of(
    config: &Config,
    launcher: &Arc<Launcher>,
    root: Option<&Root>,
    state: StateDir,
) -> Result<Gateway, Fault> {
    let own = config::user_path().and_then(|file| file.parent().map(Path::to_owned));
    let ground = Ground {
        launcher: Arc::clone(launcher),
        state,
        home: std::env::var_os("HOME").map(PathBuf::from),
        root: root.map(|root| root.path().to_owned()),
        hidden: own.into_iter().chain([StateDir::base()?]).collect(),
    };
    upstreams::gateway(&config.upstreams, &taken(), ground)
}

/// The registry of everything that is compiled in and wanted, over these roots.
pub fn registry(offer: &Offer, roots: Roots) -> Result<Registry, Fault> {
    offer.check(&[])?;
    registry_of(offer, roots)
}

/// As [`registry`], with the tools of upstreams and plugins that the user approved.
pub fn registry_with_approved(root: Option<&Root>) -> Result<Registry, Fault> {
    let mut registry = registry(&Offer::default(), Roots::One)?;
    let gateway = gateway(root)?;
    let own = approved::own().unwrap_or_default();
    if !gateway.is_empty() {
        upstreams::add(&mut registry, gateway.approved(&own), |_| true);
    }
    let held_back = plugged::add(&mut registry, &plugins(root)?, &taken(), &own, |_| true);
    Ok(registry.holding_back(held_back.into_iter().collect()))
}

fn registry_of(offer: &Offer, roots: Roots) -> Result<Registry, Fault> {
    Registry::over(families::ALL, |head| offer.wants(head), roots).map_err(|e| Fault::internal(e.to_string()))
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
    launcher: Arc<Launcher>,
    jobs: Arc<Jobs>,
    analyzer: Arc<Analyzer>,
    cache: Arc<Cache>,
    services: Services,
    catalog: Arc<Catalog>,
    limiter: Arc<Limiter>,
    roots: Vec<Arc<Root>>,
    /// Of the first root, or of calls that have none.
    first_state: StateDir,
    folders: Arc<Folders>,
    check_outputs: bool,
}

/// Everything that is offered, what is listed of it, and what keeps both up to date.
pub struct Offered {
    /// An engine per root.
    pub house: House,
    /// Chooses what is listed.
    pub menu: Choose,
    /// The calls that go on after they were answered: to be ended with the server.
    pub jobs: Arc<Jobs>,
    /// The browsers: to be ended with the server.
    pub browsers: Arc<Pool>,
    /// To be run where upstreams are configured.
    pub refresh: Option<Refresh>,
    /// To be run beside the server.
    pub sweeping: Sweeping,
    /// A context somewhere else: what waits for it is to be sent while a server lives.
    pub offline: Option<Offline>,
}

/// Everything that is offered: an engine per root. What an earlier process left unfinished is recovered first.
pub fn house(asked: &Asked, offer: &Offer) -> Result<House, Fault> {
    offered(asked, offer, None).map(|offered| offered.house)
}

/// What is offered at the start, and whether that may change.
fn catalog(
    offer: &Offer,
    roots: Roots,
    gateway: &Gateway,
    root: Option<&Root>,
    config: &Config,
) -> Result<(Arc<Catalog>, bool), Fault> {
    let plugins = plugged::discover(root, config);
    plugged::warn(&plugins, &config.plugins);
    let of_plugins = plugins.iter().filter_map(Found::hosted).map(Hosting::toolset);
    offer.check(&gateway.names().map(str::to_owned).chain(of_plugins).collect::<Vec<_>>())?;
    let mut registry = registry_of(offer, roots)?;
    // What cannot be read approves nothing, and stops nothing of ours.
    let own = approved::own().unwrap_or_else(|fault| {
        tracing::warn!("{}: no tool of others is offered", fault.message);
        Lock::default()
    });
    upstreams::add(&mut registry, gateway.approved(&own), |head| offer.wants(head));
    let held_back = plugged::add(&mut registry, &plugins, &taken(), &own, |head| offer.wants(head));
    let changes = !gateway.is_empty() || plugged::may_change(root.map(Root::path));
    let registry = registry.holding_back(held_back.into_iter().collect());
    let catalog = if changes { Catalog::changing(registry) } else { Catalog::fixed(registry) };
    Ok((Arc::new(catalog), changes))
}

/// As [`house`], for a server. With `access` not everyone may work everywhere.
pub fn offered(asked: &Asked, offer: &Offer, access: Option<Arc<dyn Access>>) -> Result<Offered, Fault> {
    let first = asked.first()?;
    let config = configuration(first.as_deref())?;
    let roots = asked.all(first, &config.roots)?;
    let names: Vec<&str> = roots.iter().map(|r| r.name()).collect();
    let offered = if access.is_some() { Roots::Given } else { Roots::of(&names) };
    let launcher = Arc::new(launcher(&config)?);
    let first_root = roots.first().map(|root| &**root);
    let first_state = state(first_root)?;
    let gateway = Arc::new(gateway_of(&config, &launcher, first_root, first_state.clone())?);
    let stamp = plugged::stamp(first_root.map(Root::path));
    let (catalog, changes) = catalog(offer, offered, &gateway, first_root, &config)?;
    let limiter = Arc::new(Limiter::new(config.limits.enabled));
    let jobs = Arc::new(Jobs::default());
    let patterns = &config.failures.patterns;
    let analyzer = Analyzer::new(patterns).map_err(|e| Fault::invalid(format!("[failures]: {e}")))?;
    let (analyzer, cache) = (Arc::new(analyzer), Arc::new(Cache::new(config.cache.clone())));
    let browsers = Pool::new(
        Arc::clone(&launcher),
        first_state.clone(),
        browser::Options {
            program: config.browser.program.clone(),
            axe: config.browser.axe.clone(),
            hosts: config.browser.hosts.clone(),
            home: std::env::var_os("HOME").map(PathBuf::from),
            set_up: crate::setup::axe(),
            secrets: config
                .secrets
                .iter()
                .map(|(name, secret)| {
                    let value = std::env::var(&secret.env).ok().filter(|value| !value.is_empty());
                    (name.clone(), browser::Secret { value, origins: secret.origins.clone() })
                })
                .collect(),
            loopback: offer.callers != Callers::Others,
            wear: browser::Wear::default(),
        },
    );
    let remembered = remembered::remembered(&config)?;
    let (store, shared, offline) = (Arc::new(remembered.store), remembered.context, remembered.offline);
    let using = remembered.using;
    let folders =
        Arc::new(if offer.callers.are_many() { Folders::of_server(&roots) } else { Folders::default() });
    let sweeping = Sweeping { folders: Arc::clone(&folders), store: Swept::new(&store, &config.store) };
    let told =
        workplace::Told { session: config.session, ventures: config.ventures, github: config.github, using };
    let places = roots.iter().map(|root| root.path().to_owned()).collect();
    let workplace = workplace::Here::new(told, places, Arc::clone(&shared), offline.clone());
    let libraries =
        Arc::new(crate::libraries::libraries(&config.library)?.that_last(offer.callers.are_many()));
    let itself = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let queries = Queries::new(Arc::clone(&launcher), first_state.clone(), itself.clone());
    let workers = Workers::new(Arc::clone(&launcher), first_state.clone(), itself, config.skills.clone());
    let workers = if offer.callers.are_many() { workers.started_ahead() } else { workers };
    let services = Services::default()
        .with::<dyn Failures>(Arc::clone(&store) as Arc<dyn Failures>)
        .with::<dyn Uses>(store)
        .with::<dyn Indexes>(Arc::new(remembered::indexes()?))
        .with::<Libraries>(Arc::clone(&libraries))
        .with::<dyn Served>(Arc::new(Serving::default()))
        .with::<Workers>(Arc::new(workers))
        .with::<Registries>(Arc::new(Registries::of(&config.registries)?))
        .with::<Queries>(Arc::new(queries))
        .with::<Itself>(Arc::new(crate::clients::itself()))
        .with::<dyn Context>(shared)
        .with::<dyn Workplace>(Arc::new(workplace))
        .with::<Pool>(Arc::clone(&browsers))
        .with::<Lines>(Arc::default())
        .with::<kit::taint::Taints>(Arc::default());
    let shared = Arc::new(Shared {
        launcher,
        jobs: Arc::clone(&jobs),
        analyzer,
        cache,
        services,
        catalog: Arc::clone(&catalog),
        limiter,
        roots,
        first_state,
        folders,
        check_outputs: offer.check_outputs,
    });
    let engine = |root: Option<&Arc<Root>>| shared.engine(root);
    let roots = &shared.roots;
    let others = roots.iter().skip(1).map(|root| engine(Some(root))).collect::<Result<_, Fault>>()?;
    let annexes = annexes(&shared, &libraries);
    let house = House::new(engine(roots.first())?, others).with_annexes(annexes);
    let house = match access {
        None => house,
        Some(access) => house.guarded(access, engine(None)?),
    };
    let menu = offer.menu(&house, &gateway);
    let refresh = changes.then(|| {
        let offer = offer.clone();
        let wanted = Box::new(move |head: &Head| offer.wants(head));
        Refresh { gateway, catalog, wanted, root: house.first().root().cloned(), stamp }
    });
    Ok(Offered { house, menu, jobs, browsers, refresh, sweeping, offline })
}

/// Roots beside those that calls name: libraries, and the folders of the user's clients.
fn annexes(shared: &Arc<Shared>, libraries: &Libraries) -> Vec<Annex> {
    let (of_libraries, of_clients) = (Arc::clone(shared), Arc::clone(shared));
    let mut annexes = crate::libraries::annexes(libraries, move |root| of_libraries.engine(Some(root)));
    annexes.extend(crate::clients::annexes(move |root| of_clients.engine(Some(root))));
    annexes
}

fn configuration(root: Option<&Root>) -> Result<Config, Fault> {
    let config = config::load(root.map(Root::path)).map_err(|e| {
        Fault::invalid(e.to_string()).suggest("`gatewright config schema` prints what is understood.")
    })?;
    for section in &config.inert {
        let why = if config.changed.iter().any(|(name, _)| name == section) {
            "has changed since you trusted it, and is inert: `gatewright trust` shows how"
        } else if config::can_be_trusted(section) {
            "is inert: only your own configuration may say it, or `gatewright trust accept`"
        } else {
            "is inert: only your own configuration may say it"
        };
        tracing::warn!("[{section}] in gatewright.toml {why}");
    }
    Ok(config)
}

impl Shared {
    /// An engine over `root`, or over none, with that one's own configuration. What an earlier process left unfinished is recovered.
    fn engine(&self, root: Option<&Arc<Root>>) -> Result<Arc<Engine>, Fault> {
        let config = configuration(root.map(|root| &**root))?;
        let others = self.roots.iter().filter(|other| Some(*other) != root).cloned().collect();
        engine_of(root.cloned(), config, others, self)
    }
}

fn engine_of(
    root: Option<Arc<Root>>,
    config: Config,
    others: Vec<Arc<Root>>,
    shared: &Shared,
) -> Result<Arc<Engine>, Fault> {
    let state = if root.as_ref() == shared.roots.first() {
        shared.first_state.clone()
    } else {
        state(root.as_deref())?
    };
    let offered: Vec<PathBuf> = root.iter().chain(&others).map(|root| root.path().to_owned()).collect();
    let ledger =
        Ledger::open(&state.ledger()).map_err(|e| Fault::new(Code::LedgerUnavailable, e.to_string()))?;
    if let Some(root) = &root {
        recover(root, &state, &ledger);
    }
    shared.folders.add(root.as_ref(), state.clone(), config.limits.keep_days);
    let mut secrets = audit::redact::from_environment(std::env::vars());
    secrets.extend(upstreams::secrets(&config.upstreams));
    let of_environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    secrets.extend(config.secrets.values().filter_map(|secret| of_environment(&secret.env)));
    secrets.extend(workplace::token(&config.github));
    secrets.extend(remembered::secrets());
    let redactor = Redactor::new(&secrets, ledger.tag_key());
    let sender = (!config.egress.hosts.is_empty()).then(|| {
        let egress = Egress::new(config.egress.hosts.clone(), config.egress.allow_private);
        Arc::new(forge::signed(egress, &config.github, root.as_deref(), &state)) as Arc<dyn Sender>
    });
    Ok(Engine::new(Parts {
        catalog: Arc::clone(&shared.catalog),
        policy: config.policy,
        approvals: Arc::new(Kept { roots: offered.clone() }),
        limiter: Arc::clone(&shared.limiter),
        redactor: Arc::new(redactor),
        ledger,
        root,
        other_roots: others,
        state,
        settings: config.settings,
        services: shared.services.clone(),
        sender,
        launcher: Arc::clone(&shared.launcher),
        jobs: Arc::clone(&shared.jobs),
        analyzer: Arc::clone(&shared.analyzer),
        cache: Arc::clone(&shared.cache),
        detach_after: Duration::from_secs(config.limits.detach_after),
        budget: config.limits.result_tokens.clamp(500, kit::shape::HARD_CAP),
        check_outputs: shared.check_outputs,
        uid: rustix::process::getuid().as_raw(),
    }))
}

/// What is outside for programs. A file of certificates that is not there would have them trust nobody, and say so badly.
fn outside(security: &SecuritySection) -> Result<Outside, Fault> {
    if let Some(file) = security.ca_file.as_ref().filter(|file| !file.is_absolute() || !file.is_file()) {
        return Err(Fault::invalid(format!("[security]: ca-file {} is no file", file.display()))
            .suggest("Name a file of certificates by its whole path, such as `/etc/ssl/corp.pem`."));
    }
    Ok(Outside::new(security.private_hosts.clone(), security.ca_file.clone()))
}

/// Finishes or takes back what earlier processes left. What stands in the way is said; looking around goes on, and an
/// apply is refused until it is settled.
fn recover(root: &Root, state: &StateDir, ledger: &Ledger) {
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
}
