//! Install what a Python project depends on.
//!
//! Resolves with uv, poetry, pipenv or pip; the change of the lock file is the plan. Applying it fetches built packages through the user's registry
//! and unpacks them into the project's environment. Source distributions run code when built and are named and refused, unless `build` is set.

use contract::{Code, Fault, RelPath, Toolset};
use exec::run::{Cache, Command, MAX_TIMEOUT, Ran};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, ForeignCode, ForeignCodeOf, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::python::managers::{self, Manager, Moved, Wanted};
use crate::python::pins::file;
use crate::python::{self, Venv, pipenv};
use crate::running::{self, Asked, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What installs; the project's without.
    #[serde(default)]
    pub package_manager: Wanted,
    /// Development dependencies, too.
    #[serde(default = "yes")]
    pub dev: bool,
    /// The lock must stand as it is.
    #[serde(default)]
    pub frozen: bool,
    /// Build source distributions: runs their code.
    #[serde(default)]
    pub build: bool,
}

const fn yes() -> bool {
    true
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// What installs.
    pub manager: Manager,
    /// What the lock gains, loses and moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<Moved>,
    /// Packages without a built distribution.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sdists_refused: Vec<String>,
    /// What was installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<Installed>,
}

/// What was installed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Installed {
    /// Where.
    pub venv: String,
    /// How many packages are new there.
    pub packages: u64,
}

/// The tool.
#[derive(Debug, Default)]
pub struct PythonInstallDeps;

impl Define for PythonInstallDeps {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_install_deps";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_install_deps.rs");

    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["uv", "poetry", "pipenv", "python3", "pip"];
    const CACHES: &'static [Cache] = python::CACHES;
    const SETTLES: &'static [&'static str] = &["**/.venv", "**/venv"];
    // To resolve it may take building already.
    const FOREIGN_CODE: Option<ForeignCodeOf> =
        Some(|arguments| (arguments.get("build") == Some(&json!(true))).then_some(ForeignCode::Always));

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "packageManager": "uv", "dev": false, "frozen": true }),
            json!({ "packageManager": "poetry", "build": true }),
        ]
    }
}

