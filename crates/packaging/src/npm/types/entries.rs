//! Which entry points a package has (§3.2).

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::path::ancestors;
use super::world::World;
use crate::npm::types::json::Json;

/// Which entry points are looked at; all that the package has when nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryOptions {
    /// Only these, instead of those that are found.
    pub only: Vec<String>,
    /// These as well, when the package has `exports`.
    pub include: Vec<String>,
    /// Not these, when the package has `exports`.
    pub exclude: Vec<String>,
}

/// The subpaths, in the order in which they are looked at.
pub(super) fn entries(world: &World<'_>, options: &EntryOptions) -> Vec<String> {
    let subpath = |entry: &String| subpath(world, entry);
    if !options.only.is_empty() {
        return once(options.only.iter().map(subpath));
    }
    let Some(exports) = world.manifest.get("exports") else {
        let proxies = proxies(world);
        return if proxies.is_empty() { vec![".".to_owned()] } else { proxies };
    };
    let mut found = Vec::new();
    subpaths(exports, &mut found);
    if found.is_empty() && has_target(exports) {
        found.push(".".to_owned());
    }
    let excluded: BTreeSet<String> = options.exclude.iter().map(subpath).collect();
    once(
        found
            .into_iter()
            .chain(options.include.iter().map(subpath))
            .filter(|entry| !excluded.contains(entry)),
    )
}

fn once(entries: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    entries.filter(|entry| seen.insert(entry.clone())).collect()
}

/// A subpath as it may be written: with the package's name, with `./`, or bare.
fn subpath(world: &World<'_>, entry: &str) -> String {
    let entry = entry.trim();
    match entry.strip_prefix(world.name.as_str()) {
        Some("") => ".".to_owned(),
        Some(rest) if rest.starts_with('/') => format!(".{rest}"),
        _ if entry == "." || entry.starts_with("./") => entry.to_owned(),
        _ => format!("./{entry}"),
    }
}

fn subpaths(exports: &Json, found: &mut Vec<String>) {
    let Json::Object(keys) = exports else { return };
    if keys.first().is_some_and(|(key, _)| key.starts_with('.')) {
        found.extend(keys.iter().filter(|(_, target)| has_target(target)).map(|(key, _)| key.clone()));
    } else {
        keys.values().for_each(|inner| subpaths(inner, found));
    }
}

/// Whether something else than null is in it.
fn has_target(exports: &Json) -> bool {
    match exports {
        Json::Null => false,
        Json::List(list) => list.iter().any(has_target),
        Json::Object(keys) => keys.values().any(has_target),
        Json::Bool(_) | Json::Number(_) | Json::Text(_) => true,
    }
}

/// Without `exports`: the folders whose package.json has a `main`. A folder whose package.json has a name of its own is
/// another package that was packed along, with all that is below it.
fn proxies(world: &World<'_>) -> Vec<String> {
    let mut files: Vec<&str> =
        world.files().filter(|path| *path == "package.json" || path.ends_with("/package.json")).collect();
    files.sort_by_key(|path| path.len());
    let mut vendored = BTreeSet::new();
    let mut found = Vec::new();
    for file in files {
        let path = world.absolute(file);
        let Some(Ok(manifest)) = world.read(&path).map(Json::parse) else { continue };
        let folder = super::path::folder(&path);
        if let Some(name) = manifest.get("name").filter(|name| name.truthy()) {
            let Some(name) = name.text() else { continue };
            if !name.starts_with(world.name.as_str()) {
                vendored.insert(folder.to_owned());
                continue;
            }
        }
        if manifest.get("main").is_some() && !ancestors(folder).any(|above| vendored.contains(above)) {
            found.push(format!(".{}", folder.strip_prefix(world.root.as_str()).unwrap_or_default()));
        }
    }
    found.sort_by(|a, b| by_component(a, b));
    found
}

/// By components without regard to case; the one that ends first comes first.
fn by_component(a: &str, b: &str) -> Ordering {
    let upper = |path: &str| path.split('/').map(str::to_uppercase).collect::<Vec<_>>();
    upper(a).cmp(&upper(b))
}
