//! Lint Markdown.
//!
//! Checks Markdown files by the project's markdownlint rules. Returns findings with rule, file and line; with `fix` it proposes
//! the fixes as a plan with a diff.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use reports::Format;

use crate::families::LINT;
use crate::files::Choice;
use crate::findings::{self, Findings};
use crate::running::{ALL_CACHES, Asked, reported, words};

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
}

/// What has it say its findings as they are read here.
pub(crate) const FLAGS: &[&str] = &["--json", "--ignore", "node_modules"];

/// What it looks at where nobody says.
pub(crate) const FILES: Choice = Choice { endings: &[".md", ".markdown"], otherwise: "**/*.md", own: None };

/// The tool.
#[derive(Debug, Default)]
pub struct Markdownlint;

impl Define for Markdownlint {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "markdownlint";
    const TOOLSET: Toolset = LINT;
    const DOC: Doc = doc!("markdownlint.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["markdownlint", "node"];
    const CACHES: &'static [Cache] = ALL_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "files": ["README.md", "docs"], "fix": true })]
    }
}

impl Run for Markdownlint {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let Some(files) = FILES.given(&desk, &asked, &input.files).await? else {
            return Ok(findings::nothing("markdownlint"));
        };
        let mut flags = words(FLAGS);
        flags.extend(input.fix.then(|| "--fix".to_owned()));
        let command = asked.node_command(&desk, "markdownlint", flags, files)?;
        let (ran, report) = reported(&desk, command, Format::Markdownlint).await?;
        Ok(findings::answer("`markdownlint`", &ran, report, false))
    }
}