impl Run for PythonInstallDeps {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let (manager, dir) = chosen(&desk, &input).await?;
        let asked = Asked::of(&desk);
        if let Some(refused) = unplain(&desk, manager, dir.as_ref(), &input).await? {
            return Ok(refused);
        }
        let command = match manager {
            Manager::Uv => {
                let flags = if input.frozen { &["lock", "--check"][..] } else { &["lock"] };
                // Metadata of what has only sources is made by building it.
                let mut flags = words(flags);
                flags.extend((!input.build).then(|| "--no-build".to_owned()));
                asked.command("uv", flags, Vec::new())?
            }
            Manager::Poetry => {
                let flags = if input.frozen { &["check", "--lock", "-n"][..] } else { &["lock", "-n"] };
                let mut command = asked.command("poetry", words(flags), Vec::new())?;
                // To resolve it needs no environment, and would make one.
                command.env.insert("POETRY_VIRTUALENVS_CREATE".to_owned(), "false".to_owned());
                command
            }
            Manager::Pipenv => {
                // To lock moves all that the Pipfile lets move, so a lock that stands is left alone.
                let stands = asked.args.is_empty() && pipenv::stands(&desk, &asked).await?;
                let flags = if input.frozen || stands { "verify" } else { "lock" };
                pipenv::resolving(asked.command("pipenv", words(&[flags]), Vec::new())?)
            }
            Manager::Pip => {
                let mut flags = words(&["-m", "pip", "install", "--dry-run", "--no-input", "-q"]);
                flags.extend(required(&desk, dir.as_ref(), &input)?);
                let mut command = asked.command("python3", flags, Vec::new())?;
                // What this interpreter happens to have is not what the environment will.
                command.args.extend(words(&["--ignore-installed", "--report", "-"]));
                command
            }
        };
        let before = managers::lock_now(&desk, manager, dir.as_ref())?;
        let ran = run(&desk, command, input.build).await?;
        if !ran.is_success() {
            let sdists = unbuilt(&desk, manager, dir.as_ref(), &ran).await?;
            if sdists.is_empty() {
                return Err(managers::failed(&format!("`{}`", ran.line.join(" ")), &ran));
            }
            return Ok(refused(manager, sdists, &python::said(&ran.stderr.text())));
        }
        let lock = match manager {
            Manager::Pip => Moved { added: reported(&ran.stdout.bytes), ..Moved::default() },
            _ => Moved::between(
                before.as_ref(),
                managers::lock_then(&desk, manager, dir.clone()).await?.as_ref(),
            ),
        };
        let venv = place(&desk, manager, dir.as_ref())?;
        let unkept = desk.unkept(&venv).await?;
        let mut message = if lock.is_empty() { "The lock stands.".to_owned() } else { lock.told() };
        if let Some(why) = &unkept {
            message = format!("Nothing would be installed: {why}.\n\n{message}");
        }
        let mut answer = Answer::new(
            message,
            Output { manager, lock: Some(lock), sdists_refused: Vec::new(), installed: None },
        );
        answer.success = unkept.is_none();
        Ok(answer)
    }

    async fn settle(&self, input: Input, desk: RunDesk) -> Result<Option<Answer<Output>>, Fault> {
        let (manager, dir) = chosen(&desk, &input).await?;
        let asked = Asked { directory: desk.asked().directory.as_deref(), args: &[] };
        let venv = place(&desk, manager, dir.as_ref())?;
        if let Some(there) = Venv::near(&desk, dir.as_ref())? {
            // Managers start it: one that the repository brings along is started by nobody.
            desk.interpreter(&there.interpreter()?)?;
        }
        let command = match manager {
            Manager::Uv => {
                let mut flags = words(&["sync", "--frozen"]);
                flags.extend(words(if input.build { &[] } else { &["--no-build", "--no-install-project"] }));
                flags.extend((!input.dev).then(|| "--no-dev".to_owned()));
                asked.command("uv", flags, Vec::new())?
            }
            Manager::Poetry => {
                let mut flags = words(&["sync", "-n"]);
                flags.extend((!input.build).then(|| "--no-root".to_owned()));
                flags.extend(words(if input.dev { &[] } else { &["--only", "main"] }));
                asked.command("poetry", flags, Vec::new())?
            }
            Manager::Pipenv => {
                let mut flags = words(&["sync"]);
                flags.extend(input.dev.then(|| "--dev".to_owned()));
                asked.command("pipenv", flags, Vec::new())?
            }
            Manager::Pip => {
                if Venv::near(&desk, dir.as_ref())?.is_none() {
                    let make = asked.command(
                        "python3",
                        words(&["-m", "venv", "--without-pip", ".venv"]),
                        Vec::new(),
                    )?;
                    let done = desk.run(running::configured(&desk, python::quiet(make)).await?).await?;
                    if !done.is_success() {
                        return Err(managers::failed("`python -m venv`", &done));
                    }
                }
                let mut flags = words(&["-m", "pip", "install", "--no-input", "-q"]);
                flags.extend(required(&desk, dir.as_ref(), &input)?);
                let mut command = asked.command("python3", flags, Vec::new())?;
                // The machine's pip works for the environment's interpreter, which need have none.
                command.args.splice(
                    2..2,
                    ["--python".to_owned(), format!("{}/bin/python", seen(&venv, dir.as_ref()))],
                );
                command
            }
        };
        let ran = run(&desk, command, input.build).await?;
        if !ran.is_success() {
            let sdists = unbuilt(&desk, manager, dir.as_ref(), &ran).await?;
            if sdists.is_empty() {
                return Err(managers::failed(&format!("`{}`", ran.line.join(" ")), &ran));
            }
            return Ok(Some(refused(manager, sdists, &python::said(&ran.stderr.text()))));
        }
        let packages = counted(&desk, &venv).await?;
        let message =
            format!("Installed in `{venv}`: {} new there.", contract::text::counted(packages, "package"));
        let installed = Some(Installed { venv: venv.to_string(), packages });
        Ok(Some(Answer::new(message, Output { manager, lock: None, sdists_refused: Vec::new(), installed })))
    }
}

async fn chosen(desk: &RunDesk, input: &Input) -> Result<(Manager, Option<RelPath>), Fault> {
    let directory = desk.asked().directory.clone();
    let wanted = input.package_manager;
    desk.blocking(move |desk| {
        let dir = running::directory(directory.as_deref())?;
        running::is_there(desk, dir.as_ref())?;
        Ok((Manager::of(desk, directory.as_deref(), wanted)?, dir))
    })
    .await
}

async fn run(desk: &RunDesk, mut command: Command, build: bool) -> Result<Ran, Fault> {
    command.timeout = MAX_TIMEOUT;
    let command = running::configured(desk, Manager::fetching(desk, command, build)).await?;
    desk.run(command).await
}

