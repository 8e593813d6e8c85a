//! Versions of Python programs.
//!
//! Says which Python, pip, uv, poetry, pyright, ruff and pytest this project would run, from its own environment or the machine, which are
//! missing, and until when that Python is maintained.

use contract::{Fault, RelPath, Toolset};
use exec::Workshop;
use exec::run::{Cache, Command, find};
use jiff::civil::Date;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::families::PYTHON;
use crate::python::{self, From};
use crate::running::{self, Asked, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Which program.
    #[serde(default)]
    pub tool: Tool,
    /// Where, from the root.
    #[serde(default)]
    pub directory: Option<String>,
}

/// A program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Tool {
    Python,
    Pip,
    Uv,
    Poetry,
    Pyright,
    Ruff,
    Pytest,
    #[default]
    All,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The programs.
    pub tools: Vec<Told>,
}

/// A program's version.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where it is: the folder of the environment, else `machine`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// It is nowhere, or does not run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// Why it does not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Until when it is maintained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_of_life: Option<EndOfLife>,
}

/// Until when a Python is maintained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndOfLife {
    /// The last day, or the last month where only that is known.
    pub date: String,
    /// Whether it is over.
    pub past: bool,
    /// The document that says so.
    pub pep: String,
    /// When that was read for this table.
    pub as_of: &'static str,
}

/// When [`LIVES`] was read.
const AS_OF: &str = "2026-11-24";

/// The last day of each Python, or its last month, and the PEP of its release schedule.
const LIVES: &[((u64, u64), &str, &str)] = &[
    ((2, 7), "2020-01-01", "PEP 373"),
    ((3, 6), "2021-12-23", "PEP 494"),
    ((3, 7), "2023-06-27", "PEP 537"),
    ((3, 8), "2024-10-07", "PEP 569"),
    ((3, 9), "2025-10", "PEP 596"),
    ((3, 10), "2026-10", "PEP 619"),
    ((3, 11), "2027-10", "PEP 664"),
    ((3, 12), "2028-10", "PEP 693"),
    ((3, 13), "2029-10", "PEP 719"),
    ((3, 14), "2030-10", "PEP 745"),
    ((3, 15), "2031-10", "PEP 790"),
];

/// The tool.
#[derive(Debug, Default)]
pub struct PythonVersion;

impl Define for PythonVersion {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_version";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_version.rs");

    const PROGRAMS: &'static [&'static str] =
        &["python3", "python", "pip", "uv", "poetry", "pyright", "node", "ruff", "pytest"];
    const CACHES: &'static [Cache] = python::CACHES;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "tool": "python", "directory": "api" })]
    }
}

impl Read for PythonVersion {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let dir = running::directory(input.directory.as_deref())?;
        let at = dir.clone();
        desk.blocking(move |desk| running::is_there(desk, at.as_ref())).await?;
        let workshop = desk.workshop().await?;
        let mut tools = Vec::new();
        for (tool, name) in [
            (Tool::Python, "python"),
            (Tool::Pip, "pip"),
            (Tool::Uv, "uv"),
            (Tool::Poetry, "poetry"),
            (Tool::Pyright, "pyright"),
            (Tool::Ruff, "ruff"),
            (Tool::Pytest, "pytest"),
        ] {
            if matches!(input.tool, Tool::All) || input.tool == tool {
                tools.push(told(&desk, &workshop, name, dir.as_ref()).await?);
            }
        }
        let line = |tool: &Told| match (&tool.version, &tool.end_of_life) {
            (None, _) => format!("- {}: not found", tool.name),
            (Some(version), Some(end)) if end.past => {
                format!("- {} {version}: past its end of life ({}, {})", tool.name, end.date, end.pep)
            }
            (Some(version), _) => format!("- {} {version}", tool.name),
        };
        let message = tools.iter().map(line).collect::<Vec<_>>().join("\n");
        Ok(Answer::new(message, Output { tools }))
    }
}

