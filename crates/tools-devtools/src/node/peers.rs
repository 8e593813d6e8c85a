//! Peers of locked packages, found as Node would find them: in the nearest `node_modules` above.

use std::collections::BTreeMap;

use nodejs_semver::{Range, Version};
use serde::Deserialize;
use serde_json::Value;

/// The part of a `package-lock.json` of edition 2 or 3 that peers are in.
#[derive(Deserialize)]
struct File {
    packages: Option<BTreeMap<String, Entry>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    version: Option<String>,
    peer_dependencies: Option<BTreeMap<String, Value>>,
    peer_dependencies_meta: Option<BTreeMap<String, Value>>,
}

/// A peer that is not as a package wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unmet {
    /// The package that wants it, by its place in the lock; the project itself is empty.
    pub(crate) place: String,
    /// The peer.
    pub(crate) peer: String,
    /// The range that is wanted.
    pub(crate) wants: String,
    /// The version that it would get; none where there is none.
    pub(crate) has: Option<String>,
}

/// The peers that are missing or of another version. What is optional may be missing, and what is no range is passed over. Nothing of a
/// lock that is none of these editions.
pub(crate) fn unmet(lock: &[u8]) -> Option<Vec<Unmet>> {
    let file: File = serde_json::from_slice(lock.strip_prefix("\u{feff}".as_bytes()).unwrap_or(lock)).ok()?;
    let packages = file.packages?;
    let mut all = Vec::new();
    for (place, entry) in &packages {
        for (peer, wants) in entry.peer_dependencies.iter().flatten() {
            let Some(wants) = wants.as_str() else { continue };
            let Ok(range) = Range::parse(wants) else { continue };
            let meta = entry.peer_dependencies_meta.as_ref().and_then(|meta| meta.get(peer));
            let optional = meta.and_then(|meta| meta.get("optional")).and_then(Value::as_bool) == Some(true);
            let has = nearest(&packages, place, peer);
            let met = match has.map(|has| has.version.as_deref()) {
                None => optional,
                // A link to a folder of the workspace has no version.
                Some(None) => true,
                Some(Some(version)) => Version::parse(version)
                    .map_or(true, |version| range.satisfies_with_prerelease(&version, true)),
            };
            if !met {
                let has = has.and_then(|has| has.version.clone());
                all.push(Unmet { place: place.clone(), peer: peer.clone(), wants: wants.to_owned(), has });
            }
        }
    }
    Some(all)
}

/// What `name` means to the package at `place`.
fn nearest<'p>(packages: &'p BTreeMap<String, Entry>, place: &str, name: &str) -> Option<&'p Entry> {
    let mut above = place;
    loop {
        let at = if above.is_empty() {
            format!("node_modules/{name}")
        } else {
            format!("{above}/node_modules/{name}")
        };
        if let Some(entry) = packages.get(&at) {
            return Some(entry);
        }
        if above.is_empty() {
            return None;
        }
        above = match above.rfind("node_modules/") {
            // What a package is installed beside.
            Some(0) => "",
            Some(at) => above.get(..at)?.trim_end_matches('/'),
            // A folder of the workspace: what lies above it.
            None => above.rsplit_once('/').map_or("", |(above, _)| above),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_the_nearest_one() {
        let lock = r#"{"lockfileVersion":3,"packages":{
            "":{"name":"x"},
            "node_modules/react":{"version":"18.2.0"},
            "node_modules/dom":{"version":"1.0.0","peerDependencies":{"react":"^18.0.0"}},
            "node_modules/old":{"version":"1.0.0","peerDependencies":{"react":"^16","gone":"1","maybe":"1"},"peerDependenciesMeta":{"maybe":{"optional":true}}},
            "node_modules/own/node_modules/react":{"version":"16.1.0"},
            "node_modules/own/node_modules/in":{"version":"1.0.0","peerDependencies":{"react":"16"}},
            "packages/web":{"version":"0.0.0","peerDependencies":{"react":"17","odd":"workspace:*"}},
            "node_modules/web":{"resolved":"packages/web","link":true}
        }}"#;
        let told: Vec<_> = unmet(lock.as_bytes())
            .unwrap()
            .into_iter()
            .map(|one| format!("{} {} {} {:?}", one.place, one.peer, one.wants, one.has))
            .collect();
        assert_eq!(
            told,
            [
                "node_modules/old gone 1 None",
                "node_modules/old react ^16 Some(\"18.2.0\")",
                "packages/web react 17 Some(\"18.2.0\")",
            ]
        );
    }

    #[test]
    fn what_is_no_such_lock_tells_nothing() {
        assert_eq!(unmet(b"{}"), None);
        assert_eq!(unmet(b"["), None);
        assert_eq!(unmet(br#"{"packages":{"__proto__":{"peerDependencies":{"a":1}}}}"#), Some(Vec::new()));
    }
}
