//! Tools of the newer revision that answer with what they need to know, and are called again with it.
//!
//! Between the rounds the server remembers nothing: what it must know again goes along, signed for the tool it came from.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ErrorData, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, SealOptions,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::asks::capabilities;
use super::tools::text;
use super::{All, Fixtures};

/// The tools of this module; none takes arguments.
pub(super) const TOOLS: [(&str, &str); 8] = [
    ("test_input_required_result_elicitation", "Needs the user's name"),
    ("test_input_required_result_sampling", "Needs what the client's model says"),
    ("test_input_required_result_list_roots", "Needs the client's roots"),
    ("test_input_required_result_request_state", "Needs a confirmation and its own state"),
    ("test_input_required_result_multiple_inputs", "Needs a name, a greeting and the roots"),
    ("test_input_required_result_multi_round", "Needs a name, then a color"),
    ("test_input_required_result_tampered_state", "Needs its own state, untouched"),
    ("test_input_required_result_capabilities", "Needs whatever the client can give"),
];

/// What is needed, by the key that its answer will have.
type Needs = Vec<(&'static str, Value)>;

/// Asks the user for one field.
pub(super) fn form(message: &str, field: &str, kind: &str) -> Value {
    json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": { field: { "type": kind } },
                "required": [field],
            },
        },
    })
}

fn sampling(prompt: &str, most: u32) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": most } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// What a client must be able to do before it is asked; nothing is asked of one that did not say so.
fn lacking(can: &ClientCapabilities, needs: &Needs) -> Option<ClientCapabilities> {
    let (mut lacks, mut any) = (ClientCapabilities::default(), false);
    for (_, need) in needs {
        match need["method"].as_str() {
            Some("elicitation/create") if can.elicitation.is_none() => {
                lacks.elicitation = Some(rmcp::model::ElicitationCapability::default());
            }
            Some("sampling/createMessage") if can.sampling.is_none() => {
                lacks.sampling = Some(rmcp::model::SamplingCapability::default());
            }
            Some("roots/list") if can.roots.is_none() => {
                lacks.roots = Some(rmcp::model::RootsCapabilities::default());
            }
            _ => continue,
        }
        any = true;
    }
    any.then_some(lacks)
}

/// The answer that says what is needed.
pub(super) fn need(
    context: &RequestContext<RoleServer>,
    needs: Needs,
    state: Option<String>,
) -> Result<InputRequiredResult, ErrorData> {
    if let Some(lacks) = lacking(&capabilities(context), &needs) {
        return Err(ErrorData::missing_required_client_capability(lacks));
    }
    let mut requests = InputRequests::new();
    for (key, value) in needs {
        let request: InputRequest =
            serde_json::from_value(value).map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
        requests.insert(key.to_owned(), request);
    }
    Ok(InputRequiredResult::new(Some(requests), state))
}

/// What the user entered in the field of a form that was accepted.
pub(super) fn entered<'a>(answers: Option<&'a InputResponses>, key: &str, field: &str) -> Option<&'a Value> {
    let answer = answers?.get(key)?;
    (answer.get("action")? == "accept").then(|| answer.get("content")?.get(field))?
}

fn name<'a>(answers: Option<&'a InputResponses>, key: &str) -> Option<&'a str> {
    entered(answers, key, "name").and_then(Value::as_str)
}

/// The text that the client's model wrote.
fn written<'a>(answers: Option<&'a InputResponses>, key: &str) -> Option<&'a str> {
    let content = answers?.get(key)?.get("content")?;
    let block = content.as_array().map_or(Some(content), |blocks| blocks.first())?;
    block.get("text")?.as_str()
}

fn listed<'a>(answers: Option<&'a InputResponses>, key: &str) -> Option<&'a Vec<Value>> {
    answers?.get(key)?.get("roots")?.as_array()
}

/// Signs what the next round must know, for one tool.
fn seal(all: &All, tool: &str, state: &str) -> String {
    all.states.seal_with(state.as_bytes(), &SealOptions::new().associated_data(tool.as_bytes()))
}

