//! What a Cargo.toml needs ([Specifying Dependencies](https://doc.rust-lang.org/cargo/reference/specifying-dependencies.html)).

use toml::{Table, Value};

use super::manifest::ManifestError;

/// What a dependency is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// The package itself.
    Use,
    /// Its build script.
    Build,
    /// Its tests, examples and benches: nobody else gets it.
    Develop,
}

/// A dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// What it is called here.
    pub key: String,
    /// The package's name.
    pub name: String,
    /// What it is for.
    pub purpose: Purpose,
    /// For which targets: a triple or a `cfg(…)`.
    pub target: Option<String>,
    /// The range of versions, as it is written.
    pub version: Option<String>,
    /// Where it lies, as it is written.
    pub path: Option<String>,
    /// Whether `path` is relative to the workspace's top, not to the package.
    pub is_path_of_workspace: bool,
    /// Its repository.
    pub git: Option<String>,
    /// Its registry, where it is another than crates.io: a name, or the address of an index.
    pub registry: Option<String>,
    /// Whether it is only needed for a feature.
    pub optional: bool,
}

const KINDS: [(Purpose, [&str; 2]); 3] = [
    (Purpose::Use, ["dependencies", "dependencies"]),
    (Purpose::Develop, ["dev-dependencies", "dev_dependencies"]),
    (Purpose::Build, ["build-dependencies", "build_dependencies"]),
];

/// All of a manifest; `shared` is `[workspace.dependencies]`.
pub(super) fn all(top: &Table, shared: &Table) -> Result<Vec<Dependency>, ManifestError> {
    let mut found = Vec::new();
    within(top, shared, None, &mut found)?;
    for (target, table) in top.get("target").and_then(Value::as_table).into_iter().flatten() {
        if let Some(table) = table.as_table() {
            within(table, shared, Some(target), &mut found)?;
        }
    }
    Ok(found)
}

fn within(
    table: &Table,
    shared: &Table,
    target: Option<&str>,
    found: &mut Vec<Dependency>,
) -> Result<(), ManifestError> {
    for (purpose, keys) in KINDS {
        let Some((word, listed)) = keys.iter().find_map(|key| Some((*key, table.get(*key)?.as_table()?)))
        else {
            continue;
        };
        for (key, value) in listed {
            let inherits = value.get("workspace") == Some(&Value::Boolean(true));
            let said = if inherits {
                shared.get(key).ok_or_else(|| ManifestError::NotInherited(format!("{word}.{key}")))?
            } else {
                value
            };
            let text = |field: &str| said.get(field).and_then(Value::as_str).map(str::to_owned);
            found.push(Dependency {
                key: key.clone(),
                name: text("package").unwrap_or_else(|| key.clone()),
                purpose,
                target: target.map(str::to_owned),
                version: said.as_str().map(str::to_owned).or_else(|| text("version")),
                path: text("path"),
                is_path_of_workspace: inherits,
                git: text("git"),
                registry: text("registry").or_else(|| text("registry-index")),
                optional: value.get("optional").and_then(Value::as_bool).unwrap_or(false),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_all_kinds_and_targets_are_read() {
        let top: Table = "[dependencies]\na='1'\nren={package='real',version='2',optional=true}\n[dev_dependencies]\nb={path='../b'}\n\
            [build-dependencies]\nc={git='https://x'}\n[target.'cfg(unix)'.dependencies]\nd={version='1',registry='r'}\n"
            .parse()
            .unwrap();
        let all = all(&top, &Table::new()).unwrap();
        let said: Vec<_> = all.iter().map(|d| (d.name.as_str(), d.purpose, d.target.as_deref())).collect();
        assert_eq!(
            said,
            [
                ("a", Purpose::Use, None),
                ("real", Purpose::Use, None),
                ("b", Purpose::Develop, None),
                ("c", Purpose::Build, None),
                ("d", Purpose::Use, Some("cfg(unix)")),
            ]
        );
        assert!(all[1].optional && all[1].key == "ren");
        assert_eq!(all[2].path.as_deref(), Some("../b"));
        assert_eq!(all[3].git.as_deref(), Some("https://x"));
        assert_eq!(all[4].registry.as_deref(), Some("r"));
    }
}
