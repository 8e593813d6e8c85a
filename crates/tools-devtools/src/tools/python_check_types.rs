//! Check Python types.
//!
//! Checks types with pyright or mypy, whichever the project is configured for and has. Returns findings with rule, file, line and column.
//! With `watch` it checks again after each change, as a job, until it is cancelled.

use std::time::Duration;

use contract::{Code, Fault, RelPath, Toolset};
use exec::run::{Cache, Command, find};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::findings::{self, Findings};
use crate::python::{self, Venv};
use crate::running::{self, Asked, reported, words};
use crate::window::{detected, stamp};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Check again whenever a file changes.
    #[serde(default)]
    pub watch: bool,
    /// Show what the checker says besides.
    #[serde(default)]
    pub verbose: bool,
    /// What checks.
    #[serde(default)]
    pub checker: Wanted,
    /// Files and folders; all without.
    #[serde(default)]
    pub files: Vec<String>,
}

/// Which checker is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// The one that the project is configured for, else the one that is there.
    #[default]
    Auto,
    /// pyright.
    Pyright,
    /// mypy.
    Mypy,
}

/// A checker of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Checker {
    /// pyright.
    Pyright,
    /// mypy.
    Mypy,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What checked.
    pub checker: Checker,
    /// How often it checked.
    pub rounds: u32,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// How often it is looked whether a file has changed.
const LOOK: Duration = Duration::from_millis(500);

/// The tool.
#[derive(Debug, Default)]
pub struct PythonCheckTypes;

impl Define for PythonCheckTypes {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_check_types";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_check_types.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["pyright", "mypy", "node", "python"];
    const CACHES: &'static [Cache] = python::CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "checker": "mypy", "verbose": true, "files": ["src"] }),
            json!({ "watch": true, "directory": "api" }),
        ]
    }
}

impl Run for PythonCheckTypes {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = false;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let directory = asked.directory.map(str::to_owned);
        let wanted = input.checker;
        let checker = desk.blocking(move |desk| chosen(desk, directory.as_deref(), wanted)).await?;
        let command = command(&desk, &asked, checker, &input)?;
        if input.watch {
            return watched(&desk, checker, &command).await;
        }
        once(&desk, checker, command).await
    }
}

/// The checker that the call or the project means, and that is there.
fn chosen(desk: &kit::ReadDesk, directory: Option<&str>, wanted: Wanted) -> Result<Checker, Fault> {
    match wanted {
        Wanted::Pyright => return Ok(Checker::Pyright),
        Wanted::Mypy => return Ok(Checker::Mypy),
        Wanted::Auto => {}
    }
    let dir = running::directory(directory)?;
    let has_pyright = running::installed(desk, "pyright", dir.as_ref())?.is_some()
        || find("pyright", &desk.programs(), desk.view().root().path()).is_ok();
    let has_mypy = python::placed(desk, "mypy", dir.as_ref())?.is_some();
    let project = detected(desk, directory)?;
    let configured = |name: &str| project.linters.iter().any(|linter| linter.name == name);
    match (has_pyright, has_mypy) {
        (true, true) if configured("mypy") && !configured("pyright") => Ok(Checker::Mypy),
        (true, _) => Ok(Checker::Pyright),
        (false, true) => Ok(Checker::Mypy),
        (false, false) => Err(python::missing(if configured("pyright") { "pyright" } else { "mypy" })),
    }
}

fn command(desk: &RunDesk, asked: &Asked<'_>, checker: Checker, input: &Input) -> Result<Command, Fault> {
    let mut command = match checker {
        Checker::Pyright => {
            let mut flags = words(&["--outputjson"]);
            flags.extend(input.verbose.then(|| "--stats".to_owned()));
            asked.node_command(desk, "pyright", flags, input.files.clone())?
        }
        Checker::Mypy => {
            let mut flags =
                words(&["--show-column-numbers", "--no-pretty", "--no-color-output", "--no-error-summary"]);
            flags.extend(input.verbose.then(|| "--show-error-code-links".to_owned()));
            let files = if input.files.is_empty() { vec![".".to_owned()] } else { input.files.clone() };
            asked.python_command(desk, "mypy", flags, files)?
        }
    };
    told_of_packages(desk, checker, &mut command)?;
    Ok(python::quiet(command))
}

/// Has a checker that is not of the environment itself look for packages in it. It asks the environment's interpreter, which is one
/// of this machine, or is refused.
fn told_of_packages(desk: &RunDesk, checker: Checker, command: &mut Command) -> Result<(), Fault> {
    if command.interpreter.is_some() {
        return Ok(());
    }
    let Some(venv) = Venv::near(desk, command.dir.as_ref())? else { return Ok(()) };
    let link = venv.interpreter()?;
    desk.interpreter(&link)?;
    let up = "../".repeat(command.dir.as_ref().map_or(0, |dir| dir.as_str().split('/').count()));
    let named = format!("{up}{link}");
    // Behind the program that Node runs.
    let behind = usize::from(command.program == "node");
    let flag = match checker {
        Checker::Pyright => ["--pythonpath".to_owned(), named],
        Checker::Mypy => ["--python-executable".to_owned(), named],
    };
    command.args.splice(behind..behind, flag);
    Ok(())
}

async fn once(desk: &RunDesk, checker: Checker, command: Command) -> Result<Answer<Output>, Fault> {
    let (format, what) = match checker {
        Checker::Pyright => (Format::PyrightJson, "`pyright`"),
        Checker::Mypy => (Format::Mypy, "`mypy`"),
    };
    let (ran, report) = reported(desk, command, format).await?;
    let answer = findings::answer(what, &ran, report, false);
    Ok(answer.map(|findings| Output { checker, rounds: 1, findings }))
}

/// Checks, and again after each change below the folder of the call, until the call is cancelled.
async fn watched(desk: &RunDesk, checker: Checker, command: &Command) -> Result<Answer<Output>, Fault> {
    desk.go_on_alone();
    let mut rounds = 0_u32;
    let now = async || {
        let dir: Option<RelPath> = command.dir.clone();
        desk.blocking(move |desk| stamp(desk, dir.as_ref())).await
    };
    loop {
        let before = now().await?;
        let answer = once(&desk.afresh(), checker, command.clone()).await?;
        rounds += 1;
        let first = answer.message.lines().next().unwrap_or_default().to_owned();
        desk.progress(f64::from(rounds), None, format!("round {rounds}: {first}"));
        while now().await? == before {
            if desk.pause(LOOK).await {
                return Err(Fault::new(
                    Code::Cancelled,
                    format!("watching ended after {rounds} rounds; the last: {first}"),
                ));
            }
        }
    }
}
