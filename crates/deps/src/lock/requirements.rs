//! `requirements.txt` of pip: only what is pinned by `==` has a version here.

use super::{Package, Read, Source, host, within};

pub(super) fn read(text: &str) -> Read {
    let mut packages = Vec::new();
    for line in joined(text) {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        packages.extend(required(line));
        within(packages.len())?;
    }
    Ok((None, packages))
}

/// The lines, those that end with a backslash with the next, without comments.
fn joined(text: &str) -> Vec<String> {
    let (mut lines, mut open) = (Vec::new(), String::new());
    for line in text.lines() {
        let line = match line.find('#') {
            Some(0) => "",
            // A fragment of an address has no space before it.
            Some(_) => line.split_once(" #").map_or(line, |(line, _)| line),
            None => line,
        };
        match line.strip_suffix('\\') {
            Some(begun) => open.push_str(&format!("{begun} ")),
            None => lines.push(std::mem::take(&mut open) + line),
        }
    }
    lines.push(open);
    lines
}

fn required(line: &str) -> Option<Package> {
    if let Some(rest) = line.strip_prefix("-e").or_else(|| line.strip_prefix("--editable")) {
        let place = rest.trim_start_matches(['=', ' ']);
        return Some(elsewhere(place.rsplit_once("#egg=").map_or(place, |(_, name)| name), place));
    }
    if line.starts_with('-') {
        return None;
    }
    let mut words = line.split_whitespace();
    let digests = words.clone().filter_map(|word| word.strip_prefix("--hash=").map(str::to_owned)).collect();
    let said: Vec<&str> = words.by_ref().take_while(|word| !word.starts_with("--")).collect();
    let said = said.join(" ");
    let said = said.split(';').next().unwrap_or_default().trim();
    let mut package = if let Some((name, place)) = said.split_once(" @ ") {
        elsewhere(bare(name), place.trim())
    } else if said.contains("://") || said.starts_with(['.', '/']) {
        elsewhere(said, said)
    } else {
        let name = bare(said);
        let range = said.get(name.len()..).unwrap_or_default();
        let range = if range.starts_with('[') { range.split_once(']').map_or("", |(_, r)| r) } else { range };
        let exact = range.trim().strip_prefix("==").map(|version| version.trim_start_matches('=').trim());
        let version = exact.filter(|version| !version.is_empty() && !version.contains([',', '*', ' ']));
        if name.is_empty() {
            return None;
        }
        Package::new(name.to_owned(), version.map(str::to_owned), Source::Registry)
    };
    package.digests = digests;
    Some(package)
}

/// The name at the start of a requirement.
fn bare(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

fn elsewhere(name: &str, place: &str) -> Package {
    let source = if place.starts_with("git+") || place.starts_with("hg+") || place.starts_with("svn+") {
        Source::Git
    } else if place.starts_with("file:") || !place.contains("://") {
        Source::Local
    } else {
        Source::Url
    };
    let mut package = Package::new(name.to_owned(), None, source);
    package.host = host(place);
    package
}
