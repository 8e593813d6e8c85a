//! What a Go module is.
//!
//! Describes a Go module or workspace from its files: module path, Go version, requirements, packages, commands and build tags.
//! Starts no program, so it says nothing of what only the toolchain knows.

use cache::Namespace;
use contract::text::counted;
use contract::{Code, Truncated};
use projects::{GoModule, go_module};

use crate::running;
use crate::window::looked;

use contract::{Fault, Toolset};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::GO;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Folder below the root to look at.
    #[serde(default)]
    pub directory: Option<String>,
}

/// Most packages in one result.
const MAX_PACKAGES: usize = 40;

/// The module.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What it is.
    pub module: GoModule,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GoProjectInfo;

impl Define for GoProjectInfo {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "go_project_info";
    const TOOLSET: Toolset = GO;
    const DOC: Doc = doc!("go_project_info.rs");

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "directory": "api" })]
    }
}

impl Read for GoProjectInfo {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| {
            let dir = running::directory(input.directory.as_deref())?;
            let found = looked(desk, Namespace::GoProjectInfo, dir.as_ref(), &[], |look| {
                go_module(look).map_err(|e| Fault::new(Code::InvalidSource, format!("go.mod: {e}")))
            })?;
            let mut module = Option::clone(&found).ok_or_else(|| {
                Fault::new(Code::NotFound, "there is neither go.mod nor go.work here")
                    .suggest("Name the module's folder with `directory`.")
            })?;
            let name = module.module.as_ref().and_then(|file| file.module.clone());
            let total = module.packages.len();
            let message = format!(
                "`{}`: {} with {} requirements of its own and {} of others.",
                name.unwrap_or_else(|| "a workspace".to_owned()),
                counted(total as u64, "package"),
                module.direct,
                module.indirect
            );
            module.packages.truncate(MAX_PACKAGES);
            let shown = module.packages.len();
            let mut answer = Answer::new(message, Output { module });
            if shown < total {
                let next = "go_project_info with a `directory`".to_owned();
                answer.truncated = Some(Truncated { shown: shown as u64, total: total as u64, next });
            }
            Ok(answer)
        })
        .await
    }
}
