//! Run Python benchmarks.
//!
//! Runs benchmarks with pytest-benchmark. Returns for each the mean time of one operation, how often it ran, and its spread; `compare` holds
//! them against an earlier run, `save` keeps this one as a plan.

use contract::{Code, Fault, Toolset};
use exec::reports::ReportFile;
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::{Format, pytest_benchmark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::findings::{self, Findings};
use crate::python;
use crate::running::{Asked, reported, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// File or folder, or part of names.
    #[serde(default)]
    #[schemars(length(max = 1_000))]
    pub benchmarks: Option<String>,
    /// Number of a saved run to compare with.
    #[serde(default)]
    pub compare: Option<String>,
    /// Name to save this run under.
    #[serde(default)]
    pub save: Option<String>,
    /// Keep all of pytest-benchmark's JSON.
    #[serde(default)]
    pub json: bool,
    /// Most rounds before measuring begins.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub warmup: Option<u32>,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Where all of the JSON is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// pytest-benchmark's table of the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<String>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// What pytest-benchmark leaves.
const FIGURES: &str = "benchmark.json";

/// Most characters of the comparison.
const MAX_TABLE: usize = 6_000;

/// The tool.
#[derive(Debug, Default)]
pub struct PythonBenchmark;

impl Define for PythonBenchmark {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_benchmark";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_benchmark.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["pytest", "python"];
    const CACHES: &'static [Cache] = python::CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "benchmarks": "parse", "save": "before", "json": true, "warmup": 1000 }),
            json!({ "compare": "0001" }),
        ]
    }
}

impl Run for PythonBenchmark {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let mut flags = words(&["-rA", "--tb=short", "--benchmark-only", "--color=no"]);
        flags.extend(input.compare.iter().map(|run| format!("--benchmark-compare={run}")));
        flags.extend(input.save.iter().map(|name| format!("--benchmark-save={name}")));
        if let Some(rounds) = input.warmup {
            flags.extend([
                "--benchmark-warmup=on".to_owned(),
                format!("--benchmark-warmup-iterations={rounds}"),
            ]);
        }
        let mut rest = Vec::new();
        if let Some(named) = &input.benchmarks {
            let path = exec::view::path_argument(&asked.below(named));
            let is_path =
                path.is_ok_and(|path| desk.view().is_folder(&path) || desk.view().size(&path).is_some());
            if is_path {
                rest.push(named.clone());
            } else {
                flags.extend(["-k".to_owned(), named.clone()]);
            }
        }
        let mut command = python::remembering(asked.python_command(&desk, "pytest", flags, rest)?);
        command.timeout = exec::run::MAX_TIMEOUT;
        let figures = python::beside(&mut command, FIGURES);
        // In one word: pytest looks for its root above whatever is named on its own.
        command.args.push(format!("--benchmark-json={figures}"));
        let (ran, mut report) = reported(&desk, command, Format::Pytest).await?;
        let said = ran.stderr.text();
        if ran.code() == Some(4) && said.contains("--benchmark") {
            return Err(Fault::new(Code::ToolExecutionFailed, "pytest has no pytest-benchmark here")
                .suggest(
                    "Add pytest-benchmark to the project's development dependencies and install them.",
                ));
        }
        let bytes = python::left(&desk, FIGURES).await?;
        report.benchmarks = bytes.as_deref().and_then(pytest_benchmark).unwrap_or_default();
        let kept = match bytes {
            Some(bytes) if input.json => {
                let file = ReportFile { name: FIGURES.to_owned(), mime: "application/json", bytes };
                Some(desk.blocking(move |desk| desk.keep_report("python_benchmark", &[file])).await?)
            }
            _ => None,
        };
        let comparison = input.compare.is_some().then(|| table(&ran.stdout.text())).flatten();
        let many = report.benchmarks.len();
        let slowest = report
            .benchmarks
            .iter()
            .max_by(|a, b| a.ns_per_op.unwrap_or_default().total_cmp(&b.ns_per_op.unwrap_or_default()));
        let slowest = slowest
            .map(|row| format!(", the slowest `{}` at {} ns", row.name, row.ns_per_op.unwrap_or_default()));
        let mut answer = findings::answer("`pytest --benchmark-only`", &ran, report, false);
        let counted = contract::text::counted(many as u64, "benchmark");
        answer.message.push_str(&format!("\n\n{counted} measured{}.", slowest.unwrap_or_default()));
        // Exit code 5: there was nothing to run.
        if ran.code() == Some(5) {
            answer.message =
                String::from("There is no benchmark: a test is one where it takes the fixture `benchmark`.");
        }
        Ok(answer.map(|findings| Output { report: kept, comparison, findings }))
    }
}

/// The table that compares runs, as it is printed.
fn table(said: &str) -> Option<String> {
    let from = said.find("- benchmark")?;
    let from = said.get(..from)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = said.get(from..)?;
    let to = rest.find("\nLegend:").unwrap_or(rest.len());
    let table: String = rest.get(..to)?.trim_end().chars().take(MAX_TABLE).collect();
    Some(table)
}
