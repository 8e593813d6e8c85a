//! Clean with make.
//!
//! Runs the project's clean target. Returns what it would remove as a plan, ignored build folders included; nothing is
//! removed without `apply`, and undo brings it back.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::families::MAKE;
use crate::findings::Findings;
use crate::make::{self, made};
use crate::running::{ALL_CACHES, Asked};

/// What to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The target.
    #[serde(default = "target")]
    pub target: String,
    /// How many jobs at once.
    #[serde(default)]
    #[schemars(range(min = 1, max = 16))]
    pub parallel: Option<u32>,
}

fn target() -> String {
    "clean".to_owned()
}

/// The tool.
#[derive(Debug, Default)]
pub struct MakeClean;

impl Define for MakeClean {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "make_clean";
    const TOOLSET: Toolset = MAKE;
    const DOC: Doc = doc!("make_clean.rs");
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = make::MAKE;
    const CACHES: &'static [Cache] = ALL_CACHES;
    // Removing what is ignored is its purpose: nothing of that happens without `apply`.

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "target": "clean", "parallel": 4, "directory": "web" })]
    }
}

impl Run for MakeClean {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        made(&desk, &asked, &input.target, input.parallel).await
    }
}
