//! Run the project's tests.
//!
//! Runs the tests of this project with the runner that it uses: make test, jest, vitest, mocha, npm, pytest, Go or cargo. Returns
//! counts and the tests that did not hold, first failure first, and which of them are new.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use std::time::Duration;

use contract::Code;
use exec::run::Command;
use serde::Serialize;

use crate::families::TEST;
use crate::findings::{self, Findings};
use crate::memory;
use crate::running::{ALL_CACHES, Asked, WHATEVER_IS_IGNORED, reported};
use crate::settings::{DevtoolsSection, TestRunner};
use crate::tests_of::{Chosen, Wish};
use crate::window::{detected, stamp};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Only tests whose name matches.
    #[serde(default)]
    pub pattern: Option<String>,
    /// Measure coverage.
    #[serde(default)]
    pub coverage: bool,
    /// Run again whenever a file changes.
    #[serde(default)]
    pub watch: bool,
    /// Several at once, or one after another.
    #[serde(default)]
    pub parallel: Option<bool>,
    /// Name the tests that passed.
    #[serde(default)]
    pub verbose: bool,
}

/// How often it is looked whether a file has changed.
const LOOK: Duration = Duration::from_millis(500);

/// What the tests say.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The program that ran them.
    pub runner: String,
    /// How often they ran.
    pub rounds: u32,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct RunTests;

impl Define for RunTests {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "run_tests";
    const TOOLSET: Toolset = TEST;
    const DOC: Doc = doc!("run_tests.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = grammar::NAMES;
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "pattern": "total", "coverage": true, "parallel": false, "verbose": true }),
            json!({ "watch": true, "directory": "api" }),
        ]
    }
}

impl Run for RunTests {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let directory = asked.directory.map(str::to_owned);
        let project = desk.blocking(move |desk| detected(desk, directory.as_deref())).await?;
        let settings: DevtoolsSection = desk.settings()?;
        let chosen = Chosen::of(&settings, &project)?.ok_or_else(|| {
            Fault::new(Code::NotFound, "no test runner is known for this project")
                .suggest("Name the folder with `directory`, or call the tool of the runner.")
        })?;
        let is_pytest = chosen == Chosen::Runner(TestRunner::Pytest);
        let wish = Wish {
            markers: settings.python.markers.clone().filter(|_| is_pytest),
            pattern: input.pattern.clone(),
            coverage: input.coverage || is_pytest && settings.python.cover,
            parallel: input.parallel,
            verbose: input.verbose,
        };
        let command = chosen.command(&desk, &asked, &wish)?;
        if input.watch {
            return watched(&desk, &chosen, &command, input.verbose).await;
        }
        once(&desk, &chosen, command, input.verbose).await
    }
}

async fn once(
    desk: &RunDesk,
    chosen: &Chosen,
    command: Command,
    verbose: bool,
) -> Result<Answer<Output>, Fault> {
    let (ran, report) = reported(desk, command, chosen.format()).await?;
    let verdicts = memory::remember(desk, RunTests::NAME, &ran, &report).await;
    let answer = findings::answer(&format!("`{}`", ran.line.join(" ")), &ran, report, verbose);
    let runner = chosen.program().to_owned();
    Ok(memory::told(answer, verdicts).map(|findings| Output { runner, rounds: 1, findings }))
}

/// Runs the tests, and again after each change, until the call is cancelled: as a job, whose progress tells how they are.
/// A change is one below the folder that the call names. Each round works over the root as it is then, and what it writes goes with it.
async fn watched(
    desk: &RunDesk,
    chosen: &Chosen,
    command: &Command,
    verbose: bool,
) -> Result<Answer<Output>, Fault> {
    desk.go_on_alone();
    let mut rounds = 0_u32;
    let now = async || {
        let dir = command.dir.clone();
        desk.blocking(move |desk| stamp(desk, dir.as_ref())).await
    };
    loop {
        let before = now().await?;
        let round = desk.afresh();
        let answer = once(&round, chosen, command.clone(), verbose).await?;
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
