//! Run Go benchmarks.
//!
//! Runs benchmarks and no tests. Returns nanoseconds, bytes and allocations for each operation, and what failed; use it before
//! and after a change.

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
    /// Package pattern.
    #[serde(default)]
    pub package: Option<String>,
    /// Which ones: a regular expression.
    #[serde(default)]
    pub benchmarks: Option<String>,
    /// How long each: `2s` or `100x`.
    #[serde(default)]
    pub benchtime: Option<String>,
    /// Measure allocations.
    #[serde(default)]
    pub benchmem: bool,
    /// Numbers of processors.
    #[serde(default)]
    pub cpu: Vec<u32>,
    /// How often each.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub count: Option<u32>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoBenchmark;

impl Define for GoBenchmark {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "go_benchmark";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_benchmark.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["go"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "package": "./store", "benchmarks": "Get", "benchtime": "100x", "benchmem": true, "cpu": [1, 2], "count": 3 }),
        ]
    }
}

impl Run for GoBenchmark {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let which = input.benchmarks.as_deref().unwrap_or(".");
        let mut flags =
            vec!["test".to_owned(), "-json".to_owned(), "-run=^$".to_owned(), format!("-bench={which}")];
        flags.extend(input.benchtime.as_ref().map(|time| format!("-benchtime={time}")));
        flags.extend(go::flag(input.benchmem, "-benchmem"));
        if !input.cpu.is_empty() {
            let cpu: Vec<String> = input.cpu.iter().map(ToString::to_string).collect();
            flags.push(format!("-cpu={}", cpu.join(",")));
        }
        flags.extend(input.count.map(|count| format!("-count={count}")));
        let package = go::package(input.package.as_ref());
        let mut command = go::offline(asked.command("go", flags, vec![package.clone()])?);
        command.timeout = exec::run::MAX_TIMEOUT;
        let (ran, report) = reported(&desk, command, Format::GoTestJson).await?;
        let many = report.benchmarks.len();
        let mut answer =
            findings::answer(&format!("`go test -bench={which} {package}`"), &ran, report, false);
        answer.message.push_str(&format!(" {many} results."));
        Ok(answer)
    }
}
