//! What a skill says that it takes: a JSON Schema in its documentation, or a table.

use serde_json::{Map, Value, json};

use crate::code::language_of;
use crate::markdown::{Markdown, Section, Table};
use crate::problem::{Code, Place, Problems};
use crate::text::{bare, folded, plain, shown};

/// Longest schema, in bytes: 64 KiB.
pub const MAX_SCHEMA: usize = 64 * 1024;
/// Deepest nesting of a schema.
pub const MAX_DEPTH: usize = 32;
/// Most parameters of a table.
pub const MAX_PARAMETERS: usize = 100;

/// Headings that parameters stand under.
const SECTIONS: [&str; 4] = ["Parameters", "Input", "Inputs", "Input Parameters"];

/// Words that only a schema has at its top.
const WORDS: [&str; 9] =
    ["$schema", "$ref", "type", "properties", "required", "oneOf", "anyOf", "allOf", "additionalProperties"];

/// What JSON Schema calls types.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// How parameters were declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// As a JSON Schema in a fenced block.
    Json,
    /// As a table.
    Table,
}

/// Declared parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// A JSON Schema: an object without a `$ref` to elsewhere. Whether its keywords are well used is for who compiles it.
    pub schema: Value,
    /// How it was declared.
    pub source: Source,
    /// Of the block or the table, from 1.
    pub line: u32,
}

/// The declared parameters of a document: the first `json` block below `## Parameters` or `## Input` that is a schema, else that
/// section's table. None where nothing is declared; then, and where what is there cannot be read, nothing holds for the input.
pub fn declared(document: &Markdown<'_>, problems: &mut Problems) -> Option<Declared> {
    let section = document.section(&SECTIONS)?;
    let mut example = None;
    for fence in document.fences().iter().filter(|f| section.body.contains(&f.body.start)) {
        if language_of(document.slice(&fence.info)) != "json" {
            continue;
        }
        let place = Place::line(fence.line);
        let text = document.slice(&fence.body);
        if text.len() > MAX_SCHEMA {
            problems.at(place, Code::SchemaInvalid, "the schema has more than 64 KiB: declare less");
            return None;
        }
        match serde_json::from_str::<Value>(text) {
            Err(error) => {
                // What ends too early ends on the last line, not on the fence behind it.
                let line = error.line().min(text.lines().count().max(1));
                let line = u32::try_from(line).unwrap_or(1);
                let place = Place::line(fence.line.saturating_add(line));
                problems.at(place, Code::SchemaInvalid, format!("this is no JSON: {}", reason(&error)));
                return None;
            }
            Ok(value) if is_schema(&value) => {
                if let Err(why) = admissible(&value) {
                    problems.at(place, Code::SchemaInvalid, why);
                    return None;
                }
                return Some(Declared { schema: value, source: Source::Json, line: fence.line });
            }
            Ok(_) => example = example.or(Some(place)),
        }
    }
    if let Some(found) = tabled(document, &section, problems) {
        return Some(found);
    }
    if let Some(place) = example {
        let why = "this block is no JSON Schema (it has neither `type` nor `properties`): declare the parameters with one, or in a table";
        problems.at(place, Code::SchemaInvalid, why);
    }
    None
}

/// Without the position, which is told apart.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    shown(text.rfind(" at line ").and_then(|at| text.get(..at)).unwrap_or(&text))
}

/// An example of an input is an object too, and may have a member `type`: only one that names a type makes a schema.
fn is_schema(value: &Value) -> bool {
    let Value::Object(map) = value else { return value.is_boolean() };
    map.iter().any(|(key, value)| match key.as_str() {
        "type" => match value {
            Value::String(name) => TYPES.contains(&name.as_str()),
            Value::Array(names) => names.iter().all(|n| n.as_str().is_some_and(|n| TYPES.contains(&n))),
            _ => false,
        },
        "properties" => value.is_object(),
        "required" | "oneOf" | "anyOf" | "allOf" => value.is_array(),
        key => WORDS.contains(&key),
    })
}

