//! Hypotheses that were noted for a project.
//!
//! From `.agent-memory/session-notes.jsonl`, the newest first: what was supposed and is not superseded yet. Supersede one with
//! `add_note` when it is confirmed or refuted.

use contract::{Fault, Toolset};
use kit::{Answer, Define, Read, ReadDesk, doc};
use library::notes::NoteType;
use serde_json::{Value, json};

use crate::memory::{Input, Output, get};

/// The tool.
#[derive(Debug, Default)]
pub struct GetHypotheses;

impl Define for GetHypotheses {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "get_hypotheses";
    const TOOLSET: Toolset = crate::MEMORY;
    const DOC: kit::Doc = doc!("get_hypotheses.rs");
    const ALIASES: &'static [&'static str] = &["getHypotheses"];
    const LIST: Option<&'static str> = Some("data");
    const PAGE: u32 = 20;
    const PROJECT: Option<&'static str> = Some("projectPath");

    fn examples() -> Vec<Value> {
        vec![json!({ "projectPath": "." }), json!({ "projectPath": "services/api", "all": true })]
    }
}

impl Read for GetHypotheses {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        get(desk, input, NoteType::Hypothesis, ["hypothesis", "hypotheses"]).await
    }
}
