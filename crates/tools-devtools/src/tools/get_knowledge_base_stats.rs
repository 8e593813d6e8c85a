//! What the failure analysis knows.
//!
//! Says how many patterns the failure analysis knows, by category, severity and language, and names them. Use it to see whether
//! a failure can be recognised at all.

use failures::{Category, KnowledgeBase};

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
    /// Only of this category.
    #[serde(default)]
    pub category: Option<Category>,
}

/// What is known.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The knowledge.
    #[serde(flatten)]
    pub knowledge: KnowledgeBase,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GetKnowledgeBaseStats;

impl Define for GetKnowledgeBaseStats {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "get_knowledge_base_stats";
    const TOOLSET: Toolset = SMART;
    const DOC: Doc = doc!("get_knowledge_base_stats.rs");
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "category": "build" })]
    }
}

impl Read for GetKnowledgeBaseStats {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let knowledge = desk.analyzer().knowledge(input.category);
        let message =
            format!("{} patterns, {} of them from the configuration.", knowledge.total, knowledge.own);
        Ok(Answer::new(message, Output { knowledge }))
    }
}
