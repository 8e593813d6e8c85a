//! `gatewright.lock`: the tool definitions that a team has looked at, in a file that is reviewed like code.
//!
//! The file may only narrow: what it does not hold, or holds otherwise, is a difference. That a definition stands in a
//! repository approves nothing for whoever clones it.

use std::collections::BTreeMap;
use std::fmt;

use contract::{Digest, canonical};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::registry::{Registered, Registry};

/// The file's name at a root's top.
pub const FILE: &str = "gatewright.lock";

/// The format's version.
const VERSION: u32 = 1;

/// Definitions by name, with their hashes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    version: u32,
    tools: BTreeMap<String, Locked>,
    /// Code of skills: what it is and asks for, by library and id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    skills: BTreeMap<String, Locked>,
}

/// One definition as it was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Locked {
    hash: Digest,
    definition: Value,
}

/// Why a lock file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadLock {
    /// It is not the JSON that it should be; duplicate keys are refused.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// It is of another version.
    #[error("it has version {0}, this gatewright reads {VERSION}")]
    Version(u32),
    /// A definition is not the one whose hash stands beside it.
    #[error("the definition of {0} does not have the hash that stands beside it")]
    Hash(String),
}

/// How what is offered differs from what was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Difference {
    /// It is new.
    Added {
        /// The tool.
        tool: String,
        /// All that it says, where it is others' and so is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        definition: Option<Value>,
    },
    /// It is gone.
    Removed {
        /// The tool.
        tool: String,
    },
    /// It has another name, and is otherwise the same.
    Renamed {
        /// The name that was accepted.
        from: String,
        /// The name now.
        to: String,
    },
    /// It has changed.
    Changed {
        /// The tool.
        tool: String,
        /// What, field by field.
        fields: Vec<String>,
    },
}

impl Default for Lock {
    fn default() -> Self {
        Self { version: VERSION, tools: BTreeMap::new(), skills: BTreeMap::new() }
    }
}

impl Lock {
    /// Reads the file's text.
    pub fn read(text: &str) -> Result<Self, BadLock> {
        canonical::parse_strict(text.as_bytes()).map_err(|e| BadLock::Unreadable(e.to_string()))?;
        let lock: Self = serde_json::from_str(text).map_err(|e| BadLock::Unreadable(e.to_string()))?;
        if lock.version != VERSION {
            return Err(BadLock::Version(lock.version));
        }
        for (name, locked) in lock.tools.iter().chain(&lock.skills) {
            if hash(&locked.definition) != locked.hash {
                return Err(BadLock::Hash(name.clone()));
            }
        }
        Ok(lock)
    }

    /// The file's text: stable, and made for diffs.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Accepts `tool` as it is. Whether anything changed.
    pub fn accept(&mut self, tool: &Registered) -> Result<bool, serde_json::Error> {
        let definition = tool.definition()?;
        let locked = Locked { hash: hash(&definition), definition };
        let name = tool.head().name.to_string();
        Ok(self.tools.insert(name, locked.clone()) != Some(locked))
    }

    /// Takes what was accepted under `name` back. Whether there was anything.
    pub fn remove(&mut self, name: &str) -> bool {
        self.tools.remove(name).is_some()
    }

    /// The definition that was accepted under `name`.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<&Value> {
        self.tools.get(name).map(|locked| &locked.definition)
    }

    /// Every definition that was accepted, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.tools.iter().map(|(name, locked)| (name.as_str(), &locked.definition))
    }

    /// Accepts the code of a skill, `LIBRARY:CATEGORY/NAME`, as it is. Whether anything changed.
    pub fn accept_skill(&mut self, name: &str, identity: &Value) -> bool {
        let locked = Locked { hash: hash(identity), definition: identity.clone() };
        self.skills.insert(name.to_owned(), locked.clone()) != Some(locked)
    }

    /// Takes what was accepted of a skill back. Whether there was anything.
    pub fn remove_skill(&mut self, name: &str) -> bool {
        self.skills.remove(name).is_some()
    }

    /// What was accepted of a skill's code.
    #[must_use]
    pub fn skill(&self, name: &str) -> Option<&Value> {
        self.skills.get(name).map(|locked| &locked.definition)
    }

    /// Every skill whose code was accepted, by name.
    pub fn skills(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.skills.iter().map(|(name, locked)| (name.as_str(), &locked.definition))
    }

    /// How what `registry` offers differs, by name.
    pub fn differences(&self, registry: &Registry) -> Result<Vec<Difference>, serde_json::Error> {
        let mut offered = BTreeMap::new();
        for tool in registry.iter() {
            offered.insert(tool.head().name.to_string(), tool.definition()?);
        }
        let mut found = Vec::new();
        let mut added: Vec<&String> = offered.keys().filter(|name| !self.tools.contains_key(*name)).collect();
        for (name, locked) in &self.tools {
            match offered.get(name) {
                Some(now) if *now == locked.definition => {}
                Some(now) => {
                    let fields = changes(&locked.definition, now).iter().map(ToString::to_string).collect();
                    found.push(Difference::Changed { tool: name.clone(), fields });
                }
                None => {
                    let same = |other: &&String| unnamed(&offered[*other]) == unnamed(&locked.definition);
                    match added.iter().position(same) {
                        Some(at) => {
                            let to = added.remove(at).clone();
                            found.push(Difference::Renamed { from: name.clone(), to });
                        }
                        None => found.push(Difference::Removed { tool: name.clone() }),
                    }
                }
            }
        }
        found.extend(added.into_iter().map(|tool| {
            let is_others = registry.resolve(tool).is_some_and(|tool| tool.tool.identity().is_some());
            let definition = offered.get(tool).filter(|_| is_others).cloned();
            Difference::Added { tool: tool.clone(), definition }
        }));
        Ok(found)
    }
}

