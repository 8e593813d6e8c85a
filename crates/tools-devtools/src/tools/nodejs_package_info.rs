//! What the registry says of a Node package.
//!
//! Looks a package up in the registry of npm: its newest versions with their times, what they are called, what it needs, its licence, and
//! which versions are deprecated. Nothing is fetched but what the registry says of it.

use contract::{Code, Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::NODE;
use crate::node::Manager;
use crate::packages::{self, Failure, reached, reaching};
use crate::running::{Asked, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The package's name.
    pub package_name: String,
    /// Versions to tell, newest first.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 100))]
    pub version_limit: u32,
    /// Tell which versions are deprecated.
    #[serde(default = "yes")]
    pub include_deprecations: bool,
}

const fn five() -> u32 {
    5
}

const fn yes() -> bool {
    true
}

/// A version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Version {
    /// The version.
    pub version: String,
    /// When it was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Why it is deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
}

/// What a version is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tag {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

/// What it says.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The package.
    pub name: String,
    /// Its newest version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest: Option<String>,
    /// What it is, in its own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its licence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// Its repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The Node that the newest version wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// What the newest version needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// What versions are called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Tag>,
    /// The newest versions, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<Version>,
    /// Versions that there are.
    pub total: u64,
    /// Hosts that were reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reached: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsPackageInfo;

impl Define for NodejsPackageInfo {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_package_info";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_package_info.rs");
    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["npm"];
    const CACHES: &'static [Cache] = packages::CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "packageName": "is-number" }),
            json!({ "packageName": "@types/node", "versionLimit": 2 }),
        ]
    }
}

/// Longest text of a package's own that is told, in characters.
const MAX_TEXT: usize = 500;

/// Most dependencies and tags that are told.
const MAX_TOLD: usize = 100;

impl Read for NodejsPackageInfo {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let name = input.package_name.trim();
        if name.is_empty() || name.chars().skip(1).any(|c| c == '@') || name.starts_with(['-', '.', '/']) {
            return Err(Fault::invalid(format!("packageName: {name:?} is no package's name"))
                .suggest("Give the name alone, such as `is-number` or `@types/node`."));
        }
        let asked = |of: &str, fields: &[&str]| {
            let mut args = vec!["view".to_owned(), of.to_owned()];
            args.extend(words(fields));
            args.push("--json".to_owned());
            let command = Asked::default().command("npm", args, Vec::new())?;
            Ok::<_, Fault>(reaching(&desk, Manager::Npm, packages::alone(command)))
        };
        let workshop = desk.workshop().await?;
        let ran = desk.run_in(&workshop, asked(name, &[])?).await?;
        if !ran.is_success() {
            let failure = Failure::of(&ran);
            let message = format!("{name}: {}", failure.why);
            return Err(match failure.code.as_deref() {
                Some("E404") => Fault::new(Code::NotFound, format!("the registry has no package {name:?}"))
                    .suggest("Check the spelling, and the scope of a scoped package."),
                _ => Fault::new(Code::ToolExecutionFailed, message).suggest(
                    "Check that the registry can be reached: `[registries]` of the user's configuration.",
                ),
            });
        }
        let Ok(told) = serde_json::from_slice::<Value>(&ran.stdout.bytes) else {
            return Err(Fault::new(Code::ToolExecutionFailed, format!("{name}: npm gave no JSON"))
                .suggest("Read what it said with run_output."));
        };
        let mut output = about(name, &told);
        output.versions = newest(&told, input.version_limit as usize);
        output.reached = reached([&ran]);
        if input.include_deprecations {
            if let (Some(latest), Some(why)) =
                (&output.latest, told.get("deprecated").and_then(Value::as_str))
            {
                let (latest, why) = (latest.clone(), text(why));
                output.versions.iter_mut().filter(|v| v.version == latest).for_each(|v| {
                    v.deprecated = Some(why.clone());
                });
            }
            for version in
                output.versions.iter_mut().filter(|v| Some(&v.version) != output.latest.as_ref()).take(20)
            {
                let command = asked(&format!("{name}@{}", version.version), &["deprecated"])?;
                let ran = desk.run_in(&workshop, command).await?;
                let said = serde_json::from_slice::<Value>(&ran.stdout.bytes).ok();
                version.deprecated = said.as_ref().and_then(Value::as_str).map(text);
            }
        }
        let latest = output.latest.as_deref().unwrap_or("unknown");
        let deprecated = output.versions.iter().filter(|v| v.deprecated.is_some()).count();
        let said = if deprecated > 0 {
            format!(" {deprecated} of those told are deprecated.")
        } else {
            String::new()
        };
        let message = format!("{name} {latest}, {} versions.{said}", output.total);
        Ok(Answer::new(message, output))
    }
}

