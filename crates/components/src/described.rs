//! What a component says of itself, held to what may be said: by the worker, for a good message, and by the parent, which
//! believes nobody.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::limits;
use crate::lines::depth;
use crate::talk::{TalkError, Tool};

/// Whether tools are described as tools may be.
pub(crate) fn check(tools: &[Tool]) -> Result<(), TalkError> {
    let wrong = |what: String| Err(TalkError::Described(limits::cut(&what, limits::MESSAGE_BYTES)));
    if tools.is_empty() || tools.len() > limits::TOOLS {
        return wrong(format!("it has {} tools, and must have 1 to {}", tools.len(), limits::TOOLS));
    }
    let mut names = BTreeSet::new();
    for tool in tools {
        let name = &tool.name;
        if !is_name(name) {
            return wrong(format!(
                "{name:?} is no name: a lower-case letter, then at most 39 of a-z, 0-9 and _"
            ));
        }
        if !names.insert(name) {
            return wrong(format!("two tools are called {name}"));
        }
        if !is_visible(&tool.title, limits::TITLE_BYTES) {
            return wrong(format!("{name}: a title is 1 to {} bytes of visible text", limits::TITLE_BYTES));
        }
        if !is_visible(&tool.description, limits::DESCRIPTION_BYTES) {
            let most = limits::DESCRIPTION_BYTES;
            return wrong(format!("{name}: a description is 1 to {most} bytes of visible text"));
        }
        if !matches!(tool.kind.as_str(), "read" | "run") {
            return wrong(format!("{name}: its kind is {:?}, and must be \"read\" or \"run\"", tool.kind));
        }
        if let Err(why) = schema(&tool.input_schema) {
            return wrong(format!("{name}: its input schema {why}"));
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Text that people and models see whole: no control characters but the end of a line, nothing that is not shown or turns the
/// direction of what is.
fn is_visible(text: &str, most: usize) -> bool {
    let hidden = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
    };
    !text.trim().is_empty() && text.len() <= most && !text.contains(hidden)
}

/// Whether a text is the schema of an object. `$ref` is refused: a few lines of it take longer to hold a value to than anybody
/// waits.
fn schema(text: &str) -> Result<(), String> {
    if text.len() > limits::SCHEMA_BYTES {
        return Err(format!("is larger than {} bytes", limits::SCHEMA_BYTES));
    }
    if depth(text.as_bytes()) > limits::DEPTH {
        return Err(format!("nests deeper than {}", limits::DEPTH));
    }
    let value: Value = serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))?;
    if value.get("type").and_then(Value::as_str) != Some("object") {
        return Err("is not of the type \"object\"".to_owned());
    }
    if refers(&value) {
        return Err("refers to parts of itself ($ref): write them out".to_owned());
    }
    Ok(())
}

fn refers(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| {
            matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef") || refers(value)
        }),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

/// Whether a text is JSON that may be carried.
pub(crate) fn is_json(text: &str, most: usize) -> bool {
    text.len() <= most
        && depth(text.as_bytes()) <= limits::DEPTH
        && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}
