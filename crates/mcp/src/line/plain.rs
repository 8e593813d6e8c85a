//! Plain calls over one pair of streams, made and answered without the protocol library.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Line, Refusal, line};
use crate::conversation::{Conversation, Era};
use crate::direct::{Direct, Form, Outcome, written};
use crate::running::Running;
use crate::server::Server;

/// How long calls that are being made when the input ends may go on before they are cancelled, as the library has it for
/// its own.
const GOES_ON: Duration = Duration::from_secs(5);

/// Makes them. Cheap to clone.
#[derive(Clone)]
pub(super) struct Plain {
    server: Arc<Server>,
    conversation: Arc<Conversation>,
    calls: Running,
    ended: CancellationToken,
}

impl Plain {
    pub(super) fn new(server: Server, conversation: Arc<Conversation>) -> Self {
        let (calls, ended) = (Running::default(), CancellationToken::new());
        Self { server: Arc::new(server), conversation, calls, ended }
    }

    /// Begins the call in `message`, to be answered through `answers`, if it is a plain one; else gives the message back.
    /// The refusal is of a plain call whose id waits for an answer.
    pub(super) fn take(
        &self,
        message: Map<String, Value>,
        answers: mpsc::UnboundedSender<Line>,
    ) -> Result<Option<Map<String, Value>>, Refusal> {
        let known = |name: &str| self.server.knows(name);
        let (call, form) = match self.conversation.era() {
            None => (Err(message), Form::Stateless),
            Some(Era::Stateless) => (Direct::stateless(message, known), Form::Stateless),
            Some(Era::Session(client)) => (Direct::in_session(message, client, known), Form::Session),
        };
        let call = match call {
            Ok(call) => call,
            Err(message) => return Ok(Some(message)),
        };
        let id = call.id.clone();
        let cancel = self.conversation.begin(&id, &self.ended)?;
        let (server, conversation) = (Arc::clone(&self.server), Arc::clone(&self.conversation));
        let one = self.calls.begin();
        tokio::spawn(async move {
            let (caller, session) = (server.local(), server.connection());
            let outcome = server.direct(call, caller, session, &cancel).await;
            let answer = answer(&id, outcome, form);
            if conversation.answers(&id) {
                // Whoever does not read any more gets nothing.
                let _ = answers.send((answer, None));
            }
            drop(one);
        });
        Ok(None)
    }

    /// Waits for the calls that are being made.
    pub(super) async fn end(&self) {
        if !self.calls.none(GOES_ON).await {
            self.ended.cancel();
        }
    }
}

/// The line that answers.
fn answer(id: &RequestId, outcome: Result<Outcome, ErrorData>, form: Form) -> Vec<u8> {
    let refused = |error| line(&ServerJsonRpcMessage::error(error, Some(id.clone()))).unwrap_or_default();
    match outcome.map(|outcome| written(id, outcome, form)) {
        Ok(Ok(mut answer)) => {
            answer.push(b'\n');
            answer
        }
        Ok(Err(error)) => refused(ErrorData::internal_error(error.to_string(), None)),
        Err(error) => refused(error),
    }
}
