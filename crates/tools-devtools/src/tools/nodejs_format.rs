//! Format a Node project.
//!
//! Formats sources, styles and documents with the project's own prettier. Returns the files that are not formatted, those that do not
//! parse as errors, and a plan with the diff; nothing is written without `apply`. `check` only lists them.

use contract::text::counted;
use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::NODE;
use crate::findings::{self, Findings};
use crate::running::{ALL_CACHES, Asked, reported, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Only list them.
    #[serde(default)]
    pub check: Option<bool>,
    /// Rewrite them; the default.
    #[serde(default)]
    pub write: Option<bool>,
    /// Files, folders and patterns; all without.
    #[serde(default)]
    pub files: Vec<String>,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Files that are not formatted.
    pub unformatted: Vec<String>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsFormat;

impl Define for NodejsFormat {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_format";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_format.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["prettier", "node"];
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = &["node_modules/.cache"];

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "check": true, "files": ["src", "*.md"] }), json!({ "write": true })]
    }
}

impl Run for NodejsFormat {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        if input.check == Some(true) && input.write == Some(true) {
            return Err(Fault::invalid("check and write: they ask for different things")
                .suggest("Leave one out: without either, the plan is what would be written."));
        }
        let writes = input.write.unwrap_or(input.check != Some(true));
        let asked = Asked::of(&desk);
        let files = if input.files.is_empty() { vec![".".to_owned()] } else { input.files.clone() };
        let mut flags = words(&["--list-different"]);
        flags.extend(writes.then(|| "--write".to_owned()));
        let command = asked.node_command(&desk, "prettier", flags, files)?;
        let (ran, report) = reported(&desk, command, Format::PrettierList).await?;
        let names = report.diagnostics.iter().filter(|found| found.rule.as_deref() == Some("prettier"));
        let unformatted: Vec<String> = names.filter_map(|found| found.file.clone()).collect();
        let broken = report.levels.errors;
        let mut answer = findings::answer("`prettier`", &ran, report, false);
        let many = counted(unformatted.len() as u64, "file");
        if broken == 0 && matches!(ran.code(), Some(0 | 1)) {
            answer.message = match (unformatted.is_empty(), writes) {
                (true, _) => "Every file is formatted.".to_owned(),
                (false, true) => format!("{many} to be formatted: {}.", unformatted.join(", ")),
                (false, false) => format!("{many} not formatted: {}.", unformatted.join(", ")),
            };
        }
        Ok(answer.map(|findings| Output { unformatted, findings }))
    }
}
