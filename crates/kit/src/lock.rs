//! `gatewright.lock`: the tool definitions that a team has looked at, in a file that is reviewed like code.
//!
//! The file may only narrow: what it does not hold, or holds otherwise, is a difference. That a definition stands in a
//! repository approves nothing for whoever clones it.

use std::collections::BTreeMap;
use std::fmt;

use contract::{Digest, canonical};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::registry::Registry;

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
    #[error("{FILE} cannot be read: {0}")]
    Unreadable(String),
    /// It is of another version.
    #[error("{FILE} has version {0}, this gatewright reads {VERSION}")]
    Version(u32),
    /// A definition is not the one whose hash stands beside it.
    #[error("{FILE}: the definition of {0} does not have the hash that stands beside it")]
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
        Self { version: VERSION, tools: BTreeMap::new() }
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
        for (name, locked) in &lock.tools {
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

    /// Accepts `name` as `registry` offers it now; without one there, it is dropped. Whether anything changed.
    pub fn accept(&mut self, registry: &Registry, name: &str) -> Result<bool, serde_json::Error> {
        let Some(tool) = registry.resolve(name) else { return Ok(self.tools.remove(name).is_some()) };
        let locked = Locked { hash: tool.hash, definition: tool.definition()? };
        let name = tool.spec().name.to_string();
        Ok(self.tools.insert(name, locked.clone()) != Some(locked))
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

    /// How what `registry` offers differs, by name.
    pub fn differences(&self, registry: &Registry) -> Result<Vec<Difference>, serde_json::Error> {
        let mut offered = BTreeMap::new();
        for tool in registry.iter() {
            offered.insert(tool.spec().name.to_string(), tool.definition()?);
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
        found.extend(added.into_iter().map(|tool| Difference::Added { tool: tool.clone() }));
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
    pub place: String,
    /// What stood there.
    pub was: Option<Value>,
    /// What stands there now.
    pub is: Option<Value>,
}

impl FieldChange {
    /// The change for whoever must not read what nobody has approved: what is new is measured, never repeated.
    #[must_use]
    pub fn measured(&self) -> String {
        let size = |value: &Value| match value {
            Value::String(text) => format!("{} characters", text.chars().count()),
            other => format!("{} bytes", other.to_string().len()),
        };
        match (&self.was, &self.is) {
            (Some(_), None) => format!("{} removed", self.place),
            (None, Some(is)) => format!("{} added ({})", self.place, size(is)),
            (Some(was), Some(is)) => format!("{} changed ({}, now {})", self.place, size(was), size(is)),
            (None, None) => self.place.clone(),
        }
    }
}

impl fmt::Display for FieldChange {
    /// For people: with the values, short.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.was, &self.is) {
            (Some(was), None) => write!(f, "{} removed (was {})", self.place, shown(was)),
            (None, Some(is)) => write!(f, "{} added: {}", self.place, shown(is)),
            (Some(was), Some(is)) => write!(f, "{}: {} became {}", self.place, shown(was), shown(is)),
            (None, None) => f.write_str(&self.place),
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
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
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

/// A value, short.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(120) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
