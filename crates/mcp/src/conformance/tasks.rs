//! Tools of the tasks extension: the answer is a task, and the client asks after it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateTaskResult, ErrorData, InputRequest, JsonObject, Tool,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskFuture, TaskOptions};
use serde_json::{Value, json};

use super::Fixtures;
use super::asks::capabilities;
use super::rounds::{entered, form, need};
use super::tools::{failed, object, text};
use crate::server::is_current;

/// How often a client should ask after a task.
const POLL: u64 = 100;

/// How long the tool that fails works before it does.
const WORK: Duration = Duration::from_millis(300);

/// The tools of this module.
pub(super) fn list() -> Vec<Tool> {
    let tool = |name: &'static str, description: &'static str, properties: Value| {
        Tool::new(name, description, object(json!({ "type": "object", "properties": properties })))
    };
    let string = json!({ "type": "string" });
    vec![
        tool("greet", "Greets, at once", json!({ "name": string })),
        tool("slow_compute", "Takes its time", json!({ "seconds": { "type": "number" }, "label": string })),
        tool("failing_job", "Fails; only as a task", json!({})),
        tool("protocol_error_job", "Breaks down; only as a task", json!({})),
        tool("confirm_delete", "Asks before it goes on; only as a task", json!({ "filename": string })),
        tool("multi_input", "Asks two things at once; only as a task", json!({})),
        tool("test_tool_with_task", "Asks first, and then becomes a task", json!({})),
    ]
}

fn done(said: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(said)])
}

/// Makes a task of it.
fn begin<F>(fixtures: &Fixtures, work: F) -> CallToolResponse
where
    F: FnOnce(TaskContext) -> TaskFuture,
{
    let options = TaskOptions::new().with_poll_interval_ms(POLL);
    CreateTaskResult::new(fixtures.all.tasks.spawn(options, work)).into()
}

/// Asks the client from within a task; what it answered to the field.
async fn asked(task: &TaskContext, key: &str, message: &str) -> Result<Value, TaskExit> {
    let request: InputRequest = serde_json::from_value(form(message, "ok", "boolean"))
        .map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
    let answer = task.request_input(key, request).await?;
    Ok(answer.get("content").and_then(|content| content.get("ok")).cloned().unwrap_or(Value::Null))
}

pub(super) async fn call(
    fixtures: &Fixtures,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let none = JsonObject::new();
    let arguments = request.arguments.as_ref().unwrap_or(&none);
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    // The library gives tasks to whoever declares them; in the older era they were another thing under the same name.
    let can = is_current(context) && capabilities(context).supports_tasks();
    let tool = request.name.as_ref();
    match tool {
        "greet" => return Ok(text(format!("Hello, {}!", argument("name")))),
        "slow_compute" => {
            let seconds = arguments.get("seconds").and_then(Value::as_f64).unwrap_or(0.0);
            let length = Duration::try_from_secs_f64(seconds)
                .map_err(|e| ErrorData::invalid_params(format!("seconds: {e}"), None))?;
            let said = format!("{} took {seconds} s", argument("label"));
            if can {
                return Ok(begin(fixtures, move |task| Box::pin(slowly(task, length, said))));
            }
            // Without tasks, whoever asks waits.
            tokio::select! {
                () = tokio::time::sleep(length) => return Ok(text(said)),
                () = context.ct.cancelled() => return Ok(failed("It was cancelled")),
            }
        }
        _ if !can => {
            let lacks = ClientCapabilities::builder().enable_tasks().build();
            return Err(ErrorData::missing_required_client_capability(lacks));
        }
        _ => {}
    }
    Ok(match tool {
        "failing_job" => begin(fixtures, |_| {
            Box::pin(async {
                tokio::time::sleep(WORK).await;
                Ok(CallToolResult::error(vec![ContentBlock::text("It cannot be done")]))
            })
        }),
        "protocol_error_job" => begin(fixtures, |_| {
            Box::pin(async { Err(ErrorData::internal_error("It broke down", None).into()) })
        }),
        "confirm_delete" => {
            let file = argument("filename");
            begin(fixtures, move |task| {
                Box::pin(async move {
                    let ok = asked(&task, "confirm", &format!("Shall {file} go?")).await?;
                    Ok(done(format!("Confirmed for {file}: {ok}")))
                })
            })
        }
        "multi_input" => begin(fixtures, |task| {
            Box::pin(async move {
                let (one, two) =
                    tokio::try_join!(asked(&task, "one", "The one?"), asked(&task, "two", "The other?"))?;
                Ok(done(format!("Answered: {one}, {two}")))
            })
        }),
        "test_tool_with_task" => {
            let name = entered(request.input_responses.as_ref(), "user_name", "name").and_then(Value::as_str);
            let Some(name) = name.map(str::to_owned) else {
                let asked = vec![("user_name", form("What is your name?", "name", "string"))];
                return Ok(need(context, asked, None)?.into());
            };
            begin(fixtures, move |_| Box::pin(async move { Ok(done(format!("Done for {name}"))) }))
        }
        _ => return Err(ErrorData::invalid_params(format!("there is no tool {tool}"), None)),
    })
}

/// Waits, unless the task is cancelled first.
async fn slowly(task: TaskContext, length: Duration, said: String) -> Result<CallToolResult, TaskExit> {
    tokio::select! {
        () = tokio::time::sleep(length) => Ok(done(said)),
        () = task.cancelled() => Err(TaskExit::Cancelled),
    }
}
