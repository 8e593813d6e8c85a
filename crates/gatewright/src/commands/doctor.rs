//! `gatewright doctor`.

use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;

use ::audit::Ledger;
use clap::Args;
use contract::Fault;
use contract::text::counted;
use exec::run::{Launcher, Level};
use exec::{Root, StateDir};

use serde_json::{Value, json};

use super::{CommandResult, print_json};
use crate::roots::Asked;
use crate::term::{BAD, BOLD, GOOD, NOTE};
use crate::{approved, compose, config};

/// How it is told, and whether it is put right.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Put right what is gatewright's own: the mode of its state folder. Nothing is installed.
    #[arg(long)]
    pub fix: bool,
    /// Print JSON, for programs: of each check `id`, `state` (ok, fail), `said`, `fix` and `fixable`.
    #[arg(long)]
    pub json: bool,
}

/// One check: what was looked at, how it is, and what to do.
struct Check {
    what: &'static str,
    how: Result<String, (String, String)>,
    /// Puts it right, where that is gatewright's own affair.
    repair: Option<fn() -> Result<(), Fault>>,
}

impl Check {
    const fn of(what: &'static str, how: Result<String, (String, String)>) -> Self {
        Self { what, how, repair: None }
    }

    /// As programs read it.
    fn told(&self) -> Value {
        let (state, said, fix) = match &self.how {
            Ok(fine) => ("ok", fine, None),
            Err((wrong, fix)) => ("fail", wrong, Some(fix)),
        };
        let fixable = self.how.is_err() && self.repair.is_some();
        json!({ "id": self.what, "state": state, "said": said, "fix": fix, "fixable": fixable })
    }
}

/// Everything that is looked at, in order.
fn looked(asked: &Asked) -> [Check; 8] {
    let root = asked.first();
    let place = root.as_ref().ok().and_then(Option::as_ref).map(|r| r.path());
    [
        Check::of("root", root_check(&root)),
        Check::of("configuration", config_check(place)),
        Check { repair: Some(close_state), ..Check::of("state", state_check()) },
        Check::of("ledger", ledger_check(&root)),
        Check::of("git", git_check(&root)),
        Check::of("confinement", confinement_check(&root)),
        Check::of("browser", browser_check()),
        Check::of("upstreams", upstreams_check()),
    ]
}

