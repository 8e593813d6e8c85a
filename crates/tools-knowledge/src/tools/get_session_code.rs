//! Read the code of an earlier session.
//!
//! All fenced blocks of the session in their order, with language, file and line; `language` keeps those in one. `project` is the name
//! of the call's root or of its folder; for another root give `root`. `search_artifacts` finds sessions.

use std::collections::BTreeSet;

use contract::text::counted;
use contract::{Fault, Toolset};
use kit::markdown::{code, text};
use kit::{Answer, Define, Read, ReadDesk, doc};
use library::code::language;
use library::{ProjectName, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::artifacts::{Source, kept, named_language, project};

/// Most characters of one block.
const MOST: usize = 12_000;

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The project: the name of the call's root, or of its folder.
    project: ProjectName,
    /// The session's id.
    session_id: SessionId,
    /// Blocks in this language: `typescript` or `ts`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 40), regex(pattern = r"^[A-Za-z0-9+#._-]+$"))]
    language: Option<String>,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The blocks, in the order of the session.
    data: Vec<Source>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GetSessionCode;

impl Define for GetSessionCode {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "get_session_code";
    const TOOLSET: Toolset = crate::ARTIFACTS;
    const DOC: kit::Doc = doc!("get_session_code.rs");
    const ALIASES: &'static [&'static str] = &["getSessionCode"];
    const LIST: Option<&'static str> = Some("data");
    const BUDGET: Option<u64> = Some(9_000);

    fn examples() -> Vec<Value> {
        vec![
            json!({ "project": "web-app", "sessionId": "2025-11-05-rls-policies" }),
            json!({ "project": "web-app", "sessionId": "2025-11-05-rls-policies", "language": "sql" }),
        ]
    }
}

impl Read for GetSessionCode {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        desk.blocking(move |desk| {
            project(desk, Some(input.project.as_str()))?;
            let id = input.session_id;
            let kept = kept(desk, None)?;
            let files = kept.get(&id)?;
            let (document, _) = kept.text(desk.view().root(), files)?;
            let blocks = kept.session(files, &document)?.code_blocks;
            let wanted = input.language.as_deref().map(language);
            let there: BTreeSet<String> =
                blocks.iter().map(|block| named_language(&block.language).to_owned()).collect();
            let of_it =
                blocks.into_iter().filter(|block| wanted.as_ref().is_none_or(|w| *w == block.language));
            let data: Vec<Source> = of_it.map(|block| Source::of(block, MOST)).collect();
            let message = said(&data, id.as_str(), wanted.as_deref(), &there);
            let total = data.len() as u64;
            let mut answer = Answer::new(message, Output { data });
            answer.results = Some(total);
            Ok(answer)
        })
        .await
    }
}

fn said(data: &[Source], id: &str, wanted: Option<&str>, there: &BTreeSet<String>) -> String {
    let of = wanted.map(|wanted| format!(" in {}", code(wanted))).unwrap_or_default();
    let mut message = format!("{}{of} in the session {}.", counted(data.len(), "block"), code(id));
    if !data.is_empty() {
        message.push_str(" Code from earlier: look at it before it is used.");
    } else if !there.is_empty() {
        let there: Vec<String> = there.iter().map(|language| text(language)).collect();
        message.push_str(&format!(" There is: {}.", there.join(", ")));
    }
    message
}
