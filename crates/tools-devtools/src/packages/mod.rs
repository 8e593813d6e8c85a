//! What the tools that install, update and examine packages of npm's registry have in common: which manager, where its lock is, how its
//! programs are started, and what they say when they fail.
//!
//! - [`berry`]: what yarn 2 and later, and bun, do otherwise.
//! - [`locked`]: what a run would change of a lock.
//! - [`installing`]: what follows once the plan stands.
//! - [`advisories`]: known vulnerabilities, as results show them.

pub(crate) mod advisories;
pub(crate) mod berry;
pub(crate) mod installing;
pub(crate) mod locked;

use contract::{Fault, RelPath};
use exec::run::{Cache, Command, MAX_TIMEOUT, Ran};
use kit::{ReadDesk, RunDesk};
use schemars::JsonSchema;
use serde::Serialize;

use crate::node::{self, Managed, Manager};
use crate::registries::registries;
use crate::running::{self, Asked};

/// The programs that install.
pub(crate) const PROGRAMS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// What they keep for themselves, each root its own.
pub(crate) const CACHES: &[Cache] = &[
    Cache { name: "npm", variable: "npm_config_cache" },
    Cache { name: "pnpm-store", variable: "npm_config_store_dir" },
    Cache { name: "yarn", variable: "YARN_CACHE_FOLDER" },
    Cache { name: "bun", variable: "BUN_INSTALL_CACHE_DIR" },
];

/// What installing leaves.
pub(crate) const SETTLES: &[&str] = &["**/node_modules"];

/// What they are asked for besides their own inputs: flags would be meant for one of several programs.
pub(crate) const ASKED: &[&str] = &["directory", "timeout"];

/// Where yarn 1 puts packages while only its lock is wanted: it knows no other way to leave the project's own alone.
const ASIDE: &str = "--install.modules-folder \"/tmp/modules\"\n--upgrade.modules-folder \"/tmp/modules\"\n";

/// Which manager, and what says so.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Chosen {
    /// npm, pnpm, yarn or bun.
    pub name: Manager,
    /// The version that the project pins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What says so.
    pub from: String,
}

/// A project's packages: whose they are, and where.
pub(crate) struct Packages {
    pub(crate) manager: Manager,
    /// Whether that is yarn 2 or later.
    pub(crate) berry: bool,
    pub(crate) chosen: Chosen,
    /// The folder that the lock lies in, which is where the manager is started.
    pub(crate) home: Option<RelPath>,
    /// The lock, where there is one.
    pub(crate) lock: Option<RelPath>,
    /// What is worth knowing.
    pub(crate) notes: Vec<String>,
}

impl Packages {
    /// Those of the folder that the call works in; `wanted` goes before what the project says.
    pub(crate) async fn of(desk: &RunDesk, wanted: Option<Manager>) -> Result<Self, Fault> {
        let named = desk.asked().directory.clone();
        let packages = desk
            .blocking(move |desk| {
                let dir = running::directory(named.as_deref())?;
                running::is_there(desk, dir.as_ref())?;
                if node::manifest(desk, dir.as_ref())?.is_none() {
                    return Err(node::no_manifest());
                }
                let managed = node::managed(desk, dir.as_ref())?;
                Self::from(desk, dir, managed, wanted)
            })
            .await?;
        if packages.manager == Manager::Yarn {
            berry::is_of_the_project(desk, &packages).await?;
        }
        Ok(packages)
    }

    fn from(
        desk: &ReadDesk,
        dir: Option<RelPath>,
        managed: Managed,
        wanted: Option<Manager>,
    ) -> Result<Self, Fault> {
        let Managed { manager: own, version, from, lock, others } = managed;
        let meant = wanted.unwrap_or(own);
        let mut notes = Vec::new();
        if !others.is_empty() {
            notes.push(format!("Lock files of other managers are there, too: {}.", others.join(", ")));
        }
        let (lock, version, from) = if meant == own {
            (lock, version, from)
        } else {
            notes.push(format!("{from} says {}; {} was asked for.", own.program(), meant.program()));
            let lock = node::at(dir.as_ref(), locked::file(meant))?;
            let lock = desk.view().read_optional(&lock)?.map(|_| lock);
            (lock, None, "the call".to_owned())
        };
        let home = match &lock {
            Some(lock) => lock.parent(),
            None => RelPath::new(&from).ok().filter(|_| meant == own).map_or(dir, |from| from.parent()),
        };
        let berry = meant == Manager::Yarn
            && match &lock {
                Some(lock) => desk.view().read_text(lock).is_ok_and(|text| text.contains("__metadata:")),
                None => version.as_deref().is_some_and(|v| !v.starts_with('1')),
            };
        berry::without_code(desk, meant, berry, home.as_ref(), lock.as_ref())?;
        let chosen = Chosen { name: meant, version, from };
        Ok(Self { manager: meant, berry, chosen, home, lock, notes })
    }

