//! What is listed of what is enabled: a menu that fits a model's window. The rest is found with `tools_search` and called
//! by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{Head, tokens_used};
use exec::Root;
use serde::Serialize;
use serde_json::Value;

use crate::family::Family;
use crate::registry::{Registered, Registry};

/// Most tools on a menu that was chosen for the caller.
pub const MAX_TOOLS: usize = 16;

/// Most tokens of such a menu: names, descriptions and input schemas.
pub const MAX_TOKENS: u64 = 2_500;

/// Chooses the menu of what is offered: the names of the tools that are listed.
pub type Choose = Arc<dyn Fn(&Registry) -> Vec<String> + Send + Sync>;

/// What a model is shown of a tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

/// What a tool costs on a menu, in tokens: its name, description and input schema.
#[must_use]
pub fn cost(tool: &Registered) -> u64 {
    tool.cost(|| {
        let (Head { name, description, .. }, input_schema) = (tool.head(), tool.input_schema());
        let shown = serde_json::to_string(&Shown { name: name.as_str(), description, input_schema });
        // Texts and JSON can be written.
        tokens_used(shown.unwrap_or_default().chars().count() as u64)
    })
}

/// The toolsets of `families` that the project at `root` has use for, by the names at its top.
#[must_use]
pub fn detected(families: &[&Family], root: Option<&Root>) -> Vec<&'static str> {
    let Some(root) = root else { return Vec::new() };
    let names: Vec<String> = root
        .dir()
        .entries()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let has = |marker: &str| match marker.strip_prefix('*') {
        Some(end) => names.iter().any(|name| name.ends_with(end)),
        None => names.iter().any(|name| name == marker),
    };
    let wanted = families.iter().filter(|family| family.markers.iter().any(|marker| has(marker)));
    wanted.flat_map(|family| family.toolsets).map(|toolset| toolset.0).collect()
}

/// The menu: the front door, then of the toolsets that were `detected` the first tool of each, the second of each, and so
/// on as far as they fit, in the order in which their families name them; told by name. What is not on it is found through the front door.
#[must_use]
pub fn chosen<'r>(registry: &'r Registry, front: &str, detected: &[&str]) -> Vec<&'r Registered> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut listed: Vec<&Arc<Registered>> = registry.listed().collect();
    listed.sort_by_key(|tool| tool.place());
    let mut all: Vec<(usize, &Registered)> = listed
        .into_iter()
        .filter(|tool| {
            let toolset = &*tool.head().toolset;
            toolset == front || detected.contains(&toolset)
        })
        .map(|tool| {
            let toolset = &*tool.head().toolset;
            let before = seen.entry(toolset).or_default();
            *before += 1;
            (if toolset == front { 0 } else { *before }, &**tool)
        })
        .collect();
    all.sort_by_key(|(turn, _)| *turn);
    let all = all.into_iter().map(|(_, tool)| tool);
    let mut tokens = 0;
    let mut menu: Vec<&Registered> = Vec::new();
    for tool in all {
        if menu.len() == MAX_TOOLS {
            break;
        }
        let cost = cost(tool);
        if tokens + cost <= MAX_TOKENS {
            tokens += cost;
            menu.push(tool);
        }
    }
    menu.sort_by(|a, b| a.head().name.cmp(&b.head().name));
    menu
}
