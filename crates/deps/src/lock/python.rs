//! The locks of uv and Poetry, and `pylock.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

use super::{Package, Read, Source, Unread, host, malformed};

#[derive(Deserialize)]
struct Uv {
    version: u64,
    #[serde(default)]
    package: Vec<UvEntry>,
}

#[derive(Deserialize)]
struct UvEntry {
    name: String,
    version: Option<String>,
    #[serde(default)]
    source: Table,
    sdist: Option<Hashed>,
    #[serde(default)]
    wheels: Vec<Hashed>,
}

/// A file with its digest, `sha256:…`.
#[derive(Deserialize)]
struct Hashed {
    hash: Option<String>,
}

pub(super) fn uv(text: &str) -> Read {
    let file: Uv = toml::from_str(text).map_err(malformed)?;
    if file.version != 1 {
        return Err(Unread::Edition(file.version.to_string(), "1"));
    }
    let packages = file.package.into_iter().map(|entry| {
        let (origin, address) = told(&entry.source);
        let mut package = Package::new(entry.name, entry.version, origin);
        package.host = address.and_then(host);
        package.digests.extend(entry.sdist.into_iter().chain(entry.wheels).filter_map(|file| file.hash));
        package
    });
    Ok((Some(file.version.to_string()), packages.collect()))
}

/// uv names the kind of a source by its key.
fn told(source: &Table) -> (Source, Option<&str>) {
    let Some((kind, address)) = source.iter().next() else { return (Source::Unknown, None) };
    // A registry may be a local folder; its address then has no host, and it is a registry all the same.
    let origin = match kind.as_str() {
        "registry" => Source::Registry,
        "git" => Source::Git,
        "url" => Source::Url,
        "path" | "directory" | "editable" | "virtual" => Source::Local,
        _ => Source::Unknown,
    };
    (origin, address.as_str())
}

#[derive(Deserialize)]
struct Poetry {
    #[serde(default)]
    package: Vec<PoetryEntry>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Metadata {
    lock_version: Option<String>,
    /// Before Poetry 1.3 the digests of all packages stood here.
    #[serde(default)]
    files: BTreeMap<String, Vec<Hashed>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct PoetryEntry {
    name: String,
    version: String,
    /// Poetry 1: `main` or `dev`.
    category: Option<String>,
    /// Poetry 2: the groups that want it.
    groups: Option<Vec<String>>,
    python_versions: Option<String>,
    #[serde(default)]
    files: Vec<Hashed>,
    source: Option<PoetrySource>,
}

#[derive(Deserialize)]
struct PoetrySource {
    r#type: Option<String>,
    url: Option<String>,
}

pub(super) fn poetry(text: &str) -> Read {
    let file: Poetry = toml::from_str(text).map_err(malformed)?;
    let mut apart = file.metadata.files;
    let packages = file.package.into_iter().map(|entry| {
        let kind = entry.source.as_ref().map(|source| source.r#type.as_deref());
        let origin = match kind {
            // No source is PyPI; `legacy` is an index of PEP 503.
            None | Some(None | Some("legacy")) => Source::Registry,
            Some(Some("git")) => Source::Git,
            Some(Some("url")) => Source::Url,
            Some(Some("file" | "directory")) => Source::Local,
            Some(Some(_)) => Source::Unknown,
        };
        let older = apart.remove(&entry.name).unwrap_or_default();
        let mut package = Package::new(entry.name, Some(entry.version), origin);
        package.host = entry.source.and_then(|source| source.url).as_deref().and_then(host);
        package.digests.extend(entry.files.into_iter().chain(older).filter_map(|file| file.hash));
        package.dev = match (entry.groups, entry.category) {
            (Some(groups), _) => Some(!groups.iter().any(|group| group == "main")),
            (None, Some(category)) => Some(category == "dev"),
            (None, None) => None,
        };
        package.engine = entry.python_versions;
        package
    });
    let packages = packages.collect();
    Ok((file.metadata.lock_version, packages))
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Pylock {
    lock_version: String,
    #[serde(default)]
    packages: Vec<PylockEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct PylockEntry {
    name: String,
    version: Option<String>,
    requires_python: Option<String>,
    index: Option<String>,
    vcs: Option<Table>,
    directory: Option<Table>,
    archive: Option<Archive>,
    sdist: Option<Archive>,
    #[serde(default)]
    wheels: Vec<Archive>,
}

#[derive(Deserialize)]
struct Archive {
    url: Option<String>,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
}

pub(super) fn pylock(text: &str) -> Read {
    let file: Pylock = toml::from_str(text).map_err(malformed)?;
    // PEP 751: a reader refuses another major version.
    if file.lock_version.split('.').next() != Some("1") {
        return Err(Unread::Edition(file.lock_version, "1.x"));
    }
    let packages = file.packages.into_iter().map(sourced).collect();
    Ok((Some(file.lock_version), packages))
}

fn sourced(entry: PylockEntry) -> Package {
    let repository =
        entry.vcs.as_ref().and_then(|vcs| vcs.get("url")).and_then(Value::as_str).map(str::to_owned);
    let archive = entry.archive.as_ref().and_then(|archive| archive.url.clone());
    let published = entry.sdist.is_some() || !entry.wheels.is_empty();
    let first = entry.sdist.iter().chain(&entry.wheels).find_map(|file| file.url.clone());
    let (origin, address) = if entry.vcs.is_some() {
        (Source::Git, repository)
    } else if entry.directory.is_some() {
        (Source::Local, None)
    } else if entry.archive.is_some() {
        (if archive.is_some() { Source::Url } else { Source::Local }, archive)
    } else if published || entry.index.is_some() {
        (Source::Registry, entry.index.or(first))
    } else {
        (Source::Unknown, None)
    };
    let files = entry.archive.into_iter().chain(entry.sdist).chain(entry.wheels);
    let mut package = Package::new(entry.name, entry.version, origin);
    package.host = address.as_deref().and_then(host);
    package.digests.extend(files.flat_map(|file| file.hashes).map(|(kind, sum)| format!("{kind}:{sum}")));
    package.engine = entry.requires_python;
    package
}
