//! Check which Pythons code runs on.
//!
//! Finds what of the sources needs a newer Python than `targetVersion` (or the oldest that the project wants), with file and line, and
//! locked packages that do not support it. Returns the oldest Python that all of it runs on.

use contract::text::counted;
use contract::{Code, Fault, RelPath, Toolset};
use exec::run::Cache;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use reports::{Context, Diagnostic, Format};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::PYTHON;
use crate::python;
use crate::running::{self, Asked, words};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// A Python, such as `3.9`.
    #[serde(default)]
    pub target_version: Option<String>,
    /// Say how it could run on older ones.
    #[serde(default)]
    pub suggest: bool,
    /// Files and folders; all without.
    #[serde(default)]
    pub files: Vec<String>,
    /// Where, from the root.
    #[serde(default)]
    pub directory: Option<String>,
}

/// What it says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The Python that it was held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The Pythons that the project says it wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_python: Option<String>,
    /// Whether there is a Python 3 that the sources run on.
    #[serde(rename = "runsOn3")]
    pub runs_on_3: bool,
    /// The oldest Python 3 that the sources run on; any where none is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<String>,
    /// What does not run on the target, and where.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Diagnostic>,
    /// Locked packages that do not support the target.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Unfit>,
    /// How it could run on older ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions_for_older: Vec<String>,
}

/// A locked package that wants another Python.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Unfit {
    /// Its name.
    pub package: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The Pythons that it wants.
    pub wants: String,
}

/// Most violations and packages that are told.
const MAX_TOLD: usize = 50;

/// The tool.
#[derive(Debug, Default)]
pub struct PythonCompatibility;

impl Define for PythonCompatibility {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "python_compatibility";
    const TOOLSET: Toolset = PYTHON;
    const DOC: Doc = doc!("python_compatibility.rs");

    const PROGRAMS: &'static [&'static str] = &["vermin", "python"];
    const CACHES: &'static [Cache] = python::CACHES;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "targetVersion": "3.9", "suggest": true, "files": ["src"], "directory": "api" }),
        ]
    }
}

impl Read for PythonCompatibility {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let dir = running::directory(input.directory.as_deref())?;
        let at = dir.clone();
        let (wants, locked) = desk
            .blocking(move |desk| {
                running::is_there(desk, at.as_ref())?;
                Ok((wanted(desk, at.as_ref())?, locked(desk, at.as_ref())?))
            })
            .await?;
        let target = match &input.target_version {
            Some(named) => Some(version(named)?),
            None => wants.as_deref().and_then(oldest),
        };
        let asked = Asked { directory: input.directory.as_deref(), args: &[] };
        if python::placed(&desk, "vermin", dir.as_ref())?.is_none() {
            return Err(python::missing("vermin"));
        }
        let files = if input.files.is_empty() { vec![".".to_owned()] } else { input.files.clone() };
        let mut flags = words(&["--no-tips", "-f", "parsable"]);
        if let Some(target) = &target {
            flags.extend([format!("-t={target}-"), "--violations".to_owned()]);
        }
        let workshop = desk.workshop().await?;
        let command = asked.python_command(&desk, "vermin", flags, files.clone())?;
        let ran = desk.run_in(&workshop, command).await?;
        let said = ran.stdout.text();
        let root = desk.view().root().path().display().to_string();
        let place = dir.as_ref().map_or("", RelPath::as_str);
        let context = Context { root: &root, dir: place, modules: &[] };
        let report =
            reports::read(Format::VerminParsable, &ran.stdout.bytes, &ran.stderr.bytes, ran.code(), &context);
        let Some(minimum) = minimum(&said) else {
            let why = python::said(&format!("{said}\n{}", ran.stderr.text()));
            return Err(Fault::new(Code::ToolExecutionFailed, format!("vermin could not say: {why}"))
                .suggest("Name files or folders that have Python in them."));
        };
        let syntax = |found: &Diagnostic| found.rule.as_deref() == Some("syntax");
        let mut violations = report.diagnostics;
        violations.retain(|found| target.is_some() || syntax(found));
        violations.truncate(MAX_TOLD);
        let packages = target.as_deref().map(|target| unfit(&locked, target)).unwrap_or_default();
        let suggestions = if input.suggest {
            let mut flags = words(&["--show-tips", "-vvv"]);
            flags.extend(target.iter().map(|target| format!("-t={target}-")));
            let command = asked.python_command(&desk, "vermin", flags, files)?;
            tips(&desk.run_in(&workshop, command).await?.stdout.text(), target.as_deref())
        } else {
            Vec::new()
        };
        let output = Output {
            target,
            requires_python: wants,
            runs_on_3: minimum != "none",
            minimum: Some(minimum).filter(|least| !["any", "none"].contains(&least.as_str())),
            violations,
            packages,
            suggestions_for_older: suggestions,
        };
        let mut answer = Answer::new(message(&output), output);
        answer.success = answer.output.violations.is_empty()
            && answer.output.packages.is_empty()
            && answer.output.runs_on_3;
        Ok(answer)
    }
}

/// A version of two numbers, as vermin takes it.
fn version(named: &str) -> Result<String, Fault> {
    let parts: Vec<&str> = named.trim().trim_start_matches("python").split('.').collect();
    let numbers: Option<Vec<u32>> = parts.iter().map(|part| part.parse().ok()).collect();
    match numbers.as_deref() {
        Some([major, minor, ..]) => Ok(format!("{major}.{minor}")),
        _ => Err(Fault::invalid(format!("targetVersion: {named:?} is no version of Python"))
            .suggest("Write it as `3.9`.")),
    }
}

