//! Check the types of a Node project.
//!
//! Runs the project's own TypeScript over its tsconfig.json. Returns errors with code, file, line and column; nothing is emitted unless
//! `noEmit` is false.

use contract::{Code, Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::Format;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::families::NODE;
use crate::findings::{self, Findings};
use crate::memory;
use crate::running::{ALL_CACHES, Asked, WHATEVER_IS_IGNORED, reported, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Its tsconfig.json, or the folder.
    #[serde(default)]
    pub project: Option<String>,
    /// Only check; the default.
    #[serde(default = "yes")]
    pub no_emit: bool,
    /// Keep what was checked for the next time.
    #[serde(default)]
    pub incremental: bool,
}

const fn yes() -> bool {
    true
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsCheckTypes;

impl Define for NodejsCheckTypes {
    type Input = Input;
    type Output = Findings;
    const NAME: &'static str = "nodejs_check_types";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_check_types.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["tsc", "node"];
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "project": "tsconfig.build.json", "noEmit": false, "incremental": true })]
    }
}

impl Run for NodejsCheckTypes {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Findings>, Fault> {
        let asked = Asked::of(&desk);
        let mut flags = words(&["--pretty", "false"]);
        flags.extend(input.project.iter().flat_map(|project| ["-p".to_owned(), project.clone()]));
        flags.extend(input.no_emit.then(|| "--noEmit".to_owned()));
        flags.extend(input.incremental.then(|| "--incremental".to_owned()));
        let command = asked.node_command(&desk, "tsc", flags, Vec::new())?;
        let (ran, report) = reported(&desk, command, Format::Tsc).await?;
        // Where it finds nothing to do, it tells how it is called.
        if !ran.is_success()
            && report.levels.errors == 0
            && ran.stdout.text().contains("The TypeScript Compiler")
        {
            return Err(Fault::new(Code::NotFound, "there is no tsconfig.json here or above")
                .suggest("Name it with `project`, or its folder with `directory`."));
        }
        let verdicts = memory::remember(&desk, Self::NAME, &ran, &report).await;
        Ok(memory::told(findings::answer("`tsc`", &ran, report, false), verdicts))
    }
}
