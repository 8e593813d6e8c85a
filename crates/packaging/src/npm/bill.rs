//! What an npm package brings with it, from `package-lock.json` or `npm-shrinkwrap.json` (lockfileVersion 2 and 3,
//! [npm's documentation](https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json)).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

use super::manifest::Manifest;
pub use crate::sbom::Bill;
use crate::sbom::{Component, purl};

/// How many components are listed at most.
pub const MAX_COMPONENTS: usize = 20_000;

/// Reads the bill of the package in `folder` (empty for the top) from a lock file. Without one only what the manifest names
/// is known, by ranges.
pub fn bill(manifest: &Manifest, lock: Option<&[u8]>, folder: &str) -> Bill {
    let package = Component {
        purl: purl("npm", manifest.name(), Some(manifest.version())),
        name: manifest.name().to_owned(),
        version: Some(manifest.version().to_owned()),
        license: manifest.license(),
        ..Component::default()
    };
    let mut bill = Bill { package, ..Bill::default() };
    let lock: Option<Value> = lock.and_then(|bytes| serde_json::from_slice(bytes).ok());
    match lock.as_ref().and_then(|lock| lock.get("packages")).and_then(Value::as_object) {
        Some(packages) => Reader { packages, ids: BTreeMap::new() }.read(manifest, folder, &mut bill),
        None => {
            let why = if lock.is_some() {
                "the lock file is older than npm 7: only what the manifest names is listed"
            } else {
                "there is no package-lock.json: only what the manifest names is listed, without versions"
            };
            bill.gaps.push(why.to_owned());
            named(manifest, &mut bill);
        }
    }
    bill
}

/// What a manifest names: `optional` with it.
fn wanted(manifest: &Manifest) -> impl Iterator<Item = (&str, bool)> {
    let of = |field, optional| manifest.dependencies(field).map(move |(name, _)| (name, optional));
    of("dependencies", false).chain(of("optionalDependencies", true))
}

fn named(manifest: &Manifest, bill: &mut Bill) {
    for (name, optional) in wanted(manifest).take(MAX_COMPONENTS) {
        let purl = purl("npm", name, None);
        bill.package.needs.push(purl.clone());
        bill.components.push(Component { purl, name: name.to_owned(), optional, ..Component::default() });
    }
}

struct Reader<'l> {
    packages: &'l Map<String, Value>,
    /// Package URLs by where a package lies; a package that is being read is in it already.
    ids: BTreeMap<String, String>,
}

impl Reader<'_> {
    fn read(&mut self, manifest: &Manifest, folder: &str, bill: &mut Bill) {
        let mut open: Vec<(String, bool)> = Vec::new();
        for (name, optional) in wanted(manifest) {
            match self.find(folder, name) {
                Some(place) => {
                    bill.package.needs.push(self.id(&place));
                    open.push((place, optional));
                }
                None if optional => {}
                None => bill.gaps.push(format!("{name} is not in the lock file: run npm install")),
            }
        }
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        while let Some((place, optional)) = open.pop() {
            if let Some(known) = seen.get(&place).and_then(|i| bill.components.get_mut(*i)) {
                // What one needs always is not optional because another needs it sometimes.
                if known.optional && !optional {
                    known.optional = false;
                    open.extend(self.below(&place, false).into_iter().map(|(at, o, _)| (at, o)));
                }
                continue;
            }
            if bill.components.len() == MAX_COMPONENTS {
                bill.gaps.push(format!("there are more than {MAX_COMPONENTS} components"));
                break;
            }
            let below = self.below(&place, optional);
            let mut component = self.component(&place, optional);
            component.needs = below.iter().map(|(_, _, id)| id.clone()).collect();
            seen.insert(place, bill.components.len());
            bill.components.push(component);
            open.extend(below.into_iter().map(|(at, o, _)| (at, o)));
        }
    }

    /// What the package at a place needs: where it lies, whether only sometimes, and its URL.
    fn below(&mut self, place: &str, optional: bool) -> Vec<(String, bool, String)> {
        let entry = self.packages.get(place);
        let names = |field| {
            entry
                .and_then(|e| e.get(field))
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(name, _)| name.clone())
        };
        let wanted: Vec<(String, bool)> = names("dependencies")
            .map(|name| (name, optional))
            .chain(names("optionalDependencies").map(|name| (name, true)))
            .collect();
        wanted
            .into_iter()
            .filter_map(|(name, optional)| {
                let at = self.find(place, &name)?;
                let id = self.id(&at);
                Some((at, optional, id))
            })
            .collect()
    }

    /// Where Node finds `name` from `place`: its own `node_modules`, then those above; links lead to a workspace's folder.
    fn find(&self, place: &str, name: &str) -> Option<String> {
        let mut at = place;
        loop {
            let candidate = if at.is_empty() {
                format!("node_modules/{name}")
            } else {
                format!("{at}/node_modules/{name}")
            };
            if let Some(entry) = self.packages.get(&candidate) {
                let is_link = entry.get("link") == Some(&Value::Bool(true));
                let target = entry.get("resolved").and_then(Value::as_str).filter(|_| is_link);
                return Some(target.map_or(candidate, str::to_owned));
            }
            if at.is_empty() {
                return None;
            }
            at = match at.rfind("/node_modules/") {
                Some(end) => at.get(..end).unwrap_or_default(),
                // A workspace's folder, or one of the top's own.
                None => "",
            };
        }
    }

    fn id(&mut self, place: &str) -> String {
        if let Some(id) = self.ids.get(place) {
            return id.clone();
        }
        let (name, version) = self.named(place);
        let id = purl("npm", &name, version.as_deref());
        self.ids.insert(place.to_owned(), id.clone());
        id
    }

    fn named(&self, place: &str) -> (String, Option<String>) {
        let entry = self.packages.get(place);
        let text = |field| entry.and_then(|e| e.get(field)).and_then(Value::as_str).map(str::to_owned);
        let from_place = || place.rsplit_once("node_modules/").map_or(place, |(_, name)| name).to_owned();
        (text("name").unwrap_or_else(from_place), text("version"))
    }

    fn component(&mut self, place: &str, optional: bool) -> Component {
        let (name, version) = self.named(place);
        let entry = self.packages.get(place);
        let text = |field| entry.and_then(|e| e.get(field)).and_then(Value::as_str);
        let (license, hash) = (text("license").map(str::to_owned), text("integrity").and_then(hash));
        Component { purl: self.id(place), name, version, license, hash, optional, needs: Vec::new() }
    }
}

