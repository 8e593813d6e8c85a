//! Decisions that were noted for a project.
//!
//! From `.agent-memory/session-notes.jsonl`, the newest first: those that hold, with `all` also those that were superseded or have
//! expired. Decisions that may contradict each other are named; neither is left out. Look here before deciding something anew.

use contract::{Fault, Toolset};
use kit::{Answer, Define, Read, ReadDesk, doc};
use library::notes::NoteType;
use serde_json::{Value, json};

use crate::memory::{Input, Output, get};

/// The tool.
#[derive(Debug, Default)]
pub struct GetDecisions;

impl Define for GetDecisions {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "get_decisions";
    const TOOLSET: Toolset = crate::MEMORY;
    const DOC: kit::Doc = doc!("get_decisions.rs");
    const ALIASES: &'static [&'static str] = &["getDecisions"];
    const LIST: Option<&'static str> = Some("data");
    const PAGE: u32 = 20;
    const PROJECT: Option<&'static str> = Some("projectPath");

    fn examples() -> Vec<Value> {
        vec![json!({ "projectPath": "." }), json!({ "projectPath": "services/api", "all": true })]
    }
}

impl Read for GetDecisions {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        get(desk, input, NoteType::Decision, ["decision", "decisions"]).await
    }
}
