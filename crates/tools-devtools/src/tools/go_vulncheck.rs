//! Find known vulnerabilities in Go.
//!
//! Asks the Go vulnerability database about a module's code with govulncheck. Returns what is reachable, with the fixed version;
//! says so when the database could not be reached.

use contract::{Fault, Toolset};
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

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
    /// Package pattern.
    #[serde(default)]
    pub package: Option<String>,
    /// Look at source or at a binary.
    #[serde(default)]
    pub mode: Mode,
    /// Give its own messages, too.
    #[serde(default)]
    pub json: bool,
    /// Name the calls that reach it.
    #[serde(default)]
    pub verbose: bool,
}

/// Most messages that are given.
const MAX_MESSAGES: usize = 50;

/// What to look at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Source: what is called counts.
    #[default]
    Source,
    /// A binary: what is linked in counts.
    Binary,
}

/// How one vulnerability is reached.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Trace {
    /// Its name in the database of Go.
    pub osv: String,
    /// The calls, from this code's own to the vulnerable one.
    pub calls: Vec<String>,
}

/// The calls of a finding, where it says some.
fn trace(said: &serde_json::Map<String, Value>) -> Option<Trace> {
    let finding = said.get("finding")?;
    let call = |frame: &Value| {
        let word = |name: &str| frame.get(name).and_then(Value::as_str);
        let function = word("function")?;
        let receiver = word("receiver").map(|receiver| format!("{receiver}."));
        let package = word("package").unwrap_or_default();
        Some(format!("{package}.{}{function}", receiver.unwrap_or_default()))
    };
    let calls: Vec<String> = finding.get("trace")?.as_array()?.iter().rev().filter_map(call).collect();
    (!calls.is_empty()).then(|| Trace { osv: finding["osv"].as_str().unwrap_or_default().to_owned(), calls })
}

fn vulnerabilities(many: u64) -> String {
    if many == 1 { "1 vulnerability".to_owned() } else { format!("{many} vulnerabilities") }
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// How each is reached, when asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<Trace>,
    /// Its own messages, when asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<serde_json::Map<String, Value>>,
    /// What was found.
    #[serde(flatten)]
    pub findings: Findings,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoVulncheck;

impl Define for GoVulncheck {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "go_vulncheck";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_vulncheck.rs");
    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["govulncheck", "go"];
    const CACHES: &'static [Cache] = GO_CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "mode": "binary", "package": "bin/app", "json": true, "verbose": true })]
    }
}

impl Run for GoVulncheck {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        let mode = match input.mode {
            Mode::Source => "source",
            Mode::Binary => "binary",
        };
        let flags = vec!["-format=json".to_owned(), format!("-mode={mode}")];
        if input.mode == Mode::Binary && input.package.is_none() {
            return Err(Fault::invalid("package: with the mode `binary` it names the binary to look at")
                .suggest("Build it with go_build and `output`, and pass its path as `package`."));
        }
        let package = go::package(input.package.as_ref());
        let command = go::with_vulnerabilities(&desk, asked.command("govulncheck", flags, vec![package])?);
        let (ran, report) = reported(&desk, command, Format::GovulncheckJson).await?;
        let said =
            || serde_json::Deserializer::from_slice(&ran.stdout.bytes).into_iter().map_while(Result::ok);
        let messages = said().filter(|_| input.json).take(MAX_MESSAGES).collect();
        let traces =
            said().filter(|_| input.verbose).filter_map(|said| trace(&said)).take(MAX_MESSAGES).collect();
        // Asked for JSON, it ends well whatever it finds.
        let found = report.levels.errors;
        let mut answer = findings::answer("`govulncheck`", &ran, report, false);
        answer.success &= found == 0;
        if found > 0 && ran.is_success() {
            answer.message = format!("`govulncheck`: {} that this code calls.", vulnerabilities(found));
        }
        Ok(answer.map(|findings| Output { traces, messages, findings }))
    }
}
