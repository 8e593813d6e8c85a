//! Build a Node project.
//!
//! Has the project's package manager run its script `build`, or another. Returns what the compiler found with file and line where it is
//! understood, else whether it succeeded. Build folders that the project ignores are kept; other files are a plan.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::NODE;
use crate::findings::{self, Findings};
use crate::memory;
use crate::node::{self, Wanted};
use crate::rounds::{self, Round};
use crate::running::{ALL_CACHES, Asked, WHATEVER_IS_IGNORED, reported};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Script of package.json.
    #[serde(default = "build")]
    pub script: String,
    /// Set `NODE_ENV` to production.
    #[serde(default)]
    pub production: bool,
    /// Run again whenever a file changes.
    #[serde(default)]
    pub watch: bool,
}

fn build() -> String {
    "build".to_owned()
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The script that ran.
    pub script: String,
    /// How often it ran.
    pub rounds: u32,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsBuild;

impl Define for NodejsBuild {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_build";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_build.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = node::MANAGERS;
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "script": "build", "production": true, "args": ["--", "--verbose"] }),
            json!({ "watch": true }),
        ]
    }
}

impl Run for NodejsBuild {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let mut wanted = node::script(&desk, &asked, &input.script).await?;
        if input.production {
            wanted.command.env.insert("NODE_ENV".into(), "production".into());
        }
        let build = Build { script: input.script, wanted };
        if input.watch {
            return rounds::watched(&desk, &build.wanted.command, &build).await;
        }
        build.once(&desk).await
    }
}

struct Build {
    script: String,
    wanted: Wanted,
}

impl Round for Build {
    type Output = Output;

    async fn once(&self, desk: &RunDesk) -> Result<Answer<Output>, Fault> {
        let Wanted { command, format, line } = &self.wanted;
        let (ran, report) = reported(desk, command.clone(), *format).await?;
        let verdicts = memory::remember(desk, NodejsBuild::NAME, &ran, &report).await;
        let answer = memory::told(findings::answer(&format!("`{line}`"), &ran, report, false), verdicts);
        let script = self.script.clone();
        Ok(answer.map(|findings| Output { script, rounds: 1, findings }))
    }
}
