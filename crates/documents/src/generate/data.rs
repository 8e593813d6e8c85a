//! JSON and YAML as one kind of value, within bounds.

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

/// Most values of one file.
const MAX_VALUES: usize = 200_000;

/// Deepest nesting.
const MAX_DEPTH: usize = 64;

/// Reads a file by its name: `.json`, or else YAML. The error is a line where known, and what is wrong.
///
/// YAML's scalars are texts, whatever they look like; aliases are never expanded: they are null.
pub(super) fn read(path: &str, text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}');
    if path.to_lowercase().ends_with(".json") {
        // serde_json stops at 128 levels by itself.
        return serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"));
    }
    yaml(text)
}

enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>, bool),
}

fn yaml(text: &str) -> Result<Value, String> {
    if brackets(text) > MAX_DEPTH {
        return Err(format!("values are nested more than {MAX_DEPTH} deep"));
    }
    let mut open: Vec<Open> = Vec::new();
    for (count, event) in Parser::new_from_str(text).enumerate() {
        let (event, span) =
            event.map_err(|e| format!("line {}: no YAML: {}", e.marker().line(), e.info()))?;
        if count >= MAX_VALUES || open.len() > MAX_DEPTH {
            return Err(format!("line {}: too large or too deep to be read", span.start.line()));
        }
        let closed = match event {
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None, false));
                continue;
            }
            Event::Scalar(value, ..) => Value::String(value.into_owned()),
            Event::Alias(..) => Value::Null,
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(list)) => Value::Array(list),
                Some(Open::Map(map, ..)) => Value::Object(map),
                None => Value::Null,
            },
            Event::DocumentEnd => break,
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(closed),
            Some(Open::List(list)) => list.push(closed),
            Some(Open::Map(map, key, waits)) => match (waits.then(|| key.take()), closed) {
                (Some(key), value) => {
                    if let Some(key) = key {
                        map.insert(key, value);
                    }
                    *waits = false;
                }
                // A key that is no text (`? [a]`) takes its value with it.
                (None, named) => {
                    *key = if let Value::String(name) = named { Some(name) } else { None };
                    *waits = true;
                }
            },
        }
    }
    Err("it is empty".to_owned())
}

/// How deep flow collections nest at most: the parser is slow on deep ones, so it is not asked.
fn brackets(text: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn yaml_is_read_as_json_would_be() {
        let found = read("x.yaml", "a: 1\nb: [x, {c: d}]\n? [k]\n: v\ne:\n  - *z\n").unwrap_err();
        assert!(found.contains("line"), "{found}");
        let found = read("x.yml", "z: &z 1\na: *z\nb: [x, {c: d}]\n? [k]\n: v\nlast: ~\n").unwrap();
        assert_eq!(found, json!({ "z": "1", "a": null, "b": ["x", { "c": "d" }], "last": "~" }));
        assert_eq!(read("x.json", "{\"a\": 1}").unwrap(), json!({ "a": 1 }));
        assert!(read("x.json", "{").unwrap_err().contains("no JSON"));
        assert_eq!(read("x.yaml", "").unwrap_err(), "it is empty");
    }

    #[test]
    fn d06_bombs_are_refused_or_stay_small() {
        assert!(read("x.yaml", &"[".repeat(100_000)).unwrap_err().contains("deep"));
        let mut deep = String::new();
        for level in 0..80 {
            deep.push_str(&format!("{}a:\n", " ".repeat(level)));
        }
        assert!(read("x.yaml", &deep).unwrap_err().contains("deep"));
        assert!(read("x.json", &"[".repeat(100_000)).is_err());
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..40 {
            bomb.push_str(&format!("a{level}: &a{level} [*a{0}, *a{0}, *a{0}, *a{0}]\n", level - 1));
        }
        assert!(read("x.yaml", &bomb).unwrap().to_string().len() < 5_000);
    }
}
