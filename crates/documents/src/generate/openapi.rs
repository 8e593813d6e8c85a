//! What an `OpenAPI` description says (`OpenAPI` 3.0.4, 3.1.1; Swagger 2.0), as far as a reader of an API asks for it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Most operations of one description.
pub(super) const MAX_OPERATIONS: usize = 1_000;

/// Most types of one description.
pub(super) const MAX_TYPES: usize = 500;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// A description.
#[derive(Debug, Default)]
pub(super) struct Api {
    pub(super) title: String,
    pub(super) version: String,
    pub(super) about: String,
    pub(super) servers: Vec<String>,
    pub(super) operations: Vec<Operation>,
    pub(super) types: Vec<Type>,
    /// How many operations and types there are beyond the bounds.
    pub(super) more: usize,
}

#[derive(Debug, Default)]
pub(super) struct Operation {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) tag: String,
    pub(super) summary: String,
    pub(super) is_deprecated: bool,
    pub(super) parameters: Vec<Field>,
    /// What is sent: a type and whether it must be.
    pub(super) body: Option<(String, bool)>,
    /// Code, what it means, type.
    pub(super) answers: Vec<(String, String, String)>,
}

/// A parameter or a property.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    /// Where a parameter is: path, query, header, cookie.
    pub(super) place: String,
    pub(super) kind: String,
    pub(super) is_required: bool,
    pub(super) about: String,
}

#[derive(Debug, Default)]
pub(super) struct Type {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) about: String,
    pub(super) fields: Vec<Field>,
}

fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// YAML's `true` is a text here.
fn is_true(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Bool(true))) || value.and_then(Value::as_str) == Some("true")
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// By name: which order a map has is decided by whoever builds `serde_json`.
fn map<'v>(value: &'v Value, key: &str) -> BTreeMap<&'v String, &'v Value> {
    value.get(key).and_then(Value::as_object).into_iter().flat_map(Map::iter).collect()
}

/// Reads a description. The error says why it is none.
pub(super) fn read(document: &Value) -> Result<Api, String> {
    let version = [text(document, "openapi"), text(document, "swagger")];
    if !version.iter().any(|v| v.starts_with("3.") || v.starts_with('2')) {
        return Err(
            "no OpenAPI 3 or Swagger 2 description: it has neither `openapi` nor `swagger`".to_owned()
        );
    }
    let info = document.get("info").unwrap_or(&Value::Null);
    let mut api = Api {
        title: text(info, "title"),
        version: text(info, "version"),
        about: text(info, "description"),
        servers: list(document, "servers")
            .iter()
            .map(|s| text(s, "url"))
            .filter(|url| !url.is_empty())
            .collect(),
        ..Api::default()
    };
    if api.servers.is_empty() {
        let (host, base) = (text(document, "host"), text(document, "basePath"));
        api.servers.extend(Some(format!("{host}{base}")).filter(|s| !s.is_empty()));
    }
    for (path, item) in map(document, "paths") {
        for method in METHODS {
            let Some(operation) = item.get(method).filter(|o| o.is_object()) else { continue };
            if api.operations.len() == MAX_OPERATIONS {
                api.more += 1;
                continue;
            }
            api.operations.push(self::operation(document, path, method, item, operation));
        }
    }
    let schemas =
        document.get("components").and_then(|c| c.get("schemas")).or_else(|| document.get("definitions"));
    let schemas: BTreeMap<_, _> =
        schemas.and_then(Value::as_object).into_iter().flat_map(Map::iter).collect();
    for (name, schema) in schemas {
        if api.types.len() == MAX_TYPES {
            api.more += 1;
            continue;
        }
        api.types.push(declared(document, name, schema));
    }
    Ok(api)
}

