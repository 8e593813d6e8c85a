//! Check Python code and packages for weaknesses.
//!
//! Looks for insecure code with bandit, and for known vulnerabilities of pinned packages with pip-audit. Returns findings with file and line,
//! advisories with fixed versions, and how much is known: what could not be asked about is never called safe.

use contract::{Code, Fault, Toolset};
use exec::reports::ReportFile;
use exec::run::Cache;
use kit::limits::Limits;
use kit::{Answer, Define, Doc, Run, RunDesk, doc};
use reports::{Diagnostic, Format, Level, Parsed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::findings::{self, Findings};
use crate::python;
use crate::python::audit::{self, Advisory, Data, Known};
use crate::running::{Asked, reported, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// What to look with.
    #[serde(default)]
    pub tool: Tool,
    /// The least severity of findings in code.
    #[serde(default)]
    pub severity: Severity,
    /// How the message shows it.
    #[serde(default)]
    pub format: Shown,
    /// Propose fixed versions in requirements.txt.
    #[serde(default)]
    pub fix: bool,
}

/// What to look with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Tool {
    Bandit,
    PipAudit,
    #[default]
    Both,
}

/// The least severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Severity {
    Low,
    Medium,
    High,
    #[default]
    All,
}

/// How the message shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Shown {
    #[default]
    Text,
    Json,
    Sarif,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Known vulnerabilities of packages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advisories: Vec<Advisory>,
    /// How much is known of packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
    /// Where all findings are kept as SARIF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// What was found in code.
    #[serde(flatten)]
    pub findings: Option<Findings>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct PythonSecurity;

impl Define for PythonSecurity {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_security";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_security.rs");

    const OPEN_WORLD: bool = true;
    const LIMITS: Limits = Limits::RUNS;
    const PROGRAMS: &'static [&'static str] = &["bandit", "pip-audit", "python"];
    const CACHES: &'static [Cache] = python::CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({ "tool": "bandit" }),
            json!({ "severity": "medium", "format": "sarif" }),
            json!({ "tool": "pip-audit", "fix": true, "format": "json" }),
        ]
    }
}

impl Run for PythonSecurity {
    const IDEMPOTENT: bool = false;
    const DESTRUCTIVE: bool = true;

    async fn run(&self, input: Input, desk: RunDesk) -> Result<Answer<Output>, Fault> {
        let asked = Asked::of(&desk);
        if input.fix && input.tool == Tool::Bandit {
            return Err(Fault::invalid("fix: bandit puts nothing right")
                .suggest("Leave out `fix`, or ask for `pip-audit`."));
        }
        if !asked.args.is_empty() && input.tool == Tool::Both {
            return Err(Fault::invalid("args: which program they are for is not said")
                .suggest("Name one `tool` with them."));
        }
        let code = if input.tool == Tool::PipAudit {
            None
        } else {
            Some(in_code(&desk, &asked, input.severity).await?)
        };
        let packages = if input.tool == Tool::Bandit { None } else { Some(audit::audited(&desk).await?) };
        let mut success = true;
        let mut parts = Vec::new();
        let mut all: Vec<Diagnostic> = Vec::new();
        let mut truncated = None;
        let findings = code.map(|(mut answer, found)| {
            success &= answer.success;
            parts.push(std::mem::take(&mut answer.message));
            truncated = answer.truncated.take();
            all = found;
            answer.output
        });
        let mut fixed = None;
        if let Some(packages) = &packages {
            success &= packages.advisories.is_empty() && packages.data.state != Known::None;
            parts.push(audit::message(packages));
            if input.fix {
                fixed = Some(fix(&desk, packages).await?);
            }
        }
        parts.extend(fixed);
        let (advisories, data) = packages.map(|p| (p.advisories, Some(p.data))).unwrap_or_default();
        let mut output = Output { advisories, data, report: None, findings };
        let message = match input.format {
            Shown::Text => parts.join("\n\n"),
            Shown::Json => {
                serde_json::to_string_pretty(&output).map_err(|e| Fault::internal(e.to_string()))?
            }
            Shown::Sarif => {
                let bytes = sarif(&all, &output.advisories);
                let file = ReportFile {
                    name: "python_security.sarif".into(),
                    mime: "application/sarif+json",
                    bytes,
                };
                let kept = desk.blocking(move |desk| desk.keep_report("python_security", &[file])).await?;
                parts.push(format!("All of it as SARIF: report://{kept}"));
                output.report = Some(kept);
                parts.join("\n\n")
            }
        };
        let mut answer = Answer::new(message, output);
        answer.success = success;
        answer.truncated = truncated;
        Ok(answer)
    }
}

