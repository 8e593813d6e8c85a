//! Tools of the older revision that ask the client in the middle of a call.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, ClientCapabilities, CreateMessageRequestParams, ElicitRequestParams, ErrorData,
    SamplingMessage,
};
use rmcp::service::{RequestContext, ServiceError};
use serde_json::{Value, json};

use super::tools::{failed, text};

/// Those without arguments.
pub(super) const PLAIN: [(&str, &str); 2] = [
    ("test_elicitation_sep1034_defaults", "Asks the user, with a default for every answer"),
    ("test_elicitation_sep1330_enums", "Asks the user to choose, in every form that a choice has"),
];

/// What the client can do, as it said itself.
pub(super) fn capabilities(context: &RequestContext<RoleServer>) -> ClientCapabilities {
    context.client_capabilities().unwrap_or_default()
}

fn refused(error: &ServiceError) -> CallToolResponse {
    failed(format!("The client did not answer: {error}"))
}

/// Asks the client's model.
pub(super) async fn sample(
    context: &RequestContext<RoleServer>,
    prompt: &str,
) -> Result<CallToolResponse, ErrorData> {
    if capabilities(context).sampling.is_none() {
        return Ok(failed("The client does not sample"));
    }
    let asked = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    Ok(match context.peer.create_message(asked).await {
        Ok(answer) => {
            let first = answer.message.content.first().and_then(|block| block.as_text());
            text(format!("LLM response: {}", first.map_or("", |t| t.text.as_str())))
        }
        Err(error) => refused(&error),
    })
}

/// Asks the user with a form.
async fn ask(
    context: &RequestContext<RoleServer>,
    message: &str,
    schema: Value,
    front: &str,
) -> Result<CallToolResponse, ErrorData> {
    if capabilities(context).elicitation.is_none() {
        return Ok(failed("The client does not ask its user"));
    }
    let form = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    let form: ElicitRequestParams =
        serde_json::from_value(form).map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
    Ok(match context.peer.create_elicitation(form).await {
        Ok(answer) => {
            let action = json!(answer.action);
            let said = answer.content.unwrap_or_else(|| json!({}));
            text(format!("{front}action={}, content={said}", action.as_str().unwrap_or_default()))
        }
        Err(error) => refused(&error),
    })
}

/// Asks for a name and an address.
pub(super) async fn elicit(
    context: &RequestContext<RoleServer>,
    message: &str,
) -> Result<CallToolResponse, ErrorData> {
    let schema = json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    });
    ask(context, message, schema, "User response: ").await
}

/// Asks with a default for every kind of answer.
pub(super) async fn defaults(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
        "required": [],
    });
    ask(context, "Please look over the defaults", schema, "Elicitation completed: ").await
}

/// Asks for a choice, in every form that a choice has.
pub(super) async fn choices(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let titled = |noun: &str| -> Value {
        let choice = |(value, title)| json!({ "const": value, "title": format!("{title} {noun}") });
        [("value1", "First"), ("value2", "Second"), ("value3", "Third")].map(choice).into_iter().collect()
    };
    let plain = json!(["option1", "option2", "option3"]);
    let schema = json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": plain },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        },
        "required": [],
    });
    ask(context, "Please choose", schema, "Elicitation completed: ").await
}
