//! How the tests stand.
//!
//! Says which runner this project's tests have, whether it is installed, and which failures of earlier runs are still open. Runs
//! nothing; use it before `run_tests`.

use contract::text::counted;
use projects::Found;
use store_api::{FailureHistory, Failures, HistoryQuery, LineState};

use crate::settings::DevtoolsSection;
use crate::tests_of::Chosen;
use crate::window::{detected, is_installed};

use contract::{Fault, Toolset, Truncated};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::TEST;
use crate::{git, running};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
}

/// Most failures in one result.
const MAX_FAILING: usize = 30;

/// How the tests stand.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The program that runs them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// Whether it is there.
    pub installed: bool,
    /// Test frameworks that the project uses.
    pub frameworks: Vec<Found>,
    /// Failures that have not held since.
    pub failing: Vec<FailureHistory>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct TestStatus;

impl Define for TestStatus {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "test_status";
    const TOOLSET: Toolset = TEST;
    const DOC: Doc = doc!("test_status.rs");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "directory": "api" })]
    }
}

impl Read for TestStatus {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let directory = input.directory;
        let dir = running::directory(directory.as_deref())?;
        let folder = dir.as_ref().map(ToString::to_string);
        let (runner, installed, frameworks) = desk
            .blocking(move |desk| {
                let project = detected(desk, directory.as_deref())?;
                let chosen = Chosen::of(&desk.settings::<DevtoolsSection>()?, &project)?;
                let runner = chosen.as_ref().map(Chosen::program);
                let installed = match runner {
                    Some(program) => is_installed(desk, program, dir.as_ref())?,
                    None => false,
                };
                Ok((runner.map(str::to_owned), installed, project.test_frameworks))
            })
            .await?;
        let mut failing = open(&desk, folder.as_deref()).await?;
        let total = failing.len() as u64;
        failing.truncate(MAX_FAILING);
        let message = match (&runner, installed) {
            (None, _) => "No test runner is known for this project.".to_owned(),
            (Some(runner), true) => {
                format!("`{runner}` runs the tests; {} of before are open.", counted(total, "failure"))
            }
            (Some(runner), false) => format!("`{runner}` runs the tests, and it is not installed."),
        };
        let shown = failing.len() as u64;
        let mut answer = Answer::new(message, Output { runner, installed, frameworks, failing });
        if shown < total {
            answer.truncated =
                Some(Truncated { shown, total, next: "test_status with a `directory`".to_owned() });
        }
        Ok(answer)
    }
}

/// Every failure below `folder` that has not held since, what failed last first.
async fn open(desk: &ReadDesk, folder: Option<&str>) -> Result<Vec<FailureHistory>, Fault> {
    let Some(store) = desk.service::<dyn Failures>() else { return Ok(Vec::new()) };
    // One whose file nobody said may be anywhere.
    let is_here =
        |item: &FailureHistory| item.failure.file.as_deref().is_none_or(|file| git::is_below(file, folder));
    let mut query = HistoryQuery::of(desk.view().root().id().to_owned());
    query.state = Some(LineState::Open);
    let mut found = Vec::new();
    loop {
        let page = store.history(query.clone()).await.map_err(Fault::from)?;
        found.extend(page.items.into_iter().filter(is_here));
        if page.next.is_none() {
            return Ok(found);
        }
        desk.check()?;
        query.after = page.next;
    }
}
