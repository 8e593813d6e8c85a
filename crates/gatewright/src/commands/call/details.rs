//! What an answer holds beside its message, for people: its fields in lines, where the message does not say them already.

use serde_json::{Map, Value};

/// Schemas are for programs: `--output json` has them.
const SCHEMA: &str = "Schema";

/// Texts shorter than this are in many a message by chance.
const TELLING: usize = 4;

/// As much of a text as a message has of it at least, where it shortens it.
const BEGINNING: usize = 24;

/// Longest list of words on a line.
const LINE: usize = 100;

/// What an entry is called by, which is said of it first.
const NAMES: [&str; 6] = ["name", "short", "id", "path", "file", "title"];

/// The lines for `output`, of which `message` is told already.
pub(super) fn lines(output: &Map<String, Value>, message: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in output {
        if let Value::Object(fields) = value {
            // What a message says of one of them says nothing of the others.
            let rest = fields.iter().filter(|(_, value)| !is_told(value, message));
            let rest: Map<String, Value> = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
            field(name, &Value::Object(rest), 0, &mut lines);
        } else if !is_told(value, message) {
            field(name, value, 0, &mut lines);
        }
    }
    lines
}

/// Whether most of what `value` says is in the message, word for word or by its beginning.
fn is_told(value: &Value, message: &str) -> bool {
    let mut texts = Vec::new();
    leaves(value, &mut texts);
    texts.retain(|text| text.chars().count() >= TELLING);
    let beginning = |text: &str| text.trim().chars().take(BEGINNING).collect::<String>();
    let length = |text: &&str| text.chars().count();
    let all: usize = texts.iter().map(length).sum();
    let told: usize = texts.iter().filter(|text| message.contains(&beginning(text))).map(length).sum();
    told * 2 > all
}

fn leaves<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, texts)),
        Value::Object(fields) => fields.values().for_each(|value| leaves(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn field(name: &str, value: &Value, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    if is_empty(value) || name.ends_with(SCHEMA) {
        return;
    }
    match value {
        Value::Object(fields) => {
            lines.push(format!("{indent}{name}:"));
            for (name, value) in fields {
                field(name, value, depth + 1, lines);
            }
        }
        Value::Array(items) => match words(items) {
            Some(words) => lines.push(format!("{indent}{name}: {words}")),
            None => {
                lines.push(format!("{indent}{name}:"));
                for item in items {
                    entry(item, depth + 1, lines);
                }
            }
        },
        Value::String(text) if text.trim_end().contains('\n') => {
            lines.push(format!("{indent}{name}:"));
            lines.extend(text.trim_end().lines().map(|line| format!("{indent}  {line}")));
        }
        other => lines.push(format!("{indent}{name}: {}", plain(other))),
    }
}

/// One of a list: its fields below one another, the first behind a dash.
fn entry(item: &Value, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth.saturating_sub(1));
    let before = lines.len();
    match item {
        Value::Object(fields) => {
            let first = NAMES.into_iter().find_map(|name| fields.get_key_value(name));
            let rest = fields.iter().filter(|(name, _)| first.is_none_or(|(first, _)| first != *name));
            for (name, value) in first.into_iter().chain(rest) {
                field(name, value, depth, lines);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| entry(item, depth + 1, lines)),
        other => lines.push(format!("{indent}  {}", plain(other))),
    }
    if let Some(first) = lines.get_mut(before) {
        *first = format!("{indent}- {}", first.trim_start());
    }
}

/// A list of short words, on one line.
fn words(items: &[Value]) -> Option<String> {
    let is_word = |item: &Value| match item {
        Value::String(text) => !text.contains('\n'),
        Value::Number(_) | Value::Bool(_) => true,
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    };
    let joined = items.iter().all(is_word).then(|| items.iter().map(plain).collect::<Vec<_>>().join(", "))?;
    (joined.chars().count() <= LINE).then_some(joined)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What says nothing is not printed: nobody was asked about it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(value: &Value, message: &str) -> String {
        lines(value.as_object().unwrap(), message).join("\n")
    }

    #[test]
    fn fields_become_lines_and_what_is_empty_is_left_out() {
        let value = json!({
            "branch": "main",
            "commits": [{ "id": "4d4ae64", "body": "", "files": ["a.rs", "b.rs"] }, { "id": "a6564df", "count": 2 }],
            "none": null,
            "patch": "-one\n+two\n",
        });
        assert_eq!(
            of(&value, ""),
            "branch: main\ncommits:\n- id: 4d4ae64\n  files: a.rs, b.rs\n- id: a6564df\n  count: 2\npatch:\n  -one\n  +two"
        );
    }

    #[test]
    fn what_the_message_says_is_not_said_again() {
        let value = json!({ "tools": [{ "name": "go_test", "description": "Runs the tests of a module and says which failed." }] });
        assert_eq!(of(&value, "- go_test: Runs the tests of a modul…"), "");
        assert!(of(&value, "One tool.").contains("name: go_test"));
    }

    #[test]
    fn what_the_message_says_of_one_thing_hides_no_other() {
        let value = json!({ "data": { "skillId": "backend/retry-backoff", "mode": "embedded", "result": { "delays": [100, 200] } } });
        assert_eq!(
            of(&value, "`backend/retry-backoff` ran."),
            "data:\n  mode: embedded\n  result:\n    delays: 100, 200"
        );
    }

    #[test]
    fn schemas_are_for_programs() {
        assert_eq!(of(&json!({ "inputSchema": { "type": "object" }, "name": "x" }), ""), "name: x");
    }
}
