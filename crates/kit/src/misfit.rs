//! What does not fit a schema, in words: all that would fit is named, and nothing of what was given but names.

use std::fmt::Write as _;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

/// Most values that are listed as those there are. A reader who needs more looks at the schema.
const LISTED: usize = 40;

/// Most ways that are told of a value that may be of several kinds.
const WAYS: usize = 4;

/// `path: message`.
pub(crate) fn said(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().as_str();
    let place = if path.is_empty() { "arguments" } else { path.trim_start_matches('/') };
    format!("{place}: {}", message(error))
}

fn message(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Enum { options } => match options.as_array().map(Vec::as_slice) {
            Some([only]) => format!("{only} was expected"),
            Some(options) => format!("value is not one of {}", list(options)),
            None => error.masked().to_string(),
        },
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            ways(error, context).unwrap_or_else(|| error.masked().to_string())
        }
        _ => error.masked().to_string(),
    }
}

/// `a, b or c`.
fn list(options: &[Value]) -> String {
    let mut all = String::new();
    let (shown, more) = options.split_at(options.len().min(LISTED));
    for (number, option) in shown.iter().enumerate() {
        let before = match number {
            0 => "",
            last if last + 1 == options.len() => " or ",
            _ => ", ",
        };
        let _ = write!(all, "{before}{option}");
    }
    if !more.is_empty() {
        let _ = write!(all, " or {} more that the schema names", more.len());
    }
    all
}

/// Why each of the kinds that a value may be of is not what it is. None where there is nothing to say.
fn ways(error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>]) -> Option<String> {
    let mut all = Vec::new();
    for first in context.iter().filter_map(|way| way.first()) {
        let within = first.instance_path().as_str().strip_prefix(error.instance_path().as_str());
        let way = match within.map(|path| path.trim_start_matches('/')) {
            None | Some("") => message(first),
            Some(path) => format!("{path}: {}", message(first)),
        };
        if !all.contains(&way) {
            all.push(way);
        }
    }
    let more = all.len().saturating_sub(WAYS);
    all.truncate(WAYS);
    let all = all.join("; or ");
    (!all.is_empty()).then(|| if more > 0 { format!("{all}; or {more} more ways") } else { all })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::schema::Compiled;

    fn errors(schema: &serde_json::Value, value: &serde_json::Value) -> Vec<String> {
        Compiled::new(schema).unwrap().errors(value, 8)
    }

    #[test]
    fn every_value_that_there_is_is_named() {
        let schema =
            json!({ "properties": { "type": { "enum": ["a", "b", "c", "d"] }, "one": { "enum": ["x"] } } });
        let said = errors(&schema, &json!({ "type": "secret", "one": "secret" }));
        assert_eq!(said, [r#"one: "x" was expected"#, r#"type: value is not one of "a", "b", "c" or "d""#]);
        let many: Vec<usize> = (0..50).collect();
        let said = errors(&json!({ "enum": many }), &json!("secret"));
        assert!(said[0].contains(", 39 or 10 more that the schema names"), "{said:?}");
    }

    #[test]
    fn of_several_kinds_each_says_why_it_is_not_that() {
        let by_name =
            json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
        let schema = json!({ "properties": { "which": { "anyOf": [{ "type": "integer" }, by_name] } } });
        let said = errors(&schema, &json!({ "which": { "name": 7 } }));
        assert_eq!(
            said,
            [r#"which: value is not of type "integer"; or name: value is not of type "string""#]
        );
        let said =
            errors(&json!({ "oneOf": [{ "const": 1 }, { "const": 2 }, { "const": 2 }] }), &json!("secret"));
        assert_eq!(said, ["arguments: 1 was expected; or 2 was expected"]);
        let five: Vec<_> = (0..5).map(|one| json!({ "const": one })).collect();
        let said = errors(&json!({ "anyOf": five }), &json!("secret"));
        assert!(said[0].ends_with("; or 3 was expected; or 1 more ways"), "{said:?}");
        assert_eq!(errors(&json!({ "not": {} }), &json!("secret")).len(), 1);
    }
}
