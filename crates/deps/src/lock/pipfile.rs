//! `Pipfile.lock`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Package, Read, Source, Unread, host, malformed};

#[derive(Deserialize)]
struct File {
    #[serde(rename = "_meta")]
    meta: Meta,
    /// `default`, `develop` and the categories that a project names itself.
    #[serde(flatten)]
    categories: BTreeMap<String, BTreeMap<String, Entry>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Meta {
    pipfile_spec: Option<u64>,
}

#[derive(Deserialize)]
struct Entry {
    version: Option<String>,
    #[serde(default)]
    hashes: Vec<String>,
    git: Option<String>,
    file: Option<String>,
    path: Option<String>,
}

pub(super) fn read(text: &str) -> Read {
    let mut file: File = serde_json::from_str(text).map_err(malformed)?;
    if let Some(edition) = file.meta.pipfile_spec.filter(|edition| *edition != 6) {
        return Err(Unread::Edition(edition.to_string(), "6"));
    }
    let shipped = file.categories.remove("default").unwrap_or_default();
    let mut packages: Vec<Package> =
        shipped.iter().map(|(name, entry)| package(name.clone(), entry, false)).collect();
    for (name, entry) in file.categories.into_values().flatten() {
        // What is shipped and wanted for development too is listed twice.
        let twice = shipped.get(&name).is_some_and(|other| other.version == entry.version);
        if !twice {
            packages.push(package(name, &entry, true));
        }
    }
    Ok((file.meta.pipfile_spec.map(|edition| edition.to_string()), packages))
}

fn package(name: String, entry: &Entry, dev: bool) -> Package {
    let version = entry.version.as_deref().map(|said| said.trim_start_matches('=').to_owned());
    let (source, address) = match (&entry.git, &entry.file, &entry.path) {
        (Some(git), ..) => (Source::Git, Some(git)),
        (_, Some(file), _) if host(file).is_some() => (Source::Url, Some(file)),
        (_, Some(_), _) | (.., Some(_)) => (Source::Local, None),
        _ => (Source::Registry, None),
    };
    let mut package = Package::new(name, version, source);
    package.host = address.and_then(|address| host(address));
    package.digests.extend(entry.hashes.iter().cloned());
    package.dev = Some(dev);
    package
}
