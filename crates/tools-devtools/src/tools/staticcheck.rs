//! Check Go with staticcheck.
//!
//! Looks for bugs, dead code and needless code as staticcheck does. Returns findings with their check, file, line and column;
//! it changes nothing.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, ReadDesk, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use reports::Format;

use crate::families::GO;
use crate::findings::{self, Findings};
use crate::go;
use crate::running::{Asked, GO_CACHES, reported};
use crate::window::is_installed;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Package pattern.
    #[serde(default)]
    pub package: Option<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Staticcheck;

impl Define for Staticcheck {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "staticcheck";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("staticcheck.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["staticcheck", "go-staticcheck", "go"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "package": "./store" })]
    }
}

impl Run for Staticcheck {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let package = go::package(input.package.as_ref());
        let flags = vec!["-f".to_owned(), "json".to_owned()];
        let mut command = go::offline(asked.command("staticcheck", flags, vec![package.clone()])?);
        // What Debian calls it.
        let debian = |desk: &ReadDesk| {
            Ok(!is_installed(desk, "staticcheck", None)? && is_installed(desk, "go-staticcheck", None)?)
        };
        if desk.blocking(debian).await? {
            command.program = "go-staticcheck".into();
        }
        let (ran, report) = reported(&desk, command, Format::StaticcheckJson).await?;
        Ok(findings::answer(&format!("`staticcheck {package}`"), &ran, report, false))
    }
}
