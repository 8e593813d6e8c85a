//! The API's own description: OpenAPI 3.1 (<https://spec.openapis.org/oas/v3.1.0>), from the table of routes and the types.

use serde_json::{Map, Value, json};

use super::table::{Route, generator, routes};
use crate::wire::{ADMIN_HEADER, Auth, ErrorBody, KEY_HEADER, ONCE_HEADER, SCHEMA_VERSION};

/// The description of the API that this program serves.
#[must_use]
pub fn document(version: &str) -> Value {
    let mut generator = generator();
    let mut paths: Map<String, Value> = Map::new();
    let error = generator.subschema_for::<ErrorBody>();
    for route in routes() {
        let request = (route.request)(&mut generator).to_value();
        let answer = (route.answer)(&mut generator).to_value();
        let operation = operation(&route, &request, &answer);
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Value::Object(methods) = methods {
            methods.insert(route.method.word().to_lowercase(), operation);
        }
    }
    let plain = |about: &str| json!({ "get": { "summary": about, "security": [], "responses": { "200": { "description": "It is." }, "503": { "description": "It is not." } } } });
    paths.insert("/health".to_owned(), plain("Whether the server is there"));
    paths.insert("/ready".to_owned(), plain("Whether the store answers and the server is not about to end"));
    let schemas: Map<String, Value> = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "gatewright context",
            "version": version,
            "description": format!("What a team shares. Every body says `\"schema_version\": \"{SCHEMA_VERSION}\"`; fields that are not known are refused. Every answer names its `X-Correlation-Id`."),
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": { "type": "apiKey", "in": "header", "name": KEY_HEADER },
                "admin": { "type": "apiKey", "in": "header", "name": ADMIN_HEADER },
            },
            "responses": {
                "error": {
                    "description": "What went wrong, and what to do.",
                    "content": { "application/json": { "schema": error } },
                },
            },
        },
    })
}

fn operation(route: &Route, request: &Value, answer: &Value) -> Value {
    let security = match route.auth {
        Auth::Key => json!([{ "key": [] }]),
        Auth::Admin => json!([{ "admin": [] }]),
    };
    let in_path = |name: &str| route.path.contains(&format!("{{{name}}}"));
    let empty = Map::new();
    let properties = request["properties"].as_object().unwrap_or(&empty);
    let required: Vec<&str> =
        request["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut parameters: Vec<Value> = properties
        .iter()
        .filter(|(name, _)| in_path(name) || !route.method.has_body())
        .map(|(name, schema)| {
            let (place, needed) =
                if in_path(name) { ("path", true) } else { ("query", required.contains(&name.as_str())) };
            json!({ "name": name, "in": place, "required": needed, "schema": schema })
        })
        .collect();
    let mut operation = json!({
        "summary": route.about,
        "security": security,
        "responses": {
            "200": { "description": "The answer.", "content": { "application/json": { "schema": answer } } },
            "default": { "$ref": "#/components/responses/error" },
        },
    });
    if route.once {
        parameters.push(json!({
            "name": ONCE_HEADER, "in": "header", "required": false, "schema": { "type": "string", "maxLength": 128 },
            "description": "Makes the write the same write when it is sent again within an hour.",
        }));
    }
    if route.method.has_body() {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": body(request, properties, &required, in_path) } },
        });
    }
    operation["parameters"] = Value::Array(parameters);
    operation
}

/// A request's schema without what stands in the path, and with the version.
fn body(
    request: &Value,
    properties: &Map<String, Value>,
    required: &[&str],
    in_path: impl Fn(&str) -> bool,
) -> Value {
    let mut fields: Map<String, Value> = properties
        .iter()
        .filter(|(name, _)| !in_path(name))
        .map(|(name, of)| (name.clone(), of.clone()))
        .collect();
    fields.insert("schema_version".to_owned(), json!({ "const": SCHEMA_VERSION }));
    let mut needed: Vec<&str> = required.iter().copied().filter(|name| !in_path(name)).collect();
    needed.push("schema_version");
    json!({
        "type": "object",
        "description": request["description"],
        "properties": fields,
        "required": needed,
        "additionalProperties": false,
    })
}
