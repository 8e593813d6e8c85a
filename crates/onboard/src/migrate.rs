//! `.mcp-devtools.json`, of the program that came before, as tables of `gatewright.toml`.

use serde_json::{Map, Value};
use toml::Table;

/// The file.
pub const FILE: &str = ".mcp-devtools.json";

/// What became of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Migrated {
    /// `[devtools]`.
    pub devtools: Table,
    /// `[plugins]`, which is inert until a person trusts it.
    pub plugins: Table,
    /// What was not taken over, and why.
    pub notes: Vec<String>,
}

/// Keys that are taken over as they are, with what they are called here.
const KEYS: &[(&str, &str)] = &[
    ("commands", "commands"),
    ("linters", "linters"),
    ("testRunner", "test-runner"),
    ("timeout", "timeout"),
    ("makeTargets", "make-targets"),
    ("excludePaths", "exclude-paths"),
    ("environment", "environment"),
    ("parallel", "parallel"),
    ("golang", "golang"),
    ("projectType", "project-type"),
    ("buildSystem", "build-system"),
    ("python", "python"),
    ("fileValidation", "file-validation"),
];

/// Keys that have no place in a project's configuration, with what to do instead.
const ELSEWHERE: &[(&str, &str)] = &[
    ("cache", "say it under [cache] of your own configuration: a project may not"),
    ("security", "left out: it widened what tools may do; [policy] of your own configuration narrows it"),
];

/// The key of plugins, and what becomes of it.
const PLUGINS: &str = "plugins";
const OF_PLUGINS: &str = "taken over as [plugins], which is inert until you trust it (`gatewright trust`); those of TypeScript are not run: `gatewright plugin new NAME` begins one that is";

/// What runners are called here.
const RUNNERS: &[&str] = &["make", "jest", "vitest", "mocha", "npm", "pytest", "go", "cargo"];

/// What kinds of project are called here.
const TYPES: &[&str] = &["node", "python", "go", "rust", "java", "dotnet", "mixed"];

/// What build systems are called here.
const SYSTEMS: &[&str] =
    &["make", "pnpm", "yarn", "npm", "poetry", "uv", "pip", "go", "cargo", "maven", "gradle", "dotnet"];

/// Takes over what has a place here. Fails where the file is no JSON object.
pub fn migrate(text: &str) -> Result<Migrated, String> {
    let whole: Map<String, Value> = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("it cannot be read: {error}"))?;
    let mut made = Migrated::default();
    for (key, value) in &whole {
        if let Some((_, own)) = KEYS.iter().find(|(old, _)| old == key) {
            match taken(own, value) {
                Ok(value) => {
                    made.devtools.insert((*own).to_owned(), value);
                }
                Err(why) => made.notes.push(format!("{key}: left out: {why}")),
            }
        } else if key == PLUGINS {
            match plugins(value) {
                Ok((table, notes)) => {
                    made.plugins = table;
                    made.notes.push(format!("{key}: {OF_PLUGINS}"));
                    made.notes.extend(notes);
                }
                Err(why) => made.notes.push(format!("{key}: left out: {why}")),
            }
        } else if let Some((_, why)) = ELSEWHERE.iter().find(|(old, _)| old == key) {
            made.notes.push(format!("{key}: {why}"));
        } else if key != "$schema" {
            made.notes.push(unknown(key));
        }
    }
    Ok(made)
}

fn unknown(key: &str) -> String {
    let known = KEYS.iter().chain(ELSEWHERE).map(|(old, _)| *old).chain([PLUGINS]);
    let near = known
        .min_by_key(|known| strsim::levenshtein(known, key))
        .filter(|known| strsim::levenshtein(known, key) <= 3);
    match near {
        Some(near) => format!("{key}: left out: there is no such key; `{near}` may be meant"),
        None => format!("{key}: left out: there is no such key"),
    }
}

/// A value under its new name, or why it fits nothing here.
fn taken(own: &str, value: &Value) -> Result<toml::Value, String> {
    let texts = |value: &Value| -> Result<toml::Value, String> {
        let all = value.as_array().ok_or("a list of texts is wanted")?;
        let all =
            all.iter().map(|one| one.as_str().map(toml::Value::from).ok_or("a list of texts is wanted"));
        Ok(toml::Value::Array(all.collect::<Result<_, _>>()?))
    };
    let table = |value: &Value, only: &[&str]| -> Result<toml::Value, String> {
        let all = value.as_object().ok_or("a table of texts is wanted")?;
        let mut made = Table::new();
        for (key, value) in all {
            if !only.is_empty() && !only.contains(&key.as_str()) {
                return Err(format!("there is no {key:?} here; there are {}", only.join(", ")));
            }
            made.insert(key.clone(), value.as_str().ok_or_else(|| format!("{key:?} is no text"))?.into());
        }
        Ok(toml::Value::Table(made))
    };
    match own {
        "commands" => table(value, &["build", "clean", "depend", "lint", "test"]),
        "environment" | "make-targets" => table(value, &[]),
        "linters" | "exclude-paths" => texts(value),
        "test-runner" => match value.as_str() {
            Some(runner) if RUNNERS.contains(&runner) => Ok(runner.into()),
            _ => Err(format!("it is one of {}", RUNNERS.join(", "))),
        },
        "project-type" => one_of(value, TYPES),
        "build-system" => one_of(value, SYSTEMS),
        "python" => python(value),
        "file-validation" => validation(value),
        "timeout" => within(value, 1_000, 600_000),
        "parallel" => within(value, 1, 16),
        _ => golang(value),
    }
}

