//! Run go generate.
//!
//! Runs the generators that the source names. Returns a plan with the diff of what they wrote; with `dryRun` it only says which
//! commands would run.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use reports::{Format, Levels};
use serde::Serialize;

use crate::families::GO;
use crate::findings::{self, Findings};
use crate::go;
use crate::running::{Asked, GO_CACHES, reported};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Package pattern.
    #[serde(default)]
    pub package: Option<String>,
    /// Only directives that match this expression.
    #[serde(default)]
    pub run: Option<String>,
    /// Not those that match this one.
    #[serde(default)]
    pub skip: Option<String>,
    /// Name the packages and files.
    #[serde(default)]
    pub verbose: bool,
    /// Only say which commands would run.
    #[serde(default)]
    pub dry_run: bool,
}

/// Most commands and files that are named.
const MAX_COMMANDS: usize = 200;

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The commands that would run, in a dry run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Packages and files that were looked at, when asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoGenerate;

impl Define for GoGenerate {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "go_generate";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_generate.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["go"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "package": "./api", "run": "stringer", "verbose": true }),
            json!({ "dryRun": true, "skip": "mock" }),
        ]
    }
}

impl Run for GoGenerate {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let mut flags = vec!["generate".to_owned()];
        flags.extend(input.run.as_ref().map(|which| format!("-run={which}")));
        flags.extend(input.skip.as_ref().map(|which| format!("-skip={which}")));
        flags.extend(go::flag(input.verbose, "-v"));
        flags.extend(input.dry_run.then_some(["-n", "-x"]).into_iter().flatten().map(str::to_owned));
        let package = go::package(input.package.as_ref());
        let command = go::offline(asked.command("go", flags, vec![package.clone()])?);
        let (ran, mut report) = reported(&desk, command, Format::GoBuild).await?;
        if ran.is_success() {
            // What generators say is theirs.
            (report.diagnostics, report.levels) = (Vec::new(), Levels::default());
        }
        let said = ran.stderr.text();
        // With `-v` it names the files that it looks into, one a line, among the commands.
        let is_file = |line: &&str| input.verbose && go::is_source(line) && !line.contains(' ');
        let (files, others): (Vec<&str>, Vec<&str>) = said.lines().partition(is_file);
        let files = files.iter().map(|file| asked.below(file)).take(MAX_COMMANDS).collect();
        let commands = others.iter().filter(|line| input.dry_run && !line.is_empty());
        let commands: Vec<String> = commands.map(|line| (*line).to_owned()).take(MAX_COMMANDS).collect();
        let answer = findings::answer(&format!("`go generate {package}`"), &ran, report, false);
        Ok(answer.map(|findings| Output { commands, files, findings }))
    }
}