/// One line of a package's own words.
fn text(said: &str) -> String {
    said.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

fn about(name: &str, told: &Value) -> Output {
    let said = |key: &str| told.get(key).and_then(Value::as_str).map(text);
    // Objects with an address, or the address alone.
    let place = |key: &str| {
        let of = told.get(key)?;
        of.as_str().or_else(|| of.get("url").and_then(Value::as_str)).map(text)
    };
    let license = said("license").or_else(|| told.pointer("/license/type").and_then(Value::as_str).map(text));
    let entries = |key: &str| {
        let all = told.get(key).and_then(Value::as_object).into_iter().flatten();
        all.filter_map(|(name, value)| Some((text(name), text(value.as_str()?)))).take(MAX_TOLD)
    };
    Output {
        name: said("name").unwrap_or_else(|| name.to_owned()),
        latest: told
            .pointer("/dist-tags/latest")
            .and_then(Value::as_str)
            .map(text)
            .or_else(|| said("version")),
        description: said("description"),
        license,
        homepage: said("homepage"),
        repository: place("repository"),
        engine: told.pointer("/engines/node").and_then(Value::as_str).map(text),
        dependencies: entries("dependencies").map(|(name, range)| format!("{name} {range}")).collect(),
        tags: entries("dist-tags").map(|(name, version)| Tag { name, version }).collect(),
        ..counted(told)
    }
}

fn counted(told: &Value) -> Output {
    // One alone is no list.
    let total = match told.get("versions") {
        Some(Value::Array(all)) => all.len() as u64,
        Some(Value::String(_)) => 1,
        _ => 0,
    };
    Output { total, ..Output::default() }
}

/// The newest versions: by the time that they were published, else in the registry's order.
fn newest(told: &Value, limit: usize) -> Vec<Version> {
    let all: Vec<&str> = match told.get("versions") {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one],
        _ => Vec::new(),
    };
    let time = |version: &str| told.get("time")?.get(version)?.as_str().map(text);
    let mut versions: Vec<Version> = all
        .iter()
        .rev()
        .map(|version| Version { version: text(version), time: time(version), deprecated: None })
        .collect();
    if versions.iter().all(|version| version.time.is_some()) {
        versions.sort_by(|a, b| b.time.cmp(&a.time));
    }
    versions.truncate(limit);
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_newest_first_by_their_time_or_else_by_their_order() {
        let told = json!({ "versions": ["1.0.0", "2.0.0", "1.0.1"], "time": { "1.0.0": "2020", "2.0.0": "2021", "1.0.1": "2022" } });
        let versions: Vec<String> = newest(&told, 2).into_iter().map(|v| v.version).collect();
        assert_eq!(versions, ["1.0.1", "2.0.0"]);
        let bare = json!({ "versions": ["1.0.0", "2.0.0"] });
        assert_eq!(newest(&bare, 5)[0].version, "2.0.0");
        let one = json!({ "name": "a", "versions": "1.0.0", "license": { "type": "MIT" }, "repository": { "url": "git+https://x" } });
        let output = about("a", &one);
        assert_eq!(
            (output.total, output.license.as_deref(), output.repository.as_deref()),
            (1, Some("MIT"), Some("git+https://x"))
        );
    }
}
