//! Call a reading tool.
//!
//! Calls a tool that only looks, by its name, when your client refuses names that are not listed. Refuses
//! every other kind; its result is that tool's own.

use contract::{Code, Fault, Toolset};
use kit::kinds::Wraps;
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::FRONT;

/// Which tool, and what it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tool's name.
    pub tool: String,
    /// The tool's own arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// The result is the inner tool's own: nothing is said here.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {}

/// The tool. The engine unwraps its calls before they are made; only those that it does not unwrap arrive here.
#[derive(Debug, Default)]
pub struct ToolRead;

impl Define for ToolRead {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "tool_read";
    const TOOLSET: Toolset = FRONT;
    const DOC: Doc = doc!("tool_read.rs");
    const NEEDS_ROOT: bool = false;
    const WRAPS: Option<Wraps> = Some(Wraps::Reading);

    fn examples() -> Vec<Value> {
        vec![json!({ "tool": "tools_search", "arguments": { "query": "design tokens" } })]
    }
}

impl Read for ToolRead {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        Err(match desk.registry().resolve(&input.tool) {
            None => desk.registry().unknown(&input.tool),
            Some(tool) => {
                let message = format!("{} does more than look", tool.head().name);
                Fault::new(Code::Forbidden, message).suggest("Use tool_call, or call it by its name.")
            }
        })
    }
}
