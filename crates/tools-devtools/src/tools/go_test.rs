//! Run Go tests.
//!
//! Runs a module's tests. Returns counts, the tests that did not hold with file, line and message, first failure first,
//! races, build errors and coverage. Files that tests write are proposed, never left in the tree.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use reports::Format;

use crate::families::GO;
use crate::findings::{self, Findings};
use crate::running::{Asked, GO_CACHES, WHATEVER_IS_IGNORED, reported};
use crate::settings::DevtoolsSection;
use crate::{go, memory};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Package pattern.
    #[serde(default)]
    pub package: Option<String>,
    /// Name the tests that passed.
    #[serde(default)]
    pub verbose: bool,
    /// Look for data races.
    #[serde(default)]
    pub race: bool,
    /// Measure coverage.
    #[serde(default)]
    pub cover: bool,
    /// Build tags.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoTest;

impl Define for GoTest {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "go_test";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_test.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["go"];
    const CACHES: &'static [Cache] = GO_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "package": "./store", "race": true, "cover": true, "verbose": true, "tags": ["integration"] }),
        ]
    }
}

impl Run for GoTest {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let settings: DevtoolsSection = desk.settings()?;
        let mut tags = settings.golang.tags;
        tags.extend(input.tags.iter().cloned());
        let mut flags = vec!["test".to_owned(), "-json".to_owned()];
        flags.extend(go::flag(input.race || settings.golang.race, "-race"));
        flags.extend(go::flag(input.cover || settings.golang.cover, "-cover"));
        flags.extend(go::tags(&tags));
        let package = go::package(input.package.as_ref());
        let command = go::offline(asked.command("go", flags, vec![package.clone()])?);
        let (ran, report) = reported(&desk, command, Format::GoTestJson).await?;
        let verdicts = memory::remember(&desk, Self::NAME, &ran, &report).await;
        let answer = findings::answer(&format!("`go test {package}`"), &ran, report, input.verbose);
        Ok(memory::told(answer, verdicts))
    }
}
