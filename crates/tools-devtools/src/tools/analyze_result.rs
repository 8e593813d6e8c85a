//! Explain a failed command.
//!
//! Explains what a command that was run elsewhere said when it failed. Returns what was recognised, the files that it names, and
//! suggestions with the tool call to make next.

use failures::{Analysis, FailedRun};

use crate::running;
use crate::smart::{self, Context};

use contract::{Fault, RelPath, Toolset};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::SMART;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The command line.
    pub command: String,
    /// Its exit code.
    pub exit_code: i32,
    /// What it wrote to standard output.
    #[serde(default)]
    pub stdout: String,
    /// What it wrote to standard error.
    #[serde(default)]
    pub stderr: String,
    /// Folder below the root where it ran.
    #[serde(default)]
    pub directory: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub duration: Option<u64>,
    /// What else is known.
    #[serde(default)]
    pub context: Context,
}

/// What was recognised.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The analysis.
    #[serde(flatten)]
    pub analysis: Analysis,
}

/// The tool.
#[derive(Debug, Default)]
pub struct AnalyzeResult;

impl Define for AnalyzeResult {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "analyze_result";
    const TOOLSET: Toolset = SMART;
    const DOC: Doc = doc!("analyze_result.rs");
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "command": "go test ./...", "exitCode": 1, "stdout": "--- FAIL: TestTotal (0.00s)" }),
            json!({ "command": "make", "exitCode": 2, "stderr": "make: *** [Makefile:3: test] Error 1", "duration": 1200, "context": { "files": ["Makefile"] } }),
        ]
    }
}

impl Read for AnalyzeResult {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| {
            let words: Vec<String> = input.command.split_whitespace().map(str::to_owned).collect();
            let dir = running::directory(input.directory.as_deref())?;
            let root = desk.view().root().path().display().to_string();
            let analysis = desk.analyzed(&FailedRun {
                program: words.first().map_or("", String::as_str),
                args: words.get(1..).unwrap_or_default(),
                exit_code: Some(input.exit_code),
                timed_out: input.context.timed_out,
                stdout: &input.stdout,
                stderr: &input.stderr,
                duration_ms: input.duration.unwrap_or_default(),
                root: Some(&root),
                dir: dir.as_ref().map(RelPath::as_str),
                files: &input.context.files,
                ..FailedRun::default()
            })?;
            let analysis = analysis.as_ref().clone();
            Ok(Answer::new(smart::said(&analysis), Output { analysis }))
        })
        .await
    }
}
