//! What the tools of Node have in common: the manifest, the package manager, and how a script of the manifest is run.

pub(crate) mod peers;
pub(crate) mod releases;

use std::collections::BTreeMap;

use contract::{Code, Fault, RelPath, State};
use exec::run::Command;
use kit::{ReadDesk, RunDesk};
use reports::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::running::{Asked, words};

/// The programs that run a script.
pub(crate) const MANAGERS: &[&str] = &["npm", "pnpm", "yarn", "node"];

/// Most characters of a script's command that are told.
const MAX_COMMAND: usize = 500;

/// Most names of scripts that a fault lists.
const MAX_NAMED: usize = 20;

/// A package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl Manager {
    /// The manager, and the lock files that are its own.
    const LOCKS: [(Self, &'static [&'static str]); 4] = [
        (Self::Pnpm, &["pnpm-lock.yaml"]),
        (Self::Yarn, &["yarn.lock"]),
        (Self::Bun, &["bun.lock", "bun.lockb"]),
        (Self::Npm, &["package-lock.json", "npm-shrinkwrap.json"]),
    ];

    /// Its program.
    pub(crate) const fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }
}

/// A package.json.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Manifest {
    pub(crate) name: Option<Value>,
    pub(crate) version: Option<Value>,
    pub(crate) private: Option<Value>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<Value>,
    pub(crate) package_manager: Option<Value>,
    pub(crate) dev_engines: Option<Value>,
    pub(crate) engines: Option<Value>,
    scripts: Option<Value>,
    pub(crate) dependencies: Option<Value>,
    pub(crate) dev_dependencies: Option<Value>,
    pub(crate) optional_dependencies: Option<Value>,
    pub(crate) peer_dependencies: Option<Value>,
}

/// A script of package.json.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Script {
    /// Its name.
    pub name: String,
    /// What it runs.
    pub command: String,
}

impl Manifest {
    /// Its scripts, by name.
    pub(crate) fn scripts(&self) -> Vec<Script> {
        let told = |(name, command): (String, String)| Script {
            name,
            command: command.chars().take(MAX_COMMAND).collect(),
        };
        let mut scripts: Vec<Script> = texts(self.scripts.as_ref()).into_iter().map(told).collect();
        scripts.sort_by(|a, b| a.name.cmp(&b.name));
        scripts
    }

    /// The manager that it pins, and the version: `packageManager`, else `devEngines.packageManager`.
    pub(crate) fn pinned(&self) -> Option<(Manager, Option<String>)> {
        let known = |name: &str| {
            let all = [Manager::Npm, Manager::Pnpm, Manager::Yarn, Manager::Bun];
            all.into_iter().find(|manager| manager.program() == name)
        };
        if let Some(text) = self.package_manager.as_ref().and_then(Value::as_str) {
            let (name, version) = text.split_once('@').map_or((text, None), |(n, v)| (n, Some(v)));
            let version = version.and_then(|version| version.split('+').next()).map(str::to_owned);
            return known(name).map(|manager| (manager, version));
        }
        let engine = self.dev_engines.as_ref()?.get("packageManager")?;
        let engine = engine.as_array().and_then(|list| list.first()).unwrap_or(engine);
        let version = engine.get("version").and_then(Value::as_str).map(str::to_owned);
        known(engine.get("name")?.as_str()?).map(|manager| (manager, version))
    }
}

/// Names and texts of an object; what is no text is left out.
pub(crate) fn texts(value: Option<&Value>) -> Vec<(String, String)> {
    let entries = value.and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned()))).collect()
}

/// `name` in `dir`.
pub(crate) fn at(dir: Option<&RelPath>, name: &str) -> Result<RelPath, Fault> {
    let path = dir.map_or_else(|| RelPath::new(name), |dir| dir.join(name));
    path.map_err(|error| Fault::internal(error.to_string()))
}

/// `dir` and the folders above it, the root last.
pub(crate) fn upwards(dir: Option<&RelPath>) -> Vec<Option<RelPath>> {
    let mut all: Vec<Option<RelPath>> = dir.into_iter().cloned().map(Some).collect();
    all.extend(dir.into_iter().flat_map(|dir| dir.ancestors().into_iter().rev()).map(Some));
    all.push(None);
    all
}

/// The manifest in `dir`; nothing where there is none.
pub(crate) fn manifest(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<Option<Manifest>, Fault> {
    let path = at(dir, "package.json")?;
    let Some(bytes) = desk.view().read_optional(&path)? else { return Ok(None) };
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    serde_json::from_slice(text).map(Some).map_err(|error| {
        Fault::new(Code::InvalidSource, format!("{path} cannot be read: {error}"))
            .about(path.as_str())
            .suggest("Mend package.json: it must be one JSON object.")
    })
}

/// That there is none.
pub(crate) fn no_manifest() -> Fault {
    Fault::new(Code::NotFound, "there is no package.json").suggest("Name the folder of one with `directory`.")
}

/// Which manager a folder's packages are of, and what says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Managed {
    pub(crate) manager: Manager,
    /// The version that is pinned.
    pub(crate) version: Option<String>,
    /// The file that says so.
    pub(crate) from: String,
    /// Its lock file.
    pub(crate) lock: Option<RelPath>,
    /// Lock files of others beside it.
    pub(crate) others: Vec<String>,
}

