//! Browsers that are kept warm. Each is one principal's and reaches what that one may; a tab is one call's.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::{Code, Fault, Principal};
use exec::StateDir;
use exec::address::Reach;
use exec::run::{Launcher, Level, Needs, Resident, Web};
use tokio_util::sync::CancellationToken;

use crate::page::{Page, Window};
use crate::policy::{Credential, Given};
use crate::wire::{Until, Wire};
use crate::{BrowserError, find, flags};

/// Most browsers at a time.
const MAX_BROWSERS: usize = 2;

/// Most tabs at a time.
const MAX_TABS: usize = 4;

/// How often it is looked whether a browser has had nothing to do for long.
const LOOK: Duration = Duration::from_secs(20);

/// How much memory a browser may take, in bytes.
const MEMORY: u64 = 3 << 29;

/// Most bytes of a script that is put into pages.
const MAX_SCRIPT: u64 = 4 << 20;

/// How long a browser may take to answer for the first time.
const PATIENCE: Duration = Duration::from_secs(30);

/// A secret that headers and cookies may hold.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// The secret; none where the environment has none.
    pub value: Option<String>,
    /// The origins that get it.
    pub origins: Vec<String>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret").field("origins", &self.origins).finish_non_exhaustive()
    }
}

/// After what a browser is let go; another is started when one is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wear {
    /// Tabs that it has had.
    pub tabs: u64,
    /// Since it was started.
    pub age: Duration,
    /// Since it last had something to do.
    pub idle: Duration,
}

impl Default for Wear {
    fn default() -> Self {
        Self { tabs: 200, age: Duration::from_mins(15), idle: Duration::from_mins(5) }
    }
}

/// What the user says about browsers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The program, where it is not to be looked for.
    pub program: Option<PathBuf>,
    /// Hosts that pages may reach at private addresses.
    pub hosts: Vec<String>,
    /// The home of whoever runs this: nothing of it is seen.
    pub home: Option<PathBuf>,
    /// axe-core, where it is not to be looked for.
    pub axe: Option<PathBuf>,
    /// Secrets that calls may name, each with the origins that get it.
    pub secrets: BTreeMap<String, Secret>,
    /// Where axe-core is put by setting it up.
    pub set_up: Option<PathBuf>,
    /// Whether pages of the local user's may reach this machine's loopback: not where others may be let in as that user.
    pub loopback: bool,
    /// When browsers are let go.
    pub wear: Wear,
}

/// A browser.
struct Browser {
    number: u64,
    wire: Arc<Wire>,
    resident: Resident,
    web: Arc<Web>,
    owner: String,
    born: Instant,
    used: u64,
    idle_since: Instant,
    tabs: usize,
}

impl Browser {
    fn is_spent(&self, wear: Wear) -> bool {
        self.used >= wear.tabs || self.born.elapsed() >= wear.age || self.is_over()
    }

    /// Whether it is to be let go now.
    fn may_go(&self, wear: Wear) -> bool {
        self.tabs == 0 && (self.is_spent(wear) || self.idle_since.elapsed() >= wear.idle)
    }

    fn is_over(&self) -> bool {
        self.wire.over().is_some() || self.resident.ended().is_some()
    }
}

#[derive(Default)]
struct Inside {
    browsers: Vec<Browser>,
    /// Tabs that are given out, and those about to be.
    tabs: usize,
    next: u64,
    is_closed: bool,
}

