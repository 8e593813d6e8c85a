//! Lint a commit message.
//!
//! Checks a commit message by the project's commitlint rules, before it is committed. Returns findings with their rule; the message
//! is passed as a file and never as an argument.

use contract::{Fault, Toolset};
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
use crate::running::{ALL_CACHES, Asked, reported};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The message.
    #[schemars(length(min = 1, max = 20_000))]
    pub message: String,
    /// Folder below the root to work in.
    #[serde(default)]
    pub directory: Option<String>,
    /// More arguments for the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// Milliseconds that it may take.
    #[serde(default)]
    #[schemars(range(min = 1_000, max = 600_000))]
    pub timeout: Option<u64>,
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
        vec![json!({ "message": "feat(store): forget at once" })]
    }
}

impl Run for Commitlint {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked =
            Asked { directory: input.directory.as_deref(), args: &input.args, timeout: input.timeout };
        let mut command = asked.node_command(&desk, "commitlint", Vec::new(), Vec::new())?;
        command.args.extend(["--edit".to_owned(), format!("{INPUT}message")]);
        command.inputs.insert("message".to_owned(), input.message.into_bytes());
        let (ran, report) = reported(&desk, command, Format::Commitlint).await?;
        Ok(findings::answer("`commitlint`", &ran, report, false))
    }
}
