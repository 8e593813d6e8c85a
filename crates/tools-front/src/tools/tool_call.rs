//! Call any tool.
//!
//! Calls any enabled tool by its name, when your client refuses names that are not listed. Under that tool's
//! own schema, policy and record; its result is that tool's own.

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
pub struct ToolCall;

impl Define for ToolCall {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "tool_call";
    const TOOLSET: Toolset = FRONT;
    const DOC: Doc = doc!("tool_call.rs");
    const NEEDS_ROOT: bool = false;
    const WRAPS: Option<Wraps> = Some(Wraps::Any);

    fn examples() -> Vec<Value> {
        vec![json!({ "tool": "tools_search", "arguments": { "query": "design tokens" } })]
    }
}

impl Read for ToolCall {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        Err(match desk.registry().resolve(&input.tool) {
            None => desk.registry().unknown(&input.tool),
            Some(tool) => {
                Fault::new(Code::InvalidArgument, format!("{} calls tools already", tool.head().name))
            }
        })
    }
}