pub fn run(asked: &Asked, args: &DoctorArgs) -> CommandResult {
    let mut checks = looked(asked);
    if args.fix {
        let repairs = checks.iter().filter(|check| check.how.is_err()).filter_map(|check| check.repair);
        for repair in repairs {
            repair()?;
        }
        checks = looked(asked);
    }
    if args.json {
        let passed = checks.iter().all(|check| check.how.is_ok());
        let told: Vec<Value> = checks.iter().map(Check::told).collect();
        let version = env!("CARGO_PKG_VERSION");
        print_json(&json!({ "version": version, "passed": passed, "checks": told }))?;
        return Ok(if passed { ExitCode::SUCCESS } else { ExitCode::from(1) });
    }
    say!("{BOLD}gatewright {}{BOLD:#}", env!("CARGO_PKG_VERSION"));
    let mut failed = 0;
    for check in &checks {
        match &check.how {
            Ok(fine) => say!("{GOOD}✓{GOOD:#} {:<14} {fine}", check.what),
            Err((wrong, fix)) => {
                failed += 1;
                say!("{BAD}✗{BAD:#} {:<14} {wrong}\n  {NOTE}→{NOTE:#} {fix}", check.what);
                if check.repair.is_some() {
                    say!("  {NOTE}→{NOTE:#} or `gatewright doctor --fix`");
                }
            }
        }
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

type Asks = Result<Option<std::sync::Arc<Root>>, Fault>;

fn root_check(root: &Asks) -> Result<String, (String, String)> {
    match root {
        Ok(Some(root)) => Ok(format!("tools work in {}", root.path().display())),
        Ok(None) => Err((
            "tools that need a directory will answer `no_root`".into(),
            "run this inside a git repository, or give --root DIR".into(),
        )),
        Err(fault) => Err((fault.message.clone(), fault.suggestions.join(" "))),
    }
}

fn config_check(root: Option<&std::path::Path>) -> Result<String, (String, String)> {
    let config = config::load(root)
        .map_err(|e| (e.to_string(), "`gatewright config schema` prints what is understood".to_owned()))?;
    match config.inert.as_slice() {
        [] => Ok("understood".into()),
        inert => Err((
            format!("gatewright.toml says [{}], which only your own configuration may", inert.join("], [")),
            format!(
                "move it to {}, or accept it as it is: `gatewright trust`",
                config::user_path().map(|p| p.display().to_string()).unwrap_or_default()
            ),
        )),
    }
}

fn upstreams_check() -> Result<String, (String, String)> {
    let Ok(config) = config::load(None) else {
        return Ok("not looked at: the configuration is not understood".into());
    };
    if config.upstreams.is_empty() {
        return Ok("none configured".into());
    }
    let approved = approved::own().map_err(|f| (f.message, f.suggestions.join(" ")))?;
    let mut lines = Vec::new();
    for (name, upstream) in &config.upstreams {
        if let Some(variable) = upstream.missing() {
            let fix =
                format!("set {variable} where gatewright is started: until then its tools are not offered");
            return Err((format!("{name}: the environment variable {variable} is not set"), fix));
        }
        let own = approved.iter().filter(|(tool, _)| gateway::upstream_of(tool) == Some(name)).count();
        lines.push(format!("{name}: {} approved", counted(own, "tool")));
    }
    Ok(lines.join(", "))
}

/// What scans of pages are made with. Nothing of it is needed by anything else.
fn browser_check() -> Result<String, (String, String)> {
    let config = config::load(None).unwrap_or_default().browser;
    let said = |fault: Fault| (fault.message, fault.suggestions.join(" "));
    let program = match browser::find(config.program.as_deref()) {
        Ok(program) => program,
        // What the user named has to be there; what nobody named is only missed by scans.
        Err(fault) if config.program.is_some() => return Err(said(fault)),
        Err(fault) => {
            let fix = fault.suggestions.first().cloned().unwrap_or_default();
            return Ok(format!("none: a11y_scan looks at markup alone. {fix}"));
        }
    };
    let axe = match (&config.axe, crate::setup::axe().filter(|axe| axe.is_file())) {
        (Some(axe), _) if !axe.is_file() => {
            let fix = "correct `axe` in the section [browser] of your own configuration".to_owned();
            return Err((format!("{}: axe-core is not there", axe.display()), fix));
        }
        (Some(axe), _) => format!("axe-core at {}", axe.display()),
        (None, Some(_)) => "axe-core is set up".to_owned(),
        (None, None) => "axe-core of the project alone; `gatewright setup a11y` fetches one".to_owned(),
    };
    Ok(format!("{}; {axe}", program.display()))
}

/// What makes more confinement possible.
pub const CONFINE: &str = "allow unprivileged user namespaces (`sysctl kernel.unprivileged_userns_clone=1`, or \
                           `kernel.apparmor_restrict_unprivileged_userns=0` on Ubuntu), or use a kernel with Landlock; or accept \
                           less with `confinement` under [security] in your configuration";

/// How far programs are confined here, and over what they are rehearsed.
pub struct Confined {
    /// How far.
    pub level: Level,
    /// How far the user wants it: below, programs are refused.
    pub least: Level,
    /// In words.
    pub text: String,
}

/// Tries it over `root`.
pub fn confined(state: &StateDir, root: Option<&Root>, least: Level) -> Result<Confined, Fault> {
    let launcher = Launcher::own().at_least(least);
    let tried = exec::workshop::tried(&launcher, state, root)?;
    let layers: Vec<String> = tried
        .offer
        .layers
        .iter()
        .filter_map(|layer| serde_json::to_value(layer).ok()?.as_str().map(str::to_owned))
        .collect();
    let over = match tried.layered {
        Some(true) => "; rehearsed over a layer on the root",
        Some(false) => "; rehearsed over a copy of the root, since no overlay can be laid over it",
        None => "",
    };
    let (level, least) = (tried.offer.level, launcher.least());
    let missing = tried.offer.missing.join("; ");
    let text = if level < least {
        let (asked, had) = (least.word(), level.word());
        format!("programs are refused: {asked:?} is asked for and {had:?} is to be had ({missing})")
    } else if level < Level::Full {
        format!("programs are confined by {:?} only ({missing}){over}", level.word())
    } else {
        let lacks = if missing.is_empty() { String::new() } else { format!(", without {missing}") };
        format!("full: {}{lacks}{over}", layers.join(", "))
    };
    Ok(Confined { level, least, text })
}

fn confinement_check(root: &Asks) -> Result<String, (String, String)> {
    let config = config::load(None).unwrap_or_default();
    let root = root.as_ref().ok().and_then(|root| root.as_deref());
    let said = |f: Fault| (f.message, f.suggestions.join(" "));
    let state = compose::state(root).map_err(said)?;
    let confined = confined(&state, root, config.security.confinement.level()).map_err(said)?;
    if confined.level < Level::Full { Err((confined.text, CONFINE.into())) } else { Ok(confined.text) }
}

fn state_check() -> Result<String, (String, String)> {
    let base = StateDir::base().map_err(|f| (f.message, f.suggestions.join(" ")))?;
    match std::fs::metadata(&base).map(|there| there.permissions().mode() & 0o777) {
        Ok(mode) if mode & 0o077 != 0 => {
            let fix = format!("take it from them: `chmod 700 {}`", base.display());
            Err((format!("kept in {}, which others may look into ({mode:o})", base.display()), fix))
        }
        Ok(_) | Err(_) => Ok(format!("kept in {}", base.display())),
    }
}

/// Takes the folder of the state from everybody but its owner.
fn close_state() -> Result<(), Fault> {
    let base = StateDir::base()?;
    std::fs::set_permissions(&base, std::fs::Permissions::from_mode(0o700)).map_err(|error| {
        Fault::new(contract::Code::FilesystemError, format!("{}: {error}", base.display()))
            .suggest("Whoever owns the folder can: the owner, or root.")
    })
}

fn ledger_check(root: &Asks) -> Result<String, (String, String)> {
    let fix = || "free disk space, or restore write access to the state folder".to_owned();
    let state =
        compose::state(root.as_ref().ok().and_then(|r| r.as_deref())).map_err(|f| (f.message, fix()))?;
    let ledger = Ledger::open(&state.ledger()).map_err(|e| (e.to_string(), fix()))?;
    let anchor = ledger.anchor().map_err(|e| (e.to_string(), fix()))?;
    let records = anchor.map_or(0, |a| a.seq + 1);
    let key = if ledger.initial_key().is_some() {
        let place = state.ledger().join("initial.key");
        format!(
            "; its first key is still beside it: keep a copy of {} elsewhere and remove it",
            place.display()
        )
    } else {
        "; its first key is kept elsewhere".to_owned()
    };
    Ok(format!("writable, {}{key}", counted(records, "record")))
}

fn git_check(root: &Asks) -> Result<String, (String, String)> {
    let Ok(Some(root)) = root else { return Ok("no repository is needed".into()) };
    match exec::branch::head(root) {
        Ok(Some(commit)) => Ok(format!("HEAD is {}", commit.get(..12).unwrap_or(&commit))),
        Ok(None) => Ok("no commit yet".into()),
        Err(fault) => Err((fault.message, fault.suggestions.join(" "))),
    }
}
