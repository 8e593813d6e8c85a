//! What runs of cargo have in common: nothing is looked up unless the caller asks for it, and crates that were fetched for a
//! root are kept beside it, since the user's own cargo is only read.

pub(crate) mod artifacts;

use std::sync::LazyLock;

use contract::Fault;
use exec::run::{Cache, Command, MAX_TIMEOUT, Ran};
use kit::{ReadDesk, RunDesk};
use regex::Regex;
use reports::{Format, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registries::registries;
use crate::running::{self, Asked};

/// The folder of cargo's own settings and crates: the user's, or the root's own.
const HOME: Cache = Cache { name: "cargo", variable: "CARGO_HOME" };

/// What cargo keeps for itself.
pub(crate) const CACHES: &[Cache] = &[HOME];

/// Most crates that are named.
const MAX_MISSING: usize = 50;

/// What of a package is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Targets {
    /// The library.
    Lib,
    /// Binaries.
    Bins,
    /// Tests.
    Tests,
    /// Benchmarks.
    Benches,
    /// Examples.
    Examples,
    /// Everything.
    All,
}

impl Targets {
    const fn flag(self) -> &'static str {
        match self {
            Self::Lib => "--lib",
            Self::Bins => "--bins",
            Self::Tests => "--tests",
            Self::Benches => "--benches",
            Self::Examples => "--examples",
            Self::All => "--all-targets",
        }
    }
}

/// What a caller picks of a workspace.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Picked<'a> {
    pub(crate) package: Option<&'a str>,
    pub(crate) features: &'a [String],
    pub(crate) all_features: bool,
    pub(crate) no_default_features: bool,
    pub(crate) release: bool,
    pub(crate) targets: Option<Targets>,
}

impl Picked<'_> {
    /// As cargo is told.
    pub(crate) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        flags.extend(self.package.iter().flat_map(|package| ["--package".to_owned(), (*package).to_owned()]));
        if !self.features.is_empty() {
            flags.extend(["--features".to_owned(), self.features.join(",")]);
        }
        for (is, flag) in [
            (self.all_features, "--all-features"),
            (self.no_default_features, "--no-default-features"),
            (self.release, "--release"),
        ] {
            flags.extend(is.then(|| flag.to_owned()));
        }
        flags.extend(self.targets.map(|targets| targets.flag().to_owned()));
        flags
    }
}

/// A cargo command that looks nothing up, neither crates nor toolchains, and takes crates from the user's own cargo.
pub(crate) fn offline(mut command: Command) -> Command {
    command.env.insert("CARGO_NET_OFFLINE".into(), "true".into());
    command.env.insert("RUSTUP_AUTO_INSTALL".into(), "0".into());
    command.without = vec![HOME.name];
    command
}

/// The same command, with the crates that were fetched for this root.
fn with_fetched(desk: &ReadDesk, mut command: Command) -> Command {
    command.without.clear();
    // Behind the subcommand: those that start cargo again hand on what stands there.
    let behind = if command.args.first().is_some_and(|word| word == "nextest") { 2 } else { 1 };
    for setting in replaced(desk).into_iter().rev() {
        command.args.splice(behind..behind, ["--config".to_owned(), setting]);
    }
    command
}

/// The command that fetches every crate that the lock file names, before `command`. No code of theirs runs for it.
fn fetching(desk: &ReadDesk, command: &Command) -> Result<Command, Fault> {
    let args = vec!["fetch".to_owned()];
    running::held("cargo", &args, command.dir.as_ref())?;
    let mut fetch = Command::new("cargo", &[]);
    fetch.args = args;
    fetch.dir.clone_from(&command.dir);
    fetch.timeout = command.timeout;
    fetch.env.insert("RUSTUP_AUTO_INSTALL".into(), "0".into());
    let fetch = with_fetched(desk, fetch);
    Ok(registries(desk).cargo.reached_by(fetch))
}

/// What tells cargo of a registry in the place of crates.io: there is no variable that could.
fn replaced(desk: &ReadDesk) -> Vec<String> {
    let Some(url) = registries(desk).cargo.url else { return Vec::new() };
    vec![
        "source.crates-io.replace-with=\"configured\"".to_owned(),
        format!("source.configured.registry=\"sparse+{url}\""),
    ]
}

/// What a command of cargo came to.
pub(crate) struct Told {
    pub(crate) ran: Ran,
    pub(crate) report: Report,
    /// Crates without which it could not begin.
    pub(crate) missing: Vec<String>,
    /// What ran, as the message calls it.
    pub(crate) what: &'static str,
}