/// The manager of `dir`: what its manifest pins goes before lock files, and a folder without either is of the workspace above it.
pub(crate) fn managed(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<Managed, Fault> {
    for place in upwards(dir) {
        let mut locks = Vec::new();
        for (manager, names) in Manager::LOCKS {
            for name in names {
                let path = at(place.as_ref(), name)?;
                if matches!(desk.view().state(&path), Ok(State::File { .. })) {
                    locks.push((manager, path));
                    break;
                }
            }
        }
        // What is broken pins nothing; whoever runs something of it is told.
        let pinned = manifest(desk, place.as_ref()).ok().flatten().and_then(|manifest| manifest.pinned());
        let (manager, version, from) = match (pinned, locks.first()) {
            (Some((manager, version)), _) => {
                (manager, version, at(place.as_ref(), "package.json")?.to_string())
            }
            (None, Some((manager, lock))) => (*manager, None, lock.to_string()),
            (None, None) => continue,
        };
        let lock = locks.iter().find(|(of, _)| *of == manager).map(|(_, lock)| lock.clone());
        let others = locks.into_iter().filter(|(of, _)| *of != manager).map(|(_, lock)| lock.to_string());
        return Ok(Managed { manager, version, from, lock, others: others.collect() });
    }
    let from = at(dir, "package.json")?.to_string();
    Ok(Managed { manager: Manager::Npm, version: None, from, lock: None, others: Vec::new() })
}

/// A script that is to be run.
pub(crate) struct Wanted {
    pub(crate) command: Command,
    /// How what it says is read.
    pub(crate) format: Format,
    /// As it is told.
    pub(crate) line: String,
}

/// The command that has the package manager run `name` of the manifest where the call works.
pub(crate) async fn script(desk: &RunDesk, asked: &Asked<'_>, name: &str) -> Result<Wanted, Fault> {
    let dir = crate::running::directory(asked.directory)?;
    let (manifest, managed) = desk
        .blocking(move |desk| {
            crate::running::is_there(desk, dir.as_ref())?;
            Ok((manifest(desk, dir.as_ref())?, managed(desk, dir.as_ref())?))
        })
        .await?;
    let manifest = manifest.ok_or_else(no_manifest)?;
    let scripts = manifest.scripts();
    let Some(script) = scripts.iter().find(|script| script.name == name) else {
        let names: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).take(MAX_NAMED).collect();
        let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(Fault::new(Code::NotFound, format!("package.json has no script {name:?}"))
            .suggest(format!("Name one that is there: {there}.")));
    };
    let flags = words(&["run", "--silent", name]);
    let mut command = match managed.manager {
        // npm is never taken from the project: it comes with node.
        Manager::Npm => asked.command("npm", flags, Vec::new())?,
        Manager::Pnpm => asked.node_command(desk, "pnpm", flags, Vec::new())?,
        Manager::Yarn => asked.node_command(desk, "yarn", words(&["run", name]), Vec::new())?,
        Manager::Bun => {
            return Err(Fault::new(
                Code::ToolExecutionFailed,
                format!("{} says that bun runs these scripts, and bun is not offered", managed.from),
            )
            .suggest("Call the tool of the program that the script runs."));
        }
    };
    as_it_is(&mut command);
    let line = format!("{} run {name}", managed.manager.program());
    Ok(Wanted { command, format: format_of(&script.command), line })
}

/// Has managers run as they are: none fetches the version of itself that a project pins.
pub(crate) fn as_it_is(command: &mut Command) {
    for (name, value) in [
        ("COREPACK_ENABLE_STRICT", "0"),
        ("COREPACK_ENABLE_NETWORK", "0"),
        ("npm_config_manage_package_manager_versions", "false"),
        ("pnpm_config_manage_package_manager_versions", "false"),
    ] {
        command.env.insert(name.to_owned(), value.to_owned());
    }
}

/// How the output of a script is read, by its first program; of others, what compilers' lines are in it.
fn format_of(command: &str) -> Format {
    let first = command.split_whitespace().find(|word| !word.contains('=')).unwrap_or_default();
    match first {
        "tsc" | "vue-tsc" => Format::Tsc,
        _ => Format::Make,
    }
}

/// Dependencies by the group of the manifest that names them.
pub(crate) fn dependencies(manifest: &Manifest) -> BTreeMap<&'static str, Vec<(String, String)>> {
    let groups = [
        ("dependencies", &manifest.dependencies),
        ("devDependencies", &manifest.dev_dependencies),
        ("optionalDependencies", &manifest.optional_dependencies),
        ("peerDependencies", &manifest.peer_dependencies),
    ];
    groups.into_iter().map(|(name, group)| (name, texts(group.as_ref()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_read_as_far_as_it_goes() {
        let text =
            r#"{"name":1,"packageManager":"pnpm@9.1.0+sha512.abc","scripts":{"z":"tsc -b","a":"x","odd":1}}"#;
        let manifest: Manifest = serde_json::from_str(text).unwrap();
        assert_eq!(manifest.pinned(), Some((Manager::Pnpm, Some("9.1.0".to_owned()))));
        assert_eq!(manifest.scripts().len(), 2);
        let other = r#"{"devEngines":{"packageManager":[{"name":"yarn","version":">=4"}]}}"#;
        let manifest: Manifest = serde_json::from_str(other).unwrap();
        assert_eq!(manifest.pinned(), Some((Manager::Yarn, Some(">=4".to_owned()))));
        assert_eq!(serde_json::from_str::<Manifest>("{\"packageManager\":7}").unwrap().pinned(), None);
    }

    #[test]
    fn what_a_script_says_is_read_as_its_program_writes_it() {
        assert_eq!(format_of("NODE_ENV=x tsc -b && cp a b"), Format::Tsc);
        assert_eq!(format_of("vite build"), Format::Make);
        assert_eq!(format_of(""), Format::Make);
    }
}
