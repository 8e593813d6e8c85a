//! Make, remove or describe a Python environment.
//!
//! `info` says what an environment is and holds, `list` names all of the project. `create` and `delete` say what they would do, and do it
//! when applied, in a folder that git ignores. The Python is one of this machine, named by its version.

use contract::text::counted;
use contract::{Code, Fault, RelPath, Toolset};
use exec::run::{Cache, Command, INPUT, find};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, ReadDesk, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::python::{self, Venv};
use crate::running::{self, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What to do.
    #[serde(default)]
    pub action: Action,
    /// The environment's folder.
    #[serde(default = "usual")]
    pub venv_path: String,
    /// Version of the Python, such as `3.12`.
    #[serde(default)]
    pub python: Option<String>,
    /// See the machine's packages, too.
    #[serde(default)]
    pub system_site_packages: bool,
    /// Make one anew that is there.
    #[serde(default)]
    pub clear: bool,
}

fn usual() -> String {
    ".venv".to_owned()
}

/// What to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Action {
    Create,
    Delete,
    #[default]
    Info,
    List,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Environments.
    pub venvs: Vec<Told>,
}

/// An environment.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// Its folder.
    pub path: String,
    /// The version of its Python.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// Whether it sees the machine's packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_site_packages: Option<bool>,
    /// What is installed in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// Why its interpreter is not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The Pythons that may be asked for, by the names of their programs.
const PYTHONS: &[(&str, &str)] = &[
    ("3.8", "python3.8"),
    ("3.9", "python3.9"),
    ("3.10", "python3.10"),
    ("3.11", "python3.11"),
    ("3.12", "python3.12"),
    ("3.13", "python3.13"),
    ("3.14", "python3.14"),
    ("3.15", "python3.15"),
];

/// Most environments and packages that are named.
const MAX_VENVS: usize = 50;
const MAX_PACKAGES: usize = 300;

/// Takes an environment away: a folder that holds `pyvenv.cfg`, and nothing that a link leads to.
const REMOVE: &str = "import os, shutil, sys\nplace = sys.argv[1]\nif os.path.islink(place) or not os.path.isfile(os.path.join(place, 'pyvenv.cfg')):\n    sys.exit('it is no environment')\nshutil.rmtree(place)\n";

/// The tool.
#[derive(Debug, Default)]
pub struct PythonVenv;

impl Define for PythonVenv {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_venv";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_venv.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &[
        "python3",
        "python3.8",
        "python3.9",
        "python3.10",
        "python3.11",
        "python3.12",
        "python3.13",
        "python3.14",
        "python3.15",
    ];
    const CACHES: &'static [Cache] = python::CACHES;
    const SETTLES: &'static [&'static str] = &["**/.venv", "**/venv", "**/.venv-*", "**/venv-*"];

    fn examples() -> Vec<Value> {
        vec![
            json!({ "action": "create" }),
            json!({}),
            json!({ "action": "list" }),
            json!({ "action": "create", "venvPath": ".venv-312", "python": "3.12", "systemSitePackages": true, "clear": true }),
        ]
    }
}

