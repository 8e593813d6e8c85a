//! Run and explain a command.
//!
//! Runs one command, held to its program's grammar, and explains why it failed. Returns the exit code, what was recognised and
//! suggestions with the tool call to make next; no shell reads it.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use failures::Analysis;
use serde::Serialize;

use crate::families::SMART;
use crate::running::{ALL_CACHES, Asked, WHATEVER_IS_IGNORED, configured};
use crate::smart::{self, Context};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The command line: no pipes, no variables.
    #[schemars(length(min = 1, max = 8_000))]
    pub command: String,
    /// What else is known.
    #[serde(default)]
    pub context: Context,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The program that ran.
    pub program: String,
    /// Why it failed, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis: Option<Analysis>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct AnalyzeCommand;

impl Define for AnalyzeCommand {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "analyze_command";
    const TOOLSET: Toolset = SMART;
    const DOC: Doc = doc!("analyze_command.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = grammar::NAMES;
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "command": "go vet ./..." }),
            json!({ "command": "make test", "context": { "files": ["Makefile"] }, "timeout": 60_000 }),
        ]
    }
}

impl Run for AnalyzeCommand {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let words = grammar::split(&input.command).map_err(|e| Fault::invalid(format!("command: {e}")))?;
        let (first, rest) = words.split_first().ok_or_else(|| Fault::invalid("command: it is empty"))?;
        let program = grammar::program_of(first).map_err(|e| Fault::invalid(format!("command: {e}")))?;
        let command = asked.any_command(&desk, program, rest.to_vec(), Vec::new())?;
        let command = configured(&desk, command).await?;
        let dir = command.dir.clone();
        let ran = desk.run(command).await?;
        desk.blocking(move |desk| {
            let Context { files, timed_out } = &input.context;
            let analysis = desk.analysis_of(&ran, dir.as_ref(), *timed_out, files);
            let held = ran.is_success();
            let message = if held {
                "It succeeded: there is nothing to explain.".to_owned()
            } else {
                smart::said(&analysis)
            };
            let analysis = (!held).then_some(analysis);
            let mut answer = Answer::new(message, Output { program: program.to_owned(), analysis });
            answer.success = held;
            Ok(answer)
        })
        .await
    }
}
