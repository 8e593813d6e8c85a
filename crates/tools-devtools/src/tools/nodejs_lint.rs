//! Lint a Node project.
//!
//! Runs the project's own eslint with its own configuration. Returns findings with rule, file, line and column, errors first; `fix` makes
//! the fixes a plan with a diff. `format` chooses how the message lists them.

use contract::{Code, Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::{Diagnostic, Level, Parsed};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::families::NODE;
use crate::findings::{self, Findings};
use crate::running::{ALL_CACHES, Asked};
use crate::tools::eslint;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Files and folders; all without.
    #[serde(default)]
    pub files: Vec<String>,
    /// Propose fixes.
    #[serde(default)]
    pub fix: bool,
    /// How the message lists findings.
    #[serde(default)]
    pub format: Option<Listing>,
}

/// A way to list findings, as eslint's formatter of that name has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Listing {
    /// Below the name of each file.
    Stylish,
    /// A line each, in words.
    Compact,
    /// A line each, as compilers have it.
    Unix,
    /// As JSON.
    Json,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsLint;

impl Define for NodejsLint {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "nodejs_lint";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_lint.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["eslint", "node"];
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = eslint::PERSISTS;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "files": ["src"], "fix": true, "format": "unix" })]
    }
}

impl Run for NodejsLint {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let (ran, report) = eslint::checked(&desk, &asked, &input.files, input.fix).await?;
        // With 2 it says that it could not begin, and why: no configuration, or one that is wrong.
        if ran.code() == Some(2) && matches!(report.parsed, Parsed::Not { .. }) {
            let said = ran.stderr.text();
            let said: Vec<&str> =
                said.lines().map(str::trim).filter(|line| !line.is_empty()).take(6).collect();
            return Err(Fault::new(Code::ToolExecutionFailed, format!("eslint: {}", said.join(" ")))
                .suggest("Give the project an eslint.config.js, or mend the one that it has."));
        }
        let mut answer = findings::answer("`eslint`", &ran, report, false);
        if let Some(listing) = input.format.filter(|_| !answer.output.diagnostics.is_empty()) {
            let listed = listing.of(&answer.output.diagnostics);
            answer.message.push_str(&format!("\n\n```\n{}\n```", listed.trim_end()));
        }
        Ok(answer)
    }
}

impl Listing {
    /// `found`, listed so.
    fn of(self, found: &[Diagnostic]) -> String {
        let place = |one: &Diagnostic| (one.line.unwrap_or_default(), one.column.unwrap_or_default());
        let file = |one: &Diagnostic| one.file.clone().unwrap_or_else(|| "-".to_owned());
        let level = |one: &Diagnostic| if one.severity == Level::Error { "error" } else { "warning" };
        let rule = |one: &Diagnostic| one.rule.clone().unwrap_or_default();
        let mut text = String::new();
        match self {
            Self::Json => text = serde_json::to_string_pretty(found).unwrap_or_default(),
            Self::Unix => {
                for one in found {
                    let (line, column) = place(one);
                    text.push_str(&format!(
                        "{}:{line}:{column}: {} [{}/{}]\n",
                        file(one),
                        one.message,
                        level(one),
                        rule(one)
                    ));
                }
            }
            Self::Compact => {
                for one in found {
                    let (line, column) = place(one);
                    text.push_str(&format!(
                        "{}: line {line}, col {column}, {} - {} ({})\n",
                        file(one),
                        level(one),
                        one.message,
                        rule(one)
                    ));
                }
            }
            Self::Stylish => {
                let mut files: Vec<String> = Vec::new();
                for one in found {
                    let file = file(one);
                    if !files.contains(&file) {
                        files.push(file);
                    }
                }
                for of in files {
                    text.push_str(&format!("{of}\n"));
                    for one in found.iter().filter(|one| file(one) == of) {
                        let (line, column) = place(one);
                        text.push_str(&format!(
                            "  {line}:{column}  {}  {}  {}\n",
                            level(one),
                            one.message,
                            rule(one)
                        ));
                    }
                }
            }
        }
        text
    }
}
