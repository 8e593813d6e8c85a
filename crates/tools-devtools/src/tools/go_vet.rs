//! Vet Go packages.
//!
//! Looks for likely mistakes as go vet does: wrong format strings, lost cancellations, copied locks. Returns them with file,
//! line and column; it changes nothing.

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
use crate::running::{Asked, GO_CACHES, reported, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Package pattern.
    #[serde(default)]
    pub package: Option<String>,
}

/// What `go` is told.
pub(crate) const FLAGS: &[&str] = &["vet"];

/// The tool.
#[derive(Debug, Default)]
pub struct GoVet;

impl Define for GoVet {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "go_vet";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_vet.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["go"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "package": "./store" })]
    }
}

impl Run for GoVet {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let package = go::package(input.package.as_ref());
        let command = go::offline(asked.command("go", words(FLAGS), vec![package.clone()])?);
        let (ran, report) = reported(&desk, command, Format::GoBuild).await?;
        Ok(findings::answer(&format!("`go vet {package}`"), &ran, report, false))
    }
}
