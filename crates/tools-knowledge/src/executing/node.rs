//! Skills that need Node, because they say so or import packages: they run over the project as its own tools do, confined, and what they
//! write is a proposal.

use std::collections::BTreeSet;
use std::time::Duration;

use contract::text::visible;
use contract::{Code, Fault, RelPath, State};
use exec::run::{Command, INPUT};
use kit::{ReadDesk, RunDesk};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use skills::imports::functions;

use super::grants::Granted;
use super::prepare::Prepared;

/// The script that Node runs.
const SCRIPT: &str = include_str!("node.mjs");
/// What leads its connections to the door, where it has hosts.
const DOOR: &str = include_str!("door.mjs");
/// What stands before a skill's answer.
const MARK: char = '\u{1}';
/// Milliseconds that such a skill may take where nobody says otherwise: Node itself takes a quarter of a second.
pub(crate) const USUAL: u64 = 10_000;
/// Most characters of what it said that are shown.
const SAID: usize = 4_000;
/// Most places of a failure that are told.
const FRAMES: usize = 10;

/// What a run answered.
pub(crate) struct Answered {
    pub(crate) result: Value,
    pub(crate) logs: Vec<String>,
}

/// The package that a specifier is of; none for Node's own modules.
fn package(specifier: &str) -> Option<String> {
    if specifier.starts_with("node:") {
        return None;
    }
    let mut parts = specifier.split('/');
    let first = parts.next()?;
    if first.starts_with('@') { Some(format!("{first}/{}", parts.next()?)) } else { Some(first.to_owned()) }
}

/// Packages that the project has not installed. Blocking.
pub(crate) fn missing(desk: &ReadDesk, prepared: &Prepared) -> BTreeSet<String> {
    let is_there = |name: &String| {
        let path = RelPath::new(&format!("node_modules/{name}/package.json"));
        path.is_ok_and(|path| matches!(desk.view().state(&path), Ok(State::File { .. })))
    };
    // What is neither a package nor there is one of Node's own modules, without `node:` before it.
    let own = ["fs", "path", "os", "url", "util", "crypto", "events", "stream", "assert", "buffer", "zlib"];
    let named = prepared.packages.iter().filter_map(|specifier| package(specifier));
    named.filter(|name| !own.contains(&name.as_str()) && !is_there(name)).collect()
}

/// How the project installs packages. Blocking.
fn install(desk: &ReadDesk, packages: &BTreeSet<String>) -> String {
    let has = |name: &str| {
        RelPath::new(name).is_ok_and(|path| matches!(desk.view().state(&path), Ok(State::File { .. })))
    };
    let how = if has("pnpm-lock.yaml") {
        "pnpm add"
    } else if has("yarn.lock") {
        "yarn add"
    } else {
        "npm install"
    };
    format!("{how} {}", packages.iter().map(String::as_str).collect::<Vec<_>>().join(" "))
}

/// Says what is not installed, and how it would be. Blocking.
pub(crate) fn not_installed(desk: &ReadDesk, packages: &BTreeSet<String>) -> Fault {
    let names = packages.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    Fault::new(
        Code::SkillExecutionFailed,
        format!("the skill imports {names}, which the project has not installed"),
    )
    .suggest(format!("`{}`", install(desk, packages)))
}

/// What the script says.
#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Option<Failed>,
}

#[derive(Deserialize)]
struct Failed {
    name: String,
    message: String,
    #[serde(default)]
    frames: Vec<String>,
}

/// Runs it.
pub(crate) async fn run(
    desk: &RunDesk,
    prepared: &Prepared,
    input: Map<String, Value>,
    granted: &Granted,
) -> Result<Answered, Fault> {
    let files: Map<String, Value> =
        prepared.blanked.iter().map(|(path, text)| (path.clone(), text.as_str().into())).collect();
    let asked = json!({
        "files": files,
        "entry": prepared.entry,
        "functions": functions(prepared.id.name()),
        "input": input,
        "network": !granted.network.is_empty(),
    });
    let mut command = Command::new("node", &[]);
    command.args = vec![format!("{INPUT}node.mjs")];
    command.inputs.insert("node.mjs".to_owned(), SCRIPT.as_bytes().to_vec());
    command.inputs.insert("door.mjs".to_owned(), DOOR.as_bytes().to_vec());
    command.inputs.insert("skill.json".to_owned(), asked.to_string().into_bytes());
    command.timeout = Duration::from_millis(granted.milliseconds);
    command.env = [("NODE_OPTIONS", ""), ("NODE_NO_WARNINGS", "1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    command.hosts.clone_from(&granted.network);
    let ran = desk.run(command).await?;
    let stdout = ran.stdout.text();
    let logs: Vec<String> = visible(&ran.stderr.text().chars().take(SAID).collect::<String>())
        .lines()
        .map(str::to_owned)
        .collect();
    let said =
        stdout.rsplit_once(MARK).and_then(|(_, said)| serde_json::from_str::<Said>(said.trim_end()).ok());
    let Some(said) = said else {
        let last = logs.iter().rev().find(|line| !line.trim().is_empty()).cloned();
        let why = last.unwrap_or_else(|| "it said nothing".to_owned());
        return Err(Fault::new(
            Code::SkillExecutionFailed,
            format!("Node ended without an answer of the skill: {why}"),
        ));
    };
    match said.error {
        None => Ok(Answered { result: said.result, logs }),
        Some(error) => {
            let message = visible(&format!("{}: {}", error.name, error.message));
            let mut fault = Fault::new(Code::SkillExecutionFailed, message).about(prepared.entry.clone());
            for frame in error.frames.iter().take(FRAMES) {
                fault = fault.suggest(visible(&format!("in {frame}")));
            }
            Err(fault)
        }
    }
}