fn operation(document: &Value, path: &str, method: &str, item: &Value, operation: &Value) -> Operation {
    let mut made = Operation {
        method: method.to_uppercase(),
        path: path.to_owned(),
        tag: list(operation, "tags").first().and_then(Value::as_str).unwrap_or_default().to_owned(),
        summary: first_of(&[
            text(operation, "summary"),
            text(operation, "description"),
            text(operation, "operationId"),
        ]),
        is_deprecated: is_true(operation.get("deprecated")),
        ..Operation::default()
    };
    let mut seen = BTreeSet::new();
    // What an operation says of a parameter goes before what its path says.
    for parameter in list(operation, "parameters").iter().chain(list(item, "parameters")) {
        let parameter = followed(document, parameter);
        let (name, place) = (text(parameter, "name"), text(parameter, "in"));
        if name.is_empty() || !seen.insert((name.clone(), place.clone())) {
            continue;
        }
        let schema = parameter.get("schema").unwrap_or(parameter);
        if place == "body" {
            made.body = Some((kind(schema, 0), is_true(parameter.get("required"))));
            continue;
        }
        made.parameters.push(Field {
            kind: kind(schema, 0),
            is_required: is_true(parameter.get("required")),
            about: text(parameter, "description"),
            name,
            place,
        });
    }
    if let Some(body) = operation.get("requestBody").map(|body| followed(document, body)) {
        made.body = Some((content(body), is_true(body.get("required"))));
    }
    for (code, answer) in map(operation, "responses") {
        let answer = followed(document, answer);
        let kind = answer.get("schema").map_or_else(|| content(answer), |schema| kind(schema, 0));
        made.answers.push((code.clone(), text(answer, "description"), kind));
    }
    made
}

fn first_of(texts: &[String]) -> String {
    texts.iter().find(|t| !t.trim().is_empty()).cloned().unwrap_or_default()
}

/// What a reference within the document names, one step.
fn followed<'v>(document: &'v Value, value: &'v Value) -> &'v Value {
    let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return value };
    reference.strip_prefix('#').and_then(|pointer| document.pointer(pointer)).unwrap_or(value)
}

/// The type of the first kind of content.
fn content(value: &Value) -> String {
    map(value, "content")
        .into_iter()
        .map(|(media, given)| match given.get("schema") {
            Some(schema) => kind(schema, 0),
            None => media.clone(),
        })
        .next()
        .unwrap_or_default()
}

/// A type in a few words.
fn kind(schema: &Value, depth: usize) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if depth > 8 {
        return "…".to_owned();
    }
    for (key, joint) in [("oneOf", " | "), ("anyOf", " | "), ("allOf", " & ")] {
        let all = list(schema, key);
        if !all.is_empty() {
            return all.iter().take(8).map(|s| kind(s, depth + 1)).collect::<Vec<_>>().join(joint);
        }
    }
    let values = list(schema, "enum");
    if !values.is_empty() {
        let shown: Vec<String> =
            values.iter().take(12).map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)).collect();
        return shown.join(" | ");
    }
    let named = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => String::new(),
    };
    match (named.as_str(), schema.get("items")) {
        ("array", Some(items)) => format!("{}[]", kind(items, depth + 1)),
        _ => {
            let format = text(schema, "format");
            if format.is_empty() { named } else { format!("{named} ({format})") }
        }
    }
}

fn declared(document: &Value, name: &str, schema: &Value) -> Type {
    let mut made = Type {
        name: name.to_owned(),
        kind: kind(schema, 0),
        about: text(schema, "description"),
        fields: Vec::new(),
    };
    let own = std::iter::once(schema);
    // What a type is put together from counts as its own, where it stands here or one step away.
    let parts = list(schema, "allOf").iter().map(|part| followed(document, part));
    for part in own.chain(parts) {
        let required: BTreeSet<&str> = list(part, "required").iter().filter_map(Value::as_str).collect();
        for (name, property) in map(part, "properties") {
            if made.fields.len() < MAX_TYPES && !made.fields.iter().any(|f| f.name == *name) {
                made.fields.push(Field {
                    name: name.clone(),
                    place: String::new(),
                    kind: kind(property, 0),
                    is_required: required.contains(name.as_str()),
                    about: text(property, "description"),
                });
            }
        }
    }
    made
}
