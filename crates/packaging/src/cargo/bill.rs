//! What a crate brings with it, from `Cargo.lock` (versions 2 to 4; 1 has its digests elsewhere and is read too).
//!
//! A lock file names what each package needs and neither why nor when: what only a build script, one target or one feature of a
//! dependency needs is listed like everything else, and licences are not in it. Of the package itself, and of others whose
//! manifests are at hand, it is known what only their tests need: that is left out.

use std::collections::BTreeMap;

use semver::{Version, VersionReq};
use toml::{Table, Value};

use super::dependency::{Dependency, Purpose};
use super::manifest::Manifest;
use crate::sbom::{Bill, Component, encoded, purl};

/// How many components are listed at most.
pub const MAX_COMPONENTS: usize = 20_000;

/// Most bytes of a lock file that are read: 16 MiB.
pub const MAX_BYTES: usize = 16 << 20;

const CRATES_IO: [&str; 3] = [
    "registry+https://github.com/rust-lang/crates.io-index",
    "registry+https://index.crates.io/",
    "sparse+https://index.crates.io/",
];

/// A package of a lock file.
struct Locked<'l> {
    name: &'l str,
    version: &'l str,
    source: Option<&'l str>,
    checksum: Option<&'l str>,
    needs: Vec<&'l str>,
}

/// Reads the bill of a package from a lock file. `others` gives the manifests of packages that lie in folders, by name. Without
/// a lock file only what the manifest names is known, by ranges.
pub fn bill(manifest: &Manifest, lock: Option<&[u8]>, others: &dyn Fn(&str) -> Option<Manifest>) -> Bill {
    let package = Component {
        purl: purl("cargo", manifest.name(), Some(manifest.version())),
        name: manifest.name().to_owned(),
        version: Some(manifest.version().to_owned()),
        license: manifest.text("license").map(str::to_owned),
        ..Component::default()
    };
    let mut bill = Bill { package, ..Bill::default() };
    let lock = match lock.map(read) {
        Some(Ok(lock)) => Some(lock),
        Some(Err(why)) => {
            bill.gaps
                .push(format!("Cargo.lock cannot be read ({why}): only what the manifest names is listed"));
            None
        }
        None => {
            bill.gaps.push(
                "there is no Cargo.lock: only what the manifest names is listed, without versions".to_owned(),
            );
            None
        }
    };
    match &lock {
        Some(lock) => Reader::new(lock).read(manifest, others, &mut bill),
        None => named(manifest, &mut bill),
    }
    bill
}

fn read(bytes: &[u8]) -> Result<Table, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("more than {} MiB", MAX_BYTES >> 20));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    let table: Table = text.parse().map_err(|e: toml::de::Error| e.message().to_owned())?;
    match table.get("version").and_then(Value::as_integer) {
        None | Some(1..=4) => Ok(table),
        Some(other) => Err(format!("version {other} is not known here")),
    }
}

fn shipped_of(manifest: &Manifest) -> impl Iterator<Item = &Dependency> {
    manifest.dependencies().iter().filter(|d| d.purpose != Purpose::Develop)
}

fn named(manifest: &Manifest, bill: &mut Bill) {
    for dependency in shipped_of(manifest).take(MAX_COMPONENTS) {
        let purl = purl("cargo", &dependency.name, None);
        bill.package.needs.push(purl.clone());
        bill.components.push(Component {
            purl,
            name: dependency.name.clone(),
            optional: dependency.optional || dependency.target.is_some(),
            ..Component::default()
        });
    }
}

struct Reader<'l> {
    packages: Vec<Locked<'l>>,
    by_name: BTreeMap<&'l str, Vec<usize>>,
    /// Digests of version 1: by `checksum NAME VERSION (SOURCE)`.
    old: Option<&'l Table>,
}

impl<'l> Reader<'l> {
    fn new(lock: &'l Table) -> Self {
        let mut packages = Vec::new();
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for entry in lock.get("package").and_then(Value::as_array).into_iter().flatten() {
            let text = |field: &str| entry.get(field).and_then(Value::as_str);
            let (Some(name), Some(version)) = (text("name"), text("version")) else { continue };
            let needs = entry.get("dependencies").and_then(Value::as_array).into_iter().flatten();
            by_name.entry(name).or_default().push(packages.len());
            packages.push(Locked {
                name,
                version,
                source: text("source"),
                checksum: text("checksum"),
                needs: needs.filter_map(Value::as_str).collect(),
            });
        }
        Self { packages, by_name, old: lock.get("metadata").and_then(Value::as_table) }
    }

