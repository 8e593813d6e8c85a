//! The newest versions that registries have, and which of a lock's packages lie behind them whatever the manifest allows.

use std::collections::BTreeMap;

use contract::{Fault, RelPath};
use deps::{Ecosystem, Lock, Package};
use exec::run::{Command, MAX_TIMEOUT, Ran};
use kit::RunDesk;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::managers::{self, Manager};
use super::pipenv;
use crate::registries::registries;
use crate::running::{self, Asked, words};

/// A package of which there is a newer version than may be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Beyond {
    /// The package.
    pub name: String,
    /// The locked version.
    pub current: String,
    /// The newest that the manifest and other packages admit.
    pub wanted: String,
    /// The newest.
    pub latest: String,
    /// How far the newest is: patch, minor, major, prerelease.
    pub kind: String,
}

/// What is known of newer versions.
#[derive(Debug, Default)]
pub(crate) struct Newest {
    /// What lies beyond; nothing where nobody could say.
    pub(crate) beyond: Option<Vec<Beyond>>,
    /// Packages of which the newest is not known.
    pub(crate) unknown: Vec<String>,
    /// Why it is not known.
    pub(crate) why: Option<String>,
}

/// Most rows of each list.
const MAX_ROWS: usize = 200;

/// Asks pip about names, with what it has of lists of installed packages alone.
const SCRIPT: &str = include_str!("newest.py");

/// The newest version of each package that was asked about, by its name as [`plain`] has it.
type Versions = BTreeMap<String, String>;

impl Newest {
    /// Asks whom `manager` asks about the packages of `after`, where `desk` has that lock. `before` is what the root has.
    pub(crate) async fn of(
        desk: &RunDesk,
        manager: Manager,
        dir: Option<&RelPath>,
        (before, after): (Option<&Lock>, &Lock),
        only: &[String],
    ) -> Result<Self, Fault> {
        let wanted = |package: &&Package| {
            let named = only.iter().any(|name| plain(name) == plain(&package.name));
            package.source == deps::Source::Registry && (only.is_empty() || named)
        };
        let packages: Vec<(&str, &str)> = after
            .packages
            .iter()
            .filter(wanted)
            .filter_map(|package| Some((package.name.as_str(), package.version.as_deref()?)))
            .collect();
        if packages.is_empty() {
            return Ok(Self { beyond: Some(Vec::new()), ..Self::default() });
        }
        let asked = match manager {
            Manager::Uv => of_uv(desk, dir).await?,
            Manager::Poetry => of_poetry(desk, dir).await?,
            Manager::Pipenv | Manager::Pip => of_pip(desk, dir, &packages).await?,
        };
        Ok(match asked {
            Ok(versions) => Self::told(&packages, before, &versions),
            Err(why) => {
                let unknown = packages.iter().map(|(name, _)| (*name).to_owned()).take(MAX_ROWS);
                Self { beyond: None, unknown: unknown.collect(), why: Some(why) }
            }
        })
    }

    fn told(packages: &[(&str, &str)], before: Option<&Lock>, versions: &Versions) -> Self {
        let (mut beyond, mut unknown) = (Vec::new(), Vec::new());
        for (name, wanted) in packages {
            let Some(latest) = versions.get(&plain(name)) else {
                unknown.push((*name).to_owned());
                continue;
            };
            if deps::python_follows(latest, wanted) != Some(true) {
                continue;
            }
            let now = before.into_iter().flat_map(|lock| &lock.packages).find(|old| old.name == *name);
            let current = now.and_then(|old| old.version.as_deref()).unwrap_or(wanted);
            beyond.push(Beyond {
                name: (*name).to_owned(),
                current: current.to_owned(),
                wanted: (*wanted).to_owned(),
                latest: latest.clone(),
                kind: managers::kind(deps::step(Ecosystem::Python, current, latest)),
            });
        }
        beyond.truncate(MAX_ROWS);
        unknown.truncate(MAX_ROWS);
        let why = (!unknown.is_empty()).then(|| "the registry said nothing of them".to_owned());
        Self { beyond: Some(beyond), unknown, why }
    }

