//! Lint YAML.
//!
//! Checks YAML files by the project's yamllint rules. Returns findings with rule, file, line and column; it changes nothing.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use reports::Format;

use crate::families::LINT;
use crate::files::{Choice, OwnChoice};
use crate::findings::{self, Findings};
use crate::running::{ALL_CACHES, Asked, reported, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Files and folders; all without.
    #[serde(default)]
    pub files: Vec<String>,
}

/// What has it say its findings as they are read here.
pub(crate) const FLAGS: &[&str] = &["-f", "parsable"];

/// What it looks at where nobody says.
pub(crate) const FILES: Choice = Choice {
    endings: &[".yml", ".yaml", ".yamllint"],
    otherwise: ".",
    own: Some(OwnChoice { files: &[".yamllint", ".yamllint.yaml", ".yamllint.yml"], key: "yaml-files" }),
};

/// The tool.
#[derive(Debug, Default)]
pub struct Yamllint;

impl Define for Yamllint {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "yamllint";
    const TOOLSET: Toolset = LINT;
    const DOC: Doc = doc!("yamllint.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["yamllint"];
    const CACHES: &'static [Cache] = ALL_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "files": [".github/workflows"] })]
    }
}

impl Run for Yamllint {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let Some(files) = FILES.given(&desk, &asked, &input.files).await? else {
            return Ok(findings::nothing("yamllint"));
        };
        let flags = words(FLAGS);
        let command = asked.command("yamllint", flags, files)?;
        let (ran, report) = reported(&desk, command, Format::YamllintParsable).await?;
        Ok(findings::answer("`yamllint`", &ran, report, false))
    }
}
