//! `yarn.lock`: the form of yarn 1, which is its own, and that of yarn 2 and later, which is YAML.

use super::yaml::{self, Yaml};
use super::{Package, Read, Source, Unread, host, malformed, named, within};

/// Longest line that is taken.
const MAX_LINE: usize = 64 * 1024;

pub(super) fn read(text: &str) -> Read {
    if text.lines().any(|line| line.starts_with("__metadata:")) { berry(text) } else { classic(text) }
}

fn berry(text: &str) -> Read {
    let Yaml::Map(entries) = yaml::parse(text)? else { return Err(malformed("it is no map")) };
    let edition = entries.get("__metadata").and_then(|about| about.said("version")).unwrap_or_default();
    let known = edition.parse().is_ok_and(|edition: u64| (4..=10).contains(&edition));
    if !known {
        return Err(Unread::Edition(edition.to_owned(), "4 to 10"));
    }
    within(entries.len())?;
    let own = entries.iter().filter(|(key, _)| *key != "__metadata");
    let packages = own.filter_map(|(key, entry)| resolved(key, entry)).collect();
    Ok((Some(edition.to_owned()), packages))
}

fn resolved(key: &str, entry: &Yaml) -> Option<Package> {
    let said = entry.said("resolution").unwrap_or(key);
    let (name, from) = named(said)?;
    let (protocol, rest) = from.split_once(':').unwrap_or(("", from));
    let source = match protocol {
        "npm" => Source::Registry,
        "workspace" | "file" | "link" | "portal" | "exec" => Source::Local,
        "http" | "https" if from.contains(".git#") => Source::Git,
        "http" | "https" => Source::Url,
        "git" | "ssh" | "github" => Source::Git,
        // A patch of a package of the registry is what it was made of.
        "patch" if rest.contains("npm%3A") || rest.contains("npm:") => Source::Registry,
        _ if protocol.starts_with("git") => Source::Git,
        _ => Source::Unknown,
    };
    let version = entry.said("version").filter(|version| *version != "0.0.0-use.local");
    let mut package = Package::new(name.to_owned(), version.map(str::to_owned), source);
    package.host = host(from);
    package.digests.extend(entry.said("checksum").map(str::to_owned));
    Some(package)
}

/// An entry begins in the first column with what asks for it, ends its head with a colon, and has its own lines two further in.
fn classic(text: &str) -> Read {
    if !text.contains("# yarn lockfile v1") && text.lines().any(|line| !line.trim().is_empty()) {
        return Err(Unread::Edition("none".into(), "1, and those of yarn 2 and later"));
    }
    let mut packages: Vec<Package> = Vec::new();
    let mut address: Option<String> = None;
    for (index, line) in text.lines().enumerate() {
        let broken = || malformed(format!("line {} is not one of yarn's", index + 1));
        if line.len() > MAX_LINE {
            return Err(broken());
        }
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if !line.starts_with(' ') {
            if let Some(last) = packages.last_mut() {
                sourced(last, address.take().as_deref());
            }
            let head = line.strip_suffix(':').ok_or_else(broken)?;
            let first = unquoted(head.split(", ").next().unwrap_or(head));
            let (name, asked) = named(first).ok_or_else(broken)?;
            // An alias: what it stands for is behind it.
            let real = asked.strip_prefix("npm:").and_then(named).map_or(name, |(real, _)| real);
            let source = if asked.starts_with("file:") || asked.starts_with("link:") {
                Source::Local
            } else {
                Source::Unknown
            };
            packages.push(Package::new(real.to_owned(), None, source));
            within(packages.len())?;
            continue;
        }
        let own = line.strip_prefix("  ").filter(|own| !own.starts_with(' '));
        let (Some(package), Some((key, value))) =
            (packages.last_mut(), own.and_then(|own| own.split_once(' ')))
        else {
            continue;
        };
        match key {
            "version" => package.version = Some(unquoted(value).to_owned()),
            "resolved" => address = Some(unquoted(value).to_owned()),
            "integrity" => package.digests.extend(unquoted(value).split_whitespace().map(str::to_owned)),
            _ => {}
        }
    }
    if let Some(last) = packages.last_mut() {
        sourced(last, address.as_deref());
    }
    Ok((Some("1".to_owned()), packages))
}

/// Where `resolved` says that it comes from. Behind `#` stands the SHA-1 of an archive, or a commit.
fn sourced(package: &mut Package, address: Option<&str>) {
    let Some(address) = address else { return };
    let (place, behind) = address.split_once('#').unwrap_or((address, ""));
    package.host = host(place);
    let is_git = place.starts_with("git")
        || place.starts_with("ssh:")
        || place.strip_suffix(".git").is_some()
        || package.host.as_deref() == Some("codeload.github.com");
    package.source = if is_git {
        Source::Git
    } else if place.starts_with("file:") || !place.contains("://") {
        Source::Local
    } else if place.contains("/-/") {
        Source::Registry
    } else {
        Source::Url
    };
    if package.digests.is_empty() && !behind.is_empty() && package.source != Source::Git {
        package.digests.insert(format!("sha1:{behind}"));
    }
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}
