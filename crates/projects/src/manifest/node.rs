//! `package.json` (npm 11's documentation).

use serde_json::{Map, Value};

use super::{Dependency, text};
use crate::project::Script;

/// Most scripts that are kept.
const MAX_SCRIPTS: usize = 200;

/// Longest command of a script that is repeated, in characters.
const MAX_COMMAND: usize = 500;

/// What is read of a package.json.
#[derive(Debug, Default)]
pub(crate) struct PackageJson {
    pub(crate) name: Option<String>,
    pub(crate) scripts: Vec<Script>,
    pub(crate) dependencies: Vec<Dependency>,
    /// `packageManager` (Corepack) or `devEngines.packageManager`: name and version.
    pub(crate) manager: Option<(String, Option<String>)>,
    /// Patterns of workspace folders; `!` leaves out.
    pub(crate) workspaces: Vec<String>,
    /// Names at the top: tools keep their configuration there.
    pub(crate) keys: Vec<String>,
}

/// Reads it. The error is a line, from 1, and what is wrong.
pub(crate) fn parse(bytes: &[u8]) -> Result<PackageJson, (Option<usize>, String)> {
    let value: Value = serde_json::from_str(text(bytes)?).map_err(|e| (Some(e.line()), e.to_string()))?;
    let Value::Object(top) = value else {
        return Err((Some(1), "package.json is not an object".to_owned()));
    };
    let mut found = PackageJson {
        name: top.get("name").and_then(Value::as_str).map(str::to_owned),
        manager: manager(&top),
        workspaces: workspaces(top.get("workspaces")),
        keys: top.keys().cloned().collect(),
        ..PackageJson::default()
    };
    for (name, command) in object(top.get("scripts")).take(MAX_SCRIPTS) {
        if let Some(command) = command.as_str() {
            let command = command.chars().take(MAX_COMMAND).collect();
            found.scripts.push(Script { name: name.clone(), command });
        }
    }
    for (key, dev) in [
        ("dependencies", false),
        ("peerDependencies", false),
        ("optionalDependencies", false),
        ("devDependencies", true),
    ] {
        for (name, version) in object(top.get(key)) {
            let meta = top.get("peerDependenciesMeta").and_then(|m| m.get(name)?.get("optional")?.as_bool());
            // What an optional peer is works with the package; the package does not use it.
            if key == "peerDependencies" && meta == Some(true) {
                continue;
            }
            if !found.dependencies.iter().any(|d| d.name == *name && !d.dev) {
                found.dependencies.push(Dependency::new(name.clone(), version.as_str(), dev));
            }
        }
    }
    Ok(found)
}

fn object(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

/// `["packages/*"]`, or yarn's `{ "packages": [...] }`.
fn workspaces(value: Option<&Value>) -> Vec<String> {
    let list = match value {
        Some(Value::Array(list)) => list.as_slice(),
        Some(Value::Object(map)) => {
            map.get("packages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice)
        }
        _ => &[],
    };
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn manager(top: &Map<String, Value>) -> Option<(String, Option<String>)> {
    if let Some(text) = top.get("packageManager").and_then(Value::as_str) {
        let (name, version) = text.split_once('@').map_or((text, None), |(n, v)| (n, Some(v)));
        // `pnpm@9.1.0+sha512.…`
        let version = version.map(|v| v.split('+').next().unwrap_or_default().to_owned());
        return known(name).map(|name| (name, version));
    }
    let engine = top.get("devEngines")?.get("packageManager")?;
    let engine = engine.as_array().and_then(|l| l.first()).unwrap_or(engine);
    let version = engine.get("version").and_then(Value::as_str).map(str::to_owned);
    known(engine.get("name")?.as_str()?).map(|name| (name, version))
}

fn known(name: &str) -> Option<String> {
    ["pnpm", "yarn", "bun", "npm"].contains(&name).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_read() {
        let found = parse(
            br#"{"name":"x","packageManager":"pnpm@9.1.0+sha512.abc","workspaces":{"packages":["a/*","!a/b"]},
               "scripts":{"test":"jest","odd":1},"dependencies":{"react":"^19"},
               "peerDependencies":{"vue":"3"},"peerDependenciesMeta":{"vue":{"optional":true}},
               "devDependencies":{"react":"^18","jest":"30"},"prettier":{}}"#,
        )
        .unwrap();
        assert_eq!(found.manager, Some(("pnpm".to_owned(), Some("9.1.0".to_owned()))));
        assert_eq!(found.workspaces, ["a/*", "!a/b"]);
        assert_eq!(found.scripts.len(), 1);
        let names: Vec<_> = found.dependencies.iter().map(|d| (d.name.as_str(), d.dev)).collect();
        assert_eq!(names, [("react", false), ("jest", true)]);
    }

    #[test]
    fn an_error_has_its_line() {
        assert_eq!(parse(b"{\n  \"a\": 1,\n}").unwrap_err().0, Some(3));
        assert_eq!(parse(b"{\n\xff").unwrap_err().0, Some(2));
        assert!(parse(b"[]").is_err());
        assert!(parse("\u{feff}{}".as_bytes()).is_ok());
    }
}