/// The strongest hash of a [Subresource Integrity](https://www.w3.org/TR/SRI/) text.
fn hash(integrity: &str) -> Option<(&'static str, String)> {
    ["sha512-", "sha384-", "sha256-", "sha1-"]
        .into_iter()
        .zip(["SHA-512", "SHA-384", "SHA-256", "SHA-1"])
        .find_map(|(prefix, name)| {
            let base64 = integrity.split_whitespace().find_map(|part| part.strip_prefix(prefix))?;
            let bytes = BASE64_STANDARD.decode(base64.split('?').next()?).ok()?;
            Some((name, crate::hex(&bytes)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest(value: Value) -> Manifest {
        Manifest::read(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_lock_file_says_what_is_needed_and_by_whom() {
        let lock = json!({ "lockfileVersion": 3, "packages": {
            "": { "name": "top" },
            "node_modules/a": { "version": "1.0.0", "license": "MIT", "integrity": "sha512-AAEC", "dependencies": { "b": "^1" } },
            "node_modules/b": { "version": "2.0.0", "dependencies": { "a": "*" } },
            "node_modules/a/node_modules/b": { "version": "1.0.0" },
            "node_modules/o": { "version": "3.0.0", "optional": true, "optionalDependencies": { "b": "2", "gone": "1" } },
            "node_modules/d": { "version": "9.0.0", "dev": true },
            "node_modules/w": { "resolved": "packages/w", "link": true },
            "packages/w": { "name": "@acme/w", "version": "0.1.0", "dependencies": { "b": "2" } },
        }})
        .to_string();
        let manifest = manifest(json!({ "name": "top", "version": "1.0.0",
            "dependencies": { "a": "1", "w": "*", "missing": "1" }, "optionalDependencies": { "o": "3" }, "devDependencies": { "d": "9" } }));
        let bill = bill(&manifest, Some(lock.as_bytes()), "");
        let mut ids: Vec<(&str, bool)> =
            bill.components.iter().map(|c| (c.purl.as_str(), c.optional)).collect();
        ids.sort_unstable();
        assert_eq!(
            ids,
            [
                ("pkg:npm/%40acme/w@0.1.0", false),
                ("pkg:npm/a@1.0.0", false),
                ("pkg:npm/b@1.0.0", false),
                ("pkg:npm/b@2.0.0", false),
                ("pkg:npm/o@3.0.0", true),
            ]
        );
        let a = bill.components.iter().find(|c| c.name == "a").unwrap();
        assert_eq!(a.needs, ["pkg:npm/b@1.0.0"]);
        assert_eq!((a.license.as_deref(), a.hash.clone()), (Some("MIT"), Some(("SHA-512", "000102".into()))));
        assert_eq!(bill.gaps, ["missing is not in the lock file: run npm install"]);
        assert_eq!(bill.package.needs.len(), 3);
    }

    #[test]
    fn without_a_lock_file_names_are_known_and_that_is_said() {
        let manifest = manifest(json!({ "name": "top", "version": "1.0.0", "dependencies": { "a": "1" } }));
        for lock in [None, Some(br#"{"lockfileVersion":1,"dependencies":{}}"#.as_slice()), Some(b"{")] {
            let bill = bill(&manifest, lock, "");
            assert_eq!(bill.components.len(), 1);
            assert_eq!(bill.components[0].purl, "pkg:npm/a");
            assert_eq!(bill.gaps.len(), 1);
        }
    }

    #[test]
    fn a_workspace_finds_what_the_top_has() {
        let lock = json!({ "packages": {
            "packages/w/node_modules/a": { "version": "2.0.0" }, "node_modules/a": { "version": "1.0.0" }, "node_modules/b": { "version": "1.0.0" },
        }})
        .to_string();
        let manifest =
            manifest(json!({ "name": "w", "version": "1.0.0", "dependencies": { "a": "2", "b": "1" } }));
        let bill = bill(&manifest, Some(lock.as_bytes()), "packages/w");
        assert_eq!(bill.package.needs, ["pkg:npm/a@2.0.0", "pkg:npm/b@1.0.0"]);
    }
}