/// The oldest Python that a range has, as it is written with `>=` or `~=`.
fn oldest(range: &str) -> Option<String> {
    let least = range.split(',').find_map(|part| {
        let part = part.trim();
        part.strip_prefix(">=").or_else(|| part.strip_prefix("~=")).or_else(|| part.strip_prefix("=="))
    })?;
    version(least.trim().trim_end_matches(".*")).ok()
}

fn wanted(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<Option<String>, Fault> {
    let Some(bytes) = file(desk, dir, "pyproject.toml")? else { return Ok(None) };
    let table = String::from_utf8_lossy(&bytes).parse::<toml::Table>().ok();
    let project = table.as_ref().and_then(|table| table.get("project")?.get("requires-python")?.as_str());
    Ok(project.map(str::to_owned))
}

fn locked(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<Vec<deps::Package>, Fault> {
    for name in ["uv.lock", "poetry.lock", "pylock.toml", "Pipfile.lock"] {
        let (Some(format), Some(bytes)) = (deps::Format::of(name), file(desk, dir, name)?) else { continue };
        if let Ok(lock) = deps::read(format, &bytes) {
            return Ok(lock.packages);
        }
    }
    Ok(Vec::new())
}

fn file(desk: &ReadDesk, dir: Option<&RelPath>, name: &str) -> Result<Option<Vec<u8>>, Fault> {
    let path = dir.map_or_else(|| RelPath::new(name), |dir| dir.join(name));
    Ok(desk.view().read_optional(&path.map_err(|e| Fault::internal(e.to_string()))?).unwrap_or_default())
}

fn unfit(locked: &[deps::Package], target: &str) -> Vec<Unfit> {
    let others = locked.iter().filter(|package| package.source != deps::Source::Local);
    let unfit = others.filter_map(|package| {
        let wants = package.engine.clone()?;
        (deps::python_admits(&wants, target) == Some(false)).then(|| Unfit {
            package: package.name.clone(),
            version: package.version.clone(),
            wants,
        })
    });
    unfit.take(MAX_TOLD).collect()
}

/// The oldest Python 3 of all, which is on the last line: `any` where it has no bound, `none` where there is no Python 3 for it.
/// Nothing where there is no such line.
fn minimum(said: &str) -> Option<String> {
    let last = said.lines().rev().find_map(|line| line.strip_prefix(":::")?.strip_suffix(':'))?;
    let three = last.split(':').nth(1)?;
    Some(match three.trim_start_matches('~') {
        "!3" => "none".to_owned(),
        "3" | "" => "any".to_owned(),
        version => version.to_owned(),
    })
}

/// What vermin says would help: its tips, and backports by name.
fn tips(said: &str, target: Option<&str>) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let from = said.find("Tips:");
    let lines = from.and_then(|from| said.get(from..)).unwrap_or_default().lines().skip(1);
    for line in lines.take_while(|line| line.starts_with(['-', ' '])) {
        match line.strip_prefix("- ") {
            Some(tip) => told.push(tip.to_owned()),
            None => told.iter_mut().last().into_iter().for_each(|tip| {
                tip.push(' ');
                tip.push_str(line.trim());
            }),
        }
    }
    // A tip that is about vermin itself is none about the code.
    told.retain(|tip| !tip.contains("novermin"));
    if told.is_empty() {
        told.push(match target {
            Some(target) => format!("vermin knows no backport: what is named must be written otherwise for Python {target}, or `requires-python` raised."),
            None => "vermin knows nothing that would make it run on an older Python.".to_owned(),
        });
    }
    told
}

fn message(output: &Output) -> String {
    let mut text = match &output.minimum {
        _ if !output.runs_on_3 => "There is no Python 3 that all of the sources run on.".to_owned(),
        Some(minimum) => format!("The sources run on Python {minimum} and newer."),
        None => "Nothing in the sources asks for a newer Python 3.".to_owned(),
    };
    let Some(target) = &output.target else { return text };
    let (lines, packages) = (output.violations.len() as u64, output.packages.len() as u64);
    if lines + packages == 0 {
        text.push_str(&format!(" Nothing speaks against {target}."));
        return text;
    }
    text.push_str(&format!(
        " Against {target}: {}, {}.",
        counted(lines, "line"),
        counted(packages, "package")
    ));
    if let Some(first) = output.violations.first() {
        let place =
            format!("{}:{}", first.file.as_deref().unwrap_or_default(), first.line.unwrap_or_default());
        text.push_str(&format!("\n\nFirst ({place}): {}", first.message));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_python_of_a_range_and_of_sources() {
        assert_eq!(oldest(">=3.9,<4").as_deref(), Some("3.9"));
        assert_eq!(oldest("<4,~=3.10.2").as_deref(), Some("3.10"));
        assert_eq!(oldest("==3.11.*").as_deref(), Some("3.11"));
        assert_eq!(oldest("<4"), None);
        assert_eq!(version("3.9.2").unwrap(), "3.9");
        assert!(version("three").is_err());
        assert_eq!(minimum("a.py:1::!2:3.10:x\n:::!2:3.10:\n"), Some("3.10".to_owned()));
        assert_eq!(minimum(":::~2:~3:\n"), Some("any".to_owned()));
        assert_eq!(minimum(":::2.0:!3:\n"), Some("none".to_owned()));
        assert_eq!(minimum("No files specified to analyze!\n"), None);
    }
}
