//! Crates: their targets, features, versions; what cargo is told besides.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::tree::{Tree, join, parent};
use super::{Least, Runtime, numbers};

/// A crate of the repository.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) bins: BTreeSet<String>,
    pub(crate) examples: BTreeSet<String>,
    pub(crate) tests: BTreeSet<String>,
    pub(crate) benches: BTreeSet<String>,
    pub(crate) features: BTreeSet<String>,
}

pub(crate) fn crates(manifests: &[(String, String)], tree: &Tree, least: &mut Vec<Least>) -> Vec<Crate> {
    let tables: Vec<(&str, Table)> =
        manifests.iter().filter_map(|(path, text)| Some((path.as_str(), text.parse().ok()?))).collect();
    let shared = tables
        .iter()
        .find_map(|(path, t)| (*path == "Cargo.toml").then(|| t.get("workspace")?.get("package")).flatten());
    let mut found = Vec::new();
    for (path, table) in &tables {
        let Some(package) = table.get("package") else { continue };
        let Some(name) = package.get("name").and_then(Value::as_str) else { continue };
        let own = |key: &str| -> Option<String> {
            let value = package.get(key)?;
            let shared = || shared?.get(key).and_then(Value::as_str);
            value
                .as_str()
                .or_else(|| {
                    value.get("workspace").and_then(Value::as_bool).filter(|is| *is).and_then(|_| shared())
                })
                .map(str::to_owned)
        };
        let dir = parent(path);
        if let Some(version) = own("rust-version").as_deref().and_then(numbers) {
            least.push(Least { is_pin: false, runtime: Runtime::Rust, version, from: (*path).to_owned() });
        }
        let mut bins = targets(table, "bin", tree, &join(dir, "src/bin"));
        if tree.has_file(&join(dir, "src/main.rs")) {
            bins.insert(name.to_owned());
        }
        found.push(Crate {
            name: name.to_owned(),
            version: own("version"),
            bins,
            examples: targets(table, "example", tree, &join(dir, "examples")),
            tests: targets(table, "test", tree, &join(dir, "tests")),
            benches: targets(table, "bench", tree, &join(dir, "benches")),
            features: features(table),
        });
    }
    if let Some(version) =
        shared.and_then(|s| s.get("rust-version")).and_then(Value::as_str).and_then(numbers)
    {
        least.push(Least { is_pin: false, runtime: Runtime::Rust, version, from: "Cargo.toml".to_owned() });
    }
    found
}

/// Targets that are declared, and those that cargo finds (The Cargo Book, "Target auto-discovery").
fn targets(table: &Table, kind: &str, tree: &Tree, dir: &str) -> BTreeSet<String> {
    let declared = table.get(kind).and_then(Value::as_array).into_iter().flatten();
    let mut found: BTreeSet<String> =
        declared.filter_map(|t| t.get("name")).filter_map(Value::as_str).map(str::to_owned).collect();
    for path in tree.files() {
        let Some(rest) = path.strip_prefix(dir).and_then(|rest| rest.strip_prefix('/')) else { continue };
        match rest.split_once('/') {
            None => found.extend(rest.strip_suffix(".rs").map(str::to_owned)),
            Some((folder, "main.rs")) => {
                found.insert(folder.to_owned());
            }
            Some(_) => {}
        }
    }
    found
}

/// Features, and the optional dependencies that are ones.
fn features(table: &Table) -> BTreeSet<String> {
    let keys = |value: Option<&Value>| -> Vec<String> {
        value.and_then(Value::as_table).map(|t| t.keys().cloned().collect()).unwrap_or_default()
    };
    let mut found: BTreeSet<String> = keys(table.get("features")).into_iter().collect();
    let mut add = |dependencies: Option<&Value>| {
        for (name, value) in dependencies.and_then(Value::as_table).into_iter().flatten() {
            if value.get("optional").and_then(Value::as_bool) == Some(true) {
                found.insert(name.clone());
            }
        }
    };
    for key in ["dependencies", "build-dependencies"] {
        add(table.get(key));
        for (_, target) in table.get("target").and_then(Value::as_table).into_iter().flatten() {
            add(target.get(key));
        }
    }
    found.insert("default".to_owned());
    found
}

/// Aliases of `.cargo/config.toml`.
pub(crate) fn aliases(read: &dyn Fn(&str) -> Option<String>) -> BTreeSet<String> {
    let files = [".cargo/config.toml", ".cargo/config"];
    let tables = files.iter().filter_map(|path| read(path)?.parse::<Table>().ok());
    tables
        .filter_map(|t| t.get("alias")?.as_table().map(|a| a.keys().cloned().collect::<Vec<_>>()))
        .flatten()
        .collect()
}

/// Names of packages in the lock file: `-p` takes them too.
pub(crate) fn locked(read: &dyn Fn(&str) -> Option<String>) -> BTreeSet<String> {
    let text = read("Cargo.lock").unwrap_or_default();
    let names = text.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    names.map(str::to_owned).collect()
}