impl Run for PythonVenv {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let (dir, venv) = meant(&desk, &input).await?;
        if input.action == Action::Create {
            made_by(&desk, &input, dir.as_ref(), &venv)?;
        } else if !desk.asked().args.is_empty() {
            return Err(Fault::invalid("args: only `create` starts a program that takes any")
                .suggest("Leave them out."));
        }
        match input.action {
            Action::Info => {
                desk.blocking(move |desk| {
                    let told = told(desk, &venv)?.ok_or_else(|| absent(&venv.dir))?;
                    Ok(Answer::new(line(&told), Output { venvs: vec![told] }))
                })
                .await
            }
            Action::List => desk.blocking(move |desk| listed(desk, dir.as_ref())).await,
            Action::Create => create(&desk, &input, dir, &venv).await,
            Action::Delete => {
                let at = venv.clone();
                let told =
                    desk.blocking(move |desk| told(desk, &at)).await?.ok_or_else(|| absent(&venv.dir))?;
                let ran = desk.run(running::configured(&desk, version("python3", dir)).await?).await?;
                let unkept = desk.unkept(&venv.dir).await?.filter(|_| ran.is_success());
                let mut answer =
                    Answer::new(format!("`{}` would be removed.", venv.dir), Output { venvs: vec![told] });
                if let Some(why) = unkept {
                    answer.message = format!("It would not be removed: {why}.");
                    answer.success = false;
                }
                Ok(answer)
            }
        }
    }

    async fn settle(&self, input: Input, desk: RunDesk) -> Result<Option<Answer<Output>>, Fault> {
        let (dir, venv) = meant(&desk, &input).await?;
        let mut command = Command::new(program(&desk, input.python.as_deref())?, &[]);
        command.dir.clone_from(&dir);
        match input.action {
            Action::Info | Action::List => return Ok(None),
            Action::Create => {
                command.args = made_by(&desk, &input, dir.as_ref(), &venv)?;
            }
            Action::Delete => {
                command.args = words(&["-I"]);
                command.args.extend([format!("{INPUT}remove.py"), seen(&venv, dir.as_ref())]);
                command.inputs.insert("remove.py".to_owned(), REMOVE.as_bytes().to_vec());
            }
        }
        let ran = desk.run(running::configured(&desk, python::quiet(command)).await?).await?;
        if !ran.is_success() {
            let said = python::said(&format!("{}\n{}", ran.stdout.text(), ran.stderr.text()));
            return Err(Fault::new(Code::ToolExecutionFailed, format!("{}: {said}", venv.dir))
                .suggest("On Debian `apt-get install python3-venv` brings what making environments needs."));
        }
        let done = if input.action == Action::Create { "is made" } else { "is removed" };
        let told = Told { path: venv.dir.to_string(), ..Told::default() };
        let mut answer = Answer::new(format!("`{}` {done}.", venv.dir), Output { venvs: vec![told] });
        if input.action == Action::Delete {
            answer.output.venvs.clear();
        }
        Ok(Some(answer))
    }
}

/// The environment's folder from `dir`.
fn seen(venv: &Venv, dir: Option<&RelPath>) -> String {
    let below = dir.and_then(|dir| venv.dir.as_str().strip_prefix(dir.as_str())?.strip_prefix('/'));
    below.unwrap_or(venv.dir.as_str()).to_owned()
}

/// What Python is told to make it, what the caller adds held to its grammar.
fn made_by(desk: &RunDesk, input: &Input, dir: Option<&RelPath>, venv: &Venv) -> Result<Vec<String>, Fault> {
    let mut args = words(&["-m", "venv"]);
    args.extend(input.system_site_packages.then(|| "--system-site-packages".to_owned()));
    args.extend(input.clear.then(|| "--clear".to_owned()));
    args.extend(desk.asked().args.iter().cloned());
    args.push(seen(venv, dir));
    running::held("python", &args, dir)?;
    Ok(args)
}

/// The folder that the call works in, and the environment that it means.
async fn meant(desk: &RunDesk, input: &Input) -> Result<(Option<RelPath>, Venv), Fault> {
    let directory = desk.asked().directory.clone();
    let named = input.venv_path.trim_end_matches('/').to_owned();
    desk.blocking(move |desk| {
        let dir = running::directory(directory.as_deref())?;
        running::is_there(desk, dir.as_ref())?;
        let below = dir.as_ref().map_or_else(|| named.clone(), |dir| format!("{dir}/{named}"));
        Ok((dir, Venv { dir: exec::view::path_argument(&below)? }))
    })
    .await
}

fn absent(path: &RelPath) -> Fault {
    Fault::new(Code::NotFound, format!("{path}: there is no environment")).about(path.as_str()).suggest(
        "`python_venv {\"action\":\"create\",\"apply\":true}` makes one; `list` names those that are there.",
    )
}

async fn create(
    desk: &RunDesk,
    input: &Input,
    dir: Option<RelPath>,
    venv: &Venv,
) -> Result<Answer<Output>, Fault> {
    let there = venv.clone();
    let standing = desk
        .blocking(move |desk| Ok((told(desk, &there)?.is_some(), desk.view().is_folder(&there.dir))))
        .await?;
    match standing {
        (true, _) if !input.clear => {
            return Err(Fault::new(Code::Conflict, format!("{}: there is an environment", venv.dir))
                .about(venv.dir.as_str())
                .suggest("`clear: true` makes it anew; `info` says what it holds."));
        }
        (false, true) => {
            return Err(Fault::new(
                Code::Conflict,
                format!("{}: a folder that is no environment is there", venv.dir),
            )
            .about(venv.dir.as_str())
            .suggest("Name another `venvPath`."));
        }
        _ => {}
    }
    let asks = version(program(desk, input.python.as_deref())?, dir);
    let ran = desk.run(running::configured(desk, asks).await?).await?;
    let python = ran.stdout.text().split_whitespace().nth(1).map(str::to_owned);
    let told = Told {
        path: venv.dir.to_string(),
        python: python.clone(),
        system_site_packages: Some(input.system_site_packages),
        ..Told::default()
    };
    let version = python.unwrap_or_else(|| "of an unknown version".to_owned());
    let message = format!("`{}` would be made with Python {version}.", venv.dir);
    let mut answer = Answer::new(message, Output { venvs: vec![told] });
    if let Some(why) = desk.unkept(&venv.dir).await? {
        answer.message = format!("It would not stay: {why}.");
        answer.success = false;
    }
    Ok(answer)
}