    /// The path of the lock, whether or not it is there.
    pub(crate) fn lock_path(&self) -> Result<RelPath, Fault> {
        match &self.lock {
            Some(lock) => Ok(lock.clone()),
            None => node::at(self.home.as_ref(), locked::file(self.manager)),
        }
    }

    /// The folder that packages are installed in.
    pub(crate) fn modules(&self) -> Result<RelPath, Fault> {
        node::at(self.home.as_ref(), "node_modules")
    }

    /// The manager with `args`, held to its grammar, without network.
    pub(crate) fn command(&self, args: Vec<String>) -> Result<Command, Fault> {
        let program = self.manager.program();
        let dir = self.home.as_ref().map(|home| home.as_str().to_owned());
        let asked = Asked { directory: dir.as_deref(), args: &[] };
        let command = alone(asked.command(program, args, Vec::new())?);
        Ok(if self.berry { berry::alone(command) } else { command })
    }

    /// The same, let through to the registry.
    pub(crate) fn fetching(&self, desk: &ReadDesk, args: Vec<String>) -> Result<Command, Fault> {
        let command = self.command(args)?;
        Ok(if self.berry { berry::reaching(desk, command) } else { reaching(desk, self.manager, command) })
    }

    /// npm's list of what is newer, for managers that have none which is read.
    pub(crate) fn of_npm(&self, desk: &ReadDesk) -> Result<Command, Fault> {
        let dir = self.home.as_ref().map(|home| home.as_str().to_owned());
        let asked = Asked { directory: dir.as_deref(), args: &[] };
        let command = alone(asked.command("npm", running::words(&["outdated", "--json"]), Vec::new())?);
        Ok(reaching(desk, Manager::Npm, command))
    }

    /// The same, for yarn 1, while only the lock is wanted.
    pub(crate) fn locking(&self, desk: &ReadDesk, args: Vec<String>) -> Result<Command, Fault> {
        let mut command = self.fetching(desk, args)?;
        if self.manager == Manager::Yarn && !self.berry {
            command.inputs.insert(".yarnrc".to_owned(), ASIDE.as_bytes().to_vec());
        }
        Ok(command)
    }
}

/// A command of a manager that runs no code of packages or of the project's own settings, and asks nobody anything.
pub(crate) fn alone(mut command: Command) -> Command {
    command.timeout = MAX_TIMEOUT;
    for (name, value) in [
        ("CI", "true"),
        ("npm_config_audit", "false"),
        ("npm_config_fund", "false"),
        ("npm_config_update_notifier", "false"),
        ("npm_config_ignore_scripts", "true"),
        // What does not come from the registry is not fetched: its host is none of those that are let through.
        ("npm_config_allow_git", "none"),
        ("npm_config_allow_remote", "none"),
        // pnpm would fetch and start the version of itself that the manifest names, and run the project's hooks.
        ("npm_config_manage_package_manager_versions", "false"),
        ("pnpm_config_manage_package_manager_versions", "false"),
        ("npm_config_ignore_pnpmfile", "true"),
        ("pnpm_config_ignore_pnpmfile", "true"),
        // Its store lies on another file system than the project, and is no part of it.
        ("npm_config_package_import_method", "copy"),
        ("pnpm_config_package_import_method", "copy"),
        // yarn would start whatever program `.yarnrc` names.
        ("YARN_IGNORE_PATH", "1"),
    ] {
        command.env.insert(name.to_owned(), value.to_owned());
    }
    command
}

/// The command, let through to the registry of npm packages.
pub(crate) fn reaching(desk: &ReadDesk, manager: Manager, mut command: Command) -> Command {
    let registry = registries(desk).npm;
    if let Some(url) = &registry.url {
        for name in ["npm_config_registry", "pnpm_config_registry", "YARN_REGISTRY"] {
            command.env.insert(name.to_owned(), url.to_string());
        }
    } else if manager == Manager::Yarn {
        // The public registry, by the name that yarn 1 has for it.
        command.hosts.push("registry.yarnpkg.com".to_owned());
    }
    registry.reached_by(command)
}

/// Why a manager failed, in its own words, and the hosts that it was not let through to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Its code: `EUSAGE`, `ERR_PNPM_OUTDATED_LOCKFILE`.
    pub(crate) code: Option<String>,
    pub(crate) why: String,
}

/// Longest sentence of a manager's that is told, in characters.
const MAX_SAID: usize = 400;

impl Failure {
    pub(crate) fn of(ran: &Ran) -> Self {
        let mut failure = said(&format!("{}\n{}", ran.stderr.text(), ran.stdout.text()));
        if !ran.refused.is_empty() {
            failure.why = format!(
                "{} It asked for {}, which no registry of the configuration names; a person can: `[registries] npm = {{ url = \"https://…\" }}` \
                 or `hosts` of it, in their own configuration.",
                failure.why,
                ran.refused.join(", ")
            );
        }
        failure
    }
}

