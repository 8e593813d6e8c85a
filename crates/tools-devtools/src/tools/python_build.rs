//! Build a Python package.
//!
//! Builds a source distribution and a wheel with `python -m build`. Returns the files with size and SHA-256; what the project ignores is kept,
//! anything else is a plan. Without `noBuildIsolation` the packages that building needs are fetched through the user's registry.

use contract::{Code, Digest, Fault, RelPath, Toolset};
use exec::run::{Cache, MAX_TIMEOUT};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::python::managers::Manager;
use crate::python::{self, From};
use crate::running::{self, Asked, WHATEVER_IS_IGNORED, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is an input of its own")]
pub struct Input {
    /// A source distribution.
    #[serde(default = "yes")]
    pub sdist: bool,
    /// A wheel.
    #[serde(default = "yes")]
    pub wheel: bool,
    /// Where to.
    #[serde(default = "dist")]
    pub outdir: String,
    /// Build with what is installed; needs no network.
    #[serde(default)]
    pub no_build_isolation: bool,
    /// Do not look whether what it needs is installed.
    #[serde(default)]
    pub skip_dependency_check: bool,
}

const fn yes() -> bool {
    true
}

fn dist() -> String {
    "dist/".to_owned()
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What was built.
    pub artifacts: Vec<Artifact>,
}

/// A file that was built.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Artifact {
    /// Its path.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

/// The tool.
#[derive(Debug, Default)]
pub struct PythonBuild;

impl Define for PythonBuild {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_build";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_build.rs");

    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["python3", "python"];
    const CACHES: &'static [Cache] = python::CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "noBuildIsolation": true }),
            json!({ "sdist": false, "outdir": "out", "skipDependencyCheck": true, "noBuildIsolation": true }),
            json!({ "wheel": false }),
        ]
    }
}

impl Run for PythonBuild {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        if !input.sdist && !input.wheel {
            return Err(
                Fault::invalid("sdist: neither it nor a wheel is asked for").suggest("Leave one of them on.")
            );
        }
        let asked = Asked::of(&desk);
        let outdir = input.outdir.trim_end_matches('/').to_owned();
        let mut flags = words(&["-m", "build"]);
        flags.extend(input.sdist.then(|| "--sdist".to_owned()));
        flags.extend(input.wheel.then(|| "--wheel".to_owned()));
        flags.extend(["--outdir".to_owned(), outdir.clone()]);
        flags.extend(input.no_build_isolation.then(|| "--no-isolation".to_owned()));
        flags.extend(input.skip_dependency_check.then(|| "--skip-dependency-check".to_owned()));
        let mut command = asked.command("python3", flags, Vec::new())?;
        if let Some(From::Venv(venv)) = python::placed(&desk, "build", command.dir.as_ref())? {
            command.program = "python".into();
            command.interpreter = Some(venv.interpreter()?);
        }
        command.timeout = MAX_TIMEOUT;
        let mut command = if input.no_build_isolation {
            python::quiet(command)
        } else {
            Manager::fetching(&desk, command, false)
        };
        // The same sources give the same files.
        command.env.entry("SOURCE_DATE_EPOCH".to_owned()).or_insert_with(|| "315532800".to_owned());
        let dir = command.dir.clone();
        let command = running::configured(&desk, command).await?;
        let ran = desk.run(command).await?;
        let said = ran.stdout.text();
        if !ran.is_success() {
            let err = ran.stderr.text();
            if err.contains("No module named build") {
                return Err(python::missing("build"));
            }
            let why = python::said(&format!("{said}\n{err}"));
            return Err(Fault::new(Code::ToolExecutionFailed, format!("it could not be built: {why}"))
                .suggest("Mend what the backend names; `noBuildIsolation` builds with what is installed, `run_output` has all that was said."));
        }
        let artifacts = built(&desk, dir, &outdir, &said).await?;
        let lines: Vec<String> =
            artifacts.iter().map(|built| format!("- `{}` ({} bytes)", built.path, built.bytes)).collect();
        let mut answer = Answer::new(format!("Built:\n\n{}", lines.join("\n")), Output { artifacts });
        answer.success = !answer.output.artifacts.is_empty();
        Ok(answer)
    }
}

/// The files that the last line names: `Successfully built a.tar.gz and a.whl`.
async fn built(
    desk: &RunDesk,
    dir: Option<RelPath>,
    outdir: &str,
    said: &str,
) -> Result<Vec<Artifact>, Fault> {
    let last =
        said.lines().rev().find_map(|line| line.split_once("Successfully built ")).map(|(_, names)| names);
    let names = last.unwrap_or_default().replace(" and ", " ").replace(',', " ");
    let mut artifacts = Vec::new();
    let Some(workshop) = desk.workshop().cloned() else { return Ok(artifacts) };
    for name in names.split_whitespace() {
        let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let below = format!("{outdir}/{name}");
        let path = dir.as_ref().map_or_else(|| RelPath::new(&below), |dir| dir.join(&below));
        let Ok(path) = path else { continue };
        let workshop = workshop.clone();
        let at = path.clone();
        let Ok(bytes) = desk.blocking(move |_| workshop.read(&at)).await else { continue };
        let sha256 = Digest::of(&bytes).to_string().trim_start_matches("sha256:").to_owned();
        artifacts.push(Artifact { path: path.to_string(), bytes: bytes.len() as u64, sha256 });
    }
    Ok(artifacts)
}
