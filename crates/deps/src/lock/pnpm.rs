//! `pnpm-lock.yaml`, versions 6 and 9.

use super::yaml::{self, Yaml};
use super::{Package, Read, Source, Unread, host, named, within};

const KNOWN: &str = "6.x and 9.x";

pub(super) fn read(text: &str) -> Read {
    let file = yaml::parse(text)?;
    let Some(edition) = file.said("lockfileVersion").map(str::to_owned) else {
        return Err(Unread::Edition("none".into(), KNOWN));
    };
    let old = match edition.split('.').next() {
        Some("6") => true,
        Some("9") => false,
        _ => return Err(Unread::Edition(edition, KNOWN)),
    };
    let mut packages = Vec::new();
    if let Some(Yaml::Map(entries)) = file.get("packages") {
        within(entries.len())?;
        packages.extend(entries.iter().filter_map(|(key, entry)| entered(key, entry, old)));
    }
    // One package with other peers beside it is one package.
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    packages.dedup_by(|a, b| a == b);
    Ok((Some(edition), packages))
}

fn entered(key: &str, entry: &Yaml, old: bool) -> Option<Package> {
    let bare = key.strip_prefix('/').filter(|_| old).unwrap_or(key);
    // The peers that it was resolved with stand behind it.
    let bare = bare.split('(').next().unwrap_or(bare);
    let (name, said) = named(bare).unwrap_or((bare, ""));
    let name = entry.said("name").unwrap_or(name);
    let elsewhere = said.contains(':') || said.is_empty();
    let version = entry.said("version").or((!elsewhere).then_some(said)).map(str::to_owned);
    let resolution = entry.get("resolution")?;
    let (tarball, repository) = (resolution.said("tarball"), resolution.said("repo"));
    let digest = resolution.said("integrity");
    let source = match (resolution.said("type"), tarball) {
        (Some("git"), _) => Source::Git,
        (Some("directory"), _) => Source::Local,
        (_, Some(tarball)) if tarball.starts_with("file:") => Source::Local,
        // Of repositories on hosts that pack them, the archive is kept.
        (_, Some(tarball)) if host(tarball).is_some_and(|host| host == "codeload.github.com") => Source::Git,
        (_, Some(tarball)) if digest.is_some() && tarball.contains("/-/") => Source::Registry,
        (_, Some(_)) => Source::Url,
        (_, None) if digest.is_some() => Source::Registry,
        _ => Source::Unknown,
    };
    let mut package = Package::new(name.to_owned(), version, source);
    package.host = tarball.or(repository).and_then(host);
    package.digests.extend(digest.iter().flat_map(|all| all.split_whitespace()).map(str::to_owned));
    package.dev = entry.is_true("dev");
    package.scripts = entry.is_true("requiresBuild");
    package.engine = entry.get("engines").and_then(|e| e.said("node")).map(str::to_owned);
    Some(package)
}
