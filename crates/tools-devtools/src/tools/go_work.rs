//! Change a Go workspace.
//!
//! Makes a go.work file, adds modules to it, brings it in step with its modules, or edits it. Returns the change as a plan with
//! its diff.

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
    /// What to do.
    pub command: Verb,
    /// Folders of modules.
    #[serde(default)]
    pub modules: Vec<String>,
}

/// What to do with a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Make one.
    Init,
    /// Add modules.
    Use,
    /// Bring it in step with its modules.
    Sync,
    /// Edit it.
    Edit,
}

impl Verb {
    const fn word(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Use => "use",
            Self::Sync => "sync",
            Self::Edit => "edit",
        }
    }
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoWork;

impl Define for GoWork {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "go_work";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_work.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["go"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({ "command": "init", "modules": ["./api"] }), json!({ "command": "sync" })]
    }
}

impl Run for GoWork {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let verb = input.command.word();
        let flags = vec!["work".to_owned(), verb.to_owned()];
        let rest = match input.command {
            Verb::Edit => input.modules.iter().map(|module| format!("-use={module}")).collect(),
            Verb::Init | Verb::Use | Verb::Sync => input.modules.clone(),
        };
        let command = go::offline(asked.command("go", flags, rest)?);
        let (ran, report) = reported(&desk, command, Format::GoBuild).await?;
        Ok(findings::answer(&format!("`go work {verb}`"), &ran, report, false))
    }
}