    fn of(&self, name: &str) -> impl Iterator<Item = (usize, &Locked<'l>)> {
        let places = self.by_name.get(name).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|i| Some((*i, self.packages.get(*i)?)))
    }

    /// `NAME`, `NAME VERSION` or `NAME VERSION (SOURCE)`: as much as is needed to tell packages apart.
    fn find(&self, text: &str) -> Option<usize> {
        let mut words = text.split_whitespace();
        let (name, version) = (words.next()?, words.next());
        let source = words.next().map(|s| s.trim_matches(['(', ')']));
        let fits = |p: &Locked<'_>| {
            version.is_none_or(|v| v == p.version)
                && source
                    .is_none_or(|s| p.source.is_some_and(|of| of.split('#').next() == Some(s) || of == s))
        };
        self.of(name).find(|(_, p)| fits(p)).map(|(i, _)| i)
    }

    fn read(&self, manifest: &Manifest, others: &dyn Fn(&str) -> Option<Manifest>, bill: &mut Bill) {
        let own = || self.of(manifest.name()).filter(|(_, p)| p.source.is_none());
        let exact = own().find(|(_, p)| p.version == manifest.version());
        let Some((top, locked)) = exact.or_else(|| own().next()) else {
            bill.gaps.push(format!(
                "{} is not in Cargo.lock: only what the manifest names is listed; run cargo update -w",
                manifest.name()
            ));
            named(manifest, bill);
            return;
        };
        if locked.version != manifest.version() {
            bill.gaps.push(format!(
                "Cargo.lock has {} at {}: run cargo update -w",
                manifest.name(),
                locked.version
            ));
        }
        bill.gaps.push(
            "Cargo.lock does not say which licence dependencies have, nor what is for their build, one target or one feature alone"
                .to_owned(),
        );
        let first = self.shipped(top, manifest, &mut bill.gaps);
        bill.package.needs = first.iter().map(|(i, _)| self.id(*i)).collect();
        let mut open = first;
        let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
        while let Some((place, optional)) = open.pop() {
            if place == top {
                continue;
            }
            let known = seen.get(&place).copied();
            if let Some(component) = known.and_then(|at| bill.components.get_mut(at)) {
                if optional || !component.optional {
                    continue;
                }
                // What one needs always is not optional because another needs it sometimes.
                component.optional = false;
            } else if bill.components.len() == MAX_COMPONENTS {
                bill.gaps.push(format!("there are more than {MAX_COMPONENTS} components"));
                break;
            }
            let below = self.below(
                place,
                optional,
                others,
                if known.is_none() { Some(&mut bill.gaps) } else { None },
            );
            if known.is_none() {
                seen.insert(place, bill.components.len());
                let needs = below.iter().map(|(i, _)| self.id(*i)).collect();
                bill.components.extend(self.component(place, optional, needs, others));
            }
            open.extend(below);
        }
    }

    /// What a package needs that is not for its tests alone; whether only sometimes.
    fn shipped(&self, place: usize, manifest: &Manifest, gaps: &mut Vec<String>) -> Vec<(usize, bool)> {
        let Some(locked) = self.packages.get(place) else { return Vec::new() };
        let mut found = Vec::new();
        let mut met: Vec<&str> = Vec::new();
        for at in locked.needs.iter().filter_map(|text| self.find(text)) {
            let Some(needed) = self.packages.get(at) else { continue };
            let version = Version::parse(needed.version).ok();
            let asks = |d: &&Dependency| {
                let range = d.version.as_deref().and_then(|text| VersionReq::parse(text).ok());
                d.name == needed.name
                    // A pre-release that was chosen fits whoever asked for it by name; ranges of others do not match it.
                    && range.is_none_or(|r| version.as_ref().is_none_or(|v| r.matches(v) || !v.pre.is_empty()))
            };
            let asked: Vec<&Dependency> = shipped_of(manifest).filter(asks).collect();
            if !asked.is_empty() {
                met.push(needed.name);
                found.push((at, asked.iter().all(|d| d.optional || d.target.is_some())));
            }
        }
        for dependency in shipped_of(manifest) {
            if !met.contains(&dependency.name.as_str()) {
                gaps.push(format!("{} is not in Cargo.lock: run cargo update -w", dependency.name));
            }
        }
        found
    }

    fn below(
        &self,
        place: usize,
        optional: bool,
        others: &dyn Fn(&str) -> Option<Manifest>,
        gaps: Option<&mut Vec<String>>,
    ) -> Vec<(usize, bool)> {
        let Some(locked) = self.packages.get(place) else { return Vec::new() };
        if locked.source.is_none() {
            let mut unused = Vec::new();
            let gaps = gaps.unwrap_or(&mut unused);
            if let Some(manifest) = others(locked.name) {
                let shipped = self.shipped(place, &manifest, gaps);
                return shipped.into_iter().map(|(at, sometimes)| (at, optional || sometimes)).collect();
            }
            gaps.push(format!("{} lies in a folder: what only its tests need is listed too", locked.name));
        }
        locked.needs.iter().filter_map(|text| self.find(text)).map(|at| (at, optional)).collect()
    }

    fn id(&self, place: usize) -> String {
        let Some(locked) = self.packages.get(place) else { return String::new() };
        let plain = purl("cargo", locked.name, Some(locked.version));
        match locked.source {
            Some(source) if source.starts_with("git+") => format!("{plain}?vcs_url={}", encoded(source)),
            Some(source) if !CRATES_IO.contains(&source) => {
                let address = source.strip_prefix("registry+").or_else(|| source.strip_prefix("sparse+"));
                format!("{plain}?repository_url={}", encoded(address.unwrap_or(source)))
            }
            _ => plain,
        }
    }

    fn component(
        &self,
        place: usize,
        optional: bool,
        needs: Vec<String>,
        others: &dyn Fn(&str) -> Option<Manifest>,
    ) -> Option<Component> {
        let locked = self.packages.get(place)?;
        let older = || {
            let key = format!("checksum {} {} ({})", locked.name, locked.version, locked.source?);
            self.old?.get(&key)?.as_str()
        };
        let is_digest = |text: &&str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let license = if locked.source.is_none() { others(locked.name) } else { None }
            .and_then(|manifest| manifest.text("license").map(str::to_owned));
        Some(Component {
            purl: self.id(place),
            name: locked.name.to_owned(),
            version: Some(locked.version.to_owned()),
            license,
            hash: locked
                .checksum
                .or_else(older)
                .filter(is_digest)
                .map(|digest| ("SHA-256", digest.to_ascii_lowercase())),
            optional,
            needs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: &str = "registry+https://github.com/rust-lang/crates.io-index";

    fn manifest(text: &str) -> Manifest {
        Manifest::read(
            format!("[package]\nname='top'\nversion='1.0.0'\nlicense='MIT'\n{text}").as_bytes(),
            None,
        )
        .unwrap()
    }

    fn entry(name: &str, version: &str, source: &str, needs: &[&str]) -> String {
        let source = if source.is_empty() {
            String::new()
        } else {
            format!("source = \"{source}\"\nchecksum = \"{}\"\n", "a".repeat(64))
        };
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}dependencies = {needs:?}\n")
    }

    #[test]
    fn a_lock_file_says_what_is_needed_and_by_whom() {
        let git = "git+https://example.com/g.git?branch=x#0123";
        let lock = [
            "version = 4\n".to_owned(),
            entry("top", "1.0.0", "", &["a", "rand 0.8.0", "rand 0.7.0", "g", "m", "only-tests"]),
            entry("a", "1.0.0", R, &["deep"]),
            entry("deep", "0.1.0", R, &["a"]),
            entry("rand", "0.7.0", R, &[]),
            entry("rand", "0.8.0", R, &["deep"]),
            entry("g", "0.2.0", git, &[]),
            entry("m", "0.3.0", "", &["m-tests", "deep"]),
            entry("m-tests", "1.0.0", R, &[]),
            entry("only-tests", "1.0.0", R, &["more-tests"]),
            entry("more-tests", "1.0.0", R, &[]),
        ]
        .concat();
        let manifest = manifest(
            "[dependencies]\na='1'\nrand='0.8'\ng={git='https://example.com/g.git',version='0.2',optional=true}\nm={path='m',version='0.3'}\n\
             [dev-dependencies]\nold={package='rand',version='0.7'}\nonly-tests='1'",
        );
        let others = |name: &str| {
            (name == "m").then(|| {
                Manifest::read(b"[package]\nname='m'\nlicense='ISC'\n[dependencies]\ndeep='0.1'\n[dev-dependencies]\nm-tests='1'", None)
                    .unwrap()
            })
        };
        let bill = bill(&manifest, Some(lock.as_bytes()), &others);
        let mut ids: Vec<(&str, bool)> =
            bill.components.iter().map(|c| (c.purl.as_str(), c.optional)).collect();
        ids.sort_unstable();
        assert_eq!(
            ids,
            [
                ("pkg:cargo/a@1.0.0", false),
                ("pkg:cargo/deep@0.1.0", false),
                (
                    "pkg:cargo/g@0.2.0?vcs_url=git%2Bhttps%3A%2F%2Fexample.com%2Fg.git%3Fbranch%3Dx%230123",
                    true
                ),
                ("pkg:cargo/m@0.3.0", false),
                ("pkg:cargo/rand@0.8.0", false),
            ]
        );
        let a = bill.components.iter().find(|c| c.name == "a").unwrap();
        assert_eq!(
            (a.needs.as_slice(), a.hash.clone()),
            (&["pkg:cargo/deep@0.1.0".to_owned()][..], Some(("SHA-256", "a".repeat(64))))
        );
        assert_eq!(bill.components.iter().find(|c| c.name == "m").unwrap().license.as_deref(), Some("ISC"));
        assert_eq!(bill.gaps.len(), 1, "{:?}", bill.gaps);
        let blind = super::bill(&manifest, Some(lock.as_bytes()), &|_| None);
        assert!(blind.components.iter().any(|c| c.name == "m-tests"));
        assert!(blind.gaps.iter().any(|gap| gap.contains("m lies in a folder")));
    }

    #[test]
    fn what_a_lock_file_lacks_is_said() {
        let manifest = manifest("[dependencies]\na='1'\n[dev-dependencies]\nb='1'");
        for lock in [None, Some(&b"version = 9"[..]), Some(b"[["), Some(b"version = 4")] {
            let bill = bill(&manifest, lock, &|_| None);
            assert_eq!(bill.components.iter().map(|c| c.purl.as_str()).collect::<Vec<_>>(), ["pkg:cargo/a"]);
            assert_eq!(bill.gaps.len(), 1, "{:?}", bill.gaps);
        }
        let stale = entry("top", "0.9.0", "", &[]);
        let bill = bill(&manifest, Some(stale.as_bytes()), &|_| None);
        assert!(
            bill.gaps.iter().any(|g| g.contains("at 0.9.0"))
                && bill.gaps.iter().any(|g| g.starts_with("a is not"))
        );
    }

    #[test]
    fn older_and_other_sources_are_read() {
        let other =
            "[[package]]\nname = \"p\"\nversion = \"2.0.0\"\nsource = \"registry+https://x.example/i\"\n";
        let lock = format!(
            "{}[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"{R}\"\n{other}[metadata]\n\"checksum a 1.0.0 ({R})\" = \"{}\"\n",
            entry("top", "1.0.0", "", &[&format!("a 1.0.0 ({R})"), "p"]),
            "b".repeat(64)
        );
        let bill = bill(
            &manifest("[dependencies]\na='1'\np={version='2',registry='x'}"),
            Some(lock.as_bytes()),
            &|_| None,
        );
        let mut said: Vec<_> = bill.components.iter().map(|c| (c.purl.as_str(), c.hash.is_some())).collect();
        said.sort_unstable();
        assert_eq!(
            said,
            [
                ("pkg:cargo/a@1.0.0", true),
                ("pkg:cargo/p@2.0.0?repository_url=https%3A%2F%2Fx.example%2Fi", false)
            ]
        );
    }
}
