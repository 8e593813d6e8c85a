//! Asks the caller's user to choose: a form with a box for each thing, which clients of every revision can show.

use kit::choice::{Choice, Chosen};
use rmcp::RoleServer;
use rmcp::model::{ElicitRequestParams, ElicitationAction};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};

use crate::confirm::ANSWERED;

/// The form (MCP 2025-06-18, "Requested Schema": flat, of primitive types).
pub(crate) fn form(choice: &Choice) -> Value {
    let boxes: Map<String, Value> = choice
        .offered()
        .map(|option| {
            let is = json!({ "type": "boolean", "title": option.title, "default": option.chosen });
            (option.name.clone(), is)
        })
        .collect();
    json!({
        "mode": "form",
        "message": choice.text,
        "requestedSchema": { "type": "object", "properties": boxes },
    })
}

/// What a form that was sent off says. A box that it says nothing of is as it was shown.
pub(crate) fn chosen(choice: &Choice, content: Option<&Value>) -> Option<Chosen> {
    choice.chosen(|option| {
        content
            .and_then(|content| content.get(&option.name))
            .and_then(Value::as_bool)
            .unwrap_or(option.chosen)
    })
}

/// Asks in the middle of the call; nothing where the user chose nothing.
pub(crate) async fn ask(context: &RequestContext<RoleServer>, choice: &Choice) -> Option<Chosen> {
    let shown = serde_json::from_value::<ElicitRequestParams>(form(choice)).ok()?;
    let answered = tokio::select! {
        answered = context.peer.create_elicitation_with_timeout(shown, Some(ANSWERED)) => answered.ok()?,
        () = context.ct.cancelled() => return None,
    };
    let said = answered.content.and_then(|content| serde_json::to_value(content).ok());
    matches!(answered.action, ElicitationAction::Accept).then(|| chosen(choice, said.as_ref())).flatten()
}
