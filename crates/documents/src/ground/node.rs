//! Packages of npm: scripts, programs, what they ask for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Least, Runtime, numbers};

/// A package of the repository.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) path: String,
    pub(crate) name: Option<String>,
    pub(crate) scripts: BTreeSet<String>,
    pub(crate) bins: BTreeSet<String>,
    /// Names and ranges, of all kinds of dependencies.
    pub(crate) dependencies: BTreeMap<String, String>,
}

pub(crate) fn packages(manifests: &[(String, String)], least: &mut Vec<Least>) -> Vec<Package> {
    let mut found = Vec::new();
    for (path, text) in manifests {
        let Ok(manifest) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) else {
            continue;
        };
        let object = |key: &str| manifest.get(key).and_then(Value::as_object).into_iter().flatten();
        let name = manifest.get("name").and_then(Value::as_str).map(str::to_owned);
        if let Some(version) =
            manifest.get("engines").and_then(|e| e.get("node")).and_then(Value::as_str).and_then(numbers)
        {
            least.push(Least { is_pin: false, runtime: Runtime::Node, version, from: path.clone() });
        }
        let mut bins: BTreeSet<String> = object("bin").map(|(name, _)| name.clone()).collect();
        if manifest.get("bin").is_some_and(Value::is_string) {
            bins.extend(name.as_deref().and_then(|n| n.rsplit('/').next()).map(str::to_owned));
        }
        let mut dependencies = BTreeMap::new();
        for key in ["peerDependencies", "optionalDependencies", "devDependencies", "dependencies"] {
            dependencies
                .extend(object(key).filter_map(|(n, range)| Some((n.clone(), range.as_str()?.to_owned()))));
        }
        found.push(Package {
            path: path.clone(),
            name,
            scripts: object("scripts").map(|(name, _)| name.clone()).collect(),
            bins,
            dependencies,
        });
    }
    found
}
