//! Known vulnerabilities of Node packages.
//!
//! Asks the registry, by the project's package manager, which locked packages have known vulnerabilities. What could not be asked is
//! "not known", never "none". `fix` proposes what the manager would do.

use contract::{Fault, Toolset};
use deps::{Advisory, Audit, Auditor, audit};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::NODE;
use crate::node::Manager;
use crate::packages::advisories::{Data, Told};
use crate::packages::locked::{Changed, Locked, locked};
use crate::packages::{self, Chosen, Failure, Packages};
use crate::running::{configured, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Ask for known vulnerabilities.
    #[serde(default = "yes")]
    pub audit: bool,
    /// Propose the manager's fixes.
    #[serde(default)]
    pub fix: bool,
    /// Without development dependencies.
    #[serde(default)]
    pub production: bool,
}

const fn yes() -> bool {
    true
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The package manager.
    pub manager: Chosen,
    /// Known vulnerabilities, by package.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// How much is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
    /// What the fix changes of the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Changed>,
    /// What is worth knowing besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsSecurity;

impl Define for NodejsSecurity {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_security";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_security.rs");
    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = packages::PROGRAMS;
    const CACHES: &'static [Cache] = packages::CACHES;
    // npm writes beside what is installed, too: that is no part of the plan.
    const SETTLES: &'static [&'static str] = packages::SETTLES;
    const ASKED: &'static [&'static str] = packages::ASKED;
    const LIST: Option<&'static str> = Some("advisories");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "fix": true, "production": true })]
    }
}

fn asking(manager: Manager, production: bool) -> (Auditor, Vec<String>) {
    let (auditor, all, only) = match manager {
        Manager::Npm => (Auditor::Npm, &["audit", "--json"][..], &["--omit=dev"][..]),
        Manager::Pnpm => (Auditor::Pnpm, &["audit", "--json"][..], &["--prod"][..]),
        Manager::Yarn | Manager::Bun => {
            (Auditor::Yarn, &["audit", "--json"][..], &["--groups", "dependencies"][..])
        }
    };
    let mut args = words(all);
    if production {
        args.extend(words(only));
    }
    (auditor, args)
}

impl Run for NodejsSecurity {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        if !input.audit && !input.fix {
            return Err(Fault::invalid("audit: with neither `audit` nor `fix` there is nothing to do")
                .suggest("Leave `audit` out to ask for known vulnerabilities."));
        }
        let packages = Packages::of(&desk, None).await?;
        let mut output = Output {
            manager: packages.chosen.clone(),
            advisories: Vec::new(),
            data: None,
            lock: None,
            notes: packages.notes.clone(),
        };
        let (mut success, mut message) = (true, String::new());
        if input.audit {
            let told = asked(&desk, &packages, input.production).await?;
            (success, message) = (told.success, told.message);
            let nothing_known = told.data.state == "none";
            (output.advisories, output.data) = (told.advisories, Some(told.data));
            if nothing_known && input.fix {
                message.push_str(" Nothing was fixed: without the data there is nothing to go by.");
                return Ok(Answer { success, ..Answer::new(message, output) });
            }
        }
        if input.fix {
            let (fixed, said) = fix(&desk, &packages, input.production).await?;
            format!("{message} {said}").trim().clone_into(&mut message);
            success &= fixed.is_some();
            output.lock = fixed.map(|locked| locked.changed);
        }
        Ok(Answer { success, ..Answer::new(message, output) })
    }
}

/// The command of a manager whose audit is not read.
fn unasked(packages: &Packages) -> Option<&'static str> {
    match (packages.berry, packages.manager) {
        (true, _) => Some("`yarn npm audit`"),
        (_, Manager::Bun) => Some("`bun audit`"),
        _ => None,
    }
}

