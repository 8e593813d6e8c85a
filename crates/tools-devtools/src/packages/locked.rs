//! What a run would change of a project's lock.

use contract::{Code, Fault, RelPath};
use deps::{Difference, Format, Lock, Package, Source};
use kit::RunDesk;
use schemars::JsonSchema;
use serde::Serialize;

use super::Packages;
use crate::node::Manager;

/// Most entries of each list that are told.
const MAX_TOLD: usize = 200;

/// The lock that a manager writes.
pub(crate) const fn file(manager: Manager) -> &'static str {
    match manager {
        Manager::Npm => "package-lock.json",
        Manager::Pnpm => "pnpm-lock.yaml",
        Manager::Yarn => "yarn.lock",
        Manager::Bun => "bun.lock",
    }
}

const fn format(manager: Manager) -> Format {
    match manager {
        Manager::Npm => Format::Npm,
        Manager::Pnpm => Format::Pnpm,
        Manager::Yarn => Format::Yarn,
        Manager::Bun => Format::Bun,
    }
}

/// A package at a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pinned {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A package whose version moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Moved {
    /// Its name.
    pub name: String,
    /// The version before.
    pub from: String,
    /// The version after.
    pub to: String,
    /// How far: patch, minor, major, prerelease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

/// What changes of a lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "what clients read")]
pub struct Changed {
    /// The lock file.
    pub file: String,
    /// Packages that come.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Pinned>,
    /// Packages that go.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Pinned>,
    /// Packages that move.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Moved>,
    /// Same version, other content or place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Pinned>,
    /// Packages that come with install scripts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with_scripts: Vec<String>,
    /// Packages from git or an address.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
    /// Packages without a digest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsealed: Vec<String>,
    /// Packages that it holds afterwards.
    pub packages: u64,
}

/// A lock before and after.
pub(crate) struct Locked {
    pub(crate) changed: Changed,
    /// Counts before lists were cut.
    pub(crate) counts: [usize; 3],
    pub(crate) after: Option<Lock>,
}

/// What the programs that ran at `desk` made of the lock.
pub(crate) async fn locked(desk: &RunDesk, packages: &Packages) -> Result<Locked, Fault> {
    let (path, format) = (packages.lock_path()?, format(packages.manager));
    let workshop = desk.workshop().cloned();
    desk.blocking(move |desk| {
        let before = desk.view().read_optional(&path)?;
        let after = match workshop {
            Some(workshop) => match workshop.read(&path) {
                Ok(bytes) => Some(bytes),
                Err(fault) if fault.code == Code::NotFound => None,
                Err(fault) => return Err(fault),
            },
            None => before.clone(),
        };
        let read = |bytes: Option<Vec<u8>>| bytes.map(|bytes| read(format, &path, &bytes)).transpose();
        // A lock that nobody can read is replaced by one that somebody can.
        let before = read(before).ok().flatten();
        Ok(Locked::of(&path, format, before, read(after)?))
    })
    .await
}

fn read(format: Format, path: &RelPath, bytes: &[u8]) -> Result<Lock, Fault> {
    deps::read(format, bytes)
        .map_err(|unread| Fault::new(Code::InvalidSource, format!("{path}: {unread}")).about(path.as_str()))
}

impl Locked {
    fn of(path: &RelPath, format: Format, before: Option<Lock>, after: Option<Lock>) -> Self {
        let empty = || Lock { format, edition: None, packages: Vec::new() };
        // Some locks name the project itself, and members of its workspace.
        let of_others = |mut lock: Lock| {
            lock.packages.retain(|package| package.source != Source::Local || package.version.is_some());
            lock
        };
        let (was, is) =
            (of_others(before.unwrap_or_else(empty)), of_others(after.clone().unwrap_or_else(empty)));
        let told = Difference::between(&was, &is);
        let counts = [told.added.len(), told.removed.len(), told.changed.len()];
        let pins = |pins: Vec<deps::Pin>| {
            pins.into_iter()
                .take(MAX_TOLD)
                .map(|pin| Pinned { name: pin.name, version: pin.version })
                .collect()
        };
        let known = |package: &&Package| {
            !was.packages.iter().any(|old| old.name == package.name && old.version == package.version)
        };
        let named = |wanted: &dyn Fn(&&Package) -> bool| {
            let mut names: Vec<String> = is.packages.iter().filter(wanted).map(|p| p.name.clone()).collect();
            names.dedup();
            names.truncate(MAX_TOLD);
            names
        };
        let changed = Changed {
            file: path.to_string(),
            added: pins(told.added),
            removed: pins(told.removed),
            replaced: pins(told.replaced),
            changed: told
                .changed
                .into_iter()
                .take(MAX_TOLD)
                .map(|change| Moved {
                    step: change.step.map(|step| format!("{step:?}").to_lowercase()),
                    name: change.name,
                    from: change.from,
                    to: change.to,
                })
                .collect(),
            with_scripts: named(&|package| package.scripts == Some(true) && known(package)),
            elsewhere: named(&|package| matches!(package.source, Source::Git | Source::Url)),
            unsealed: named(&|package| package.source == Source::Registry && package.digests.is_empty()),
            packages: is.packages.iter().filter(|package| package.source != Source::Local).count() as u64,
        };
        Self { changed, counts, after }
    }

    /// In a sentence.
    pub(crate) fn in_words(&self) -> String {
        let [added, removed, changed] = self.counts;
        let file = &self.changed.file;
        if added + removed + changed + self.changed.replaced.len() == 0 {
            return format!("{file} holds what is wanted: nothing changes of it.");
        }
        let mut parts = Vec::new();
        for (count, what) in [(added, "more"), (removed, "fewer"), (changed, "at another version")] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        if !self.changed.replaced.is_empty() {
            parts.push(format!("{} the same version with other content", self.changed.replaced.len()));
        }
        format!("{file}: {} packages ({}).", self.changed.packages, parts.join(", "))
    }

    /// Why what it holds is not installed.
    pub(crate) fn refused(&self) -> Option<String> {
        let elsewhere = &self.changed.elsewhere;
        (!elsewhere.is_empty()).then(|| {
            format!(
                "Not installed here: {} {} from git or an address and not from the registry.",
                elsewhere.join(", "),
                if elsewhere.len() == 1 { "comes" } else { "come" }
            )
        })
    }
}
