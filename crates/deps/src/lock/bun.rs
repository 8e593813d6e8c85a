//! `bun.lock`, the text form: JSON with commas before what closes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Package, Read, Source, Unread, host, malformed, named, within};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    lockfile_version: Option<u64>,
    #[serde(default)]
    packages: BTreeMap<String, Vec<Value>>,
}

pub(super) fn read(text: &str) -> Read {
    let file: File = serde_json::from_str(&strict(text)).map_err(malformed)?;
    let edition = file.lockfile_version.ok_or_else(|| Unread::Edition("none".into(), "0 to 2"))?;
    if edition > 2 {
        return Err(Unread::Edition(edition.to_string(), "0 to 2"));
    }
    within(file.packages.len())?;
    let packages = file.packages.into_iter().filter_map(|(place, entry)| entered(place, &entry)).collect();
    Ok((Some(edition.to_string()), packages))
}

/// `[ "NAME@VERSION", REGISTRY, { … }, DIGEST ]`; of other sources the second is what the package says of itself.
fn entered(place: String, entry: &[Value]) -> Option<Package> {
    let (name, from) = named(entry.first()?.as_str()?)?;
    let protocol = from.split_once(':').map(|(protocol, _)| protocol);
    let source = match protocol {
        None => Source::Registry,
        Some("workspace" | "file" | "link") => Source::Local,
        Some("http" | "https") => Source::Url,
        Some("github" | "ssh") => Source::Git,
        Some(protocol) if protocol.starts_with("git") => Source::Git,
        Some(_) => Source::Unknown,
    };
    let version = protocol.is_none().then(|| from.to_owned());
    let mut package = Package::new(name.to_owned(), version, source);
    let registry = entry.get(1).and_then(Value::as_str).filter(|registry| !registry.is_empty());
    package.host = registry.and_then(host).or_else(|| host(from));
    let digest = entry.iter().skip(1).filter_map(Value::as_str).find(|text| text.starts_with("sha"));
    package.digests.extend(digest.map(str::to_owned));
    package.place = Some(place);
    Some(package)
}

/// The text without commas before what closes, outside of strings.
fn strict(text: &str) -> String {
    let mut strict = String::with_capacity(text.len());
    let (mut in_text, mut escaped) = (false, false);
    // Where the last comma stands with nothing but space behind it.
    let mut comma: Option<usize> = None;
    for c in text.chars() {
        if in_text {
            in_text = escaped || c != '"';
            escaped = c == '\\' && !escaped;
        } else {
            match c {
                '"' => (in_text, comma) = (true, None),
                ',' => comma = Some(strict.len()),
                ']' | '}' => {
                    if let Some(at) = comma.take() {
                        strict.replace_range(at..=at, " ");
                    }
                }
                c if c.is_whitespace() => {}
                _ => comma = None,
            }
        }
        strict.push(c);
    }
    strict
}
