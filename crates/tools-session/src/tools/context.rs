//! Where you are.
//!
//! Says whether this directory belongs to a known venture, which repository and branch it is, whose session goes on here, and what
//! is written to. Use it when unsure where work would be recorded; `sod` begins the day.

use contract::{Fault, Toolset};
use kit::{Answer, Define, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::here::Here;
use crate::workplace::{Build, StoreKind};
use kit::markdown::{code, text};

/// The arguments: none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Whether this is a venture's.
    known: bool,
    /// The venture's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    venture: Option<String>,
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    /// The branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// Who you are to others.
    agent: String,
    /// The machine's name.
    machine: String,
    /// The session that was begun here.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// What is written to.
    using: StoreKind,
    /// The program that answers.
    build: Build,
}

/// The tool.
#[derive(Debug, Default)]
pub struct Context;

impl Define for Context {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "context";
    const TOOLSET: Toolset = crate::SESSION;
    const DOC: kit::Doc = doc!("context.rs");
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![json!({})]
    }
}

impl Read for Context {
    async fn read(&self, _: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let here = Here::find(&desk).await?;
        let (who, root) = here.place(&desk, None)?;
        let session = here.workplace.session(&who, &root).map(|id| id.to_string());
        let (agent, machine) = (here.agent(&desk)?, here.workplace.machine()?.name);
        let build = here.workplace.build();
        let mut message = match (&here.repository, &here.venture) {
            (None, _) => "There is no root here.".to_owned(),
            (Some(repository), None) => {
                format!("{} belongs to no venture that is configured.", code(&repository.slug))
            }
            (Some(repository), Some(venture)) => {
                format!("{} of **{}**.", code(&repository.slug), text(&venture.name))
            }
        };
        match &session {
            Some(id) => message.push_str(&format!(" Session {} goes on, as {}.", code(id), code(&agent))),
            None => message.push_str(&format!(" No session was begun here; you are {}.", code(&agent))),
        }
        if build.replaced {
            message.push_str(" The program on disk was replaced: exit and relaunch the client to use it.");
        }
        let standing =
            here.repository.as_ref().map(|repository| repository.standing.clone()).unwrap_or_default();
        Ok(Answer::new(
            message,
            Output {
                known: here.venture.is_some(),
                venture: here.venture.map(|venture| venture.code),
                repository: here.repository.map(|repository| repository.slug),
                branch: standing.branch,
                commit: standing.commit,
                agent,
                machine,
                session,
                using: here.workplace.using(),
                build,
            },
        ))
    }
}