/// Browsers and their tabs. When it is dropped, or [closed](Self::close), nothing of them is left.
pub struct Pool {
    launcher: Arc<Launcher>,
    state: StateDir,
    options: Options,
    inside: Mutex<Inside>,
    freed: Condvar,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Pool {
    /// A pool without a browser: one is started when it is needed.
    #[must_use]
    pub fn new(launcher: Arc<Launcher>, state: StateDir, options: Options) -> Arc<Self> {
        Arc::new(Self { launcher, state, options, inside: Mutex::default(), freed: Condvar::new() })
    }

    /// What the user says.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// axe-core's source, where the user says where it is.
    pub fn axe(&self) -> Result<Option<Vec<u8>>, Fault> {
        let Some(path) = &self.options.axe else { return Ok(None) };
        let read = exec::run::read_small(path, MAX_SCRIPT);
        read.map(Some).map_err(|e| {
            Fault::new(Code::NotFound, format!("[browser] axe: {}: {e}", path.display()))
                .suggest("Correct `axe` in the section `[browser]` of your own configuration.")
        })
    }

    /// axe-core's source as it was set up, where it was.
    #[must_use]
    pub fn axe_set_up(&self) -> Option<Vec<u8>> {
        exec::run::read_small(self.options.set_up.as_ref()?, MAX_SCRIPT).ok()
    }

    /// A header or cookie `name` with the secret that the user calls `secret`.
    pub fn credential(
        &self,
        principal: &Principal,
        name: &str,
        secret: &str,
        is_cookie: bool,
    ) -> Result<Credential, Fault> {
        if !matches!(principal, Principal::Local { .. }) {
            let message = format!("{name}: secrets are the local user's, and nobody's who calls over HTTP");
            return Err(Fault::new(Code::Forbidden, message));
        }
        let known = self.options.secrets.get(secret).ok_or_else(|| {
            Fault::new(Code::NotFound, format!("{name}: there is no secret {secret:?}"))
                .suggest(format!("A person may declare it: `[secrets.{secret}]` with `env` and `origins` in their own configuration."))
        })?;
        let value = known.value.clone().ok_or_else(|| {
            Fault::new(Code::NotFound, format!("{name}: the secret {secret:?} is not in the environment"))
                .suggest("Set the variable that it names where gatewright is started.")
        })?;
        let is_name = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
        if !is_name || value.contains(['\r', '\n', '\0']) {
            return Err(Fault::invalid(format!("{name:?} cannot be sent with that value")));
        }
        Ok(Credential { name: name.to_owned(), value, origins: known.origins.clone(), is_cookie })
    }

    /// What a page of `principal`'s may reach: public addresses, and for the local user this machine's loopback.
    #[must_use]
    pub fn reach(&self, principal: &Principal) -> Reach {
        match principal {
            Principal::Local { .. } if self.options.loopback => Reach::public().with_loopback(),
            _ => Reach::public(),
        }
    }

    /// Whether this machine gives a browser a world; else why not.
    pub fn possible(&self) -> Result<PathBuf, Fault> {
        let program = self.program()?;
        let offer = self.launcher.offer(&self.state.nowhere()?);
        if offer.level < Level::Full {
            let message = format!(
                "a browser is started in a world of its own or not at all, and this machine gives none ({})",
                offer.missing.join("; ")
            );
            return Err(Fault::new(Code::ConfinementUnavailable, message)
                .suggest("`gatewright doctor` says what is missing and how a machine comes by it."));
        }
        Ok(program)
    }

    /// Where the program is, or what to do about it.
    pub fn program(&self) -> Result<PathBuf, Fault> {
        find(self.options.program.as_deref())
    }

    /// An empty tab for `owner`, from which `reach` may be reached: in a browser that is there already, else in a new one.
    ///
    /// Waits until there is room. Whatever is done with it ends at `deadline` or when `cancel` is cancelled.
    pub fn tab(
        self: &Arc<Self>,
        owner: &str,
        reach: &Reach,
        (window, given): (Window, Given),
        (deadline, cancel): (Instant, &CancellationToken),
    ) -> Result<Tab, Fault> {
        let until = Until { deadline, cancel: cancel.clone() };
        self.room(&until)?;
        // From here on one tab is counted.
        let tab = self.opened(owner, reach, (window, given), &until);
        if tab.is_err() {
            self.given_back(None);
        }
        tab
    }

    fn room(&self, until: &Until) -> Result<(), Fault> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if inside.is_closed {
                return Err(Fault::new(Code::Cancelled, "the server is being ended"));
            }
            if inside.tabs < MAX_TABS {
                inside.tabs += 1;
                return Ok(());
            }
            until.check("waiting for a browser")?;
            inside = self.freed.wait_timeout(inside, until.tick()).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn opened(
        self: &Arc<Self>,
        owner: &str,
        reach: &Reach,
        (window, given): (Window, Given),
        until: &Until,
    ) -> Result<Tab, Fault> {
        let owner = format!("{owner} {reach:?}");
        let mut last = None;
        // A browser that turns out to be gone is replaced once.
        for _ in 0..2 {
            let (wire, web, number) = self.browser(&owner, reach, until)?;
            let bounds = (until.deadline, until.cancel.clone());
            match Page::new(&wire, &web, window, given.clone(), bounds) {
                Ok(page) => {
                    let back = Back { pool: Arc::clone(self), browser: number };
                    return Ok(Tab { page, _back: back });
                }
                Err(error) => {
                    let is_gone = matches!(error, BrowserError::Ended(_));
                    self.left(number);
                    last = Some(error);
                    if !is_gone {
                        break;
                    }
                }
            }
        }
        Err(last.unwrap_or(BrowserError::Ended("it did not start".to_owned())).into())
    }

    /// The browser of `owner`, with one more tab counted on it.
    fn browser(
        self: &Arc<Self>,
        owner: &str,
        reach: &Reach,
        until: &Until,
    ) -> Result<(Arc<Wire>, Arc<Web>, u64), Fault> {
        let gone = {
            let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
            let found =
                inside.browsers.iter_mut().find(|b| b.owner == owner && !b.is_spent(self.options.wear));
            if let Some(browser) = found {
                browser.tabs += 1;
                browser.used += 1;
                if browser.tabs == 1 {
                    browser.web.begin();
                }
                let number = browser.number;
                return Ok((Arc::clone(&browser.wire), Arc::clone(&browser.web), number));
            }
            // What has nothing to do makes room.
            let mut gone = extract(&mut inside.browsers, |b| b.tabs == 0 && b.is_spent(self.options.wear));
            while inside.browsers.len() >= MAX_BROWSERS {
                let idle = inside.browsers.iter().position(|b| b.tabs == 0);
                match idle {
                    Some(at) => gone.push(inside.browsers.swap_remove(at)),
                    None => break,
                }
            }
            gone
        };
        // Ending takes a moment, in which nobody else need wait.
        drop(gone);
        let hosts = self.options.hosts.clone();
        let web = Arc::new(Web::new(reach.clone().with_hosts(hosts)));
        let needs = Needs {
            program: self.program()?,
            args: flags::flags(),
            env: [
                ("DBUS_SESSION_BUS_ADDRESS", "disabled:"),
                ("DBUS_SYSTEM_BUS_ADDRESS", "disabled:"),
                ("XDG_CONFIG_HOME", "/tmp/config"),
                ("XDG_CACHE_HOME", "/tmp/cache"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            memory: MEMORY,
            web: Some(Arc::clone(&web)),
            channel: exec::run::Channel::Beside,
            works: None,
        };
        let (resident, channel) =
            Resident::start(&self.launcher, &self.state, self.options.home.as_deref(), needs)?;
        let wire = Wire::new(channel).map_err(|e| Fault::internal(e.to_string()))?;
        alone(&wire);
        let version = wire.call("", "Browser.getVersion", serde_json::json!({}), &until.within(PATIENCE));
        if let Err(error) = version {
            let said = resident.tail();
            let last = said
                .lines()
                .rev()
                .take(5)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect::<Vec<_>>()
                .join("\n");
            let why = resident.ended().unwrap_or_else(|| error.to_string());
            return Err(Fault::new(
                Code::ToolExecutionFailed,
                format!("the browser did not start: {why}\n{last}"),
            ));
        }
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if inside.is_closed {
            return Err(Fault::new(Code::Cancelled, "the server is being ended"));
        }
        inside.next += 1;
        let number = inside.next;
        let now = Instant::now();
        inside.browsers.push(Browser {
            number,
            wire: Arc::clone(&wire),
            resident,
            web: Arc::clone(&web),
            owner: owner.to_owned(),
            born: now,
            used: 1,
            idle_since: now,
            tabs: 1,
        });
        drop(inside);
        let pool = Arc::downgrade(self);
        // Without it a browser is let go when the next tab is asked for or given back.
        let _ = std::thread::Builder::new().name("browsers".to_owned()).spawn(move || {
            while let Some(pool) = pool.upgrade().filter(|pool| pool.has(number)) {
                pool.tidy();
                drop(pool);
                std::thread::sleep(LOOK);
            }
        });
        Ok((wire, web, number))
    }

    fn has(&self, number: u64) -> bool {
        let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.browsers.iter().any(|b| b.number == number)
    }

    /// A tab of a browser is no more.
    fn left(&self, number: u64) {
        let gone = {
            let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(browser) = inside.browsers.iter_mut().find(|b| b.number == number) {
                browser.tabs = browser.tabs.saturating_sub(1);
                browser.idle_since = Instant::now();
            }
            extract(&mut inside.browsers, |b| b.may_go(self.options.wear))
        };
        drop(gone);
    }

    fn given_back(&self, browser: Option<u64>) {
        if let Some(number) = browser {
            self.left(number);
        }
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.tabs = inside.tabs.saturating_sub(1);
        drop(inside);
        self.freed.notify_all();
    }

    /// Lets browsers go that have had nothing to do for long.
    fn tidy(&self) {
        let gone = {
            let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
            extract(&mut inside.browsers, |b| b.may_go(self.options.wear))
        };
        drop(gone);
    }

    /// How many browsers there are.
    #[must_use]
    pub fn browsers(&self) -> usize {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner).browsers.len()
    }

    /// How many browsers were started so far.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner).next
    }

    /// Ends every browser; there are no more from now on.
    pub fn close(&self) {
        let gone = {
            let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
            inside.is_closed = true;
            std::mem::take(&mut inside.browsers)
        };
        drop(gone);
        self.freed.notify_all();
    }
}

/// Closes every window that a page opens: nobody looks at it, and nobody holds it to the policy.
fn alone(wire: &Arc<Wire>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    wire.attend("", sender);
    wire.tell("", "Target.setDiscoverTargets", serde_json::json!({ "discover": true }));
    let wire = Arc::downgrade(wire);
    let closing = move || {
        // What is heard ends with the connection.
        while let Ok(event) = receiver.recv() {
            let info = &event.params["targetInfo"];
            if event.method == "Target.targetCreated"
                && info["type"] == "page"
                && info["openerId"].is_string()
            {
                let Some(wire) = wire.upgrade() else { return };
                wire.tell("", "Target.closeTarget", serde_json::json!({ "targetId": info["targetId"] }));
            }
        }
    };
    // Without a thread windows stay open until their tab is let go; the door holds them all the same.
    let _ = std::thread::Builder::new().name("windows".to_owned()).spawn(closing);
}

/// Takes out those of which `is` holds.
fn extract(browsers: &mut Vec<Browser>, is: impl Fn(&Browser) -> bool) -> Vec<Browser> {
    let all = std::mem::take(browsers);
    let (gone, kept) = all.into_iter().partition(is);
    *browsers = kept;
    gone
}

/// A tab of the pool's: it goes back when it is dropped.
#[derive(Debug)]
pub struct Tab {
    /// Dropped before what follows.
    page: Page,
    _back: Back,
}

/// Gives a tab back.
#[derive(Debug)]
struct Back {
    pool: Arc<Pool>,
    browser: u64,
}

impl std::ops::Deref for Tab {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl Drop for Back {
    fn drop(&mut self) {
        self.pool.given_back(Some(self.browser));
    }
}
