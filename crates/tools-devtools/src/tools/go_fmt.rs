//! Format Go files.
//!
//! Formats Go source as gofmt does. Returns the files that are not formatted and a plan with their diff; nothing is written
//! without `apply`, and undo restores it.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use contract::text::counted;
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
    /// Rewrite them; otherwise only list them.
    #[serde(default = "yes")]
    pub write: bool,
    /// Simplify code, too.
    #[serde(default)]
    pub simplify: bool,
    /// Files and folders; all without.
    #[serde(default)]
    pub files: Vec<String>,
}

const fn yes() -> bool {
    true
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Files that are not formatted.
    pub unformatted: Vec<String>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoFmt;

impl Define for GoFmt {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "go_fmt";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_fmt.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["gofmt"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "write": false, "simplify": true, "files": ["cmd", "main.go"] })]
    }
}

impl Run for GoFmt {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let mut flags = vec!["-l".to_owned()];
        flags.extend(go::flag(input.write, "-w"));
        flags.extend(go::flag(input.simplify, "-s"));
        let files = if input.files.is_empty() { vec![".".to_owned()] } else { input.files.clone() };
        let command = asked.command("gofmt", flags, files)?;
        let (ran, report) = reported(&desk, command, Format::GoBuild).await?;
        let said = ran.stdout.text();
        // With `-d` it says differences, too: some of their lines end as names do.
        let differs = asked.args.iter().any(|arg| arg.trim_start_matches('-').split('=').next() == Some("d"));
        let is_file = |line: &&str| go::is_source(line) && !(differs && line.contains([' ', '\t']));
        let unformatted: Vec<String> = said.lines().filter(is_file).map(|file| asked.below(file)).collect();
        let many = counted(unformatted.len() as u64, "file");
        let mut answer = findings::answer("`gofmt`", &ran, report, false);
        if ran.is_success() {
            answer.message = match (unformatted.is_empty(), input.write) {
                (true, _) => "Every file is formatted.".to_owned(),
                (false, true) => format!("{many} to be formatted: {}.", unformatted.join(", ")),
                (false, false) => format!("{many} not formatted: {}.", unformatted.join(", ")),
            };
            answer.success = unformatted.is_empty() || input.write;
        }
        Ok(answer.map(|findings| Output { unformatted, findings }))
    }
}
