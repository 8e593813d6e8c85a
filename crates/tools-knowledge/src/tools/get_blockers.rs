//! Blockers that were noted for a project.
//!
//! From `.agent-memory/session-notes.jsonl`, the newest first: what is in the way. Supersede one with `add_note` when it is gone.

use contract::{Fault, Toolset};
use kit::{Answer, Define, Read, ReadDesk, doc};
use library::notes::NoteType;
use serde_json::{Value, json};

use crate::memory::{Input, Output, get};

/// The tool.
#[derive(Debug, Default)]
pub struct GetBlockers;

impl Define for GetBlockers {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "get_blockers";
    const TOOLSET: Toolset = crate::MEMORY;
    const DOC: kit::Doc = doc!("get_blockers.rs");
    const ALIASES: &'static [&'static str] = &["getBlockers"];
    const LIST: Option<&'static str> = Some("data");
    const PAGE: u32 = 20;
    const PROJECT: Option<&'static str> = Some("projectPath");

    fn examples() -> Vec<Value> {
        vec![json!({ "projectPath": "." }), json!({ "projectPath": "services/api", "all": true })]
    }
}

impl Read for GetBlockers {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        get(desk, input, NoteType::Blocker, ["blocker", "blockers"]).await
    }
}
