//! Lint Rust code.
//!
//! Runs clippy: findings with rule, file, line and what it proposes. With `fix`, what it can put right itself is the plan. Crates come
//! from this machine unless `fetch` is set.

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
use crate::running::{Asked, WHATEVER_IS_IGNORED, words};

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
    /// Put right what can be.
    #[serde(default)]
    pub fix: bool,
    /// Take warnings for errors.
    #[serde(default)]
    pub deny_warnings: bool,
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
pub struct CargoClippy;

impl Define for CargoClippy {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "cargo_clippy";
    const TOOLSET: Toolset = RUST;
    const DOC: Doc = doc!("cargo_clippy.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["cargo"];
    const CACHES: &'static [Cache] = cargo::CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "targets": "all", "denyWarnings": true, "fix": true, "args": ["--", "-W", "clippy::pedantic"] }),
        ]
    }
}

impl Run for CargoClippy {
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
        let mut flags = vec!["clippy".to_owned()];
        if input.fix {
            // It works over a copy: what it changes is looked at before it is applied.
            flags.extend(words(&["--fix", "--allow-dirty", "--allow-staged", "--allow-no-vcs"]));
        }
        flags.push("--message-format=json".to_owned());
        flags.extend(picked.flags());
        let own = asked.args.iter().any(|arg| arg == "--");
        let denied = words(if own { &["-D", "warnings"] } else { &["--", "-D", "warnings"] });
        let rest = if input.deny_warnings { denied } else { Vec::new() };
        let command = cargo::command(&asked, flags, rest)?;
        let told = cargo::reported(&desk, command, Format::CargoJson, input.fetch, "`cargo clippy`").await?;
        let found = told.report.levels.errors + told.report.levels.warnings;
        let mut answer = findings::answer(told.what, &told.ran, told.report, false);
        answer.success &= found == 0;
        answer.message.push_str(&cargo::advice(Self::NAME, &told.missing));
        Ok(answer.map(|findings| Output { missing: told.missing, findings }))
    }
}