fn version(program: &'static str, dir: Option<RelPath>) -> Command {
    let mut command = Command::new(program, &["--version"]);
    command.dir = dir;
    python::quiet(command)
}

/// The program of a version of Python that this machine has.
fn program(desk: &ReadDesk, wanted: Option<&str>) -> Result<&'static str, Fault> {
    let Some(wanted) = wanted else { return Ok("python3") };
    let is_there = |name: &str| find(name, &desk.programs(), desk.view().root().path()).is_ok();
    let known = PYTHONS.iter().find(|(version, _)| *version == wanted);
    match known {
        Some((_, program)) if is_there(program) => Ok(program),
        _ => {
            let here: Vec<&str> = PYTHONS
                .iter()
                .filter(|(_, program)| is_there(program))
                .map(|(version, _)| *version)
                .collect();
            let here = if here.is_empty() { "none by its number".to_owned() } else { here.join(", ") };
            let why = if wanted.contains('/') {
                "it is a version, never a path"
            } else {
                "this machine has none on its PATH"
            };
            Err(Fault::invalid(format!("python: {wanted:?}: {why}"))
                .suggest(format!("Here are: {here}. Without `python` it is python3.")))
        }
    }
}

fn told(desk: &ReadDesk, venv: &Venv) -> Result<Option<Told>, Fault> {
    let Some(said) = venv.configuration(desk)? else { return Ok(None) };
    let value = |names: &[&str]| {
        said.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            names.contains(&key.trim()).then(|| value.trim().to_owned())
        })
    };
    let mut packages: Vec<String> = Vec::new();
    for folder in venv.packages(desk) {
        let entries = desk.view().list(Some(&folder)).unwrap_or_default();
        let records =
            entries.iter().filter_map(|entry| entry.name.strip_suffix(".dist-info")?.split_once('-'));
        packages.extend(records.map(|(name, version)| format!("{name} {version}")));
    }
    packages.sort();
    packages.truncate(MAX_PACKAGES);
    Ok(Some(Told {
        path: venv.dir.to_string(),
        python: value(&["version", "version_info"]),
        system_site_packages: value(&["include-system-site-packages"]).map(|value| value == "true"),
        packages,
        problem: desk.interpreter(&venv.interpreter()?).err().map(|fault| fault.message),
    }))
}

fn listed(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<Answer<Output>, Fault> {
    let mut venvs = Vec::new();
    let mut folders: Vec<Option<RelPath>> = vec![dir.cloned()];
    // Environments lie at the top of a project, or of one of its packages.
    for depth in 0..3 {
        let mut below = Vec::new();
        for folder in folders.drain(..) {
            for entry in desk.view().list(folder.as_ref()).unwrap_or_default() {
                let name = entry.name.as_str();
                let path = folder.as_ref().map_or_else(|| RelPath::new(name), |folder| folder.join(name));
                let Some(path) = path.ok().filter(|path| desk.view().is_folder(path)) else { continue };
                match told(desk, &Venv { dir: path.clone() })? {
                    Some(told) if venvs.len() < MAX_VENVS => {
                        venvs.push(Told { packages: Vec::new(), ..told });
                    }
                    Some(_) => {}
                    None if depth < 2 && !name.starts_with('.') && name != "node_modules" => {
                        below.push(Some(path));
                    }
                    None => {}
                }
            }
        }
        folders = below;
        folders.truncate(500);
    }
    let lines: Vec<String> = venvs.iter().map(|venv| format!("- {}", line(venv))).collect();
    let message = if lines.is_empty() { "There is no environment.".to_owned() } else { lines.join("\n") };
    Ok(Answer::new(message, Output { venvs }))
}

fn line(told: &Told) -> String {
    let python = told.python.as_deref().unwrap_or("of an unknown version");
    let problem = told.problem.as_ref().map(|why| format!(" {why}.")).unwrap_or_default();
    format!("`{}`: Python {python}, {}.{problem}", told.path, counted(told.packages.len() as u64, "package"))
}
