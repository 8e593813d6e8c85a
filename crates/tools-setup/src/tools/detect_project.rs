//! Detect what this project is.
//!
//! Says the project's type, languages, build system, package managers, linters, tests and CI, which programs it needs, and which of
//! them are missing here. Use it first in a repository that you do not know.

use contract::text::counted;
use contract::{Fault, Toolset};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use onboard::Client;
use projects::Project;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{SETUP, facts};

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {}

/// The project.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What it is.
    project: Project,
    /// Programs of the project that are here.
    installed: Vec<String>,
    /// Programs of the project that are not.
    missing: Vec<String>,
    /// Clients that the repository shows traces of.
    clients: Vec<Client>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct DetectProject;

impl Define for DetectProject {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "detect_project";
    const TOOLSET: Toolset = SETUP;
    const DOC: Doc = doc!("detect_project.rs");

    fn examples() -> Vec<Value> {
        vec![json!({})]
    }
}

impl Read for DetectProject {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let Input {} = input;
        desk.blocking(|desk| {
            let project = facts::project(desk)?;
            let installed = facts::installed(desk, &project);
            let missing: Vec<String> =
                project.programs.iter().filter(|program| !installed.contains(program)).cloned().collect();
            let kind = serde_json::to_value(project.kind).ok();
            let kind = kind.as_ref().and_then(Value::as_str).unwrap_or("unknown");
            let mut message = format!("A project of the type {kind}");
            if let Some(build) = project.build_system.and_then(|build| serde_json::to_value(build).ok()) {
                message.push_str(&format!(", built by {}", build.as_str().unwrap_or_default()));
            }
            message.push('.');
            if !missing.is_empty() {
                let all = counted(missing.len() as u64, "program");
                message.push_str(&format!(" {all} of it not installed: {}.", missing.join(", ")));
            }
            let clients = facts::traced(desk.view())?;
            Ok(Answer::new(message, Output { project, installed, missing, clients }))
        })
        .await
    }
}