/// Which plugins are on and off, and what each is told. What widens what one may do is nobody's to take over.
fn plugins(value: &Value) -> Result<(Table, Vec<String>), String> {
    let all = value.as_object().ok_or("a table is wanted")?;
    let (mut made, mut notes) = (Table::new(), Vec::new());
    for (key, value) in all {
        let named = |value: &Value| {
            value
                .as_array()
                .filter(|all| all.iter().all(|one| one.as_str().is_some_and(is_plugin)))
                .map(|all| all.iter().filter_map(Value::as_str).map(toml::Value::from).collect::<Vec<_>>())
        };
        match (key.as_str(), value) {
            ("enabled" | "disabled", list) => {
                let list = named(list).ok_or_else(|| format!("{key:?} is a list of names of plugins"))?;
                made.insert(key.clone(), list.into());
            }
            (name, Value::Object(told)) if is_plugin(name) => {
                let mut told = told.clone();
                if told.remove("network").is_some() {
                    notes.push(format!("plugins.{name}.network: left out: your own configuration grants it"));
                }
                let table = toml::Value::try_from(&told)
                    .map_err(|_| format!("{name:?} has a value that is none here"))?;
                made.insert(key.clone(), table);
            }
            _ => {
                return Err(format!(
                    "{key:?} fits nothing here; there are enabled, disabled, and tables of plugins"
                ));
            }
        }
    }
    Ok((made, notes))
}

fn is_plugin(name: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= 24
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.split('-').all(part)
}

fn one_of(value: &Value, known: &[&str]) -> Result<toml::Value, String> {
    match value.as_str().map(str::to_lowercase) {
        Some(name) if known.contains(&name.as_str()) => Ok(name.into()),
        _ => Err(format!("it is one of {}", known.join(", "))),
    }
}

fn python(value: &Value) -> Result<toml::Value, String> {
    let all = value.as_object().ok_or("a table is wanted")?;
    let mut made = Table::new();
    for (key, value) in all {
        let (key, value) = match (key.as_str(), value) {
            ("cover" | "coverage", Value::Bool(is)) => ("cover", toml::Value::from(*is)),
            ("markers", Value::String(text)) => ("markers", text.as_str().into()),
            _ => return Err(format!("{key:?} fits nothing here; there are markers, cover")),
        };
        made.insert(key.to_owned(), value);
    }
    Ok(toml::Value::Table(made))
}

fn validation(value: &Value) -> Result<toml::Value, String> {
    let all = value.as_object().ok_or("a table is wanted")?;
    let mut made = Table::new();
    for (key, value) in all {
        let texts = |value: &[Value]| {
            value.iter().filter_map(Value::as_str).map(toml::Value::from).collect::<Vec<_>>().into()
        };
        let (key, value) = match (key.as_str(), value) {
            ("exclude", Value::Array(list)) if list.iter().all(Value::is_string) => ("exclude", texts(list)),
            ("fileTypes", Value::Array(list)) if list.iter().all(Value::is_string) => {
                ("file-types", texts(list))
            }
            ("maxFileSizeMB", number) => ("max-file-size-mb", within(number, 1, 60)?),
            _ => {
                return Err(format!(
                    "{key:?} fits nothing here; there are exclude, fileTypes, maxFileSizeMB"
                ));
            }
        };
        made.insert(key.to_owned(), value);
    }
    Ok(toml::Value::Table(made))
}

fn within(value: &Value, least: i64, most: i64) -> Result<toml::Value, String> {
    match value.as_i64() {
        Some(number) if (least..=most).contains(&number) => Ok(number.into()),
        _ => Err(format!("it is a whole number from {least} to {most}")),
    }
}

fn golang(value: &Value) -> Result<toml::Value, String> {
    let all = value.as_object().ok_or("a table is wanted")?;
    let mut made = Table::new();
    for (key, value) in all {
        let value = match (key.as_str(), value) {
            ("race" | "cover", Value::Bool(is)) => toml::Value::from(*is),
            ("tags", Value::Array(tags)) if tags.iter().all(Value::is_string) => {
                tags.iter().filter_map(Value::as_str).map(toml::Value::from).collect::<Vec<_>>().into()
            }
            _ => return Err(format!("{key:?} fits nothing here; there are tags, race, cover")),
        };
        made.insert(key.clone(), value);
    }
    Ok(toml::Value::Table(made))
}
