//! Lint GitHub workflows.
//!
//! Checks workflow files of GitHub Actions with actionlint, and their scripts with shellcheck. Returns findings with rule, file,
//! line and column; it changes nothing.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use reports::{Diagnostic, Format};
use serde::Serialize;

use crate::families::LINT;
use crate::findings::{self, Findings};
use crate::running::{ALL_CACHES, Asked, reported};

/// What it takes.
#[expect(clippy::struct_excessive_bools, reason = "each is an argument of its own, by the catalogue")]
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Workflow files; all without.
    #[serde(default)]
    pub files: Vec<String>,
    /// What else to give: its JSON, or SARIF.
    #[serde(default)]
    pub format: Form,
    /// Check shell scripts, too.
    #[serde(default = "yes")]
    pub shellcheck: bool,
    /// Check Python scripts, too.
    #[serde(default)]
    pub pyflakes: bool,
    /// Say more while it works.
    #[serde(default)]
    pub verbose: bool,
    /// Colour its output.
    #[serde(default)]
    pub color: bool,
    /// Never colour its output.
    #[serde(default)]
    pub no_color: bool,
    /// Leave out what matches these expressions.
    #[serde(default)]
    pub ignore: Vec<String>,
}

const fn yes() -> bool {
    true
}

/// How it writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Nothing else.
    #[default]
    Default,
    /// JSON.
    Json,
    /// SARIF.
    Sarif,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// SARIF 2.1.0, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sarif: Option<Map<String, Value>>,
    /// Its own messages, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<Vec<Map<String, Value>>>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Actionlint;

impl Define for Actionlint {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "actionlint";
    const TOOLSET: Toolset = LINT;
    const DOC: Doc = doc!("actionlint.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["actionlint", "shellcheck", "pyflakes"];
    const CACHES: &'static [Cache] = ALL_CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "files": [".github/workflows/ci.yml"], "shellcheck": false, "ignore": ["SC2086"], "noColor": true }),
        ]
    }
}

impl Run for Actionlint {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let mut flags = Vec::new();
        if !input.shellcheck {
            flags.push("-shellcheck=".to_owned());
        }
        if !input.pyflakes {
            flags.push("-pyflakes=".to_owned());
        }
        for (wanted, flag) in
            [(input.verbose, "-verbose"), (input.color, "-color"), (input.no_color, "-no-color")]
        {
            flags.extend(wanted.then(|| flag.to_owned()));
        }
        for expression in &input.ignore {
            flags.extend(["-ignore".to_owned(), expression.clone()]);
        }
        let mut command = asked.command("actionlint", flags, input.files.clone())?;
        // What it is to write is ours to say.
        command.args.splice(0..0, ["-format".to_owned(), "{{json .}}".to_owned()]);
        let (ran, report) = reported(&desk, command, Format::ActionlintJson).await?;
        let sarif = (input.format == Form::Sarif).then(|| sarif(&report.diagnostics));
        let raw = (input.format == Form::Json)
            .then(|| serde_json::from_slice(&ran.stdout.bytes).unwrap_or_default());
        let answer = findings::answer("`actionlint`", &ran, report, false);
        Ok(answer.map(|findings| Output { sarif, raw, findings }))
    }
}

/// Diagnostics as SARIF 2.1.0.
fn sarif(diagnostics: &[Diagnostic]) -> Map<String, Value> {
    let results: Vec<Value> = diagnostics
        .iter()
        .map(|found| {
            let region = json!({ "startLine": found.line, "startColumn": found.column });
            let place = json!({ "artifactLocation": { "uri": found.file }, "region": region });
            json!({
                "ruleId": found.rule, "level": "error", "message": { "text": found.message },
                "locations": [{ "physicalLocation": place }],
            })
        })
        .collect();
    let driver = json!({ "name": "actionlint", "informationUri": "https://github.com/rhysd/actionlint" });
    let runs = json!([{ "tool": { "driver": driver }, "results": results }]);
    Map::from_iter([("version".to_owned(), "2.1.0".into()), ("runs".to_owned(), runs)])
}
