//! What a Python project is.
//!
//! Describes a project by its manifests: name, version, the Pythons that it wants, package manager, dependency groups, build backend, lock
//! file, and its environment and whether that fits. Nothing of the project is run.

use contract::text::counted;
use contract::{Fault, RelPath, Toolset};
use exec::run::Cache;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toml::Table;

use crate::families::PYTHON;
use crate::python::{self, Venv};
use crate::running;
use crate::window::detected;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Where, from the root.
    #[serde(default)]
    pub directory: Option<String>,
}

/// What it says.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its version, where the manifest says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The Pythons that it wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_python: Option<String>,
    /// What builds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// What installs its dependencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<Manager>,
    /// What it depends on, by group.
    pub groups: Vec<Group>,
    /// Commands that it installs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<String>,
    /// Its lock file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Locked>,
    /// Its environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub venv: Option<Environment>,
    /// The Python that its tools run with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// Manifests that are not understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What to know besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A package manager.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Manager {
    /// Its name.
    pub name: String,
    /// The file that gave it away.
    pub from: String,
}

/// Dependencies of one purpose.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Group {
    /// Its name: `main`, an extra, a dependency group, or a requirements file.
    pub name: String,
    /// What it asks for.
    pub requirements: Vec<String>,
}

/// A lock file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Locked {
    /// Which.
    pub file: String,
    /// Packages of others in it.
    pub packages: u64,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// An environment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Environment {
    /// Its folder.
    pub path: String,
    /// The version of its Python, as it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// Whether the project wants that Python; unknown where neither says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<bool>,
    /// Why its interpreter is not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Most requirements of a group that are named.
const MAX_NAMED: usize = 200;

/// The tool.
#[derive(Debug, Default)]
pub struct PythonProjectInfo;

impl Define for PythonProjectInfo {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_project_info";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_project_info.rs");

    const PROGRAMS: &'static [&'static str] = &["python3", "python"];
    const CACHES: &'static [Cache] = python::CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "directory": "api" })]
    }
}

impl Read for PythonProjectInfo {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let named = input.directory.clone();
        let (mut output, dir) = desk
            .blocking(move |desk| {
                let dir = running::directory(named.as_deref())?;
                running::is_there(desk, dir.as_ref())?;
                Ok((described(desk, dir.as_ref(), named.as_deref())?, dir))
            })
            .await?;
        if output.venv.as_ref().is_none_or(|venv| venv.problem.is_none()) {
            let workshop = desk.workshop().await?;
            let command = python::interpreter(&desk, dir, vec!["--version".to_owned()])?;
            let ran = desk.run_in(&workshop, command).await.ok();
            let said = ran.filter(exec::run::Ran::is_success).map(|ran| ran.stdout.text());
            output.python = said.and_then(|said| said.split_whitespace().nth(1).map(str::to_owned));
        }
        Ok(Answer::new(message(&output), output))
    }
}

fn described(desk: &ReadDesk, dir: Option<&RelPath>, named: Option<&str>) -> Result<Output, Fault> {
    let mut output = Output::default();
    let project = detected(desk, named)?;
    let manager = project
        .package_managers
        .iter()
        .find(|manager| ["uv", "poetry", "pipenv", "pip"].contains(&manager.name.as_str()));
    output.manager =
        manager.map(|manager| Manager { name: manager.name.clone(), from: manager.from.clone() });
    output.problems =
        project.problems.iter().map(|problem| format!("{}: {}", problem.file, problem.message)).collect();
    let below = |name: &str| -> Result<RelPath, Fault> {
        let path = dir.map_or_else(|| RelPath::new(name), |dir| dir.join(name));
        path.map_err(|e| Fault::internal(e.to_string()))
    };
    let read = |name: &str| -> Result<Option<Vec<u8>>, Fault> {
        Ok(desk.view().read_optional(&below(name)?).unwrap_or_default())
    };
    if let Some(bytes) = read("pyproject.toml")? {
        match String::from_utf8_lossy(&bytes).parse::<Table>() {
            Ok(table) => manifest(&table, &mut output),
            Err(error) => {
                let told = format!("pyproject.toml: {}", error.message());
                if !output.problems.iter().any(|problem| problem.starts_with("pyproject.toml")) {
                    output.problems.push(told);
                }
            }
        }
    }
    for file in ["requirements.txt", "requirements-dev.txt"] {
        let Some(bytes) = read(file)? else { continue };
        output.groups.push(Group { name: file.to_owned(), requirements: requirements(&bytes) });
    }
    for file in ["uv.lock", "poetry.lock", "Pipfile.lock", "pylock.toml"] {
        let (Some(format), Some(bytes)) = (deps::Format::of(file), read(file)?) else { continue };
        let (packages, problem) = match deps::read(format, &bytes) {
            Ok(lock) => (lock.packages.iter().filter(|p| p.source != deps::Source::Local).count(), None),
            Err(unread) => (0, Some(unread.to_string())),
        };
        if let Some(other) = &output.lock {
            output.notes.push(format!("There is {file} besides {}.", other.file));
            continue;
        }
        output.lock = Some(Locked { file: file.to_owned(), packages: packages as u64, problem });
    }
    output.venv = Venv::near(desk, dir)?
        .map(|venv| environment(desk, &venv, output.requires_python.as_deref()))
        .transpose()?;
    if output.venv.is_none() {
        output
            .notes
            .push("There is no environment: `python_venv {\"action\":\"create\"}` makes one.".to_owned());
    }
    if output.name.is_none() {
        output.name = project.name;
    }
    Ok(output)
}