async fn told(
    desk: &ReadDesk,
    workshop: &Arc<Workshop>,
    name: &'static str,
    dir: Option<&RelPath>,
) -> Result<Told, Fault> {
    let mut told = Told { name, version: None, from: None, missing: true, problem: None, end_of_life: None };
    let Some((command, from)) = place(desk, name, dir)? else { return Ok(told) };
    match desk.run_in(workshop, command).await {
        Ok(ran) if ran.is_success() => {
            // Python 2 says it on the other stream.
            let said = format!("{}\n{}", ran.stdout.text(), ran.stderr.text());
            told.version = number(&said);
            told.missing = told.version.is_none();
            told.from = Some(from);
        }
        Ok(ran) => told.problem = Some(python::said(&ran.stderr.text())),
        Err(fault) => told.problem = Some(fault.message),
    }
    if name == "python" {
        let today = jiff::Zoned::now().date();
        told.end_of_life = told.version.as_deref().and_then(|version| end_of_life(version, today));
    }
    Ok(told)
}

/// The command that says a program's version, and where that program is.
fn place(
    desk: &ReadDesk,
    name: &'static str,
    dir: Option<&RelPath>,
) -> Result<Option<(Command, String)>, Fault> {
    let asked = Asked { directory: dir.map(RelPath::as_str), args: &[] };
    let version = words(&["--version"]);
    let machine = "machine".to_owned();
    let root = desk.view().root().path();
    if name == "python" {
        let command = python::interpreter(desk, dir.cloned(), version)?;
        let from = python::Venv::near(desk, dir)?.map_or(machine, |venv| venv.dir.to_string());
        let is_there = command.interpreter.is_some() || find("python3", &desk.programs(), root).is_ok();
        return Ok(is_there.then_some((command, from)));
    }
    if name == "pyright"
        && let Some(script) = running::installed(desk, name, dir)?
    {
        let mut command = asked.command(name, version, Vec::new())?;
        command.args.insert(0, script);
        command.program = "node".into();
        return Ok(Some((command, "node_modules".to_owned())));
    }
    let from = match python::placed(desk, name, dir)? {
        None => return Ok(None),
        Some(From::Venv(venv)) => venv.dir.to_string(),
        Some(From::Path) => machine,
    };
    Ok(Some((asked.python_command(desk, name, version, Vec::new())?, from)))
}

/// The first word that is a version.
fn number(said: &str) -> Option<String> {
    let is = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    said.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',')).find(is).map(str::to_owned)
}

/// Until when a Python is maintained; nothing of one that the table does not have.
fn end_of_life(version: &str, today: Date) -> Option<EndOfLife> {
    let mut parts = version.split('.').map(|part| part.parse::<u64>().ok());
    let line = (parts.next()??, parts.next()??);
    let (_, date, pep) = LIVES.iter().find(|(of, _, _)| *of == line)?;
    let last = match date.parse::<Date>() {
        Ok(day) => day,
        Err(_) => format!("{date}-01").parse::<Date>().ok()?.last_of_month(),
    };
    Some(EndOfLife { date: (*date).to_owned(), past: today > last, pep: (*pep).to_owned(), as_of: AS_OF })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_is_past_its_life_after_its_last_day_or_month() {
        let past = |version, day: &str| end_of_life(version, day.parse().unwrap()).map(|end| end.past);
        assert_eq!(past("3.10.13", "2026-10-31"), Some(false));
        assert_eq!(past("3.10.13", "2026-11-01"), Some(true));
        assert_eq!(past("3.8.1", "2024-10-07"), Some(false));
        assert_eq!(past("3.8.1", "2024-10-08"), Some(true));
        assert_eq!(past("2.7.18", "2026-11-24"), Some(true));
        assert_eq!(past("3.99.0", "2026-11-24"), None);
        assert_eq!(past("three", "2026-11-24"), None);
    }

    #[test]
    fn a_version_is_found_in_what_programs_say() {
        for (said, version) in [
            ("Python 3.11.7\n", Some("3.11.7")),
            ("uv 0.13.9 (x86_64-unknown-linux-gnu)\n", Some("0.13.9")),
            ("Poetry (version 2.5.1)\n", Some("2.5.1")),
            ("pip 26.1 from /x/y (python 3.11)\n", Some("26.1")),
            ("nothing\n", None),
        ] {
            assert_eq!(number(said).as_deref(), version, "{said}");
        }
    }
}
