//! What differs between two locks.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::lock::{Lock, Package};
use crate::version::{Step, step};

/// A package at a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Pin {
    /// The package's name.
    pub name: String,
    /// Its version; none where the lock holds none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A package whose only version became another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The package's name.
    pub name: String,
    /// The version before.
    pub from: String,
    /// The version after.
    pub to: String,
    /// How far it moved; none where one of the two is no version of the ecosystem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Step>,
}

/// What a change of a lock does, each list by name and version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// There after, not before.
    pub added: Vec<Pin>,
    /// There before, not after.
    pub removed: Vec<Pin>,
    /// One version before, another after.
    pub changed: Vec<Change>,
    /// The same version from another place or with other digests: what was published once is replaced by something else.
    pub replaced: Vec<Pin>,
}

impl Difference {
    /// What turns one lock into another. A package that either lock holds at several versions is told version by version.
    pub fn between(before: &Lock, after: &Lock) -> Self {
        let (old, new) = (by_name(before), by_name(after));
        let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        let mut told = Self::default();
        let none = BTreeMap::new();
        for name in names {
            let (was, is) = (old.get(name).unwrap_or(&none), new.get(name).unwrap_or(&none));
            if let (Some(from), Some(to)) = (only(was), only(is))
                && from != to
            {
                let step = step(after.format.ecosystem(), from, to);
                told.changed.push(Change {
                    name: name.to_owned(),
                    from: from.to_owned(),
                    to: to.to_owned(),
                    step,
                });
                continue;
            }
            let pin =
                |version: Option<&str>| Pin { name: name.to_owned(), version: version.map(str::to_owned) };
            told.removed.extend(was.keys().filter(|version| !is.contains_key(*version)).copied().map(pin));
            told.added.extend(is.keys().filter(|version| !was.contains_key(*version)).copied().map(pin));
            let both = was
                .iter()
                .filter(|(version, seals)| is.get(*version).is_some_and(|now| replaced(seals, now)));
            told.replaced.extend(both.map(|(version, _)| pin(*version)));
        }
        told
    }

    /// Whether the locks hold the same.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty()
            && self.removed.is_empty()
            && self.changed.is_empty()
            && self.replaced.is_empty()
    }
}

/// The entries of one name, by version: a lock of npm may hold the same version at several places.
type Versions<'l> = BTreeMap<Option<&'l str>, Vec<&'l Package>>;

fn by_name(lock: &Lock) -> BTreeMap<&str, Versions<'_>> {
    let mut names: BTreeMap<&str, Versions<'_>> = BTreeMap::new();
    for package in &lock.packages {
        names.entry(&package.name).or_default().entry(package.version.as_deref()).or_default().push(package);
    }
    names
}

fn only<'l>(versions: &Versions<'l>) -> Option<&'l str> {
    match (versions.len(), versions.first_key_value()) {
        (1, Some((version, _))) => *version,
        _ => None,
    }
}

/// Digests decide where there were some: one that stays is the same content from wherever (a wheel more, a mirror), none
/// that stays is other content, a digest of another kind, or no digest any longer. Else the source and host decide.
fn replaced(before: &[&Package], after: &[&Package]) -> bool {
    let sources = |of: &[&Package]| of.iter().map(|p| (p.source, p.host.clone())).collect::<BTreeSet<_>>();
    let digests =
        |of: &[&Package]| of.iter().flat_map(|p| p.digests.iter().cloned()).collect::<BTreeSet<_>>();
    let was = digests(before);
    if was.is_empty() { sources(before) != sources(after) } else { was.is_disjoint(&digests(after)) }
}