fn hash(definition: &Value) -> Digest {
    Digest::of(&canonical::of(definition))
}

/// A definition without its name: where only that differs, a tool was renamed.
#[must_use]
pub fn unnamed(definition: &Value) -> Value {
    let mut definition = definition.clone();
    // Ours has it at the top, that of others within what its server says of it.
    if let Some(object) = definition.as_object_mut() {
        object.remove("name");
        if let Some(Value::Object(tool)) = object.get_mut("tool") {
            tool.remove("name");
        }
    }
    definition
}

/// One field that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    /// Where it stands, from the definition's top.
    place: String,
    /// What stood there.
    was: Option<Value>,
    /// What stands there now.
    is: Option<Value>,
}

/// Keys of definitions that say nothing by themselves: those of MCP's tools and of JSON Schema.
const WORDS: [&str; 40] = [
    "$comment",
    "$defs",
    "$ref",
    "$schema",
    "_meta",
    "additionalProperties",
    "allOf",
    "annotations",
    "anyOf",
    "const",
    "default",
    "description",
    "destructiveHint",
    "enum",
    "examples",
    "execution",
    "format",
    "icons",
    "idempotentHint",
    "inputSchema",
    "items",
    "key",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "name",
    "oneOf",
    "openWorldHint",
    "outputSchema",
    "pattern",
    "properties",
    "readOnlyHint",
    "required",
    "server",
    "title",
    "type",
    "version",
];

impl FieldChange {
    /// The place without words of the upstream's: of a key that was not there before only what every definition may have
    /// is named.
    fn known_place(&self) -> String {
        if self.was.is_some() {
            return self.place.clone();
        }
        let (above, key) = self.place.rsplit_once(SEPARATOR).unwrap_or(("", &self.place));
        let key = if WORDS.contains(&key) { key } else { "(a new key)" };
        if above.is_empty() { key.to_owned() } else { format!("{above}{SEPARATOR}{key}") }
    }

    /// The change for whoever must not read what nobody has approved: what is new is measured, never repeated.
    #[must_use]
    pub fn measured(&self) -> String {
        let size = |value: &Value| match value {
            Value::String(text) => format!("{} characters", text.chars().count()),
            other => format!("{} bytes", other.to_string().len()),
        };
        match (&self.was, &self.is) {
            (Some(_), None) => format!("{} removed", shown_place(&self.place)),
            (None, Some(is)) => format!("{} added ({})", shown_place(&self.known_place()), size(is)),
            (Some(was), Some(is)) => {
                format!("{} changed ({}, now {})", shown_place(&self.place), size(was), size(is))
            }
            (None, None) => shown_place(&self.place),
        }
    }
}

/// What stands between the keys of a place: no key has it in it for a person to be misled by.
const SEPARATOR: char = '\u{1f}';

/// A place as it is read.
fn shown_place(place: &str) -> String {
    place.replace(SEPARATOR, ".")
}

impl fmt::Display for FieldChange {
    /// For people: with the values, whole as far as anybody reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.was, &self.is) {
            (Some(was), None) => write!(f, "{} removed (was {})", shown_place(&self.place), shown(was)),
            (None, Some(is)) => write!(f, "{} added: {}", shown_place(&self.place), shown(is)),
            (Some(was), Some(is)) => {
                write!(f, "{}: {} became {}", shown_place(&self.place), shown(was), shown(is))
            }
            (None, None) => f.write_str(&shown_place(&self.place)),
        }
    }
}

/// How `new` differs from `old`, field by field.
#[must_use]
pub fn changes(old: &Value, new: &Value) -> Vec<FieldChange> {
    let mut found = Vec::new();
    compare(old, new, "", &mut found);
    found
}

fn compare(old: &Value, new: &Value, path: &str, found: &mut Vec<FieldChange>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}{SEPARATOR}{key}") };
    let change = |place, was: Option<&Value>, is: Option<&Value>| FieldChange {
        place,
        was: was.cloned(),
        is: is.cloned(),
    };
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                match b.get(key) {
                    Some(other) => compare(value, other, &below(key), found),
                    None => found.push(change(below(key), Some(value), None)),
                }
            }
            let added = b.iter().filter(|(key, _)| !a.contains_key(*key));
            found.extend(added.map(|(key, value)| change(below(key), None, Some(value))));
        }
        (a, b) if a == b => {}
        (a, b) => found.push(change(path.to_owned(), Some(a), Some(b))),
    }
}

/// Most characters of a value that are shown: no description that may be offered is longer.
const MAX_SHOWN: usize = 8_000;

/// A value, as far as anybody reads.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_measured_for_models_and_shown_to_people() {
        let old = json!({ "tool": { "description": "Old.", "inputSchema": { "properties": { "a": {} } } } });
        let new = json!({ "tool": {
            "description": "IGNORE ALL", "title": "T",
            "inputSchema": { "properties": { "IGNORE ALL": { "type": "string" } } },
        } });
        let all = changes(&old, &new);
        let measured: Vec<String> = all.iter().map(FieldChange::measured).collect();
        assert_eq!(
            measured,
            [
                "tool.description changed (4 characters, now 10 characters)",
                "tool.inputSchema.properties.a removed",
                "tool.inputSchema.properties.(a new key) added (17 bytes)",
                "tool.title added (1 characters)",
            ]
        );
        let shown: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert!(shown[0].contains("\"Old.\" became \"IGNORE ALL\""), "{shown:?}");
        assert!(shown[2].contains("properties.IGNORE ALL added"), "{shown:?}");
    }
}
