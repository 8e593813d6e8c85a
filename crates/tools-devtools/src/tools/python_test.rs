//! Run Python tests.
//!
//! Runs tests with pytest, the project's own where its environment has one, else with unittest. Returns counts, the tests that did not
//! hold with file, line and message, first failure first, which are new, and coverage of each file where it is asked for.

use contract::{Code, Fault, RelPath, Toolset};
use exec::run::{Cache, Command, Ran};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::{Context, Coverage, Format, Report, coverage_py};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::findings::{self, Findings};
use crate::memory;
use crate::python;
use crate::running::{self, Asked, WHATEVER_IS_IGNORED, reported, words};
use crate::settings::DevtoolsSection;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Folder, file or test (`tests/test_a.py::test_x`).
    #[serde(default)]
    pub test_path: Option<String>,
    /// Only tests whose name matches (`-k`).
    #[serde(default)]
    #[schemars(length(max = 1_000))]
    pub pattern: Option<String>,
    /// Measure coverage; needs pytest-cov.
    #[serde(default)]
    pub coverage: bool,
    /// Name the tests that passed.
    #[serde(default)]
    pub verbose: bool,
    /// Only tests with these markers (`-m`).
    #[serde(default)]
    #[schemars(length(max = 1_000))]
    pub markers: Option<String>,
}

/// What runs tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Runner {
    /// pytest.
    Pytest,
    /// The one that comes with Python; what it says is not read.
    Unittest,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What ran the tests.
    pub runner: Runner,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct PythonTest;

impl Define for PythonTest {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_test";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_test.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["pytest", "coverage", "python3", "python"];
    const CACHES: &'static [Cache] = python::CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "testPath": "tests", "pattern": "total and not slow", "coverage": true, "verbose": true, "markers": "unit" }),
        ]
    }
}

impl Run for PythonTest {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, mut input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let dir = running::directory(asked.directory)?;
        if python::placed(&desk, "pytest", dir.as_ref())?.is_none() {
            return with_unittest(&input, &desk, &asked).await;
        }
        // As the project says, where the call does not.
        let settings: DevtoolsSection = desk.settings()?;
        input.markers = input.markers.or(settings.python.markers);
        input.coverage |= settings.python.cover;
        let mut flags = words(&["-rA", "--tb=short"]);
        flags.extend(input.verbose.then(|| "-v".to_owned()));
        for (flag, value) in [("-k", &input.pattern), ("-m", &input.markers)] {
            flags.extend(value.iter().flat_map(|value| [flag.to_owned(), value.clone()]));
        }
        if input.coverage {
            flags.extend(words(&["--cov", "--cov-report=term"]));
        }
        let command =
            asked.python_command(&desk, "pytest", flags, input.test_path.clone().into_iter().collect())?;
        let mut command = python::remembering(command);
        if input.coverage {
            let data = python::beside(&mut command, DATA);
            command.env.insert("COVERAGE_FILE".to_owned(), data);
        }
        let (ran, mut report) = reported(&desk, command, Format::Pytest).await?;
        if input.coverage {
            if let Some(fault) = without_plugin(&ran) {
                return Err(fault);
            }
            if let Some(exact) = measured(&desk, dir).await? {
                report.coverage = Some(exact);
            }
        }
        Ok(told(&desk, Runner::Pytest, "`pytest`", &ran, report, input.verbose).await)
    }
}

/// What coverage.py keeps of a run, and what it says of that.
const DATA: &str = "coverage.data";
const FIGURES: &str = "coverage.json";

/// pytest does not know the flag without its plugin.
fn without_plugin(ran: &Ran) -> Option<Fault> {
    let said = ran.stderr.text();
    let is = ran.code() == Some(4) && said.contains("unrecognized arguments") && said.contains("--cov");
    is.then(|| {
        Fault::new(Code::ToolExecutionFailed, "coverage: pytest has no pytest-cov here")
            .suggest("Add pytest-cov to the project's development dependencies and install them, or leave out `coverage`.")
    })
}

/// What was covered, in figures that are not rounded, where coverage.py says it.
async fn measured(desk: &RunDesk, dir: Option<RelPath>) -> Result<Option<Coverage>, Fault> {
    let place = dir.as_ref().map_or("", RelPath::as_str).to_owned();
    let asked = Asked { directory: dir.as_ref().map(RelPath::as_str), args: &[] };
    let Some(_) = python::placed(desk, "coverage", dir.as_ref())? else { return Ok(None) };
    let mut command: Command = asked.python_command(desk, "coverage", words(&["json", "-q"]), Vec::new())?;
    // The data are there from the run before; only the figures are new.
    command.env.insert("COVERAGE_FILE".to_owned(), format!("{}{DATA}", exec::run::INPUT));
    let figures = python::beside(&mut command, FIGURES);
    command.args.extend(["-o".to_owned(), figures]);
    let kept = python::left(desk, DATA).await?;
    let Some(kept) = kept else { return Ok(None) };
    command.inputs.insert(DATA.to_owned(), kept);
    let command = running::configured(desk, command).await?;
    desk.run(command).await?;
    let root = desk.view().root().path().display().to_string();
    let context = Context { root: &root, dir: &place, modules: &[] };
    Ok(python::left(desk, FIGURES).await?.and_then(|bytes| coverage_py(&bytes, &context)))
}

/// `python -m unittest`: what it says is text for people, so only its exit code is known.
async fn with_unittest(input: &Input, desk: &RunDesk, asked: &Asked<'_>) -> Result<Answer<Output>, Fault> {
    for (name, is) in [("coverage", input.coverage), ("markers", input.markers.is_some())] {
        if is {
            return Err(Fault::invalid(format!(
                "{name}: unittest cannot do that, and there is no pytest here"
            ))
            .suggest("Install pytest in the project's environment, or leave it out."));
        }
    }
    let mut flags = words(&["-m", "unittest"]);
    match &input.test_path {
        Some(named) if python::is_source(named) || named.contains("::") => {
            return Err(Fault::invalid("testPath: unittest takes a folder here, and there is no pytest")
                .suggest("Name the folder of the tests."));
        }
        named => {
            flags.push("discover".to_owned());
            flags.extend(named.iter().flat_map(|named| ["-s".to_owned(), named.clone()]));
        }
    }
    flags.extend(input.verbose.then(|| "-v".to_owned()));
    flags.extend(input.pattern.iter().flat_map(|pattern| ["-k".to_owned(), pattern.clone()]));
    let mut command = asked.command("python3", flags, Vec::new())?;
    if let Some(venv) = python::Venv::near(desk, command.dir.as_ref())? {
        command.program = "python".into();
        command.interpreter = Some(venv.interpreter()?);
    }
    let (ran, report) = reported(desk, python::quiet(command), Format::Tap).await?;
    Ok(told(desk, Runner::Unittest, "`python -m unittest`", &ran, report, input.verbose).await)
}

async fn told(
    desk: &RunDesk,
    runner: Runner,
    what: &str,
    ran: &Ran,
    report: Report,
    verbose: bool,
) -> Answer<Output> {
    let verdicts = memory::remember(desk, PythonTest::NAME, ran, &report).await;
    let answer = findings::answer(what, ran, report, verbose);
    memory::told(answer, verdicts).map(|findings| Output { runner, findings })
}
