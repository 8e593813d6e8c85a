//! Which era one client speaks, and which of its requests wait for their answers.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kit::call::ClientInfo;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetMeta as _,
    InitializeRequestParams, JsonRpcMessage, ProtocolVersion, RequestId,
};
use tokio_util::sync::CancellationToken;

use crate::confirm;
use crate::line::{Refusal, refuse, shown, unserved, without_handshake};

/// Shared by who reads and who answers; never locked while anything is waited for.
#[derive(Default)]
pub(crate) struct Conversation(Mutex<State>);

#[derive(Default)]
struct State {
    lifecycle: Lifecycle,
    /// The requests that wait for their answers, by their ids as JSON: a number is no string. One that is cancelled gets none,
    /// and stays.
    waiting: BTreeMap<String, Waits>,
}

/// Who is to answer a request.
enum Waits {
    Library,
    /// A plain call, with what cancels it.
    Plain(CancellationToken),
}

/// Which era the client speaks.
#[derive(Default)]
enum Lifecycle {
    /// It has not said.
    #[default]
    Open,
    /// The older: it began with `initialize`.
    Session(Session),
    /// The newer: every request stands for itself.
    Stateless,
}

/// What the older era says once, of every request that follows.
struct Session {
    /// It said that it is ready.
    is_ready: bool,
    can_ask: bool,
    client: Option<ClientInfo>,
}

impl Session {
    /// Of a client that begins with this.
    fn of(begins: &InitializeRequestParams) -> Self {
        let client = &begins.client_info;
        Self {
            is_ready: false,
            can_ask: confirm::shows_forms(Some(&begins.capabilities)),
            client: ClientInfo::new(&client.name, &client.version),
        }
    }
}

/// The era of a plain call.
pub(crate) enum Era {
    /// The older, with what its client said about itself. Its user cannot be asked.
    Session(Option<ClientInfo>),
    Stateless,
}

/// What becomes of a message.
pub(crate) enum Admitted {
    Yes,
    No,
    Refused(Refusal),
}

impl Conversation {
    /// One of the older era, whose client began with this.
    pub(crate) fn begun(begins: &InitializeRequestParams) -> Self {
        let lifecycle = Lifecycle::Session(Session::of(begins));
        Self(Mutex::new(State { lifecycle, waiting: BTreeMap::new() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The era that plain calls are of, once they may come: whoever could be asked in the middle of a call of the older era
    /// is asked through the library.
    pub(crate) fn era(&self) -> Option<Era> {
        match &self.state().lifecycle {
            Lifecycle::Open => None,
            Lifecycle::Session(session) => {
                (session.is_ready && !session.can_ask).then(|| Era::Session(session.client.clone()))
            }
            Lifecycle::Stateless => Some(Era::Stateless),
        }
    }

    /// Begins a plain call, unless its id waits for an answer; what is returned is cancelled with it, and with `ended`.
    pub(crate) fn begin(
        &self,
        id: &RequestId,
        ended: &CancellationToken,
    ) -> Result<CancellationToken, Refusal> {
        let (mut state, id) = (self.state(), key(id));
        if state.waiting.contains_key(&id) {
            return Err(twice(&id));
        }
        let cancel = ended.child_token();
        state.waiting.insert(id, Waits::Plain(cancel.clone()));
        Ok(cancel)
    }

    /// The request is answered, unless it was a plain call that its client cancelled; says whether it is.
    pub(crate) fn answers(&self, id: &RequestId) -> bool {
        let (mut state, id) = (self.state(), key(id));
        if let Some(Waits::Plain(cancel)) = state.waiting.get(&id)
            && cancel.is_cancelled()
        {
            return false;
        }
        state.waiting.remove(&id).is_some()
    }

    /// Its client begins anew.
    pub(crate) fn begins_again(&self, begins: &InitializeRequestParams) {
        self.state().lifecycle = Lifecycle::Session(Session::of(begins));
    }

    /// A plain call whose answer goes its own way has ended, and its id may come again; says whether it is to be answered.
    pub(crate) fn ends(&self, id: &RequestId) -> bool {
        let waited = self.state().waiting.remove(&key(id));
        waited.is_some_and(|waits| !matches!(waits, Waits::Plain(cancel) if cancel.is_cancelled()))
    }

    /// Hears what needs no answer. Whether rmcp is to hear it, too, is not asked: over HTTP it hears all.
    pub(crate) fn hears(&self, note: &ClientNotification) {
        self.state().notified(note);
    }

    /// Whether rmcp is to see `message`.
    pub(crate) fn admit(&self, message: &ClientJsonRpcMessage) -> Admitted {
        let mut state = self.state();
        let request = match message {
            JsonRpcMessage::Request(request) => request,
            JsonRpcMessage::Notification(note) => return state.notified(&note.notification),
            _ => return state.answered(),
        };
        let begins = matches!(request.request, ClientRequest::InitializeRequest(_));
        let is_open = matches!(state.lifecycle, Lifecycle::Open);
        let id = key(&request.id);
        let refusal = if state.waiting.contains_key(&id) {
            Some(twice(&id))
        } else if begins && !is_open {
            let again = ErrorData::invalid_request("the lifecycle was chosen by an earlier request", None);
            Some(refuse(again, Some(request.id.clone())))
        } else {
            let in_session = matches!(state.lifecycle, Lifecycle::Session(_));
            unserved(message).or_else(|| without_handshake(message).filter(|_| !in_session))
        };
        if let Some(refusal) = refusal {
            return Admitted::Refused(refusal);
        }
        if is_open {
            state.lifecycle = chosen(&request.request);
        }
        state.waiting.insert(id, Waits::Library);
        Admitted::Yes
    }
}

impl State {
    /// Before the lifecycle is chosen nothing but a request is heard.
    fn answered(&self) -> Admitted {
        if matches!(self.lifecycle, Lifecycle::Open) {
            tracing::debug!("a message before the lifecycle was dropped");
            return Admitted::No;
        }
        Admitted::Yes
    }

    fn notified(&mut self, note: &ClientNotification) -> Admitted {
        match (note, &mut self.lifecycle) {
            (ClientNotification::InitializedNotification(_), Lifecycle::Session(session)) => {
                session.is_ready = true;
            }
            (ClientNotification::CancelledNotification(cancelled), _) => {
                let id = cancelled.params.request_id.as_ref().map(key);
                if let Some(Waits::Plain(cancel)) = id.and_then(|id| self.waiting.get(&id)) {
                    cancel.cancel();
                    return Admitted::No;
                }
            }
            _ => {}
        }
        self.answered()
    }
}

/// An id as JSON.
fn key(id: &RequestId) -> String {
    serde_json::to_string(id).unwrap_or_default()
}

/// Refuses an id that waits for its answer. Without the id: with it, the first of the two would be taken to be answered.
fn twice(id: &str) -> Refusal {
    let message = format!("the id {} waits for its answer: use another", shown(id));
    refuse(ErrorData::invalid_request(message, None), None)
}

/// The lifecycle that `request` chooses, by rmcp's own rule.
fn chosen(request: &ClientRequest) -> Lifecycle {
    match request {
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => Lifecycle::Open,
        ClientRequest::InitializeRequest(begins) => Lifecycle::Session(Session::of(&begins.params)),
        other => {
            let meta = other.get_meta();
            let whole = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
            let known = meta.protocol_version().is_some_and(|v| ProtocolVersion::KNOWN_VERSIONS.contains(&v));
            if whole && known { Lifecycle::Stateless } else { Lifecycle::Open }
        }
    }
}
