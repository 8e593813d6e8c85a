//! What this project is.
//!
//! Says what kind of project this is: languages, frameworks, build system, make targets, linters, tests and CI, and which of the
//! programs that it needs are installed. Reads files and starts nothing.

use projects::Project;

use crate::window::{detected, installed};

use contract::{Fault, Toolset};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::MAKE;
use crate::running;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
}

/// The project.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// What it is.
    pub project: Project,
    /// Programs that it needs and that are there.
    pub installed: Vec<String>,
    /// Programs that it needs and that are missing.
    pub missing: Vec<String>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct ProjectStatus;

impl Define for ProjectStatus {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "project_status";
    const TOOLSET: Toolset = MAKE;
    const DOC: Doc = doc!("project_status.rs");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "directory": "web" })]
    }
}

impl Read for ProjectStatus {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| {
            let project = detected(desk, input.directory.as_deref())?;
            let dir = running::directory(input.directory.as_deref())?;
            let there = installed(desk, &project.programs, dir.as_ref())?;
            let (installed, missing): (Vec<String>, Vec<String>) =
                project.programs.iter().cloned().partition(|program| there.contains(program));
            let word =
                serde_json::to_value(project.kind).ok().and_then(|kind| kind.as_str().map(str::to_owned));
            let build = project.build_system.and_then(|system| serde_json::to_value(system).ok());
            let build =
                build.and_then(|system| system.as_str().map(|system| format!(", built with {system}")));
            let lacks =
                if missing.is_empty() { String::new() } else { format!(" Missing: {}.", missing.join(", ")) };
            let message = format!(
                "A project of the kind {}{}.{lacks}",
                word.unwrap_or_default(),
                build.unwrap_or_default()
            );
            Ok(Answer::new(message, Output { project, installed, missing }))
        })
        .await
    }
}
