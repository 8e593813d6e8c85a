//! Run a script of package.json.
//!
//! Lists the scripts with what each runs, or has the project's package manager run one of them, over a copy: what it writes is a plan.
//! Returns how it ended and what it said. For tests and builds there are tools of their own.

use contract::text::counted;
use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::NODE;
use crate::findings::{self, Findings};
use crate::node::{self, Manifest, Script};
use crate::running::{self, ALL_CACHES, Asked, WHATEVER_IS_IGNORED, reported};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The script to run; none lists them.
    #[serde(default)]
    pub script: Option<String>,
    /// List them.
    #[serde(default)]
    pub list: bool,
}

/// Most lines of what a script said that are repeated.
const MAX_LINES: usize = 30;

/// Most characters of them.
const MAX_CHARS: usize = 3_000;

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The script that ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Scripts of package.json, where they are listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<Script>,
    /// Its exit code, where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none", rename = "exitCode")]
    pub exit_code: Option<i32>,
    /// The end of what it said.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// What was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Findings>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct NodejsScripts;

impl Define for NodejsScripts {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "nodejs_scripts";
    const TOOLSET: Toolset = NODE;
    const DOC: Doc = doc!("nodejs_scripts.rs");

    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = node::MANAGERS;
    const CACHES: &'static [Cache] = ALL_CACHES;
    const PERSISTS: &'static [&'static str] = WHATEVER_IS_IGNORED;

    fn examples() -> Vec<Value> {
        vec![json!({ "script": "build" }), json!({ "list": true }), json!({})]
    }
}

impl Run for NodejsScripts {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let scripts =
            if input.list || input.script.is_none() { listed(&desk, &asked).await? } else { Vec::new() };
        let Some(script) = input.script else {
            let many = counted(scripts.len() as u64, "script");
            let lines: Vec<String> =
                scripts.iter().map(|script| format!("- `{}`: `{}`", script.name, script.command)).collect();
            let message = format!("{many}.\n\n{}", lines.join("\n")).trim_end().to_owned();
            let said = String::new();
            return Ok(Answer::new(
                message,
                Output { script: None, scripts, exit_code: None, said, findings: None },
            ));
        };
        let wanted = node::script(&desk, &asked, &script).await?;
        let (ran, report) = reported(&desk, wanted.command, wanted.format).await?;
        let said = end_of(&[ran.stdout.text(), ran.stderr.text()]);
        let exit_code = ran.code();
        let answer = findings::answer(&format!("`{}`", wanted.line), &ran, report, false);
        Ok(answer.map(|findings| Output {
            script: Some(script),
            scripts,
            exit_code,
            said: desk.cleaned(&said),
            findings: Some(findings),
        }))
    }
}

async fn listed(desk: &RunDesk, asked: &Asked<'_>) -> Result<Vec<Script>, Fault> {
    let dir = running::directory(asked.directory)?;
    let found = desk.blocking(move |desk| {
        running::is_there(desk, dir.as_ref())?;
        node::manifest(desk, dir.as_ref())
    });
    match found.await? {
        Some(manifest) => Ok(Manifest::scripts(&manifest)),
        None => Err(node::no_manifest()),
    }
}

/// The last lines of both streams, standard output first.
fn end_of(streams: &[impl AsRef<str>]) -> String {
    let lines: Vec<&str> = streams.iter().flat_map(|stream| stream.as_ref().lines()).collect();
    let text = lines.get(lines.len().saturating_sub(MAX_LINES)..).unwrap_or_default().join("\n");
    let from = text.char_indices().rev().nth(MAX_CHARS - 1).map_or(0, |(at, _)| at);
    text.get(from..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_the_end_is_repeated() {
        let long: Vec<String> = (0..100).map(|nth| format!("line {nth}\n")).collect();
        let long = long.concat();
        let end = end_of(&[long.as_str(), "last\n"]);
        assert!(end.starts_with("line 71\n") && end.ends_with("line 99\nlast"), "{end}");
        assert_eq!(end_of(&["é".repeat(5_000)]).chars().count(), MAX_CHARS);
        assert_eq!(end_of(&[""]), "");
    }
}
