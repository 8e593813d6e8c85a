//! One session of the older era, as far as calls of it are concerned that are made without the protocol library: who its client
//! is, which of them wait for their answers, and when the library heard of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, InitializeRequestParams, JsonRpcMessage,
    RequestId,
};
use tokio_util::sync::CancellationToken;

use crate::conversation::{Conversation, Era};
use crate::line::Refusal;

/// How long the library may hear nothing of a session that is used: it takes such a one for idle, and ends it in the end.
pub(super) const UNHEARD: Duration = Duration::from_mins(5);

/// Shared by the requests of one session.
pub(super) struct Talk {
    conversation: Conversation,
    ended: CancellationToken,
    heard: Mutex<Instant>,
}

impl Talk {
    /// The one that `message` begins, if it begins one.
    pub(super) fn begun(message: &ClientJsonRpcMessage) -> Option<Self> {
        let conversation = Conversation::begun(begins(message)?);
        Some(Self { conversation, ended: CancellationToken::new(), heard: Mutex::new(Instant::now()) })
    }

    /// Its era, with its client, once plain calls may come, and unless the library is to hear of the session again or it has ended.
    pub(super) fn plainly(&self) -> Option<Era> {
        if self.ended.is_cancelled() {
            return None;
        }
        let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        self.conversation.era().filter(|_| heard.elapsed() < UNHEARD)
    }

    /// Cancels the plain call that `message` cancels, if it does.
    pub(super) fn cancels(&self, message: &ClientJsonRpcMessage) {
        if let JsonRpcMessage::Notification(note) = message
            && matches!(note.notification, ClientNotification::CancelledNotification(_))
        {
            self.conversation.hears(&note.notification);
        }
    }

    /// The library heard this. A client that begins again may be another.
    pub(super) fn heard(&self, message: Option<&ClientJsonRpcMessage>) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        if let Some(again) = message.and_then(begins) {
            self.conversation.begins_again(again);
        }
        if let Some(JsonRpcMessage::Notification(note)) = message {
            self.conversation.hears(&note.notification);
        }
    }

    /// Begins a plain call.
    pub(super) fn begin(self: &Arc<Self>, id: &RequestId) -> Result<Begun, Refusal> {
        let cancel = self.conversation.begin(id, &self.ended)?;
        Ok(Begun { talk: Arc::clone(self), waits: Some(id.clone()), cancel })
    }

    /// The session has ended, and its calls with it.
    pub(super) fn end(&self) {
        self.ended.cancel();
    }
}

/// What `message` begins a session with, if it begins one.
fn begins(message: &ClientJsonRpcMessage) -> Option<&InitializeRequestParams> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::InitializeRequest(begins) = &request.request else { return None };
    Some(&begins.params)
}

/// A plain call of a session, until this is dropped: its id waits for its answer.
pub(super) struct Begun {
    talk: Arc<Talk>,
    waits: Option<RequestId>,
    /// Cancelled by its client, and when the session ends.
    pub(super) cancel: CancellationToken,
}

impl Begun {
    /// It has ended; says whether it is to be answered.
    pub(super) fn ends(mut self) -> bool {
        self.waits.take().is_some_and(|id| self.talk.conversation.ends(&id))
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(id) = self.waits.take() {
            self.talk.conversation.ends(&id);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// What a client begins.
    pub(in crate::http) fn talk() -> Talk {
        let begins = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" },
        } });
        Talk::begun(&serde_json::from_value(begins).unwrap()).unwrap()
    }

    #[test]
    fn plain_calls_come_once_a_session_is_ready_and_leave_it_to_the_library_now_and_then() {
        let talk = talk();
        assert!(talk.plainly().is_none());
        talk.heard(None);
        assert!(talk.plainly().is_none());
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        talk.heard(Some(&serde_json::from_value(ready).unwrap()));
        assert!(matches!(talk.plainly(), Some(Era::Session(Some(_)))), "who calls");
        *talk.heard.lock().unwrap() = Instant::now().checked_sub(UNHEARD).unwrap();
        assert!(talk.plainly().is_none(), "the library would take it for idle");
        talk.heard(None);
        assert!(talk.plainly().is_some());
    }
}
