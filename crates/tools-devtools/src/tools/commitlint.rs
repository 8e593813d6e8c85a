//! Lint a commit message.
//!
//! Checks a commit message by the project's commitlint rules, before it is committed. Returns findings with their rule; the message
//! is passed as a file and never as an argument.

use contract::{Code, Fault, Toolset};
use exec::history::LogQuery;
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use exec::run::INPUT;
use reports::Format;

use crate::families::LINT;
use crate::findings::{self, Findings};
use crate::git;
use crate::running::{ALL_CACHES, Asked, reported};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The message; that of the last commit without.
    #[serde(default)]
    #[schemars(length(min = 1, max = 20_000))]
    pub message: Option<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Commitlint;

impl Define for Commitlint {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "commitlint";
    const TOOLSET: Toolset = LINT;
    const DOC: Doc = doc!("commitlint.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["commitlint", "node"];
    const CACHES: &'static [Cache] = ALL_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({ "message": "feat(store): forget at once" }), json!({})]
    }
}

impl Run for Commitlint {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let message = match input.message {
            Some(message) => message,
            None => last(&desk).await?,
        };
        let mut command = asked.node_command(&desk, "commitlint", Vec::new(), Vec::new())?;
        command.args.extend(["--edit".to_owned(), format!("{INPUT}message")]);
        command.inputs.insert("message".to_owned(), message.into_bytes());
        let (ran, report) = reported(&desk, command, Format::Commitlint).await?;
        Ok(findings::answer("`commitlint`", &ran, report, false))
    }
}

/// The message of the last commit.
async fn last(desk: &RunDesk) -> Result<String, Fault> {
    let mut query = LogQuery::new("HEAD");
    query.limit = 1;
    let log =
        git::read(desk, move |repository, limits, cancel| repository.log(&query, limits, cancel)).await?;
    let commit = log.commits.into_iter().next();
    let commit = commit.ok_or_else(|| {
        Fault::new(Code::NotFound, "there is no commit yet").suggest("Pass the `message` that is meant.")
    })?;
    Ok(if commit.body.is_empty() { commit.summary } else { format!("{}\n\n{}", commit.summary, commit.body) })
}