/// What pipenv would build before anything is resolved, which is refused unless it was asked for.
async fn unplain(
    desk: &RunDesk,
    manager: Manager,
    dir: Option<&RelPath>,
    input: &Input,
) -> Result<Option<Answer<Output>>, Fault> {
    if manager != Manager::Pipenv {
        return Ok(None);
    }
    let dir = dir.cloned();
    let found = desk.blocking(move |desk| pipenv::builds(desk, dir.as_ref())).await?;
    Ok((!found.is_empty() && !input.build).then(|| {
        let message = format!(
            "Not installed: {} would have code run, by the Pipfile or its lock: of a folder, an archive or a repository, or of what something else than a registry's built package says. `build: true` does that.",
            found.join(", ")
        );
        let output = Output { manager, lock: None, sdists_refused: found, installed: None };
        Answer { success: false, ..Answer::new(message, output) }
    }))
}

/// Packages without a built distribution, by what the manager said.
async fn unbuilt(
    desk: &RunDesk,
    manager: Manager,
    dir: Option<&RelPath>,
    ran: &Ran,
) -> Result<Vec<String>, Fault> {
    match manager {
        Manager::Pipenv => pipenv::only_sources(desk, dir, ran).await,
        _ => Ok(managers::unbuilt(ran)),
    }
}

/// The environment that is installed into.
fn place(desk: &RunDesk, manager: Manager, dir: Option<&RelPath>) -> Result<RelPath, Fault> {
    // pipenv has its own in the folder of the Pipfile, whatever is above.
    if manager != Manager::Pipenv
        && let Some(venv) = Venv::near(desk, dir)?
    {
        return Ok(venv.dir);
    }
    let path = dir.map_or_else(|| RelPath::new(".venv"), |dir| dir.join(".venv"));
    path.map_err(|e| Fault::internal(e.to_string()))
}

/// `path` from `dir`.
fn seen(path: &RelPath, dir: Option<&RelPath>) -> String {
    let up = "../".repeat(dir.map_or(0, |dir| dir.as_str().split('/').count()));
    format!("{up}{path}")
}

/// What pip is told to install: the project's files.
fn required(desk: &RunDesk, dir: Option<&RelPath>, input: &Input) -> Result<Vec<String>, Fault> {
    let mut flags = Vec::new();
    let names: &[&str] =
        if input.dev { &["requirements.txt", "requirements-dev.txt"] } else { &["requirements.txt"] };
    for name in names {
        if let Some(bytes) = file(desk, dir, name)? {
            flags.extend(["-r".to_owned(), (*name).to_owned()]);
            if String::from_utf8_lossy(&bytes).contains("--hash=")
                && !flags.contains(&"--require-hashes".to_owned())
            {
                flags.push("--require-hashes".to_owned());
            }
        }
    }
    if flags.is_empty() {
        return Err(Fault::new(
            Code::NotFound,
            "pip installs what requirements.txt names, and there is none",
        )
        .suggest("Name `packageManager: uv` for a pyproject.toml, or write a requirements.txt."));
    }
    if !input.build {
        flags.extend(words(&["--only-binary", ":all:"]));
    }
    Ok(flags)
}

/// What pip's report would install (pip's documentation, "Installation Report").
fn reported(bytes: &[u8]) -> Vec<String> {
    let said: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let rows = said["install"].as_array().into_iter().flatten();
    let named = rows.filter_map(|row| {
        Some(format!("{} {}", row["metadata"]["name"].as_str()?, row["metadata"]["version"].as_str()?))
    });
    named.take(200).collect()
}

/// How many packages programs left in the environment: those that were there are not counted again.
async fn counted(desk: &RunDesk, venv: &RelPath) -> Result<u64, Fault> {
    let Some(workshop) = desk.workshop().cloned() else { return Ok(0) };
    let lib = venv.join("lib").map_err(|e| Fault::internal(e.to_string()))?;
    desk.blocking(move |_| {
        let folders = workshop.wrote(&lib).into_iter();
        let folders = folders.filter_map(|of| lib.join(&format!("{of}/site-packages")).ok());
        let names = folders.flat_map(|folder| workshop.wrote(&folder));
        Ok(names.filter(|name| name.ends_with(".dist-info")).count() as u64)
    })
    .await
}

fn refused(manager: Manager, sdists: Vec<String>, said: &str) -> Answer<Output> {
    // pip says the same of what is nowhere at all.
    let message = format!(
        "Not installed: no built distribution was found of {}. Where there are sources, building them runs their code: `build: true` does that.\n\n{said}",
        sdists.join(", "),
    );
    let mut answer =
        Answer::new(message, Output { manager, lock: None, sdists_refused: sdists, installed: None });
    answer.success = false;
    answer
}
