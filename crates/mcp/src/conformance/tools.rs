//! Tools whose answers are prescribed, and the way from a name to its tool.

use std::sync::PoisonError;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ResourceContents, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::{Change, Fixtures, asks, rounds, tasks};
use crate::server::is_current;

/// A picture of one red pixel.
pub(super) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";

/// A sound of no samples: the 44 bytes of a WAVE header.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Tools without arguments.
const PLAIN: [(&str, &str); 14] = [
    // The first one is called by the suite with no arguments.
    ("test_simple_text", "Answers with a text"),
    ("test_image_content", "Answers with an image"),
    ("test_audio_content", "Answers with a sound"),
    ("test_embedded_resource", "Answers with a resource"),
    ("test_multiple_content_types", "Answers with a text, an image and a resource"),
    ("test_error_handling", "Always fails"),
    ("test_tool_with_logging", "Logs three messages at level info"),
    ("test_logging_tool", "Logs what the request asked for"),
    ("test_tool_with_progress", "Reports progress in three steps"),
    ("test_reconnection", "Takes a moment, so that a client may lose its stream meanwhile"),
    ("test_missing_capability", "Needs a client that samples"),
    ("test_streaming_elicitation", "Needs what the user says"),
    ("test_trigger_tool_change", "Lets a tool come or go"),
    ("test_trigger_prompt_change", "Lets a prompt come or go"),
];

/// The tool that comes and goes.
const PASSING: (&str, &str) = ("test_passing_tool", "Is listed every other time");

/// How long a step of the tools that take steps takes.
const STEP: Duration = Duration::from_millis(50);

/// An object, as schemas are; anything else is an empty one.
pub(super) fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

fn without_arguments((name, description): (&'static str, &'static str)) -> Tool {
    Tool::new(name, description, object(json!({ "type": "object" })))
}

/// A tool with one argument, which must be given.
fn with_text(name: &'static str, description: &'static str, argument: &str) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { argument: { "type": "string" } },
        "required": [argument],
    });
    Tool::new(name, description, object(schema))
}

/// A schema that uses what JSON Schema 2020-12 has beyond types and properties: it must arrive as it is.
fn wide_schema() -> JsonObject {
    object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    }))
}

/// The list, with or without the tool that comes and goes.
pub(super) fn list(more: bool) -> Vec<Tool> {
    let region = json!({
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        "required": ["region"],
    });
    let mut tools: Vec<Tool> = PLAIN.map(without_arguments).to_vec();
    tools.extend([
        Tool::new("json_schema_2020_12_tool", "Has a schema of many keywords", wide_schema()),
        Tool::new("test_header_argument", "Takes an argument that a header repeats", object(region)),
        with_text("test_sampling", "Asks the client's model", "prompt"),
        with_text("test_elicitation", "Asks the user for a name and an address", "message"),
    ]);
    tools.extend(asks::PLAIN.map(without_arguments));
    tools.extend(rounds::TOOLS.map(without_arguments));
    tools.extend(tasks::list());
    if more {
        tools.push(without_arguments(PASSING));
    }
    tools
}

/// A result of one text.
pub(super) fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// A failure that the caller is told of.
pub(super) fn failed(why: impl Into<String>) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(why)]).into()
}

fn contents(blocks: Vec<ContentBlock>) -> CallToolResponse {
    CallToolResult::success(blocks).into()
}

pub(super) async fn call(
    fixtures: &Fixtures,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let argument = |name: &str| {
        let given = request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Value::as_str);
        given.map(str::to_owned).ok_or_else(|| ErrorData::invalid_params(format!("{name} is missing"), None))
    };
    let name = request.name.as_ref();
    Ok(match name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => contents(vec![ContentBlock::image(PNG, "image/png")]),
        "test_audio_content" => contents(vec![ContentBlock::audio(WAV, "audio/wav")]),
        "test_embedded_resource" => {
            let resource =
                ResourceContents::text("This is an embedded resource content.", "test://embedded-resource");
            contents(vec![ContentBlock::resource(resource)])
        }
        "test_multiple_content_types" => {
            let data = json!({ "test": "data", "value": 123 }).to_string();
            let resource = ResourceContents::text(data, "test://mixed-content-resource");
            contents(vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(PNG, "image/png"),
                ContentBlock::resource(resource.with_mime_type("application/json")),
            ])
        }
        "test_error_handling" => failed("This tool intentionally returns an error for testing"),
        "test_tool_with_logging" => {
            log(fixtures, context, "Tool execution started").await;
            tokio::time::sleep(STEP).await;
            log(fixtures, context, "Tool processing data").await;
            tokio::time::sleep(STEP).await;
            log(fixtures, context, "Tool execution completed").await;
            text("Three messages were logged")
        }
        "test_logging_tool" => {
            log(fixtures, context, "Something happened").await;
            text("Logged, if that was asked for")
        }
        "test_tool_with_progress" => {
            for done in [0.0, 50.0, 100.0] {
                if done > 0.0 {
                    tokio::time::sleep(STEP).await;
                }
                progress(context, done).await;
            }
            text("Three steps were taken")
        }
        "test_reconnection" => {
            tokio::time::sleep(STEP).await;
            text("The answer arrived")
        }
        "test_trigger_tool_change" => changed(fixtures, context, Change::Tools).await,
        "test_trigger_prompt_change" => changed(fixtures, context, Change::Prompts).await,
        "test_passing_tool" => text("Still here"),
        "json_schema_2020_12_tool" => text("The schema is what counts"),
        "test_header_argument" => text(format!("The region is {}", argument("region")?)),
        "test_sampling" => asks::sample(context, &argument("prompt")?).await?,
        "test_elicitation" => asks::elicit(context, &argument("message")?).await?,
        "test_elicitation_sep1034_defaults" => asks::defaults(context).await?,
        "test_elicitation_sep1330_enums" => asks::choices(context).await?,
        "test_missing_capability" | "test_streaming_elicitation" => {
            rounds::call(fixtures, &request, context)?
        }
        _ if name.starts_with("test_input_required_result_") => rounds::call(fixtures, &request, context)?,
        _ => tasks::call(fixtures, &request, context).await?,
    })
}

/// Logs at level info, where the session or the request lets that through.
async fn log(fixtures: &Fixtures, context: &RequestContext<RoleServer>, message: &str) {
    let least = if is_current(context) {
        // Since that revision nothing is logged unless the request says how much.
        let Some(level) = context.meta.log_level() else { return };
        level
    } else {
        let level = *fixtures.session.level.lock().unwrap_or_else(PoisonError::into_inner);
        level.unwrap_or(LoggingLevel::Debug)
    };
    if matches!(least, LoggingLevel::Debug | LoggingLevel::Info) {
        let note = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
        // A client that has gone away misses nothing.
        let _ = context.peer.notify_logging_message(note.with_logger("conformance")).await;
    }
}

async fn progress(context: &RequestContext<RoleServer>, done: f64) {
    if let Some(token) = context.meta.get_progress_token() {
        let note = ProgressNotificationParam::new(token, done).with_total(100.0);
        let _ = context.peer.notify_progress(note).await;
    }
}

/// Changes a list. Who listens to the newer revision's subscriptions is told by them; the older one's session, here.
async fn changed(
    fixtures: &Fixtures,
    context: &RequestContext<RoleServer>,
    change: Change,
) -> CallToolResponse {
    fixtures.all.change(change);
    if !is_current(context) {
        let _ = match change {
            Change::Tools => context.peer.notify_tool_list_changed().await,
            Change::Prompts => context.peer.notify_prompt_list_changed().await,
        };
    }
    text("The list was changed")
}
