//! `gatewright doctor`: what is wrong here, in the user's words, with what to do.
//!
//! - [`here`]: the root, its configuration, its commands, git, how it and its clients are set up.
//! - [`machine`]: the state's folder, disks, the clock, where programs come from, confinement.
//! - [`kept`]: the record, plans that were cut short, the store.
//! - [`beyond`]: browser, registries, upstreams, plugins.

mod beyond;
mod here;
mod kept;
mod machine;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use contract::Fault;
use exec::{Root, StateDir};
use serde::Serialize;

pub use machine::{CONFINE, confined};

use super::{CommandResult, print_json, runtime};
use crate::compose;
use crate::config::{self, Config, ConfigError};
use crate::roots::Asked;
use crate::term::{BAD, BOLD, DIM, GOOD, NOTE};

/// How it is told, and whether it is put right.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Put right what is gatewright's own: the mode of its state folder, plans that were cut short. Nothing is installed.
    #[arg(long)]
    pub fix: bool,
    /// Print JSON, for programs: of each check `id`, `state` (ok, warn, fail, skipped), `said`, `fix` and `fixable`.
    #[arg(long)]
    pub json: bool,
}

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it should be.
    Ok,
    /// It works, with less than there could be.
    Warn,
    /// It does not work.
    Fail,
    /// There was nothing to look at, or it could not be looked at.
    Skipped,
}

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    /// What was looked at.
    id: String,
    /// How it stands.
    state: State,
    /// In words.
    said: String,
    /// What to do, where something is to be done.
    fix: Option<String>,
    /// Whether `--fix` does it.
    fixable: bool,
}

/// What a check says of one thing.
struct Look {
    state: State,
    said: String,
    fix: Option<String>,
}

impl Look {
    fn ok(said: impl Into<String>) -> Self {
        Self { state: State::Ok, said: said.into(), fix: None }
    }

    fn skipped(said: impl Into<String>) -> Self {
        Self { state: State::Skipped, said: said.into(), fix: None }
    }

    fn warn(said: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { state: State::Warn, said: said.into(), fix: Some(fix.into()) }
    }

    fn fail(said: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { state: State::Fail, said: said.into(), fix: Some(fix.into()) }
    }
}

impl From<Fault> for Look {
    fn from(fault: Fault) -> Self {
        Self::fail(fault.message, fault.suggestions.join(" "))
    }
}

/// What checks look at: asked once.
struct Place<'a> {
    asked: &'a Asked,
    root: Result<Option<Arc<Root>>, Fault>,
    config: Result<Config, ConfigError>,
}

impl<'a> Place<'a> {
    fn of(asked: &'a Asked) -> Self {
        let root = asked.first();
        let path = root.as_ref().ok().and_then(Option::as_ref).map(|root| root.path());
        let config = config::load(path);
        Self { asked, root, config }
    }

    fn root(&self) -> Option<&Root> {
        self.root.as_ref().ok().and_then(Option::as_deref)
    }

    fn path(&self) -> Option<&Path> {
        self.root().map(Root::path)
    }

    /// What is configured; what is usual, where that is not understood.
    fn config(&self) -> Config {
        self.config.as_ref().cloned().unwrap_or_default()
    }

    fn state(&self) -> Result<StateDir, Fault> {
        compose::state(self.root())
    }
}

/// Puts something right.
type Repair = fn(&Place<'_>) -> Result<(), Fault>;

/// A check: what it looks at, and what puts it right where that is gatewright's own affair.
struct Check {
    id: &'static str,
    look: fn(&Place<'_>) -> Look,
    repair: Option<Repair>,
}

impl Check {
    const fn new(id: &'static str, look: fn(&Place<'_>) -> Look) -> Self {
        Self { id, look, repair: None }
    }

    const fn repaired(self, repair: Repair) -> Self {
        Self { repair: Some(repair), ..self }
    }
}

/// Everything that is looked at, in order. How the project and its clients are set up follows: it is a tool's to say.
const ALL: &[Check] = &[
    Check::new("root", here::root),
    Check::new("configuration", here::configuration),
    Check::new("commands", here::commands),
    Check::new("git", here::git),
    Check::new("state", machine::state).repaired(machine::close_state),
    Check::new("disk", machine::disk),
    Check::new("clock", machine::clock),
    Check::new("path", machine::path),
    Check::new("confinement", machine::confinement),
    Check::new("ledger", kept::ledger),
    Check::new("unfinished", kept::unfinished).repaired(kept::recover),
    Check::new("store", kept::store),
    Check::new("browser", beyond::browser),
    Check::new("registries", beyond::registries),
    Check::new("upstreams", beyond::upstreams),
    Check::new("plugins", beyond::plugins),
];

/// Looks, and with `fix` puts right what may be; what was put right is looked at again.
fn findings(asked: &Asked, fix: bool) -> Result<Vec<Finding>, Fault> {
    let place = Place::of(asked);
    let mut findings = Vec::new();
    for check in ALL {
        let mut look = (check.look)(&place);
        if fix
            && look.state == State::Fail
            && let Some(repair) = check.repair
        {
            repair(&place)?;
            look = (check.look)(&place);
        }
        let fixable = look.state == State::Fail && check.repair.is_some();
        findings.push(Finding {
            id: check.id.to_owned(),
            state: look.state,
            said: look.said,
            fix: look.fix,
            fixable,
        });
    }
    findings.extend(here::set_up(&place));
    Ok(findings)
}

pub fn run(asked: &Asked, args: &DoctorArgs) -> CommandResult {
    let findings = findings(asked, args.fix)?;
    let passed = findings.iter().all(|finding| finding.state != State::Fail);
    if args.json {
        let version = env!("CARGO_PKG_VERSION");
        print_json(&serde_json::json!({ "version": version, "passed": passed, "checks": findings }))?;
    } else {
        say!("{BOLD}gatewright {}{BOLD:#}", env!("CARGO_PKG_VERSION"));
        findings.iter().for_each(tell);
    }
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn tell(finding: &Finding) {
    let Finding { id, state, said, fix, fixable } = finding;
    match state {
        State::Ok => say!("{GOOD}✓{GOOD:#} {id:<14} {said}"),
        State::Warn => say!("{NOTE}!{NOTE:#} {id:<14} {said}"),
        State::Fail => say!("{BAD}✗{BAD:#} {id:<14} {said}"),
        State::Skipped => say!("{DIM}-{DIM:#} {id:<14} {said}"),
    }
    if let Some(fix) = fix {
        say!("  {NOTE}→{NOTE:#} {fix}");
    }
    if *fixable {
        say!("  {NOTE}→{NOTE:#} or `gatewright doctor --fix`");
    }
}

/// What a future comes to, for checks that ask something that answers later.
fn waited<T>(future: impl Future<Output = T>) -> Result<T, Look> {
    runtime()
        .map(|runtime| runtime.block_on(future))
        .map_err(|error| Look::fail(error.to_string(), "Close other programs, then do this again."))
}