/// bandit over all of the project but what others made.
async fn in_code(
    desk: &RunDesk,
    asked: &Asked<'_>,
    severity: Severity,
) -> Result<(Answer<Findings>, Vec<Diagnostic>), Fault> {
    let left_out: Vec<String> = python::NOT_OURS.iter().map(|name| format!("./{name}")).collect();
    let mut flags = words(&["-r", "-f", "json", "-q", "-x"]);
    flags.push(format!("{},./__pycache__,./.eggs,./build,./dist", left_out.join(",")));
    let level = match severity {
        Severity::All => None,
        Severity::Low => Some("low"),
        Severity::Medium => Some("medium"),
        Severity::High => Some("high"),
    };
    flags.extend(level.iter().flat_map(|level| ["--severity-level".to_owned(), (*level).to_owned()]));
    let command = asked.python_command(desk, "bandit", flags, vec![".".to_owned()])?;
    let (ran, report) = reported(desk, command, Format::BanditJson).await?;
    if matches!(report.parsed, Parsed::Not { .. }) && !ran.is_success() {
        let said = python::said(&ran.stderr.text());
        return Err(Fault::new(Code::ToolExecutionFailed, format!("bandit could not look: {said}"))
            .suggest("Mend what it names: its configuration or an argument."));
    }
    let found = report.diagnostics.clone();
    let levels = report.levels;
    let mut answer = findings::answer("`bandit`", &ran, report, false);
    answer.success = ran.is_success() && levels.errors + levels.warnings + levels.notes == 0;
    Ok((answer, found))
}

/// Has pip-audit write fixed versions into requirements.txt, as a proposal.
async fn fix(desk: &RunDesk, packages: &audit::Audited) -> Result<String, Fault> {
    if packages.advisories.is_empty() {
        return Ok("There is nothing to fix.".to_owned());
    }
    if packages.data.from.as_deref() != Some("requirements.txt") {
        return Ok(format!(
            "{} is not changed here: `python_update_deps` moves what it pins.",
            packages.data.from.as_deref().unwrap_or("The lock")
        ));
    }
    let ran = audit::fixed(desk).await?;
    Ok(match ran.code() {
        Some(0) => "requirements.txt is proposed with fixed versions.".to_owned(),
        _ => format!("Not everything was fixed: {}", python::said(&ran.stderr.text())),
    })
}

/// Findings and advisories as SARIF 2.1.0.
fn sarif(found: &[Diagnostic], advisories: &[Advisory]) -> Vec<u8> {
    let level = |level: Level| match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    let code: Vec<Value> = found
        .iter()
        .map(|found| {
            let uri = found.file.clone().unwrap_or_default();
            let region = json!({ "startLine": found.line.unwrap_or(1), "startColumn": found.column.unwrap_or(1) });
            json!({
                "ruleId": found.rule, "level": level(found.severity), "message": { "text": found.message },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri }, "region": region } }],
            })
        })
        .collect();
    let packages: Vec<Value> = advisories
        .iter()
        .map(|advisory| {
            let text = format!("{} {}: {}", advisory.package, advisory.installed, advisory.title);
            json!({ "ruleId": advisory.ids.first(), "level": "error", "message": { "text": text } })
        })
        .collect();
    let run = |name: &str, results: Vec<Value>| json!({ "tool": { "driver": { "name": name } }, "results": results });
    let all = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
        "runs": [run("bandit", code), run("pip-audit", packages)],
    });
    serde_json::to_vec_pretty(&all).unwrap_or_default()
}
