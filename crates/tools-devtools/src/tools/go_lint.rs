//! Lint Go with golangci-lint.
//!
//! Runs the linters that the project configured for golangci-lint. Returns findings with linter, file and line; with `fix` it
//! proposes their fixes as a plan.

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
use crate::go;
use crate::running::{Asked, GO_CACHES, reported};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Configuration file in the root.
    #[serde(default)]
    pub config: Option<String>,
    /// Propose fixes.
    #[serde(default)]
    pub fix: bool,
    /// Say more while it works.
    #[serde(default)]
    pub verbose: bool,
    /// How it writes: json is read, others are kept.
    #[serde(default = "json_format")]
    #[schemars(regex(pattern = r"^[a-z-]{1,20}$"))]
    pub format: String,
    /// How many at once.
    #[serde(default)]
    #[schemars(range(min = 1, max = 32))]
    pub concurrency: Option<u32>,
    /// Linters to switch on.
    #[serde(default)]
    pub enabled_linters: Vec<String>,
    /// Linters to switch off.
    #[serde(default)]
    pub disabled_linters: Vec<String>,
    /// Packages or files.
    #[serde(default = "everything")]
    pub paths: Vec<String>,
}

fn json_format() -> String {
    "json".to_owned()
}

fn everything() -> Vec<String> {
    vec!["./...".to_owned()]
}

/// What has it say its findings as they are read here.
pub(crate) const FLAGS: &[&str] = &["run", "--output.json.path=stdout"];

/// The tool.
#[derive(Debug, Default)]
pub struct GoLint;

impl Define for GoLint {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "go_lint";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_lint.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["golangci-lint", "go"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "fix": true, "enabledLinters": ["errcheck"], "disabledLinters": ["unused"], "concurrency": 2, "paths": ["./store/..."] }),
        ]
    }
}

impl Run for GoLint {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let mut flags: Vec<String> = FLAGS.iter().map(|flag| flag.replace("json", &input.format)).collect();
        flags.extend(input.config.as_ref().map(|config| format!("--config={config}")));
        flags.extend(go::flag(input.fix, "--fix"));
        flags.extend(go::flag(input.verbose, "--verbose"));
        flags.extend(input.concurrency.map(|many| format!("--concurrency={many}")));
        for (flag, linters) in [("--enable", &input.enabled_linters), ("--disable", &input.disabled_linters)]
        {
            if !linters.is_empty() {
                flags.push(format!("{flag}={}", linters.join(",")));
            }
        }
        let command = go::offline(asked.command("golangci-lint", flags, input.paths.clone())?);
        let (ran, report) = reported(&desk, command, Format::GolangciJson).await?;
        Ok(findings::answer("`golangci-lint run`", &ran, report, false))
    }
}
