//! What an approval is bound to, and what is offered of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use contract::{Digest, ToolName, canonical, text};
use kit::kinds::Definition;
use kit::limits::Limits;
use serde_json::{Map, Value, json};

use crate::config::{Asks, Upstream};

/// Longest description that models are shown, in characters.
const MAX_DESCRIPTION: usize = 4_000;

/// Why a tool of an upstream's is not offered.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) String);

/// Who serves the tools, as far as an upstream can be told from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) at: At,
    pub(crate) name: String,
    pub(crate) version: String,
    /// The digest of its TLS key (SPKI), where that is pinned.
    pub(crate) key: Option<Digest>,
}

/// Where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum At {
    /// Its URL.
    Url(String),
    /// The program: what it is and how it is started.
    Program(Value),
}

/// What an upstream said of its tools at one moment.
pub(crate) struct Listed {
    pub(crate) server: Server,
    pub(crate) tools: Vec<Value>,
    /// The user's descriptions of them, by their names.
    pub(crate) described: Vec<(String, String)>,
    /// The digests of their identities, once somebody asked.
    pub(crate) digests: OnceLock<BTreeMap<String, Digest>>,
}

impl Listed {
    /// The identities of its tools.
    pub(crate) fn identities(&self) -> impl Iterator<Item = Value> {
        self.tools.iter().map(|tool| {
            let mut identity = of(&self.server, tool);
            let name = tool.get("name").and_then(Value::as_str);
            // Who approves approves both: what is read instead, and what it is read instead of.
            if let Some((_, text)) = self.described.iter().find(|(theirs, _)| Some(theirs.as_str()) == name) {
                identity["described"] = json!(text);
            }
            identity
        })
    }

    /// The digests of the identities, by the upstream's names; a name that stands twice is nobody's.
    pub(crate) fn digests(&self) -> &BTreeMap<String, Digest> {
        self.digests.get_or_init(|| self.digested())
    }

    fn digested(&self) -> BTreeMap<String, Digest> {
        let (mut all, mut twice) = (BTreeMap::new(), BTreeSet::new());
        for identity in self.identities() {
            let Some(name) = name_there(&identity) else { continue };
            if all.insert(name.to_owned(), digest(&identity)).is_some() {
                twice.insert(name.to_owned());
            }
        }
        all.retain(|name, _| !twice.contains(name));
        all
    }
}

/// The identity of `tool`, which is what `server` said of it and nothing less.
pub(crate) fn of(server: &Server, tool: &Value) -> Value {
    let Server { at, name, version, key } = server;
    let server = json!({ "name": name, "version": version });
    let mut upstream = match at {
        At::Url(url) => json!({ "url": url, "server": server }),
        At::Program(program) => json!({ "program": program, "server": server }),
    };
    if let Some(key) = key {
        upstream["key"] = json!(key);
    }
    json!({ "upstream": upstream, "tool": tool })
}

/// What an approval is a hash of.
pub(crate) fn digest(identity: &Value) -> Digest {
    Digest::of(&canonical::of(identity))
}

/// The name that its upstream calls a tool by.
pub(crate) fn name_there(identity: &Value) -> Option<&str> {
    identity.get("tool")?.get("name")?.as_str()
}

/// Whether it says of itself that it only looks.
pub(crate) fn says_it_reads(identity: &Value) -> bool {
    identity.pointer("/tool/annotations/readOnlyHint") == Some(&Value::Bool(true))
}

