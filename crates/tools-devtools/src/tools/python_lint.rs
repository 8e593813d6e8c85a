//! Lint Python code.
//!
//! Checks sources with ruff, the project's own where its environment has one. Returns findings with rule, file, line and whether ruff can
//! put them right; with `fix`, what it puts right is the plan.

use contract::{Code, Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::{Format, Parsed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::findings::{self, Findings};
use crate::python;
use crate::running::{Asked, WHATEVER_IS_IGNORED, reported, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Propose fixes.
    #[serde(default)]
    pub fix: bool,
    /// Only look, whatever the configuration says.
    #[serde(default)]
    pub check: bool,
    /// Files and folders; all without.
    #[serde(default)]
    pub files: Vec<String>,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Findings that `fix` would put right.
    pub fixable: u64,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct PythonLint;

impl Define for PythonLint {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_lint";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_lint.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["ruff", "python"];
    const CACHES: &'static [Cache] = python::CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "files": ["src"], "fix": true }), json!({ "check": true })]
    }
}

impl Run for PythonLint {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        if input.fix && input.check {
            return Err(Fault::invalid("check: nothing is put right where it is only looked")
                .suggest("Leave out `check` or `fix`."));
        }
        let asked = Asked::of(&desk);
        let mut flags = words(&["check", "--output-format=json"]);
        flags.extend(input.fix.then(|| "--fix".to_owned()));
        // A configuration may say `fix = true`.
        flags.extend((!input.fix).then(|| "--no-fix".to_owned()));
        let files = if input.files.is_empty() { vec![".".to_owned()] } else { input.files.clone() };
        let command = asked.python_command(&desk, "ruff", flags, files)?;
        let (ran, report) = reported(&desk, command, Format::RuffJson).await?;
        if ran.code() == Some(2) && matches!(report.parsed, Parsed::Not { .. }) {
            let said = python::said(&ran.stderr.text());
            return Err(Fault::new(Code::ToolExecutionFailed, format!("ruff could not check: {said}"))
                .suggest("Mend what it names: its configuration, an argument, or the version of ruff."));
        }
        let fixable = report.diagnostics.iter().filter(|found| found.fix).count() as u64;
        let mut answer = findings::answer("`ruff check`", &ran, report, false);
        if fixable > 0 {
            answer.message.push_str(&format!(
                "\n\n{} put right by `python_lint {{\"fix\":true}}`.",
                if fixable == 1 { "1 can be".to_owned() } else { format!("{fixable} can be") }
            ));
        }
        Ok(answer.map(|findings| Output { fixable, findings }))
    }
}
