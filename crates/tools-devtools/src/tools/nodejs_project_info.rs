//! What a Node project is.
//!
//! Describes package.json, its scripts and engines, the package manager and its lock file, the packages of the workspace, whether what is
//! installed is what the lock says, and the programs that are here. Runs nothing of the project.

use std::collections::BTreeMap;

use contract::text::counted;
use contract::{Fault, RelPath, Toolset};
use exec::run::Cache;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use projects::{Package, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::NODE;
use crate::node::{self, Managed, Manager, Manifest, Script};
use crate::running::{self, ALL_CACHES};
use crate::tools::nodejs_version;
use crate::window::detected;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
}

/// Most packages, and most names of packages with scripts, in one result.
const MAX_NAMED: usize = 50;

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The package itself.
    pub project: About,
    /// What installs its packages.
    pub manager: Installer,
    /// Packages of the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<Package>,
    /// What it says it runs on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub engines: BTreeMap<String, String>,
    /// Scripts of package.json.
    pub scripts: Vec<Script>,
    /// Dependencies by their group.
    pub dependencies: BTreeMap<String, u64>,
    /// The lock file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Locked>,
    /// What is installed.
    pub installed: Installed,
    /// The version of node here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Manifests that could not be understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// What to know when reading this.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A package.json.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct About {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it is never published.
    pub private: bool,
    /// What its files are: `module` or `commonjs`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// What installs packages.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Installer {
    /// Its name.
    pub name: Manager,
    /// The version that the project pins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// The version that is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The file that says so.
    pub from: String,
    /// Its lock file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
}

/// A lock file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Locked {
    /// Its version, where it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edition: Option<String>,
    /// Packages that it pins; absent where it is not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packages: Option<u64>,
    /// Dependencies that package.json itself names.
    pub direct: u64,
    /// Packages that run scripts when installed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with_scripts: Vec<String>,
    /// Why it is not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What is installed.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Installed {
    /// Whether `node_modules` is there.
    pub present: bool,
    /// Whether it is what the lock says, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<bool>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsProjectInfo;

impl Define for NodejsProjectInfo {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_project_info";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_project_info.rs");

    const PROGRAMS: &'static [&'static str] = &["node", "npm", "yarn", "pnpm", "bun"];
    const CACHES: &'static [Cache] = ALL_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "directory": "web" })]
    }
}

impl Read for NodejsProjectInfo {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let dir = running::directory(input.directory.as_deref())?;
        let at = dir.clone();
        let mut answer = desk.blocking(move |desk| looked_at(desk, at.as_ref())).await?;
        let manager = answer.output.manager.name.program();
        let programs: &[&'static str] = if manager == "npm" { &["node", "npm"] } else { &["node", manager] };
        for tool in nodejs_version::versions(&desk, dir.as_ref(), programs).await? {
            match tool.name.as_str() {
                "node" => answer.output.node = tool.version,
                _ => {
                    answer.output.manager.version = tool.version;
                    answer.output.notes.extend(tool.missing.map(|why| format!("{manager}: {why}")));
                }
            }
        }
        Ok(answer)
    }
}

