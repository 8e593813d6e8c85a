//! Check that Rust code compiles.
//!
//! Type-checks packages without building them, and says what does not compile, with file, line, column and what the compiler proposes.
//! Crates come from this machine unless `fetch` is set.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cargo::{self, Picked, Targets};
use crate::families::RUST;
use crate::findings::{self, Findings};
use crate::running::{Asked, WHATEVER_IS_IGNORED};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is an input of its own")]
pub struct Input {
    /// Package of the workspace.
    #[serde(default)]
    pub package: Option<String>,
    /// Features to switch on.
    #[serde(default)]
    pub features: Vec<String>,
    /// All features.
    #[serde(default)]
    pub all_features: bool,
    /// Without default features.
    #[serde(default)]
    pub no_default_features: bool,
    /// With optimisations.
    #[serde(default)]
    pub release: bool,
    /// What of it to compile.
    #[serde(default)]
    pub targets: Option<Targets>,
    /// Fetch crates that are missing.
    #[serde(default)]
    pub fetch: bool,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Crates that are not on this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct CargoCheck;

impl Define for CargoCheck {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "cargo_check";
    const TOOLSET: Toolset = RUST;
    const DOC: Doc = doc!("cargo_check.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["cargo"];
    const CACHES: &'static [Cache] = cargo::CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "package": "shop", "features": ["cli"], "targets": "all", "fetch": true })]
    }
}

impl Run for CargoCheck {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let picked = Picked {
            package: input.package.as_deref(),
            features: &input.features,
            all_features: input.all_features,
            no_default_features: input.no_default_features,
            release: input.release,
            targets: input.targets,
        };
        let mut flags = vec!["check".to_owned(), "--message-format=json".to_owned()];
        flags.extend(picked.flags());
        let command = cargo::command(&asked, flags, Vec::new())?;
        let told = cargo::reported(&desk, command, Format::CargoJson, input.fetch, "`cargo check`").await?;
        let mut answer = findings::answer(told.what, &told.ran, told.report, false);
        answer.message.push_str(&cargo::advice(Self::NAME, &told.missing));
        Ok(answer.map(|findings| Output { missing: told.missing, findings }))
    }
}