fn manifest(top: &Table, output: &mut Output) {
    let text = |table: &Table, key: &str| table.get(key).and_then(|v| v.as_str()).map(str::to_owned);
    let table = |of: &Table, key: &str| of.get(key).and_then(|v| v.as_table()).cloned();
    let list = |value: &toml::Value| -> Vec<String> {
        let words = value.as_array().into_iter().flatten();
        words.filter_map(|word| word.as_str().map(str::to_owned)).take(MAX_NAMED).collect()
    };
    if let Some(build) = table(top, "build-system") {
        output.backend = text(&build, "build-backend");
    }
    if let Some(project) = table(top, "project") {
        output.name = text(&project, "name");
        output.version = text(&project, "version");
        output.requires_python = text(&project, "requires-python");
        if let Some(main) = project.get("dependencies") {
            output.groups.push(Group { name: "main".to_owned(), requirements: list(main) });
        }
        for (name, extra) in table(&project, "optional-dependencies").into_iter().flatten() {
            output.groups.push(Group { name: format!("extra {name}"), requirements: list(&extra) });
        }
        output.scripts = table(&project, "scripts").into_iter().flatten().map(|(name, _)| name).collect();
        if project.get("dynamic").is_some_and(|d| list(d).iter().any(|name| name == "version")) {
            output.notes.push("Its version is made when it is built.".to_owned());
        }
    }
    for (name, group) in table(top, "dependency-groups").into_iter().flatten() {
        output.groups.push(Group { name: format!("group {name}"), requirements: list(&group) });
    }
    let poetry = table(top, "tool").and_then(|tool| table(&tool, "poetry"));
    if let Some(poetry) = poetry {
        output.name = output.name.take().or_else(|| text(&poetry, "name"));
        output.version = output.version.take().or_else(|| text(&poetry, "version"));
        let named = |table: Table| -> Vec<String> {
            let told = |(name, range): (String, toml::Value)| match range.as_str() {
                Some(range) => format!("{name} {range}"),
                None => name,
            };
            table.into_iter().filter(|(name, _)| name != "python").map(told).take(MAX_NAMED).collect()
        };
        if let Some(main) = table(&poetry, "dependencies") {
            let python = text(&main, "python");
            if output.requires_python.is_none()
                && let Some(python) = python
            {
                output.notes.push(format!("Poetry's range of Pythons is {python}."));
            }
            output.groups.push(Group { name: "main (poetry)".to_owned(), requirements: named(main) });
        }
        for (name, group) in table(&poetry, "group").into_iter().flatten() {
            let requirements = group.as_table().and_then(|group| table(group, "dependencies")).map(named);
            output.groups.push(Group {
                name: format!("group {name} (poetry)"),
                requirements: requirements.unwrap_or_default(),
            });
        }
    }
}

/// The requirements of a file, without options, comments and continuations.
fn requirements(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes).replace("\\\n", " ");
    let plain = text.lines().map(|line| line.split(" #").next().unwrap_or_default().trim());
    let plain = plain.filter(|line| !line.is_empty() && !line.starts_with(['#', '-']));
    plain.map(|line| line.split(" --").next().unwrap_or_default().trim().to_owned()).take(MAX_NAMED).collect()
}

fn environment(desk: &ReadDesk, venv: &Venv, wants: Option<&str>) -> Result<Environment, Fault> {
    let said = venv.configuration(desk)?.unwrap_or_default();
    let python = said.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        ["version", "version_info"].contains(&key.trim()).then(|| value.trim().to_owned())
    });
    let problem = desk.interpreter(&venv.interpreter()?).err().map(|fault| fault.message);
    let matches = wants.zip(python.as_deref()).and_then(|(wants, python)| deps::python_admits(wants, python));
    Ok(Environment { path: venv.dir.to_string(), python, matches, problem })
}

fn message(output: &Output) -> String {
    let name = output.name.as_deref().unwrap_or("A project without name");
    let version = output.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let many: usize = output.groups.iter().map(|group| group.requirements.len()).sum();
    let mut text = format!("`{name}`{version}: {}", counted(many as u64, "requirement"));
    if let Some(manager) = &output.manager {
        text.push_str(&format!(", {} ({})", manager.name, manager.from));
    }
    text.push('.');
    if let Some(venv) = &output.venv {
        let fits = match venv.matches {
            Some(false) => ", which the project does not want",
            _ => "",
        };
        let python = venv.python.as_deref().unwrap_or("of an unknown version");
        text.push_str(&format!(" Environment `{}`: Python {python}{fits}.", venv.path));
    }
    for problem in &output.problems {
        text.push_str(&format!("\n\nNot understood: {problem}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_named_without_what_is_not_one() {
        let file = b"# all\nrequests>=2 # http\n-r other.txt\nattrs==23.1 \\\n  --hash=sha256:00\n\n-e .\n";
        assert_eq!(requirements(file), ["requests>=2", "attrs==23.1"]);
    }
}
