//! `package-lock.json` and `npm-shrinkwrap.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Package, Read, Source, Unread, host, malformed, within};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    lockfile_version: Option<u64>,
    packages: Option<BTreeMap<String, Entry>>,
    dependencies: Option<BTreeMap<String, Old>>,
}

/// A package of the editions 2 and 3, named by its place.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    name: Option<String>,
    version: Option<String>,
    resolved: Option<Value>,
    integrity: Option<String>,
    #[serde(default)]
    link: bool,
    #[serde(default)]
    dev: bool,
    #[serde(default)]
    has_install_script: bool,
    /// A map; very old packages have a list.
    engines: Option<Value>,
}

/// A package of edition 1, with those nested below it.
#[derive(Deserialize)]
struct Old {
    version: Option<String>,
    resolved: Option<Value>,
    integrity: Option<String>,
    #[serde(default)]
    dev: bool,
    #[serde(default)]
    dependencies: BTreeMap<String, Old>,
}

pub(super) fn read(text: &str) -> Read {
    let file: File = serde_json::from_str(text).map_err(malformed)?;
    let edition = file.lockfile_version.unwrap_or(1);
    if !(1..=3).contains(&edition) {
        return Err(Unread::Edition(edition.to_string(), "1 to 3"));
    }
    let mut packages = Vec::new();
    // Edition 2 holds both; npm itself then goes by `packages`.
    if let Some(entries) = file.packages {
        within(entries.len())?;
        packages.extend(entries.into_iter().filter_map(|(place, entry)| entered(place, entry)));
    } else if let Some(old) = file.dependencies {
        nested("", old, &mut packages)?;
    }
    Ok((Some(edition.to_string()), packages))
}

/// The project itself (the empty place) is not pinned, and a link stands for the folder that has an entry of its own.
fn entered(place: String, entry: Entry) -> Option<Package> {
    if place.is_empty() || entry.link {
        return None;
    }
    let installed = place.rsplit_once("node_modules/").map(|(_, name)| name.to_owned());
    let local = installed.is_none();
    let name = entry.name.or(installed).unwrap_or_else(|| place.clone());
    let address = entry.resolved.as_ref().and_then(Value::as_str);
    let source = if local { Source::Local } else { origin(address, entry.integrity.is_some()) };
    let mut package = Package::new(name, entry.version, source);
    package.host = address.and_then(host);
    package.digests.extend(entry.integrity.iter().flat_map(|all| all.split_whitespace()).map(str::to_owned));
    package.dev = Some(entry.dev);
    package.scripts = Some(entry.has_install_script);
    package.engine =
        entry.engines.as_ref().and_then(|e| e.get("node")).and_then(Value::as_str).map(str::to_owned);
    package.place = Some(place);
    Some(package)
}

/// `serde_json` bounds how deep a file nests, and so this recursion.
fn nested(above: &str, old: BTreeMap<String, Old>, into: &mut Vec<Package>) -> Result<(), Unread> {
    for (alias, entry) in old {
        let place = format!("{above}node_modules/{alias}");
        let said = entry.version.as_deref().unwrap_or_default();
        let address = entry.resolved.as_ref().and_then(Value::as_str);
        // Edition 1 has no field for these: the version says `npm:REAL@1.0.0`, `file:…`, `git+…` or an address.
        let real = said.strip_prefix("npm:").and_then(|real| real.rsplit_once('@'));
        let elsewhere = said.contains(':') && real.is_none();
        let (name, version) = match real {
            Some((name, version)) => (name.to_owned(), Some(version.to_owned())),
            None => (alias, entry.version.clone().filter(|_| !elsewhere)),
        };
        let from = if elsewhere { Some(said) } else { address };
        let mut package = Package::new(name, version, origin(from, entry.integrity.is_some()));
        package.host = from.and_then(host);
        package
            .digests
            .extend(entry.integrity.iter().flat_map(|all| all.split_whitespace()).map(str::to_owned));
        package.dev = Some(entry.dev);
        package.place = Some(place.clone());
        into.push(package);
        within(into.len())?;
        nested(&format!("{place}/"), entry.dependencies, into)?;
    }
    Ok(())
}

/// A registry's archive lies below `/-/` (GitHub's below `/download/`); npm writes no other mark of it. With
/// `omit-lockfile-registry-resolved` it leaves out the addresses of registries alone, and keeps the digests.
fn origin(address: Option<&str>, sealed: bool) -> Source {
    let Some(address) = address else { return if sealed { Source::Registry } else { Source::Unknown } };
    let scheme = address.split(':').next().unwrap_or_default();
    if scheme.starts_with("git") || matches!(scheme, "github" | "bitbucket" | "gist" | "ssh") {
        Source::Git
    } else if scheme == "file" {
        Source::Local
    } else if address.contains("/-/") || host(address).is_some_and(|host| host == "npm.pkg.github.com") {
        Source::Registry
    } else if address.contains("://") {
        Source::Url
    } else {
        Source::Unknown
    }
}
