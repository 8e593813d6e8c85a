//! What to do next: suggestions filled in from what was captured, sorted and bounded.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    analysis::Analysis,
    pattern::{Category, Priority, Severity, SuggestionSpec, ToolCall},
};

/// The most suggestions of one analysis.
pub const SUGGESTIONS: usize = 5;
/// The most suggestions of several analyses together.
pub const MERGED_SUGGESTIONS: usize = 10;
/// The most elements that one placeholder of a list becomes.
const LISTED: usize = 10;

/// What the folder is called that a tool works in.
const DIRECTORY: &str = "directory";

/// Something to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// What to do, useful without the tool.
    pub text: String,
    /// How soon.
    pub priority: Priority,
    /// How sure it is that this helps, from 0 to 1, to two digits.
    pub confidence: f64,
    /// The call to make. The server may not have the tool: leave the call out then, the text stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
}

/// Several analyses as one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Merged {
    /// The category of the most severe analysis, the first of equals; general where there is none.
    pub category: Category,
    /// The highest severity; low where there is none.
    pub severity: Severity,
    /// The highest confidence; 0 where there is none.
    pub confidence: f64,
    /// At most 10, by priority, then by confidence; what was first stays first.
    pub suggestions: Vec<Suggestion>,
    /// The affected files of all, in order, each once.
    pub affected_files: Vec<String>,
    /// Whether all of them are explained.
    pub explained: bool,
}

/// Puts the analyses of several runs together.
#[must_use]
pub fn merge(analyses: &[Analysis]) -> Merged {
    let mut worst: Option<&Analysis> = None;
    for analysis in analyses {
        if worst.is_none_or(|so_far| analysis.severity > so_far.severity) {
            worst = Some(analysis);
        }
    }
    let mut files = BTreeSet::new();
    let affected_files = analyses
        .iter()
        .flat_map(|analysis| &analysis.affected_files)
        .filter(|file| files.insert(file.as_str()))
        .take(crate::analysis::AFFECTED_FILES)
        .cloned()
        .collect();
    let suggestions = analyses.iter().flat_map(|analysis| &analysis.suggestions).cloned().collect();
    Merged {
        category: worst.map_or(Category::General, |analysis| analysis.category),
        severity: worst.map_or(Severity::Low, |analysis| analysis.severity),
        confidence: analyses.iter().map(|analysis| analysis.confidence).fold(0.0, f64::max),
        suggestions: ranked(suggestions, MERGED_SUGGESTIONS),
        affected_files,
        explained: analyses.iter().all(|analysis| analysis.explained),
    }
}

/// Each once, by priority, then by confidence, at most `limit`. Of equal ones the first stays.
pub(crate) fn ranked(mut suggestions: Vec<Suggestion>, limit: usize) -> Vec<Suggestion> {
    suggestions
        .sort_by(|a, b| a.priority.cmp(&b.priority).then_with(|| b.confidence.total_cmp(&a.confidence)));
    let mut kept: Vec<Suggestion> = Vec::new();
    for suggestion in suggestions {
        let same = |other: &Suggestion| {
            other.text == suggestion.text || (other.tool.is_some() && other.tool == suggestion.tool)
        };
        if kept.len() < limit && !kept.iter().any(same) {
            kept.push(suggestion);
        }
    }
    kept
}

/// What a name stands for: one value, or one for each place.
pub(crate) trait Lookup {
    fn first(&self, name: &str) -> Option<&str>;
    fn all(&self, name: &str) -> Vec<&str>;
}

/// The folder of a run, and what names stand for there: files as they are called in it.
pub(crate) struct There<'a> {
    pub(crate) dir: &'a str,
    /// The tools that work in a folder.
    pub(crate) placed: &'a [String],
    pub(crate) values: &'a dyn Lookup,
}

/// A suggestion with its placeholders filled in; none where the text needs a capture that is missing. A call of a tool that
/// works in a folder is made where the run was.
pub(crate) fn fill(
    spec: &SuggestionSpec,
    values: &dyn Lookup,
    there: Option<&There<'_>>,
    confidence: f64,
) -> Option<Suggestion> {
    let call = |tool: &ToolCall| {
        let says = tool.arguments.contains_key(DIRECTORY);
        let there = there.filter(|there| !says && there.placed.contains(&tool.name));
        let values = there.map_or(values, |there| there.values);
        let filled = tool.arguments.iter();
        let filled = filled.filter_map(|(name, value)| Some((name.clone(), fill_value(value, values)?)));
        let dir = there.map(|there| (DIRECTORY.to_owned(), Value::from(there.dir)));
        ToolCall { name: tool.name.clone(), arguments: dir.into_iter().chain(filled).collect() }
    };
    Some(Suggestion {
        text: fill_text(&spec.text, values)?,
        priority: spec.priority,
        confidence: crate::analyzer::two_digits(spec.confidence * confidence),
        tool: spec.tool.as_ref().map(call),
    })
}

