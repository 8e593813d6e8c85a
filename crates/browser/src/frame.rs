//! A document of a page, asked from a world of our own: its scripts see nothing of it, and it sees nothing that they changed of
//! the language.

use serde_json::{Value, json};

use crate::events::Shared;
use crate::wire::Until;
use crate::{BrowserError, Done};

/// The name of our world.
const WORLD: &str = "gatewright";

/// A frame, and our world in its document.
#[derive(Debug, Clone)]
pub struct Frame {
    session: String,
    context: u64,
}

impl Frame {
    /// Enters the document that the frame has now.
    pub(crate) fn enter(shared: &Shared, session: &str, id: &str, until: &Until) -> Done<Self> {
        let params = json!({ "frameId": id, "worldName": WORLD, "grantUniveralAccess": false });
        let made = shared.wire.call(session, "Page.createIsolatedWorld", params, until)?;
        let context = made["executionContextId"].as_u64().unwrap_or_default();
        Ok(Self { session: session.to_owned(), context })
    }

    /// The value of an expression, or of the promise that it is.
    pub(crate) fn evaluate(&self, shared: &Shared, expression: &str, until: &Until) -> Done<Value> {
        let params = json!({
            "contextId": self.context,
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
        });
        let mut answer = shared.wire.call(&self.session, "Runtime.evaluate", params, until)?;
        failed(&answer)?;
        Ok(answer["result"]["value"].take())
    }

    /// The frame that the element is which an expression gives; none where it is no frame.
    pub(crate) fn child(&self, shared: &Shared, expression: &str, until: &Until) -> Done<Option<Self>> {
        let params = json!({ "contextId": self.context, "expression": expression });
        let answer = shared.wire.call(&self.session, "Runtime.evaluate", params, until)?;
        failed(&answer)?;
        let Some(object) = answer["result"]["objectId"].as_str() else { return Ok(None) };
        let params = json!({ "objectId": object, "depth": 0 });
        let described = shared.wire.call(&self.session, "DOM.describeNode", params, until)?;
        let Some(frame) = described["node"]["frameId"].as_str() else { return Ok(None) };
        let own = shared.known().frames.get(frame).cloned();
        Self::enter(shared, &own.unwrap_or_else(|| self.session.clone()), frame, until).map(Some)
    }
}

fn failed(answer: &Value) -> Done<()> {
    match answer.get("exceptionDetails") {
        None => Ok(()),
        Some(details) => {
            let said = details["exception"]["description"].as_str().or(details["text"].as_str());
            let first = said.unwrap_or("it failed").lines().next().unwrap_or_default();
            Err(BrowserError::Script(first.chars().take(300).collect()))
        }
    }
}