    /// In words; nothing where there is nothing to say.
    pub(crate) fn in_words(&self) -> Option<String> {
        let mut lines: Vec<String> = Vec::new();
        let beyond = self.beyond.as_deref().unwrap_or_default();
        if !beyond.is_empty() {
            let is = if beyond.len() == 1 { "package has" } else { "packages have" };
            lines.push(format!(
                "{} {is} newer versions than the manifest or what needs them admits:\n",
                beyond.len()
            ));
            lines.extend(beyond.iter().take(20).map(|row| {
                format!(
                    "- `{}` {}, newest {} ({}; {} within the ranges)",
                    row.name, row.current, row.latest, row.kind, row.wanted
                )
            }));
            if beyond.len() > 20 {
                lines.push(format!("- and {} more", beyond.len() - 20));
            }
        }
        if let Some(why) = &self.why {
            let names: Vec<&str> = self.unknown.iter().take(20).map(String::as_str).collect();
            let more = self.unknown.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let blank = if lines.is_empty() { "" } else { "\n" };
            lines.push(format!("{blank}Newest version not known of {}{more}: {why}", names.join(", ")));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// A name as registries compare names (PEP 503).
pub(crate) fn plain(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_lowercase()
}

async fn run(desk: &RunDesk, mut command: Command, build: bool) -> Result<Ran, Fault> {
    command.timeout = MAX_TIMEOUT;
    let command = running::configured(desk, Manager::fetching(desk, command, build)).await?;
    desk.run(command).await
}

/// Why a program has no answer that could be read.
fn unread(ran: &Ran) -> String {
    let said = super::said(&ran.stderr.text());
    let said = if said.is_empty() { "its answer could not be read" } else { &said };
    format!("`{}`: {said}", ran.line.join(" "))
}

/// What uv's tree says: of a package that has none newer it says nothing more.
async fn of_uv(desk: &RunDesk, dir: Option<&RelPath>) -> Result<Result<Versions, String>, Fault> {
    let asked = Asked { directory: dir.map(RelPath::as_str), args: &[] };
    let flags = ["tree", "--frozen", "--outdated", "--universal", "--all-groups", "--format", "json"];
    let ran = run(desk, asked.command("uv", words(&flags), Vec::new())?, false).await?;
    let said: Value = serde_json::from_slice(&ran.stdout.bytes).unwrap_or_default();
    let rows = said["resolution"].as_object().filter(|_| ran.is_success());
    let rows = rows.map(|rows| {
        let named = rows.values().filter(|row| row["kind"] == "package").filter_map(|row| {
            let version = row["latest_version"].as_str().or_else(|| row["version"].as_str())?;
            Some((plain(row["name"].as_str()?), version.to_owned()))
        });
        highest(named)
    });
    Ok(rows.ok_or_else(|| unread(&ran)))
}

async fn of_poetry(desk: &RunDesk, dir: Option<&RelPath>) -> Result<Result<Versions, String>, Fault> {
    let asked = Asked { directory: dir.map(RelPath::as_str), args: &[] };
    let flags = ["show", "--latest", "--all", "--format", "json", "-n"];
    let mut command = asked.command("poetry", words(&flags), Vec::new())?;
    // What is locked is asked about, not what is installed: it needs no environment, and would make one.
    command.env.insert("POETRY_VIRTUALENVS_CREATE".to_owned(), "false".to_owned());
    let ran = run(desk, command, false).await?;
    let said: Option<Vec<Value>> = serde_json::from_slice(&ran.stdout.bytes).ok();
    let rows = said.filter(|_| ran.is_success()).map(|rows| {
        highest(rows.iter().filter_map(|row| {
            Some((plain(row["name"].as_str()?), row["latest_version"].as_str()?.to_owned()))
        }))
    });
    Ok(rows.ok_or_else(|| unread(&ran)))
}

/// What pip says of names: those that are locked at a pre-release are asked for pre-releases, too.
async fn of_pip(
    desk: &RunDesk,
    dir: Option<&RelPath>,
    packages: &[(&str, &str)],
) -> Result<Result<Versions, String>, Fault> {
    let registry = registries(desk).python.url;
    if !pipenv::has_one_source(desk, dir, registry.as_ref().map(url::Url::as_str)) {
        // A name may be another package elsewhere.
        return Ok(Err("the Pipfile names other indexes, which pip would not ask".to_owned()));
    }
    let early = |version: &str| deps::step(Ecosystem::Python, "0", version) == Some(deps::Step::Prerelease);
    let (early, late): (Vec<_>, Vec<_>) = packages.iter().partition(|(_, version)| early(version));
    let mut versions = Versions::new();
    for (rows, flags) in [(late, &[][..]), (early, &["--pre"][..])] {
        // A name becomes that of a folder.
        let names: Vec<&str> = rows.iter().map(|(name, _)| *name).filter(|name| is_name(name)).collect();
        if names.is_empty() {
            continue;
        }
        let mut command = Command::new("python3", &["-I"]);
        command.dir = dir.cloned();
        let script = super::beside(&mut command, "newest.py");
        let list = super::beside(&mut command, "names.txt");
        command.inputs.insert("newest.py".to_owned(), SCRIPT.as_bytes().to_vec());
        command.inputs.insert("names.txt".to_owned(), names.join("\n").into_bytes());
        command.args.extend([script, list]);
        command.args.extend(words(flags));
        // Sources count as a version, and are not built to be listed.
        let ran = run(desk, command, true).await?;
        let said: Option<Vec<Value>> = serde_json::from_slice(&ran.stdout.bytes).ok();
        let Some(said) = said.filter(|_| ran.is_success()) else { return Ok(Err(unread(&ran))) };
        versions.extend(highest(said.iter().filter_map(|row| {
            Some((plain(row["name"].as_str()?), row["latest_version"].as_str()?.to_owned()))
        })));
    }
    Ok(Ok(versions))
}

/// Whether a text is a package's name (PEP 508), and nothing else.
pub(crate) fn is_name(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    text.bytes().all(inner)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
}

/// The highest version of each name: a lock may hold several for one.
fn highest(rows: impl Iterator<Item = (String, String)>) -> Versions {
    let mut versions = Versions::new();
    for (name, version) in rows {
        let lower =
            versions.get(&name).is_some_and(|known| deps::python_follows(&version, known) == Some(false));
        if !lower {
            versions.insert(name, version);
        }
    }
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_says_a_word_of_is_unknown_and_not_up_to_date() {
        let versions: Versions = [("a", "2.0"), ("b", "1.0"), ("c-d", "3.1")]
            .map(|(name, version)| (name.to_owned(), version.to_owned()))
            .into();
        let packages = [("A", "1.5"), ("b", "1.0.0"), ("c_d", "3.0"), ("e", "1")];
        let told = Newest::told(&packages, None, &versions);
        let rows: Vec<_> = told.beyond.iter().flatten().map(|r| (r.name.as_str(), r.kind.as_str())).collect();
        assert_eq!(rows, [("A", "major"), ("c_d", "minor")]);
        assert_eq!(told.unknown, ["e"]);
        assert!(told.in_words().unwrap().ends_with("not known of e: the registry said nothing of them"));
    }

    #[test]
    fn only_names_become_folders() {
        for name in ["six", "zope.interface", "a-b_c", "A1"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "../x", ".hidden", "a/b", "a b", "a\n-r /x", "-x", "a@file"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