/// Refuses what would reach out of the file, and what is too deep.
fn admissible(value: &Value) -> Result<(), String> {
    let mut open = vec![(value, 0_usize)];
    while let Some((value, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            return Err(format!("the schema is nested more than {MAX_DEPTH} deep: flatten it"));
        }
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let reference =
                        if matches!(key.as_str(), "$ref" | "$dynamicRef") { value.as_str() } else { None };
                    if reference.is_some_and(|to| !to.starts_with('#')) {
                        return Err(format!(
                            "`{key}` leads out of the file: write what it means into `$defs`"
                        ));
                    }
                    open.push((value, depth + 1));
                }
            }
            Value::Array(list) => open.extend(list.iter().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

/// Which column says what.
#[derive(Default)]
struct Columns {
    name: Option<usize>,
    kind: Option<usize>,
    required: Option<usize>,
    description: Option<usize>,
    default: Option<usize>,
}

fn columns(document: &Markdown<'_>, table: &Table) -> Columns {
    let mut found = Columns::default();
    for (at, cell) in table.head.cells.iter().enumerate() {
        let place = match folded(document.slice(cell)).as_str() {
            "name" | "parameter" | "param" | "field" | "property" | "key" | "argument" | "input" => {
                &mut found.name
            }
            "type" => &mut found.kind,
            "required" => &mut found.required,
            "description" | "notes" | "meaning" | "purpose" => &mut found.description,
            "default" => &mut found.default,
            _ => continue,
        };
        place.get_or_insert(at);
    }
    found
}

fn tabled(document: &Markdown<'_>, section: &Section, problems: &mut Problems) -> Option<Declared> {
    for table in document.tables(&section.body) {
        let columns = columns(document, &table);
        let Some(name_at) = columns.name else { continue };
        let mut properties = Map::new();
        let mut required = Vec::new();
        for row in &table.rows {
            let cell =
                |at: Option<usize>| at.and_then(|at| row.cells.get(at)).map_or("", |at| document.slice(at));
            let (name, optional) = match bare(cell(Some(name_at))) {
                name if name.ends_with('?') => (name.trim_end_matches('?'), true),
                name => (name, false),
            };
            let is_name = name.len() <= 100
                && name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
                && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'));
            if name.is_empty() || name.contains('.') || name.contains("[]") {
                // A part of another parameter (`options.force`): that is an object, and is not looked into.
                continue;
            }
            if !is_name {
                let why =
                    format!("`{}` is no parameter's name: write letters, digits, `_` or `-`", shown(name));
                problems.at(Place::line(row.line), Code::SchemaInvalid, why);
                continue;
            }
            if properties.contains_key(name) {
                let why = format!("the parameter `{}` is there twice: the first is taken", shown(name));
                problems.at(Place::line(row.line), Code::SchemaInvalid, why);
                continue;
            }
            if properties.len() == MAX_PARAMETERS {
                let why =
                    format!("there are more than {MAX_PARAMETERS} parameters: declare them as a JSON Schema");
                problems.at(Place::line(row.line), Code::SchemaInvalid, why);
                break;
            }
            let mut schema = kind(cell(columns.kind));
            let description = plain(cell(columns.description).trim());
            if !description.is_empty() {
                schema.insert("description".to_owned(), json!(description));
            }
            let default = bare(cell(columns.default));
            let has_default = !matches!(default, "" | "-" | "–" | "—");
            if !optional && !has_default && is_required(cell(columns.required), columns.required.is_some()) {
                required.push(json!(name));
            }
            properties.insert(name.to_owned(), Value::Object(schema));
        }
        if properties.is_empty() {
            continue;
        }
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        return Some(Declared { schema, source: Source::Table, line: table.head.line });
    }
    None
}

/// Without such a column nothing is required.
fn is_required(cell: &str, has_column: bool) -> bool {
    has_column && matches!(folded(cell).as_str(), "yes" | "true" | "required" | "y" | "x" | "always")
        || cell.contains(['✓', '✅', '✔'])
}

/// The schema of a type as people write it: `string`, `number[]`, `"a" | "b"`, `string?`. What is unknown is not restricted.
fn kind(cell: &str) -> Map<String, Value> {
    let mut found = Map::new();
    // A bar in a table is escaped.
    let text = cell.replace("\\|", "|");
    let text = bare(&text).trim_end_matches('?').trim();
    let parts: Vec<&str> = text.split('|').map(bare).filter(|part| !part.is_empty()).collect();
    let literal = |part: &&str| {
        let quotes = [('"', '"'), ('\'', '\'')];
        quotes
            .iter()
            .find_map(|(open, close)| part.strip_prefix(*open)?.strip_suffix(*close))
            .map(str::to_owned)
    };
    if !parts.is_empty() {
        let literals: Vec<String> = parts.iter().filter_map(literal).collect();
        if literals.len() == parts.len() {
            found.insert("type".to_owned(), json!("string"));
            found.insert("enum".to_owned(), json!(literals));
            return found;
        }
    }
    let types: Option<Vec<Value>> = parts.iter().map(|part| one(part)).collect();
    match types.as_deref() {
        Some([Value::Object(only)]) => return only.clone(),
        Some(several) if several.len() > 1 => {
            found.insert("anyOf".to_owned(), json!(several));
        }
        _ => {}
    }
    found
}

fn one(name: &str) -> Option<Value> {
    if let Some(items) = name.strip_suffix("[]") {
        return Some(
            one(items)
                .map_or_else(|| json!({"type": "array"}), |items| json!({"type": "array", "items": items})),
        );
    }
    let lower = name.to_ascii_lowercase();
    Some(match lower.as_str() {
        "string" | "str" | "text" => json!({"type": "string"}),
        "number" | "float" | "double" => json!({"type": "number"}),
        "integer" | "int" => json!({"type": "integer"}),
        "boolean" | "bool" => json!({"type": "boolean"}),
        "array" | "list" => json!({"type": "array"}),
        "object" | "map" | "dict" => json!({"type": "object"}),
        "null" => json!({"type": "null"}),
        other => {
            let inner =
                other.strip_prefix("array<").or_else(|| other.strip_prefix("list<"))?.strip_suffix('>')?;
            return one(inner).map(|items| json!({"type": "array", "items": items}));
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (Option<Declared>, Vec<(Option<u32>, String)>) {
        let mut problems = Problems::of("x.md");
        let found = declared(&Markdown::of(text), &mut problems);
        (found, problems.found().iter().map(|p| (p.line, p.message.clone())).collect())
    }

    #[test]
    fn a_json_block_below_parameters_is_the_schema() {
        let (found, problems) = read(
            "# X\n\n```json\n{\"type\": \"string\"}\n```\n\n## Parameters\n\n```jsonc\n{}\n```\n\n~~~ JSON\n{\"type\": \"object\", \"properties\": {\"table\": {\"type\": \"string\"}}}\n~~~\n",
        );
        let found = found.unwrap();
        assert_eq!((found.source, found.line), (Source::Json, 13));
        assert_eq!(found.schema["properties"]["table"]["type"], "string");
        assert_eq!(problems, []);
    }

    #[test]
    fn a_table_becomes_a_schema() {
        let text = "## 2. Input\n\n```json\n{\"table\": \"users\", \"type\": \"x\"}\n```\n\n| Name | Type | Required | Description | Default |\n|---|---|---|---|---|\n| `table` | string | yes | The **table** | |\n| `roles` | `string[]` | ✓ | | |\n| mode | `\"strict\" \\| \"loose\"` | no | | |\n| limit? | integer | yes | | |\n| size | number \\| null | yes | | 10 |\n| options | PolicyOptions | no | | |\n| options.force | boolean | no | | |\n";
        let (found, problems) = read(text);
        let found = found.unwrap();
        assert_eq!(
            found.schema,
            json!({
                "type": "object",
                "properties": {
                    "table": {"type": "string", "description": "The table"},
                    "roles": {"type": "array", "items": {"type": "string"}},
                    "mode": {"type": "string", "enum": ["strict", "loose"]},
                    "limit": {"type": "integer"},
                    "size": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                    "options": {},
                },
                "required": ["table", "roles"],
                "additionalProperties": false,
            })
        );
        assert_eq!((found.source, found.line, problems), (Source::Table, 7, vec![]));
    }

    #[test]
    fn what_is_no_schema_is_told_with_its_line() {
        assert_eq!(read("## Input\n\n```json\n{\n  \"a\": ,\n}\n```\n").1[0].0, Some(5));
        assert!(
            read("## Input\n\n```json\n{\"$ref\": \"https://x/y\"}\n```\n").1[0]
                .1
                .contains("leads out of the file")
        );
        assert_eq!(read("## Input\n\n```json\n{\"table\": \"users\"}\n```\n").1[0].0, Some(3));
        let deep = format!("## Input\n\n```json\n{}{{}}{}\n```\n", "{\"not\":".repeat(40), "}".repeat(40));
        assert!(read(&deep.replacen('{', "{\"type\":\"object\",", 1)).1[0].1.contains("32 deep"));
        assert!(
            read(&format!("## Input\n\n```json\n{}\n```\n", "[".repeat(70_000))).1[0].1.contains("64 KiB")
        );
        assert!(read("## Input\n\n| Name |\n|---|\n| a b |\n| c |\n| c |\n").1.len() == 2);
        assert_eq!(read("## Other\n\n```json\n{\"type\":\"object\"}\n```\n"), (None, vec![]));
        assert_eq!(read("## Input\n\nAnything.\n"), (None, vec![]));
    }

    proptest! {
        #[test]
        fn any_section_is_read(text in "(\\PC|[|`\n{}\":a-]|string|\\| a \\||\n\\|---\\|\n){0,60}") {
            let (found, _) = read(&format!("## Parameters\n\n{text}"));
            if let Some(found) = found {
                prop_assert!(found.schema.is_object() || found.schema.is_boolean());
            }
        }
    }
}