/// What was signed for this tool; anything else is refused.
fn open(all: &All, tool: &str, sealed: &str) -> Result<String, ErrorData> {
    let opened = all.states.open_with(sealed, tool.as_bytes());
    opened
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| ErrorData::invalid_params("requestState is not what this tool handed out", None))
}

pub(super) fn call(
    fixtures: &Fixtures,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let (all, tool) = (fixtures.all.as_ref(), request.name.as_ref());
    let answers = request.input_responses.as_ref();
    let state = request.request_state.as_deref().map(|sealed| open(all, tool, sealed)).transpose()?;
    let needed = |needs: Needs, state: Option<&str>| {
        need(context, needs, state.map(|state| seal(all, tool, state))).map(CallToolResponse::from)
    };
    let whose_name = || ("user_name", form("What is your name?", "name", "string"));
    let confirm = || vec![("confirm", form("Please confirm", "ok", "boolean"))];
    match tool {
        "test_missing_capability" => match lacking(&capabilities(context), &vec![("", sampling("", 1))]) {
            Some(lacks) => Err(ErrorData::missing_required_client_capability(lacks)),
            None => Ok(text("The client samples")),
        },
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => {
            match name(answers, "user_name") {
                Some(name) => Ok(text(format!("Hello, {name}!"))),
                None => needed(vec![whose_name()], None),
            }
        }
        "test_input_required_result_sampling" => match written(answers, "capital_question") {
            Some(answer) => Ok(text(format!("The model says: {answer}"))),
            None => needed(vec![("capital_question", sampling("What is the capital of France?", 100))], None),
        },
        "test_input_required_result_list_roots" => match listed(answers, "client_roots") {
            Some(roots) => Ok(text(format!("The client's roots: {}", json!(roots)))),
            None => needed(vec![("client_roots", roots())], None),
        },
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            let ok = entered(answers, "confirm", "ok").and_then(Value::as_bool);
            match (ok, state.as_deref()) {
                (Some(ok), Some("asked")) => Ok(text(format!("state-ok, confirmed: {ok}"))),
                _ => needed(confirm(), Some("asked")),
            }
        }
        "test_input_required_result_multiple_inputs" => {
            let all = (
                name(answers, "user_name"),
                written(answers, "greeting"),
                listed(answers, "client_roots"),
                state.as_deref(),
            );
            match all {
                (Some(name), Some(greeting), Some(roots), Some("asked")) => {
                    Ok(text(format!("{greeting} {name}, of {} roots", roots.len())))
                }
                _ => needed(
                    vec![
                        whose_name(),
                        ("greeting", sampling("Generate a greeting", 50)),
                        ("client_roots", roots()),
                    ],
                    Some("asked"),
                ),
            }
        }
        "test_input_required_result_multi_round" => {
            let first = || vec![("step1", form("Step 1: What is your name?", "name", "string"))];
            let second = || vec![("step2", form("Step 2: What is your favorite color?", "color", "string"))];
            let known = state.as_deref().and_then(|state| state.strip_prefix("named "));
            match (known, name(answers, "step1")) {
                (Some(name), _) => match entered(answers, "step2", "color").and_then(Value::as_str) {
                    Some(color) => Ok(text(format!("{name} likes {color}"))),
                    None => needed(second(), state.as_deref()),
                },
                (None, Some(name)) if state.is_some() => needed(second(), Some(&format!("named {name}"))),
                (None, _) => needed(first(), Some("asked")),
            }
        }
        "test_input_required_result_capabilities" => {
            let can = capabilities(context);
            let offered =
                [whose_name(), ("greeting", sampling("Generate a greeting", 50)), ("client_roots", roots())];
            let able = |need: &(&'static str, Value)| lacking(&can, &vec![need.clone()]).is_none();
            let needs: Needs = offered.into_iter().filter(able).collect();
            match answers {
                None if !needs.is_empty() => needed(needs, None),
                _ => Ok(text("That is all")),
            }
        }
        _ => Err(ErrorData::invalid_params(format!("there is no tool {tool}"), None)),
    }
}
