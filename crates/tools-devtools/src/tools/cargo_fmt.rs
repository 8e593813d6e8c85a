//! Format Rust files.
//!
//! Formats the packages of a workspace with rustfmt and its configuration. Returns the files that are not formatted, what does not parse,
//! and a plan with the diff; nothing is written without `apply`. `check` only lists them.

use contract::text::counted;
use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cargo;
use crate::families::RUST;
use crate::findings::{self, Findings};
use crate::running::{Asked, reported};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Only list them.
    #[serde(default)]
    pub check: bool,
    /// Package of the workspace; all without.
    #[serde(default)]
    pub package: Option<String>,
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
pub struct CargoFmt;

impl Define for CargoFmt {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "cargo_fmt";
    const TOOLSET: Toolset = RUST;
    const DOC: Doc = doc!("cargo_fmt.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["cargo"];
    const CACHES: &'static [Cache] = cargo::CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "check": true, "package": "shop" })]
    }
}

impl Run for CargoFmt {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let mut flags = vec!["fmt".to_owned()];
        match &input.package {
            Some(package) => flags.extend(["--package".to_owned(), package.clone()]),
            None => flags.push("--all".to_owned()),
        }
        flags.extend(input.check.then(|| "--check".to_owned()));
        // Behind the dashes are rustfmt's own, which the caller may have begun.
        let begun = asked.args.iter().any(|arg| arg == "--");
        let mut rest: Vec<String> = (!begun).then(|| "--".to_owned()).into_iter().collect();
        rest.push("-l".to_owned());
        let command = cargo::command(&asked, flags, rest)?;
        let (ran, report) = reported(&desk, command, Format::RustfmtList).await?;
        let names = report.diagnostics.iter().filter(|found| found.rule.as_deref() == Some("rustfmt"));
        let mut unformatted: Vec<String> = names.filter_map(|found| found.file.clone()).collect();
        // A file that two targets have is named by each.
        unformatted.sort();
        unformatted.dedup();
        let broken = report.levels.errors;
        let mut answer = findings::answer("`cargo fmt`", &ran, report, false);
        if broken == 0 && matches!(ran.code(), Some(0 | 1)) && (ran.is_success() || !unformatted.is_empty()) {
            let many = counted(unformatted.len() as u64, "file");
            answer.message = match (unformatted.is_empty(), input.check) {
                (true, _) => "Every file is formatted.".to_owned(),
                (false, false) => format!("{many} to be formatted: {}.", unformatted.join(", ")),
                (false, true) => format!("{many} not formatted: {}.", unformatted.join(", ")),
            };
        }
        Ok(answer.map(|findings| Output { unformatted, findings }))
    }
}
