//! Dependencies with make.
//!
//! Runs the project's depend target. Returns the exit code and what failed; files that it writes are a plan with a diff,
//! and caches that the project ignores persist.

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
use crate::running::{ALL_CACHES, Asked, WHATEVER_IS_IGNORED};

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
    "depend".to_owned()
}

/// The tool.
#[derive(Debug, Default)]
pub struct MakeDepend;

impl Define for MakeDepend {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "make_depend";
    const TOOLSET: Toolset = MAKE;
    const DOC: Doc = doc!("make_depend.rs");
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = make::MAKE;
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "target": "depend", "parallel": 4, "directory": "web" })]
    }
}

impl Run for MakeDepend {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        made(&desk, &asked, &input.target, input.parallel).await
    }
}
