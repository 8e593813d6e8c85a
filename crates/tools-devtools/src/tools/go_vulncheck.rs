//! Find known vulnerabilities in Go.
//!
//! Asks the Go vulnerability database about a module's code with govulncheck. Returns what is reachable, with the fixed version;
//! says so when the database could not be reached.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use reports::Format;
use serde::Serialize;

use crate::families::GO;
use crate::findings::{self, Findings};
use crate::go;
use crate::running::{Asked, GO_CACHES, reported};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Package pattern.
    #[serde(default)]
    pub package: Option<String>,
    /// Look at source or at a binary.
    #[serde(default)]
    pub mode: Mode,
    /// Give its own messages, too.
    #[serde(default)]
    pub json: bool,
    /// Name the calls that reach it.
    #[serde(default)]
    pub verbose: bool,
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

/// Most messages that are given.
const MAX_MESSAGES: usize = 50;

/// What to look at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Source: what is called counts.
    #[default]
    Source,
    /// A binary: what is linked in counts.
    Binary,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Its own messages, when asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<serde_json::Map<String, Value>>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoVulncheck;

impl Define for GoVulncheck {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "go_vulncheck";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_vulncheck.rs");
    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["govulncheck", "go"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "mode": "binary", "package": "bin/app", "json": true, "verbose": true })]
    }
}

impl Run for GoVulncheck {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked =
            Asked { directory: input.directory.as_deref(), args: &input.args, timeout: input.timeout };
        let mode = match input.mode {
            Mode::Source => "source",
            Mode::Binary => "binary",
        };
        let mut flags = vec!["-format=json".to_owned(), format!("-mode={mode}")];
        if input.verbose {
            flags.extend(["-show".to_owned(), "verbose,traces".to_owned()]);
        }
        let package = go::package(input.package.as_ref());
        let command = go::with_vulnerabilities(asked.command("govulncheck", flags, vec![package])?);
        let (ran, report) = reported(&desk, command, Format::GovulncheckJson).await?;
        let messages = serde_json::Deserializer::from_slice(&ran.stdout.bytes)
            .into_iter::<serde_json::Map<String, Value>>();
        let messages = messages.map_while(Result::ok).filter(|_| input.json).take(MAX_MESSAGES).collect();
        let answer = findings::answer("`govulncheck`", &ran, report, false);
        Ok(answer.map(|findings| Output { messages, findings }))
    }
}
