//! Download Go modules.
//!
//! Fetches the modules of go.mod into a cache that later Go calls in this root use, from the Go module proxy alone. Returns
//! what was fetched and what could not be.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use reports::Format;
use serde::Serialize;

use crate::families::GO;
use crate::findings::{self, Findings};
use crate::go;
use crate::running::{Asked, GO_CACHES, reported};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Say what is fetched.
    #[serde(default)]
    pub verbose: bool,
}

/// Most modules that are named.
const MAX_MODULES: usize = 500;

/// One module, as `go mod download -json` tells it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all(serialize = "camelCase", deserialize = "PascalCase"))]
pub struct Module {
    /// Its path.
    pub path: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
    /// Why it could not be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The modules.
    pub modules: Vec<Module>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoModDownload;

impl Define for GoModDownload {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "go_mod_download";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_mod_download.rs");
    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["go"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "verbose": true })]
    }
}

impl Run for GoModDownload {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let flags = vec!["mod".to_owned(), "download".to_owned(), "-json".to_owned()];
        let mut flags = flags;
        flags.extend(go::flag(input.verbose, "-x"));
        let command = go::with_modules(&desk, asked.command("go", flags, Vec::new())?);
        let (ran, report) = reported(&desk, command, Format::GoBuild).await?;
        let modules: Vec<Module> = serde_json::Deserializer::from_slice(&ran.stdout.bytes)
            .into_iter::<Module>()
            .map_while(Result::ok)
            .take(MAX_MODULES)
            .collect();
        let failed = modules.iter().filter(|module| module.error.is_some()).count();
        let mut answer = findings::answer("`go mod download`", &ran, report, false);
        answer.message.push_str(&format!(" {} modules, {failed} of them could not be had.", modules.len()));
        Ok(answer.map(|findings| Output { modules, findings }))
    }
}
