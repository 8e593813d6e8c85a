//! `Cargo.lock`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Package, Read, Source, Unread, host, malformed};

#[derive(Deserialize)]
struct File {
    version: Option<u64>,
    /// Before Cargo 0.18 the project stood apart from its packages.
    root: Option<Entry>,
    #[serde(default)]
    package: Vec<Entry>,
    /// Edition 1 keeps checksums here: `"checksum NAME VERSION (SOURCE)" = "…"`.
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

pub(super) fn read(text: &str) -> Read {
    let file: File = toml::from_str(text).map_err(malformed)?;
    if let Some(edition) = file.version.filter(|edition| !(1..=4).contains(edition)) {
        return Err(Unread::Edition(edition.to_string(), "1 to 4"));
    }
    let entries = file.root.into_iter().chain(file.package);
    let packages = entries.map(|entry| package(entry, &file.metadata)).collect();
    Ok((file.version.map(|edition| edition.to_string()), packages))
}

fn package(entry: Entry, metadata: &BTreeMap<String, String>) -> Package {
    let source = entry.source.as_deref();
    let origin = match source.and_then(|source| source.split_once('+')) {
        Some(("registry" | "sparse", _)) => Source::Registry,
        Some(("git", _)) => Source::Git,
        Some(_) => Source::Unknown,
        None => Source::Local,
    };
    let apart =
        source.and_then(|s| metadata.get(&format!("checksum {} {} ({s})", entry.name, entry.version)));
    // `<none>` is what edition 1 writes for git.
    let checksum = entry.checksum.or_else(|| apart.cloned()).filter(|sum| sum != "<none>");
    let mut package = Package::new(entry.name, Some(entry.version), origin);
    package.host = source.and_then(host);
    package.digests.extend(checksum.map(|sum| format!("sha256:{sum}")));
    package
}