fn looked_at(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<Answer<Output>, Fault> {
    running::is_there(desk, dir)?;
    let path = node::at(dir, "package.json")?;
    let (manifest, broken) = match node::manifest(desk, dir) {
        Ok(Some(manifest)) => (manifest, None),
        Ok(None) => return Err(node::no_manifest()),
        // It is what the answer is about, not why there is none.
        Err(fault) => (Manifest::default(), Some(fault.message)),
    };
    let project = detected(desk, dir.map(RelPath::as_str))?;
    let managed = node::managed(desk, dir)?;
    let mut problems = project.problems;
    if let Some(message) = broken.filter(|_| problems.iter().all(|problem| problem.file != "package.json")) {
        problems.push(Problem { file: path.to_string(), line: None, message });
    }
    let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
    let about = About {
        name: text(&manifest.name),
        version: text(&manifest.version),
        private: manifest.private.as_ref().and_then(Value::as_bool).unwrap_or_default(),
        kind: text(&manifest.kind).filter(|kind| kind == "module").unwrap_or_else(|| "commonjs".to_owned()),
    };
    let groups = node::dependencies(&manifest);
    let direct = groups.iter().filter(|(group, _)| **group != "peerDependencies");
    let direct = direct.map(|(_, names)| names.len() as u64).sum();
    let lock = locked(desk, &managed, direct)?;
    let mut notes = project.notes;
    if !managed.others.is_empty() && !notes.iter().any(|note| note.contains("lock files of several")) {
        let lock = managed.lock.as_ref().map_or("none of its own", RelPath::as_str);
        notes.push(format!(
            "Beside {lock} there are lock files of other managers: {}.",
            managed.others.join(", ")
        ));
    }
    let dependencies = groups.into_iter().filter(|(_, names)| !names.is_empty());
    let dependencies = dependencies.map(|(group, names)| (group.to_owned(), names.len() as u64)).collect();
    let mut output = Output {
        project: about,
        manager: Installer {
            name: managed.manager,
            pinned: managed.version.clone(),
            version: None,
            from: managed.from.clone(),
            lock: managed.lock.as_ref().map(ToString::to_string),
        },
        workspaces: project.packages.into_iter().filter(|package| package.member).collect(),
        engines: node::texts(manifest.engines.as_ref()).into_iter().collect(),
        scripts: manifest.scripts(),
        dependencies,
        lock,
        installed: installed(desk, &managed)?,
        node: None,
        problems,
        notes,
    };
    let members = output.workspaces.len();
    if members > MAX_NAMED {
        output.workspaces.truncate(MAX_NAMED);
        output.notes.push(format!("Of {members} packages of the workspace {MAX_NAMED} are listed."));
    }
    Ok(Answer::new(said(&output, members), output))
}

fn said(output: &Output, members: usize) -> String {
    let name = output.project.name.as_deref().unwrap_or("A package without a name");
    let mut text = format!("`{name}`, by {}", output.manager.name.program());
    if members > 0 {
        text.push_str(&format!(", a workspace of {}", counted(members as u64, "package")));
    }
    text.push_str(&format!(": {}", counted(output.scripts.len() as u64, "script")));
    match output.lock.as_ref().map(|lock| lock.packages) {
        None => text.push_str(", no lock file."),
        Some(None) => text.push_str(", its lock file is not read."),
        Some(Some(packages)) => {
            text.push_str(&format!(", {} locked.", counted(packages, "package")));
        }
    }
    text.push_str(match (output.installed.present, output.installed.matches) {
        (false, _) => " Nothing is installed.",
        (true, Some(false)) => " What is installed is not what the lock says.",
        (true, _) => "",
    });
    if let Some(problem) = output.problems.first() {
        text.push_str(&format!("\n\n{}: {}", problem.file, problem.message));
    }
    text
}

fn locked(desk: &ReadDesk, managed: &Managed, direct: u64) -> Result<Option<Locked>, Fault> {
    let Some(path) = &managed.lock else { return Ok(None) };
    let mut told = Locked { edition: None, packages: None, direct, with_scripts: Vec::new(), problem: None };
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    let Some(format) = deps::Format::of(name) else {
        told.problem = Some(format!("{name} is not read here: its package manager knows what is in it"));
        return Ok(Some(told));
    };
    match deps::read(format, &desk.view().read(path)?) {
        Ok(lock) => {
            told.edition = lock.edition;
            told.packages =
                Some(lock.packages.iter().filter(|one| one.source != deps::Source::Local).count() as u64);
            let mut names: Vec<String> = lock
                .packages
                .iter()
                .filter(|one| one.scripts == Some(true))
                .map(|one| one.name.clone())
                .collect();
            names.dedup();
            names.truncate(MAX_NAMED);
            told.with_scripts = names;
        }
        Err(unread) => told.problem = Some(unread.to_string()),
    }
    Ok(Some(told))
}

/// What lies in `node_modules` beside the lock, or where there is none, beside what says which manager it is.
fn installed(desk: &ReadDesk, managed: &Managed) -> Result<Installed, Fault> {
    let beside = managed.lock.as_ref().map_or(managed.from.as_str(), RelPath::as_str);
    let dir = beside.rsplit_once('/').map(|(dir, _)| RelPath::new(dir)).transpose();
    let dir = dir.map_err(|error| Fault::internal(error.to_string()))?;
    let modules = node::at(dir.as_ref(), "node_modules")?;
    if !desk.view().is_folder(&modules) {
        return Ok(Installed::default());
    }
    let read = |name: &str| -> Option<Vec<u8>> { desk.view().read(&modules.join(name).ok()?).ok() };
    let lock = managed.lock.as_ref().and_then(|lock| desk.view().read(lock).ok());
    let matches = match (managed.manager, lock) {
        (Manager::Npm, Some(lock)) => read(".package-lock.json").and_then(|there| same(&lock, &there)),
        // It keeps the lock that it went by.
        (Manager::Pnpm, Some(lock)) => read(".pnpm/lock.yaml").map(|there| there == lock),
        _ => None,
    };
    Ok(Installed { present: true, matches })
}

/// Whether everything that npm installed is in the lock, as it is there. What the lock has besides may be for other machines.
fn same(lock: &[u8], there: &[u8]) -> Option<bool> {
    let lock = deps::read(deps::Format::Npm, lock).ok()?;
    let there = deps::read(deps::Format::Npm, there).ok()?;
    let known: BTreeMap<_, _> = lock.packages.iter().map(|one| (&one.place, &one.version)).collect();
    Some(there.packages.iter().all(|one| known.get(&one.place) == Some(&&one.version)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_the_locks_where_every_version_is() {
        let lock = |version: &str, more: &str| {
            format!(
                "{{\"lockfileVersion\":3,\"packages\":{{\"node_modules/a\":{{\"version\":\"{version}\"}}{more}}}}}"
            )
        };
        let more = ",\"node_modules/b\":{\"version\":\"1.0.0\"}";
        let is = |a: String, b: String| same(a.as_bytes(), b.as_bytes());
        assert_eq!(is(lock("1.0.0", more), lock("1.0.0", "")), Some(true));
        assert_eq!(is(lock("1.0.1", ""), lock("1.0.0", "")), Some(false));
        assert_eq!(is(lock("1.0.0", ""), lock("1.0.0", more)), Some(false));
        assert_eq!(is("{".to_owned(), lock("1.0.0", "")), None);
    }
}