fn fill_value(value: &Value, values: &dyn Lookup) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(fill_argument(text, values)?),
        Value::Array(items) => {
            let mut filled: Vec<Value> = Vec::new();
            for item in items {
                match item.as_str().and_then(lone) {
                    Some(name) => {
                        for said in values.all(name).into_iter().filter(|said| is_argument(said)) {
                            let said = Value::String(said.to_owned());
                            if filled.len() < LISTED && !filled.contains(&said) {
                                filled.push(said);
                            }
                        }
                    }
                    None => filled.extend(fill_value(item, values)),
                }
            }
            if filled.is_empty() && !items.is_empty() {
                return None;
            }
            Value::Array(filled)
        }
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .filter_map(|(name, field)| Some((name.clone(), fill_value(field, values)?)))
                .collect::<Map<_, _>>(),
        ),
        other => other.clone(),
    })
}

/// Output is not to be trusted: what begins with a hyphen would be read as an option.
fn is_argument(said: &str) -> bool {
    !said.starts_with('-')
}

fn fill_argument(text: &str, values: &dyn Lookup) -> Option<String> {
    let filled = fill_text(text, values)?;
    (is_argument(&filled) || !is_argument(text)).then_some(filled)
}

fn lone(text: &str) -> Option<&str> {
    match pieces(text).as_slice() {
        [Piece::Name { name, otherwise: None }] => Some(name),
        _ => None,
    }
}

fn fill_text(text: &str, values: &dyn Lookup) -> Option<String> {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Name { name, otherwise } => filled.push_str(values.first(name).or(otherwise)?),
        }
    }
    Some(filled)
}

enum Piece<'a> {
    Text(&'a str),
    Name { name: &'a str, otherwise: Option<&'a str> },
}

/// A text cut at its placeholders. Braces that hold no name are text.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((front, back)) = rest.split_once('{') {
        let Some((inside, after)) = back.split_once('}') else { break };
        let (name, otherwise) = match inside.split_once('|') {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        let is_name = name.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if is_name {
            found.push(Piece::Text(front));
            found.push(Piece::Name { name, otherwise });
            rest = after;
        } else {
            let end = front.len() + 1;
            found.push(Piece::Text(rest.get(..end).unwrap_or_default()));
            rest = rest.get(end..).unwrap_or_default();
        }
    }
    found.push(Piece::Text(rest));
    found.retain(|piece| !matches!(piece, Piece::Text("")));
    found
}

/// The names that a suggestion's text and arguments hold.
pub(crate) fn placeholders(spec: &SuggestionSpec) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut add = |text: &str| {
        for piece in pieces(text) {
            if let Piece::Name { name, .. } = piece {
                names.insert(name.to_owned());
            }
        }
    };
    add(&spec.text);
    let mut open: Vec<&Value> = spec.tool.iter().flat_map(|tool| tool.arguments.values()).collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => add(text),
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct Two;

    impl Lookup for Two {
        fn first(&self, name: &str) -> Option<&str> {
            self.all(name).first().copied()
        }

        fn all(&self, name: &str) -> Vec<&str> {
            match name {
                "file" => vec!["a.js", "--rulesdir", "b.js", "a.js"],
                "name" => vec!["-exec=sh"],
                _ => vec![],
            }
        }
    }

    fn spec(text: &str, arguments: Value) -> SuggestionSpec {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        SuggestionSpec {
            text: text.to_owned(),
            priority: Priority::High,
            confidence: 1.0,
            tool: Some(ToolCall { name: "eslint".to_owned(), arguments }),
        }
    }

    #[test]
    fn arguments_are_filled_and_what_looks_like_an_option_is_left_out() {
        let spec = spec(
            "In {file}; {gone|nothing}; {a b}",
            json!({ "files": ["{file}"], "fix": true, "package": "{name}" }),
        );
        let filled = fill(&spec, &Two, None, 0.5).unwrap();
        assert_eq!(filled.text, "In a.js; nothing; {a b}");
        assert!((filled.confidence - 0.5).abs() < f64::EPSILON);
        assert_eq!(
            Value::Object(filled.tool.unwrap().arguments),
            json!({ "files": ["a.js", "b.js"], "fix": true })
        );
    }

    #[test]
    fn a_text_with_a_missing_capture_is_not_said() {
        assert_eq!(fill(&spec("In {gone}", json!({})), &Two, None, 0.5), None);
    }

    #[test]
    fn sorting_is_by_priority_then_confidence_and_stable() {
        let make = |text: &str, priority, confidence| Suggestion {
            text: text.to_owned(),
            priority,
            confidence,
            tool: None,
        };
        let sorted = ranked(
            vec![
                make("a", Priority::Low, 0.9),
                make("b", Priority::High, 0.5),
                make("c", Priority::High, 0.7),
                make("d", Priority::High, 0.5),
                make("c", Priority::High, 0.1),
            ],
            4,
        );
        assert_eq!(sorted.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(), ["c", "b", "d", "a"]);
    }
}
