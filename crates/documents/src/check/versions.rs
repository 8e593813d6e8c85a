//! Versions.

use std::cmp::Ordering;

use semver::{Version, VersionReq};

use crate::ground::{Ground, Least, Runtime, numbers};

/// A runtime that is asked for: less than every manifest asks for, or more than is used here.
pub(super) fn runtime(ground: &Ground<'_>, runtime: Runtime, version: &[u64]) -> Option<String> {
    let of = |is_pin: bool| {
        ground
            .least
            .iter()
            .filter(move |l| l.runtime == runtime && l.is_pin == is_pin)
            .collect::<Vec<&Least>>()
    };
    let shown = |least: &Least| least.version.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
    let (asked, used) = (of(false), of(true));
    if !asked.is_empty() && asked.iter().all(|least| compared(&least.version, version) == Ordering::Greater) {
        let least = asked.first()?;
        return Some(format!("{} asks for {} {}", least.from, runtime.name(), shown(least)));
    }
    let pin = used.iter().find(|pin| compared(&pin.version, version) == Ordering::Less)?;
    Some(format!("{} uses {} {}", pin.from, runtime.name(), shown(pin)))
}

/// As far as both are said: 18 is no more and no less than 18.12.
fn compared(one: &[u64], other: &[u64]) -> Ordering {
    let shared = one.len().min(other.len());
    one.iter().take(shared).cmp(other.iter().take(shared))
}

/// A dependency of npm: another major version than every manifest asks for.
pub(super) fn dependency(ground: &Ground<'_>, name: &str, version: &str) -> Option<String> {
    let major = *numbers(version)?.first()?;
    let asked: Vec<(&str, &str)> = ground
        .packages
        .iter()
        .filter_map(|p| Some((p.path.as_str(), p.dependencies.get(name)?.as_str())))
        .collect();
    let is_other = |range: &str| {
        // What allows a choice, or no registry knows, decides nothing.
        let is_plain = range
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '^' | '~' | '=' | '.' | '-' | '+' | 'v'));
        is_plain && numbers(range).and_then(|n| n.first().copied()).is_some_and(|first| first != major)
    };
    let (path, range) = asked.first()?;
    asked.iter().all(|(_, range)| is_other(range)).then(|| format!("{path} asks for {name} {range}"))
}

/// How others depend on a crate of this repository.
pub(super) fn snippet(ground: &Ground<'_>, name: &str, version: &str) -> Option<String> {
    let own = ground.crates.iter().find(|c| c.name == name)?.version.as_deref()?;
    let parsed = Version::parse(own).ok().filter(|v| v.pre.is_empty() && *v != Version::new(0, 0, 0))?;
    let asked = VersionReq::parse(version).ok()?;
    (!asked.matches(&parsed)).then(|| format!("{name} is at {own}"))
}
