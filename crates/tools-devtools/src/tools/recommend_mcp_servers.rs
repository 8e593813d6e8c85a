//! Recommend other MCP servers.
//!
//! Names well-known MCP servers for a purpose, best first, with why and where they come from. The list is our own and was looked
//! up at a date that it says; nothing is installed.

use failures::{Priority, Recommendation, ServerQuery, ServerTopic, recommend};

use contract::{Fault, Toolset};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::SMART;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Only of this topic.
    #[serde(default)]
    pub category: Option<ServerTopic>,
    /// Only of this priority.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// What it is for, in words.
    #[serde(default)]
    pub use_case: Option<String>,
    /// Give a configuration, too.
    #[serde(default)]
    pub include_config: bool,
}

/// What is recommended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The servers, best first.
    pub servers: Vec<Recommendation>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct RecommendMcpServers;

impl Define for RecommendMcpServers {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "recommend_mcp_servers";
    const TOOLSET: Toolset = SMART;
    const DOC: Doc = doc!("recommend_mcp_servers.rs");
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![
            json!({}),
            json!({ "useCase": "look at a page in a browser", "includeConfig": true, "priority": "high" }),
        ]
    }
}

impl Read for RecommendMcpServers {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let _ = &desk;
        let servers = recommend(&ServerQuery {
            topic: input.category,
            priority: input.priority,
            use_case: input.use_case.as_deref(),
            include_config: input.include_config,
        });
        let message = match servers.first() {
            None => "None of the servers that are known fits.".to_owned(),
            Some(first) => {
                format!("{} servers, best first: {} ({}).", servers.len(), first.name, first.purpose)
            }
        };
        Ok(Answer::new(message, Output { servers }))
    }
}
