//! Tidy go.mod.
//!
//! Adds the modules that are missing from go.mod and go.sum and removes those that nothing needs. Returns the change as a plan
//! with its diff; modules are fetched from the Go module proxy alone.

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
    /// Name the modules that go.
    #[serde(default)]
    pub verbose: bool,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoModTidy;

impl Define for GoModTidy {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "go_mod_tidy";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_mod_tidy.rs");
    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["go"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "verbose": true, "directory": "api" })]
    }
}

impl Run for GoModTidy {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let mut flags = vec!["mod".to_owned(), "tidy".to_owned()];
        flags.extend(go::flag(input.verbose, "-v"));
        let command = go::with_modules(&desk, asked.command("go", flags, Vec::new())?);
        let (ran, report) = reported(&desk, command, Format::GoBuild).await?;
        Ok(findings::answer("`go mod tidy`", &ran, report, false))
    }
}
