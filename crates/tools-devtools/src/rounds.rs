//! Tests and builds that run once, or again after each change.

use std::time::Duration;

use contract::{Code, Fault, RelPath};
use exec::run::Command;
use kit::{Answer, RunDesk};
use reports::{Context, Coverage, Format};
use schemars::JsonSchema;
use serde::Serialize;

use crate::findings::{self, Findings};
use crate::memory;
use crate::node;
use crate::running::reported;
use crate::tests_of::COVERAGE;
use crate::window::stamp;

/// How often it is looked whether a file has changed.
const LOOK: Duration = Duration::from_millis(500);

/// What tests say.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tested {
    /// The program that ran them.
    pub runner: String,
    /// How often they ran.
    pub rounds: u32,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// Tests that are to be run.
#[derive(Debug, Clone)]
pub(crate) struct Tests {
    /// The tool's name, by which failures are remembered.
    pub(crate) tool: &'static str,
    pub(crate) runner: &'static str,
    pub(crate) command: Command,
    pub(crate) format: Format,
    pub(crate) verbose: bool,
    /// Whether coverage is left as istanbul's summary.
    pub(crate) summary: bool,
}

/// What runs once, or again after each change.
pub(crate) trait Round: Sync {
    /// What it says.
    type Output: Send;

    /// Runs once.
    fn once(&self, desk: &RunDesk) -> impl Future<Output = Result<Answer<Self::Output>, Fault>> + Send;
}

impl Round for Tests {
    type Output = Tested;

    async fn once(&self, desk: &RunDesk) -> Result<Answer<Tested>, Fault> {
        let (ran, mut report) = reported(desk, self.command.clone(), self.format).await?;
        if self.summary {
            report.coverage = covered(desk, self.command.dir.clone()).await?.or(report.coverage);
        }
        let verdicts = memory::remember(desk, self.tool, &ran, &report).await;
        let answer = findings::answer(&format!("`{}`", ran.line.join(" ")), &ran, report, self.verbose);
        let runner = self.runner.to_owned();
        Ok(memory::told(answer, verdicts).map(|findings| Tested { runner, rounds: 1, findings }))
    }
}

/// The coverage that a run left: of lines, by file.
async fn covered(desk: &RunDesk, dir: Option<RelPath>) -> Result<Option<Coverage>, Fault> {
    let Some(workshop) = desk.workshop().cloned() else { return Ok(None) };
    let root = desk.view().root().path().display().to_string();
    desk.blocking(move |_| {
        let path = node::at(dir.as_ref(), &format!("{COVERAGE}/coverage-summary.json"))?;
        let Ok(bytes) = workshop.read(&path) else { return Ok(None) };
        let dir = dir.as_ref().map_or("", RelPath::as_str);
        Ok(reports::coverage_summary(&bytes, &Context { root: &root, dir, modules: &[] }))
    })
    .await
}

/// Runs `round`, and again after each change below `command`'s folder, until the call is cancelled: as a job, whose progress tells how it
/// is. Each round works over the root as it is then, and what it writes goes with it.
pub(crate) async fn watched<R: Round>(
    desk: &RunDesk,
    command: &Command,
    round: &R,
) -> Result<Answer<R::Output>, Fault> {
    desk.go_on_alone();
    let mut rounds = 0_u32;
    let now = async || {
        let dir = command.dir.clone();
        desk.blocking(move |desk| stamp(desk, dir.as_ref())).await
    };
    loop {
        let before = now().await?;
        let fresh = desk.afresh();
        let answer = round.once(&fresh).await?;
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