/// Runs `command` and reads what it says: with the user's crates, else with those of the root's own; `fetch` gets these first.
pub(crate) async fn reported(
    desk: &RunDesk,
    mut command: Command,
    format: Format,
    fetch: bool,
    what: &'static str,
) -> Result<Told, Fault> {
    // A first build of a project takes longer than what others run.
    command.timeout = MAX_TIMEOUT;
    if fetch {
        let (ran, report) = running::reported(desk, fetching(desk, &command)?, Format::CargoJson).await?;
        if !ran.is_success() {
            let missing = missing(&ran);
            return Ok(Told { ran, report, missing, what: "`cargo fetch`" });
        }
        let (ran, report) = running::reported(desk, with_fetched(desk, command), format).await?;
        return Ok(Told { missing: missing(&ran), ran, report, what });
    }
    let (ran, report) = running::reported(desk, command.clone(), format).await?;
    let lacks = if ran.is_success() { Vec::new() } else { missing(&ran) };
    if lacks.is_empty() {
        return Ok(Told { ran, report, missing: lacks, what });
    }
    let (again, anew) = running::reported(desk, with_fetched(desk, command), format).await?;
    if again.is_success() || missing(&again).is_empty() {
        return Ok(Told { ran: again, report: anew, missing: Vec::new(), what });
    }
    Ok(Told { ran, report, missing: lacks, what })
}

/// A cargo command of a tool's: its own `flags`, what the caller adds, its own `rest`.
pub(crate) fn command(asked: &Asked<'_>, flags: Vec<String>, rest: Vec<String>) -> Result<Command, Fault> {
    asked.command("cargo", flags, rest).map(offline)
}

/// What to do about crates that are missing.
pub(crate) fn advice(tool: &str, missing: &[String]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let named = missing.join("`, `");
    format!(
        "\n\nNot on this machine: `{named}`. Fetch what the lock file names: `{tool} {{\"fetch\":true}}`."
    )
}

static OFFLINE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"but --offline was specified|offline mode \(--offline\)").ok());

static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:no matching package named|failed to download|failed to get|failed to select a version for the requirement) `(?P<name>[A-Za-z0-9_-]+)")
        .ok()
});

/// Crates that cargo says it would have to look up: none where it failed of something else.
fn missing(ran: &Ran) -> Vec<String> {
    named(&ran.stderr.text())
}

fn named(text: &str) -> Vec<String> {
    if ![&*OFFLINE].into_iter().flatten().any(|offline| offline.is_match(text)) {
        return Vec::new();
    }
    let mut names: Vec<String> = Vec::new();
    for found in NAMED.iter().flat_map(|named| named.captures_iter(text)) {
        let name = found.name("name").map_or("", |name| name.as_str()).to_owned();
        if !names.contains(&name) && names.len() < MAX_MISSING {
            names.push(name);
        }
    }
    // It says that it may not look something up, and not what.
    if names.is_empty() {
        names.push("a dependency".to_owned());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_missing_only_where_cargo_would_have_looked_them_up() {
        let no_such = "error: no matching package named `itoa` found\nlocation searched: crates.io index\nrequired by package `shop v0.1.0 (/x)`\nAs a reminder, you're using offline mode (--offline) which can sometimes cause surprising resolution failures, if this error is too confusing you may wish to retry without `--offline`.\n";
        assert_eq!(named(no_such), ["itoa"]);
        let not_here = "error: failed to download `itoa v1.0.15`\n\nCaused by:\n  attempting to make an HTTP request, but --offline was specified\n";
        assert_eq!(named(not_here), ["itoa"]);
        assert_eq!(named("error: no matching package named `itao` found\n"), Vec::<String>::new());
        assert_eq!(named("error[E0382]: use of moved value: `offline`\n"), Vec::<String>::new());
    }

    #[test]
    fn a_pick_is_told_as_cargo_takes_it() {
        let features = ["a".to_owned(), "b/c".to_owned()];
        let picked = Picked {
            package: Some("shop"),
            features: &features,
            all_features: true,
            no_default_features: true,
            release: true,
            targets: Some(Targets::All),
        };
        assert_eq!(
            picked.flags().join(" "),
            "--package shop --features a,b/c --all-features --no-default-features --release --all-targets"
        );
        assert!(Picked::default().flags().is_empty());
    }
}
