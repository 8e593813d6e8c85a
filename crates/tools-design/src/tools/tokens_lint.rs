//! Lint design tokens.
//!
//! Finds what is worth changing in token files: old spellings, missing types, names, duplicates, alias chains, contrast.
//! `fix` proposes edits that change no token's value. Use it after editing tokens.

use std::collections::BTreeMap;

use contract::text::counted;
use contract::{Fault, FileMode, RelPath, Toolset};
use design_tokens::Options;
use design_tokens::lint::{self, Level, Levels, Report, Task};
use kit::limits::Limits;
use kit::{Answer, Change, ChangeDesk, Define, Doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::consumers;
use crate::tokens::{self, From, TokensSection};

/// How many findings the message spells out.
const SHOWN: usize = 5;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Token file, folder, glob or resolver document, relative.
    #[schemars(length(min = 1))]
    source: String,
    /// Levels by rule.
    #[serde(default)]
    rules: BTreeMap<String, Level>,
    /// Propose fixes.
    #[serde(default)]
    fix: bool,
}

/// How much a finding counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// To be changed.
    Error,
    /// Worth changing.
    Warning,
}

/// One finding.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// The rule.
    code: &'static str,
    /// How much it counts.
    severity: Severity,
    /// Relative to the root.
    file: String,
    /// From 1.
    line: u32,
    /// From 1, in characters.
    column: u32,
    /// The token's path.
    #[serde(rename = "tokenId", skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// What is wrong.
    message: String,
    /// What to do.
    #[serde(skip_serializing_if = "String::is_empty")]
    fix: String,
    /// Whether the plan fixes it.
    fixed: bool,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// What was found, the gravest first.
    findings: Vec<Finding>,
    /// Errors that are not fixed.
    error_count: u64,
    /// Warnings that are not fixed.
    warning_count: u64,
    /// What the plan fixes.
    fixed_count: u64,
}

/// The tool.
#[derive(Debug, Default)]
pub struct TokensLint;

impl Define for TokensLint {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "tokens_lint";
    const TOOLSET: Toolset = crate::DESIGN;
    const DOC: Doc = kit::doc!("tokens_lint.rs");
    const ALIASES: &'static [&'static str] = &["tokens.lint"];
    const LIMITS: Limits = Limits::WRITER;
    const LIST: Option<&'static str> = Some("findings");

    fn examples() -> Vec<Value> {
        vec![
            json!({ "source": "tokens" }),
            json!({ "source": "tokens/*.json", "rules": { "naming": "off", "contrast": "error" }, "fix": true }),
        ]
    }
}

impl Change for TokensLint {
    const IDEMPOTENT: bool = true;
    const DESTRUCTIVE: bool = true;

    async fn plan(&self, input: Input, desk: ChangeDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| look(&input, desk)).await
    }
}

fn look(input: &Input, desk: &ChangeDesk) -> Result<Answer<Output>, Fault> {
    let TokensSection(options) = desk.settings()?;
    let levels = levels(&options, &input.rules)?;
    let sources = tokens::named(&input.source, desk.view(), &options)?;
    let loader = From(desk.view());
    let task = Task { sources: &sources, loader: &loader, options: &options, levels: &levels };
    let report = lint::lint(task);
    desk.check()?;
    if !input.fix || !report.findings.iter().any(|finding| finding.is_fixable) {
        return Ok(answer(report, &[]));
    }
    // A name that something else says would have to change there too, and nobody can tell what it means there.
    let frozen = consumers::standing(&report.renames, &report.files, desk)?;
    desk.check()?;
    let fixed = lint::fix(task, &frozen);
    let files: Vec<String> = fixed.texts.keys().cloned().collect();
    for (name, text) in fixed.texts {
        let path = RelPath::new(&name).map_err(|why| Fault::internal(format!("{name}: {why}")))?;
        desk.put(&path, text.into_bytes(), FileMode::Regular)?;
    }
    Ok(answer(fixed.report, &files))
}

/// The levels of the project with those of the call over them.
fn levels(options: &Options, call: &BTreeMap<String, Level>) -> Result<Levels, Fault> {
    let codes: Vec<&str> = lint::RULES.iter().map(|rule| rule.code).collect();
    let help = format!("The rules are {}.", codes.join(", "));
    Levels::new([&options.lint]).map_err(|why| {
        Fault::invalid(format!("[tokens] lint in gatewright.toml: {why}"))
            .about("gatewright.toml")
            .suggest(help.clone())
    })?;
    Levels::new([&options.lint, call]).map_err(|why| Fault::invalid(format!("rules: {why}")).suggest(help))
}

fn answer(report: Report, changed: &[String]) -> Answer<Output> {
    let (errors, warnings) = (report.count(Level::Error), report.count(Level::Warning));
    let fixed = report.fixed();
    let fixable = report.findings.iter().filter(|finding| finding.is_fixable && !finding.is_fixed).count();
    let files = counted(report.files.len(), "file");
    let mut message = match (errors, warnings) {
        (0, 0) if fixed == 0 => format!("Nothing found in {files}."),
        (errors, warnings) => {
            let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
            format!("**{errors}**, {warnings} in {files}.")
        }
    };
    if fixed > 0 {
        let changed: Vec<String> = changed.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
        message.push_str(&format!(" {fixed} fixed in {}.", changed.join(", ")));
    } else if fixable > 0 {
        message.push_str(&format!(" With `fix`, edits for {fixable} are proposed."));
    }
    let findings: Vec<Finding> = report.findings.into_iter().map(shown).collect();
    let open: Vec<&Finding> = findings.iter().filter(|finding| !finding.fixed).collect();
    for finding in open.iter().take(SHOWN) {
        let Finding { file, line, column, code, message: what, .. } = finding;
        message.push_str(&format!("\n- {file}:{line}:{column}: {code}: {what}"));
    }
    if open.len() > SHOWN {
        message.push_str(&format!("\n- … showing {SHOWN} of {}", open.len()));
    }
    let output = Output {
        findings,
        error_count: errors as u64,
        warning_count: warnings as u64,
        fixed_count: fixed as u64,
    };
    let mut answer = Answer::new(message, output);
    answer.success = errors == 0;
    answer
}

fn shown(finding: lint::Finding) -> Finding {
    Finding {
        code: finding.code,
        severity: if finding.level == Level::Error { Severity::Error } else { Severity::Warning },
        // What is about no file is about the settings.
        file: if finding.file.is_empty() { "gatewright.toml".to_owned() } else { finding.file },
        line: finding.line,
        column: finding.column,
        token: finding.token,
        message: finding.message,
        fix: finding.advice,
        fixed: finding.is_fixed,
    }
}
