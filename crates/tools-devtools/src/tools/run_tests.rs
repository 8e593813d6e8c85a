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

use contract::Code;

use crate::families::TEST;
use crate::rounds::{self, Round as _, Tested, Tests};
use crate::running::{ALL_CACHES, Asked, WHATEVER_IS_IGNORED};
use crate::settings::{DevtoolsSection, TestRunner};
use crate::tests_of::{Chosen, Wish};
use crate::window::detected;

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

/// The tool.
#[derive(Debug, Default)]
pub struct RunTests;

impl Define for RunTests {
    type Input = Input;
    type Output = Tested;
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

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Tested>, Fault> {
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
            summary: false,
        };
        let tests = Tests {
            tool: Self::NAME,
            runner: chosen.program(),
            command: chosen.command(&desk, &asked, &wish)?,
            format: chosen.format(),
            verbose: input.verbose,
            summary: false,
        };
        if input.watch {
            return rounds::watched(&desk, &tests.command, &tests).await;
        }
        tests.once(&desk).await
    }
}
