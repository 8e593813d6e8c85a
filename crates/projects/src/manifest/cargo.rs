//! `Cargo.toml` (the Cargo book, 1.95).

use toml::{Table, Value};

use super::{Dependency, texts, toml};

/// What is read of a Cargo.toml.
#[derive(Debug, Default)]
pub(crate) struct CargoToml {
    pub(crate) name: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// Whether there is a `[workspace]`.
    pub(crate) workspace: bool,
    pub(crate) members: Vec<String>,
    pub(crate) excluded: Vec<String>,
    /// `[workspace.dependencies]`.
    pub(crate) shared: Table,
}

/// Reads it. The error is a line, from 1, and what is wrong.
///
/// `above` is the `[workspace.dependencies]` of the workspace's top, which members inherit from.
pub(crate) fn parse(bytes: &[u8], above: &Table) -> Result<CargoToml, (Option<usize>, String)> {
    let top = toml(bytes)?;
    let mut found = CargoToml::default();
    let name = top.get("package").and_then(|p| p.get("name"));
    found.name = name.and_then(Value::as_str).map(str::to_owned);
    let shared = top.get("workspace").and_then(|w| w.get("dependencies")).and_then(Value::as_table);
    found.shared = shared.cloned().unwrap_or_default();
    let shared = shared.unwrap_or(above);
    depends(&top, shared, &mut found.dependencies);
    for (_, target) in top.get("target").and_then(Value::as_table).into_iter().flatten() {
        if let Some(target) = target.as_table() {
            depends(target, shared, &mut found.dependencies);
        }
    }
    if let Some(workspace) = top.get("workspace") {
        found.workspace = true;
        found.members = texts(workspace.get("members"));
        found.excluded = texts(workspace.get("exclude"));
    }
    Ok(found)
}

fn depends(within: &Table, shared: &Table, found: &mut Vec<Dependency>) {
    for (keys, dev) in [
        (["dependencies", "dependencies"], false),
        (["dev-dependencies", "dev_dependencies"], true),
        (["build-dependencies", "build_dependencies"], true),
    ] {
        let table = keys.iter().find_map(|key| within.get(*key)).and_then(Value::as_table);
        for (key, value) in table.into_iter().flatten() {
            let inherited = value.get("workspace").and_then(Value::as_bool) == Some(true);
            let value = if inherited { shared.get(key).unwrap_or(value) } else { value };
            let name = value.get("package").and_then(Value::as_str).unwrap_or(key);
            let version = value.as_str().or_else(|| value.get("version")?.as_str());
            found.push(Dependency::new(name, version, dev));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_members_and_renames_are_read() {
        let found = parse(
            br#"
            [package]
            name = "x"
            [dependencies]
            web = { package = "axum", version = "0.8" }
            serde.workspace = true
            [target.'cfg(unix)'.dev-dependencies]
            nix = "0.30"
            [workspace]
            members = ["crates/*"]
            exclude = ["fuzz"]
            [workspace.dependencies]
            serde = "1"
            "#,
            &Table::new(),
        )
        .unwrap();
        let named: Vec<_> =
            found.dependencies.iter().map(|d| (d.name.as_str(), d.version.as_deref(), d.dev)).collect();
        assert_eq!(
            named,
            [("serde", Some("1"), false), ("axum", Some("0.8"), false), ("nix", Some("0.30"), true)]
        );
        assert!(found.workspace);
        assert_eq!((found.members, found.excluded), (vec!["crates/*".to_owned()], vec!["fuzz".to_owned()]));
    }

    #[test]
    fn a_member_inherits_versions_and_names() {
        let top =
            parse(b"[workspace.dependencies]\nweb = {package = 'axum', version = '0.8'}\n", &Table::new())
                .unwrap();
        let member = parse(b"[dependencies]\nweb.workspace = true\n", &top.shared).unwrap();
        let first = member.dependencies.first().unwrap();
        assert_eq!((first.name.as_str(), first.version.as_deref()), ("axum", Some("0.8")));
    }
}