fn said(text: &str) -> Failure {
    let (mut code, mut why) = (None, String::new());
    for line in text.lines().map(str::trim) {
        if let Some((found, rest)) = line.strip_prefix("➤ ").and_then(|line| line.split_once(": ")) {
            // The last that is not only told.
            let rest = rest.trim_start_matches(['│', '┌', '└', '·', ' ']).trim();
            if found != "YN0000" && !rest.starts_with(['+', '-']) && !rest.is_empty() {
                (code, why) = (Some(found.to_owned()), rest.to_owned());
            }
        } else if is_yarns(line) {
            if why.is_empty() {
                why = yarns_error(line).unwrap_or_default();
            }
        } else if let Some(rest) = line.strip_prefix("npm error code ") {
            code.get_or_insert_with(|| rest.trim().to_owned());
        } else if let Some(at) = line.find("ERR_PNPM_") {
            let rest = line.get(at..).unwrap_or_default();
            let (found, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            if code.is_none() {
                (code, why) = (Some(found.to_owned()), rest.trim().to_owned());
            }
        } else if why.is_empty() {
            let own = ["npm error", "error ", "error: "].iter().find_map(|front| line.strip_prefix(front));
            why = own
                .map(|own| own.trim().trim_start_matches(|c: char| c.is_ascii_digit()).trim().to_owned())
                .unwrap_or_default();
        }
    }
    if why.is_empty() {
        let is_told = |line: &&str| !line.is_empty() && !is_yarns(line);
        let first = text.lines().map(str::trim).find(is_told);
        first.unwrap_or("it gave no reason").clone_into(&mut why);
    }
    if why.chars().count() > MAX_SAID {
        why = why.chars().take(MAX_SAID).chain(['…']).collect();
    }
    if !why.ends_with(['.', '!', '…']) {
        why.push('.');
    }
    Failure { code, why }
}

/// Whether it is a line of yarn 1's in JSON.
fn is_yarns(line: &str) -> bool {
    line.starts_with("{\"type\":\"")
}

/// What a line of yarn 1's in JSON says, where that is an error.
fn yarns_error(line: &str) -> Option<String> {
    let told: serde_json::Value = serde_json::from_str(line).ok()?;
    let said = told.get("data")?.as_str().filter(|_| told["type"] == "error")?;
    Some(said.lines().next().unwrap_or_default().trim().to_owned())
}

/// The hosts of all runs of a call that were reached, each once.
pub(crate) fn reached<'r>(runs: impl IntoIterator<Item = &'r Ran>) -> Vec<String> {
    let all: std::collections::BTreeSet<&String> = runs.into_iter().flat_map(|ran| &ran.reached).collect();
    all.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_managers_own_words_say_why_it_failed() {
        let npm = "npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when in sync\nnpm error\n";
        let failure = said(npm);
        assert_eq!(failure.code.as_deref(), Some("EUSAGE"));
        assert_eq!(failure.why, "`npm ci` can only install packages when in sync.");
        let yarn = said(
            "{\"type\":\"warning\",\"data\":\"slow\"}\n{\"type\":\"error\",\"data\":\"No lock.\\nx\"}\n",
        );
        assert_eq!((yarn.code, yarn.why.as_str()), (None, "No lock."));
        let berry = said(
            "➤ YN0000: · Yarn 4.18.1\n➤ YN0085: │ + a@npm:1\n➤ YN0028: │ The lockfile would have been modified.\n➤ YN0000: · Failed with errors\n",
        );
        assert_eq!(
            (berry.code.as_deref(), berry.why.as_str()),
            (Some("YN0028"), "The lockfile would have been modified.")
        );
        assert_eq!(said("Resolving dependencies\nerror: lockfile is frozen\n").why, "lockfile is frozen.");
        let not_found = said("npm error code E404\nnpm error 404 Not Found - GET https://r.example/x\n");
        assert_eq!(
            (not_found.code.as_deref(), not_found.why.as_str()),
            (Some("E404"), "Not Found - GET https://r.example/x.")
        );
        let pnpm =
            said(" ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with \"frozen-lockfile\"\n\nNote that\n");
        assert_eq!(pnpm.code.as_deref(), Some("ERR_PNPM_OUTDATED_LOCKFILE"));
        assert_eq!(pnpm.why, "Cannot install with \"frozen-lockfile\".");
        let yarn = said("warning x\nerror Your lockfile needs to be updated.\ninfo Visit\n");
        assert_eq!((yarn.code, yarn.why.as_str()), (None, "Your lockfile needs to be updated."));
        assert_eq!(said("").why, "it gave no reason.");
    }
}