/// What the registry says of what is locked.
async fn asked(desk: &RunDesk, packages: &Packages, production: bool) -> Result<Told, Fault> {
    let host = crate::registries::registries(desk).npm.hosts.into_iter().take(1).collect();
    if packages.lock.is_none() {
        let why = "the project has no lock; `nodejs_install_deps` makes one";
        return Ok(Told::of(Audit::unknown(why), host));
    }
    if let Some(own) = unasked(packages) {
        let why = format!("what {own} says of vulnerabilities is not read here: ask it yourself");
        return Ok(Told::of(Audit::unknown(why), host));
    }
    if packages.manager == Manager::Yarn && crate::registries::registries(desk).npm.url.is_some() {
        let why = "yarn 1 asks registry.yarnpkg.com about vulnerabilities, whichever registry is configured";
        return Ok(Told::of(Audit::unknown(why), host));
    }
    let (auditor, args) = asking(packages.manager, production);
    let mut command = packages.fetching(desk, args)?;
    // This is the one call that is to ask.
    command.env.insert("npm_config_audit".into(), "true".into());
    let ran = desk.run(configured(desk, command).await?).await?;
    let mut audit = audit(auditor, &ran.stdout.bytes);
    if audit.state == deps::State::None && (!ran.refused.is_empty() || ran.stdout.bytes.is_empty()) {
        audit = Audit::unknown(Failure::of(&ran).why);
    }
    let mut audit = versioned(desk, packages, audit).await?;
    // One that ends badly and names nothing has not come to its end.
    if !ran.is_success() && audit.advisories.is_empty() && audit.state == deps::State::Complete {
        audit = Audit::unknown(Failure::of(&ran).why);
    }
    Ok(Told::of(audit, host))
}

/// npm names places and no versions: the lock has them.
async fn versioned(desk: &RunDesk, packages: &Packages, mut audit: Audit) -> Result<Audit, Fault> {
    if packages.manager != Manager::Npm || audit.advisories.is_empty() {
        return Ok(audit);
    }
    let Some(lock) = locked(desk, packages).await?.after else { return Ok(audit) };
    for advisory in &mut audit.advisories {
        let at = |package: &&deps::Package| {
            package.place.as_ref().is_some_and(|place| advisory.paths.contains(place))
        };
        let mut versions: Vec<String> =
            lock.packages.iter().filter(at).filter_map(|package| package.version.clone()).collect();
        versions.dedup();
        advisory.installed = versions;
    }
    Ok(audit)
}

/// What the manager would do, and a sentence about it; nothing where it failed.
async fn fix(
    desk: &RunDesk,
    packages: &Packages,
    production: bool,
) -> Result<(Option<Locked>, String), Fault> {
    if let Some(own) = unasked(packages) {
        return Ok((None, format!("Nothing was fixed: {own} fixes nothing by itself.")));
    }
    let mut args = match packages.manager {
        Manager::Npm => words(&["audit", "fix", "--package-lock-only", "--ignore-scripts"]),
        Manager::Pnpm => words(&["audit", "--fix"]),
        Manager::Yarn | Manager::Bun => {
            let said = "yarn 1 fixes nothing by itself: `nodejs_update_deps` moves packages that are named.";
            return Ok((None, said.to_owned()));
        }
    };
    if production {
        args.push(if packages.manager == Manager::Npm { "--omit=dev" } else { "--prod" }.to_owned());
    }
    let mut command = packages.fetching(desk, args)?;
    command.env.insert("npm_config_audit".into(), "true".into());
    let ran = desk.run(configured(desk, command).await?).await?;
    // npm ends with 1 where something is left that only a major version fixes.
    let failure = Failure::of(&ran);
    if !ran.is_success() && failure.code.is_some() {
        return Ok((None, format!("It could not be fixed: {}", failure.why)));
    }
    if packages.manager == Manager::Pnpm {
        let relocked = packages.fetching(
            desk,
            words(&["install", "--no-frozen-lockfile", "--lockfile-only", "--ignore-scripts"]),
        )?;
        let ran = desk.run(configured(desk, relocked).await?).await?;
        if !ran.is_success() {
            return Ok((None, format!("What it overrides cannot be resolved: {}", Failure::of(&ran).why)));
        }
    }
    let locked = locked(desk, packages).await?;
    let said = format!("The fix, as a plan: {}", locked.in_words());
    let left = if ran.is_success() {
        " Once it is applied, `nodejs_install_deps` installs it."
    } else {
        " What is left takes a major version or has no fix."
    };
    Ok((Some(locked), format!("{said}{left}")))
}
