//! Format Python code.
//!
//! Formats sources with ruff, the project's own where its environment has one. Returns the files that are not formatted and a plan with
//! their diff; with `check` it only names them. What cannot be parsed is a finding.

use contract::text::counted;
use contract::{Code, Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::{Format, Parsed, Report};
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
    /// Only name what is not formatted.
    #[serde(default)]
    pub check: bool,
    /// Files and folders; all without.
    #[serde(default)]
    pub files: Vec<String>,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Files that are not formatted.
    pub unformatted: Vec<String>,
    /// What was found besides.
    #[serde(flatten)]
    pub findings: Findings,
}

/// Most files that are named.
const MAX_NAMED: usize = 500;

/// The rule by which ruff names a file that is not formatted.
const UNFORMATTED: &str = "unformatted";

/// The tool.
#[derive(Debug, Default)]
pub struct PythonFormat;

impl Define for PythonFormat {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_format";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_format.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["ruff", "python"];
    const CACHES: &'static [Cache] = python::CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "check": true, "files": ["src", "setup.py"] })]
    }
}

impl Run for PythonFormat {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let files = if input.files.is_empty() { vec![".".to_owned()] } else { input.files.clone() };
        let told = words(&["format", "--check", "--output-format=json"]);
        let look = asked.python_command(&desk, "ruff", told, files.clone())?;
        let (mut ran, report) = reported(&desk, look, Format::RuffJson).await?;
        if ran.code() == Some(2) && matches!(report.parsed, Parsed::Not { .. }) {
            let said = python::said(&ran.stderr.text());
            return Err(Fault::new(Code::ToolExecutionFailed, format!("ruff could not format: {said}"))
                .suggest("Mend what it names: its configuration, an argument, or a ruff before 0.9."));
        }
        let (unformatted, report) = named(report);
        if !input.check {
            let write = asked.python_command(&desk, "ruff", words(&["format"]), files)?;
            // What it says is what it said before, as text.
            ran = reported(&desk, write, Format::RuffJson).await?.0;
        }
        let broken = report.levels.errors;
        let many = counted(unformatted.len() as u64, "file");
        let mut answer = findings::answer("`ruff format`", &ran, report, false);
        let names = unformatted.join(", ");
        let what = match (unformatted.is_empty(), input.check) {
            (true, _) if broken > 0 => "What can be parsed is formatted.".to_owned(),
            (true, _) => "Every file is formatted.".to_owned(),
            (false, false) => format!("{many} to be formatted: {names}."),
            (false, true) => format!("{many} not formatted: {names}."),
        };
        answer.message = if broken > 0 { format!("{what}\n\n{}", answer.message) } else { what };
        answer.success = broken == 0 && (unformatted.is_empty() || !input.check);
        Ok(answer.map(|findings| Output { unformatted, findings }))
    }
}

/// The files that are not formatted, and the report of everything else.
fn named(mut report: Report) -> (Vec<String>, Report) {
    let is = |rule: Option<&str>| rule == Some(UNFORMATTED);
    let found = report.diagnostics.iter().filter(|found| is(found.rule.as_deref()));
    let mut names: Vec<String> = found.filter_map(|found| found.file.clone()).collect();
    names.sort();
    names.dedup();
    names.truncate(MAX_NAMED);
    let all = report.diagnostics.len();
    report.diagnostics.retain(|found| !is(found.rule.as_deref()));
    report.levels.errors -= ((all - report.diagnostics.len()) as u64).min(report.levels.errors);
    report.first = report.diagnostics.first().map(|found| found.id.clone());
    report.disagreements.clear();
    (names, report)
}
