//! Run a Node project's tests.
//!
//! Runs vitest, jest, mocha or node's own runner, whichever the project uses. Returns counts and the tests that did not hold with file,
//! line and message, first failure first, which of them are new, and coverage where it is asked for.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::families::NODE;
use crate::node::{self, Manifest};
use crate::rounds::{self, Round as _, Tested, Tests};
use crate::running::{self, ALL_CACHES, Asked, WHATEVER_IS_IGNORED};
use crate::settings::{DevtoolsSection, TestRunner};
use crate::tests_of::Wish;
use crate::window::detected;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Only tests whose name matches.
    #[serde(default)]
    pub test_pattern: Option<String>,
    /// Measure coverage.
    #[serde(default)]
    pub coverage: bool,
    /// Run again whenever a file changes.
    #[serde(default)]
    pub watch: bool,
    /// Name the tests that passed.
    #[serde(default)]
    pub verbose: bool,
    /// What runs them.
    #[serde(default)]
    pub test_framework: Framework,
}

/// What runs tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Framework {
    /// Whichever the project uses.
    #[default]
    Auto,
    /// jest.
    Jest,
    /// vitest.
    Vitest,
    /// mocha.
    Mocha,
    /// `node --test`.
    Node,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsTest;

impl Define for NodejsTest {
    type Input = Input;
    type Output = Tested;
    const NAME: &'static str = "nodejs_test";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_test.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["node", "npm", "jest", "vitest", "mocha"];
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "testPattern": "total", "coverage": true, "testFramework": "vitest", "verbose": true }),
            json!({ "watch": true, "directory": "api" }),
        ]
    }
}

impl Run for NodejsTest {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Tested>, Fault> {
        let asked = Asked::of(&desk);
        let runner = match input.test_framework {
            Framework::Auto => used(&desk, asked.directory).await?,
            Framework::Jest => TestRunner::Jest,
            Framework::Vitest => TestRunner::Vitest,
            Framework::Mocha => TestRunner::Mocha,
            Framework::Node => TestRunner::Node,
        };
        let wish = Wish {
            pattern: input.test_pattern.clone(),
            coverage: input.coverage,
            parallel: None,
            verbose: input.verbose,
            summary: true,
            markers: None,
        };
        let tests = Tests {
            tool: Self::NAME,
            runner: runner.program(),
            command: runner.command(&desk, &asked, &wish)?,
            format: runner.format(),
            verbose: input.verbose,
            summary: input.coverage && matches!(runner, TestRunner::Jest | TestRunner::Vitest),
        };
        if input.watch {
            return rounds::watched(&desk, &tests.command, &tests).await;
        }
        tests.once(&desk).await
    }
}

/// Node's runners that are programs of their own, by the precedence of `run_tests`.
const KNOWN: [(&str, TestRunner); 3] =
    [("jest", TestRunner::Jest), ("vitest", TestRunner::Vitest), ("mocha", TestRunner::Mocha)];

/// The runner that the project uses: the one that the configuration names, that it depends on, or that its script `test` begins with;
/// else node's own, unless that script is something else.
async fn used(desk: &RunDesk, directory: Option<&str>) -> Result<TestRunner, Fault> {
    let directory = directory.map(str::to_owned);
    desk.blocking(move |desk| {
        let dir = running::directory(directory.as_deref())?;
        running::is_there(desk, dir.as_ref())?;
        let named = desk.settings::<DevtoolsSection>()?.test_runner;
        let is_nodes = |runner: &TestRunner| {
            *runner == TestRunner::Node || KNOWN.iter().any(|(_, known)| known == runner)
        };
        if let Some(runner) = named.filter(is_nodes) {
            return Ok(runner);
        }
        let project = detected(desk, directory.as_deref())?;
        let uses = |name: &str| project.test_frameworks.iter().any(|found| found.name == name);
        if let Some((_, runner)) = KNOWN.into_iter().find(|(name, _)| uses(name)) {
            return Ok(runner);
        }
        let scripts = node::manifest(desk, dir.as_ref())?.as_ref().map(Manifest::scripts).unwrap_or_default();
        let script = scripts.iter().find(|script| script.name == "test");
        Ok(script.map_or(TestRunner::Node, |script| by_script(&script.command)))
    })
    .await
}

/// What a script `test` runs. A member of a workspace has its runner in the workspace's manifest, and names it here.
fn by_script(command: &str) -> TestRunner {
    let words: Vec<&str> = command.split_whitespace().skip_while(|word| word.contains('=')).collect();
    // What follows another command is not what runs the tests alone.
    let is_one = !command.contains(['&', '|', ';']);
    let first = words.first().copied().unwrap_or_default();
    if let Some((_, runner)) = KNOWN.into_iter().find(|(name, _)| *name == first && is_one) {
        return runner;
    }
    // What `npm init` writes is no test.
    let is_node = first == "node" && words.contains(&"--test") && is_one;
    if is_node || first.is_empty() || command.contains("no test specified") {
        TestRunner::Node
    } else {
        TestRunner::Npm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_says_what_runs_the_tests() {
        for (command, expected) in [
            ("vitest run", TestRunner::Vitest),
            ("NODE_OPTIONS=--x CI=1 jest --ci", TestRunner::Jest),
            ("mocha 'test/**'", TestRunner::Mocha),
            ("node --test", TestRunner::Node),
            ("echo \"Error: no test specified\" && exit 1", TestRunner::Node),
            ("", TestRunner::Node),
            ("node test.js", TestRunner::Npm),
            ("tsc && vitest run", TestRunner::Npm),
            ("vitest run; node --test", TestRunner::Npm),
        ] {
            assert_eq!(by_script(command), expected, "{command}");
        }
    }
}
