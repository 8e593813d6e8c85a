//! Search tools.
//!
//! Finds tools by what they do, among all that are enabled, listed or not. Returns names, descriptions and
//! input schemas, best first; call what you found by its name.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use contract::{Fault, Kind, Toolset};
use kit::kinds::List;
use kit::{Answer, Define, Doc, Read, ReadDesk, Registered, Registry, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::FRONT;
use crate::rank::{Document, Index};

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What the tool should do, in a few words.
    #[schemars(length(min = 1, max = 200))]
    pub query: String,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The tools, best first.
    pub tools: Vec<Found>,
}

/// One tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// The name to call.
    pub name: String,
    /// What it does and returns.
    pub description: String,
    /// What it is: read, change, run, record or foreign.
    #[schemars(with = "String")]
    pub kind: Kind,
    /// The group that it is in.
    pub toolset: String,
    /// JSON Schema of its arguments.
    pub input_schema: Map<String, Value>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct ToolsSearch {
    /// What was searched last, and of which registry it is: another takes its place when tools come or go.
    last: RwLock<Option<(Weak<Registry>, Arc<Searched>)>>,
}

impl ToolsSearch {
    fn searched(&self, registry: &Arc<Registry>) -> Arc<Searched> {
        if let Some((of, searched)) = &*self.last.read().unwrap_or_else(PoisonError::into_inner)
            && of.as_ptr() == Arc::as_ptr(registry)
        {
            return Arc::clone(searched);
        }
        let searched = Arc::new(Searched::of(registry));
        let now = (Arc::downgrade(registry), Arc::clone(&searched));
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some(now);
        searched
    }
}

/// The tools that are searched.
#[derive(Debug)]
struct Searched {
    /// Their names, by their numbers in the index.
    names: Vec<String>,
    /// The words of each.
    index: Index,
}

impl Searched {
    fn of(registry: &Registry) -> Self {
        let tools: Vec<_> = registry.listed().filter(|tool| tool.head().toolset != FRONT.0).collect();
        Self {
            names: tools.iter().map(|tool| tool.head().name.to_string()).collect(),
            index: Index::new(tools.iter().map(|tool| document(tool))),
        }
    }
}

fn document(tool: &Registered) -> Document {
    let head = tool.head();
    let properties = tool.input_schema().get("properties").and_then(Value::as_object);
    let arguments = properties.into_iter().flatten().map(|(name, _)| name.as_str());
    Document::default()
        .field(head.name.as_str(), 3.0)
        .field(&head.title, 2.0)
        .field(&head.description, 1.0)
        .field(&arguments.collect::<Vec<_>>().join(" "), 1.0)
}

impl Define for ToolsSearch {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "tools_search";
    const TOOLSET: Toolset = FRONT;
    const DOC: Doc = doc!("tools_search.rs");
    const LIST: Option<&'static str> = Some("tools");
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![json!({ "query": "design tokens to css" }), json!({ "query": "contrast", "limit": 3 })]
    }
}

impl Read for ToolsSearch {
    async fn read(&self, input: Input, desk: ReadDesk) -> Result<Answer<Output>, Fault> {
        let registry = desk.registry();
        let searched = self.searched(registry);
        let Searched { names, index } = &*searched;
        let ranked = index.rank(&input.query);
        let message = match ranked.first() {
            None => format!("No tool of {} has any of these words.", names.len()),
            Some((first, _)) => {
                format!("{} of {} tools, best first: `{}`.", ranked.len(), names.len(), names[*first])
            }
        };
        // What is not on the page costs more to spell out than to find.
        let page = desk.page();
        let (from, most) =
            (page.offset.try_into().unwrap_or(usize::MAX), page.limit.try_into().unwrap_or(usize::MAX));
        let list = List { field: "tools".into(), total: ranked.len() as u64, offset: page.offset };
        let shown = ranked.into_iter().skip(from).take(most);
        let tools: Vec<Found> = shown
            .filter_map(|(number, _)| {
                let tool = registry.resolve(&names[number])?;
                let head = tool.head();
                Some(Found {
                    name: head.name.to_string(),
                    description: head.description.to_string(),
                    kind: head.kind,
                    toolset: head.toolset.to_string(),
                    // Every schema that the registry takes is an object.
                    input_schema: tool.input_schema().as_object().cloned().unwrap_or_default(),
                })
            })
            .collect();
        Ok(Answer { list: Some(list), ..Answer::new(message, Output { tools }) })
    }
}
