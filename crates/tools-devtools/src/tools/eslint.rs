//! Lint JavaScript and TypeScript.
//!
//! Checks sources by the project's own configuration of eslint. Returns findings with rule, file, line and column, errors first; with
//! `fix` it proposes the fixes as a plan with a diff.

use contract::{Fault, Toolset};
use exec::run::{Cache, Ran};
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use reports::{Format, Report};

use crate::families::LINT;
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
pub(crate) const FLAGS: &[&str] = &["-f", "json"];

/// What it keeps for the next time.
pub(crate) const PERSISTS: &[&str] = &[".eslintcache", "node_modules/.cache"];

/// The tool.
#[derive(Debug, Default)]
pub struct Eslint;

impl Define for Eslint {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "eslint";
    const TOOLSET: Toolset = LINT;
    const DOC: Doc = doc!("eslint.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["eslint", "node"];
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = PERSISTS;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "files": ["src"], "fix": true })]
    }
}

impl Run for Eslint {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let (ran, report) = checked(&desk, &Asked::of(&desk), &input.files, input.fix).await?;
        Ok(findings::answer("`eslint`", &ran, report, false))
    }
}

/// Has eslint look at `files`, or at all.
pub(crate) async fn checked(
    desk: &RunDesk,
    asked: &Asked<'_>,
    files: &[String],
    fix: bool,
) -> Result<(Ran, Report), Fault> {
    let files = if files.is_empty() { vec![".".to_owned()] } else { files.to_vec() };
    let mut flags = words(FLAGS);
    flags.extend(fix.then(|| "--fix".to_owned()));
    let command = asked.node_command(desk, "eslint", flags, files)?;
    reported(desk, command, Format::EslintJson).await
}