/// What is offered of an identity. What models read of it has no hidden characters; the identity keeps them.
pub(crate) fn definition(
    upstream: &Upstream,
    name: ToolName,
    identity: Value,
) -> Result<Definition, Refusal> {
    canonical::admit(&identity).map_err(|e| Refusal(e.to_string()))?;
    let Some(Value::Object(tool)) = identity.get("tool") else { return Err(refusal("it is no object")) };
    let described = identity.get("described").and_then(Value::as_str).map(text::visible);
    // Tasks of its own are none of ours: whoever calls would get an error of the protocol's.
    if identity.pointer("/tool/execution/taskSupport").and_then(Value::as_str) == Some("required") {
        return Err(refusal(
            "it can only be called as a task (execution.taskSupport), which upstreams are not asked for",
        ));
    }
    let description = said(tool, "description")?.unwrap_or_default();
    let description = described.unwrap_or(description);
    if description.chars().count() > MAX_DESCRIPTION {
        return Err(Refusal(format!("its description has more than {MAX_DESCRIPTION} characters")));
    }
    let annotated =
        tool.get("annotations").and_then(Value::as_object).map(|a| said(a, "title")).transpose()?;
    let title = said(tool, "title")?.or(annotated.flatten()).unwrap_or_else(|| name.to_string());
    let schema = |field: &str| match tool.get(field) {
        None => Ok(None),
        Some(schema @ Value::Object(_)) => Ok(Some(visible(schema))),
        Some(_) => Err(Refusal(format!("its {field} is no object"))),
    };
    let hint = |name: &str| identity.pointer(&format!("/tool/annotations/{name}"));
    let asks = match upstream.asks {
        Asks::Never => false,
        Asks::Destructive => hint("destructiveHint") == Some(&Value::Bool(true)),
        Asks::Writing => hint("readOnlyHint") != Some(&Value::Bool(true)),
    };
    Ok(Definition {
        name,
        title,
        description: format!(
            "{description}\n\nA tool of the upstream server `{}`: not rehearsed, not undone.",
            upstream.name
        ),
        toolset: upstream.name.clone(),
        input_schema: schema("inputSchema")?.ok_or_else(|| refusal("it has no inputSchema"))?,
        output_schema: schema("outputSchema")?,
        limits: Limits { timeout: upstream.timeout, ..Limits::DEFAULT },
        asks,
        labels: upstream.labels.clone(),
        identity,
    })
}

fn refusal(why: &str) -> Refusal {
    Refusal(why.to_owned())
}

fn said(object: &Map<String, Value>, field: &str) -> Result<Option<String>, Refusal> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(said)) => Ok(Some(text::visible(said))),
        Some(_) => Err(Refusal(format!("its {field} is no text"))),
    }
}

/// The same without hidden characters, in keys and values.
pub(crate) fn visible(value: &Value) -> Value {
    match value {
        Value::String(said) => Value::String(text::visible(said)),
        Value::Array(items) => Value::Array(items.iter().map(visible).collect()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(k, v)| (text::visible(k), visible(v))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{Chosen, Credential, Http, Questions, Reached};

    fn offered(tool: Value) -> Result<Definition, Refusal> {
        let server = Server {
            at: At::Url("https://docs.example/mcp".into()),
            name: "docs".into(),
            version: "1".into(),
            key: None,
        };
        let name = ToolName::new("docs__search").unwrap();
        let upstream = Upstream {
            name: "docs".into(),
            reached: Reached::Http(Http {
                url: "https://docs.example/mcp".into(),
                credential: Credential::None,
                headers: Vec::new(),
                pin_key: false,
            }),
            chosen: Chosen::default(),
            defang: true,
            media: true,
            resources: false,
            prompts: false,
            asks: Asks::default(),
            questions: Questions::default(),
            labels: Vec::new(),
            timeout: Duration::from_secs(9),
        };
        definition(&upstream, name, of(&server, &tool))
    }

    #[test]
    fn m10_what_models_read_has_no_hidden_characters_and_the_identity_keeps_them() {
        let hidden = "Finds\u{200b} text\u{1b}[2J\u{e0041}.";
        let tool = json!({
            "name": "search", "description": hidden, "annotations": { "title": "Se\u{202e}arch" },
            "inputSchema": { "type": "object", "properties": { "q\u{200b}": { "description": hidden } } },
            "x-unknown": hidden,
        });
        let definition = offered(tool.clone()).unwrap();
        assert!(definition.description.starts_with("Finds text[2J."), "{}", definition.description);
        assert_eq!(definition.title, "Search");
        assert_eq!(definition.input_schema["properties"]["q"]["description"], "Finds text[2J.");
        assert_eq!(definition.identity["tool"], tool);
    }

    #[test]
    fn what_is_no_definition_is_refused_with_the_reason() {
        for (tool, why) in [
            (json!("search"), "no object"),
            (json!({ "name": "search" }), "no inputSchema"),
            (json!({ "name": "search", "inputSchema": [] }), "no object"),
            (json!({ "name": "search", "inputSchema": {}, "description": 7 }), "no text"),
            (
                json!({ "name": "search", "inputSchema": {}, "execution": { "taskSupport": "required" } }),
                "as a task",
            ),
            (json!({ "name": "search", "inputSchema": {}, "description": "x".repeat(4_001) }), "4000"),
            (json!({ "name": "search", "inputSchema": { "maximum": 9_007_199_254_740_993_u64 } }), "integer"),
        ] {
            let Err(Refusal(said)) = offered(tool) else { panic!("{why}") };
            assert!(said.contains(why), "{said}");
        }
    }
}
