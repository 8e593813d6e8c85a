//! What a tool of others asks the caller's user in the middle of its call: by a request of the server in the older era. In
//! the newer one the call stays as it is and its request is answered with the question; the answer comes with the next
//! request, which goes on waiting for the same call. A call is never made twice for a question.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use contract::{Digest, Principal, TranscriptId};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use kit::inquiry::{Inquiries, Inquiry, Question, Replied, Wanted};
use kit::{Call, Done};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequestParams, ElicitationAction, ErrorData,
    InputRequiredResult,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::confirm::{self, ANSWERED, Asking};
use crate::running::Calling;
use crate::server::Server;

/// Most calls of one caller that wait for their user between two requests, and most of all. Those of one caller are fewer than
/// the places that a tool has for its calls: each of them keeps one.
const MAX_OF_ONE: usize = 3;
const MAX_OF_ALL: usize = 128;

/// A call that is being made, and the questions that come out of it.
pub(crate) struct Open {
    calling: Calling,
    cancel: CancellationToken,
    heard: Heard,
}

/// The questions, of a call that can ask: making a way for them costs more than most calls do besides.
struct Heard(Option<mpsc::Receiver<Inquiry>>);

impl Heard {
    /// The next one; never, where none can come.
    async fn next(&mut self) -> Inquiry {
        if let Some(heard) = &mut self.0
            && let Some(inquiry) = heard.recv().await
        {
            return inquiry;
        }
        std::future::pending().await
    }
}

/// What came of waiting for a call.
pub(crate) enum Made {
    /// It ended.
    Done(Box<Done>),
    /// Its user is to be asked.
    Asks(Box<InputRequiredResult>),
}

/// Calls that wait for their users between two requests, by the names of their questions.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<BTreeMap<String, Waiting>>>);

/// One of them. When it is dropped the question is closed, and the call comes to its end by itself.
struct Waiting {
    owner: Digest,
    going: JoinHandle<Option<Done>>,
    cancel: CancellationToken,
    heard: Heard,
    inquiry: Inquiry,
}

impl Kept {
    fn has_room(&self, owner: &Digest) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.len() < MAX_OF_ALL && kept.values().filter(|one| one.owner == *owner).count() < MAX_OF_ONE
    }

    /// Keeps a call while its user is asked, for a while.
    fn keep(&self, name: String, waiting: Waiting) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), waiting);
        let kept = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(ANSWERED).await;
            kept.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
        });
    }

    fn take(&self, name: &str, owner: &Digest) -> Option<Waiting> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.get(name).is_some_and(|one| one.owner == *owner) { kept.remove(name) } else { None }
    }
}

fn lost() -> ErrorData {
    ErrorData::internal_error("the call was lost", None)
}

impl Server {
    /// Begins a call; where the caller's client shows questions, with a way to ask them.
    pub(crate) fn open(&self, call: Call, can_ask: bool, opens_pages: bool) -> Open {
        let (inquiries, heard) = can_ask.then(|| Inquiries::new(opens_pages)).unzip();
        let cancel = call.cancel.clone();
        Open { calling: self.calling(Call { inquiries, ..call }), cancel, heard: Heard(heard) }
    }

    /// Waits for a call's end, and asks in the middle of it what it asks.
    pub(crate) async fn attend(
        &self,
        mut open: Open,
        context: &RequestContext<RoleServer>,
    ) -> Result<Done, ErrorData> {
        let mut asking: Option<BoxFuture<'_, ()>> = None;
        loop {
            let is_asking = asking.is_some();
            let answering = async {
                match asking.as_mut() {
                    Some(asking) => asking.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                done = &mut open.calling => return done.ok_or_else(lost),
                () = context.ct.cancelled() => {
                    open.cancel.cancel();
                    return open.calling.await.ok_or_else(lost);
                }
                () = answering => asking = None,
                inquiry = open.heard.next(), if !is_asking => {
                    asking = Some(ask(context, inquiry).boxed());
                }
            }
        }
    }

    /// Waits for a call's end or its next question, in the newer era. A client that goes away meanwhile cancels it.
    pub(crate) async fn until_it_asks(
        &self,
        mut open: Open,
        gone: &CancellationToken,
        request: &CallToolRequestParams,
        caller: &Principal,
    ) -> Result<Made, ErrorData> {
        loop {
            let inquiry = tokio::select! {
                biased;
                done = &mut open.calling => return done.map(|done| Made::Done(Box::new(done))).ok_or_else(lost),
                () = gone.cancelled() => {
                    open.cancel.cancel();
                    return open.calling.await.map(|done| Made::Done(Box::new(done))).ok_or_else(lost);
                }
                inquiry = open.heard.next() => inquiry,
            };
            let owner = caller.key();
            if !self.kept.has_room(&owner) {
                let _ = inquiry.answer.send(Replied::Unasked);
                continue;
            }
            let name = TranscriptId::random().map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
            let asks = self.asker.asks(Asking::Inquiry(&inquiry.question, &name), request, caller)?;
            let Open { calling, cancel, heard } = open;
            // It goes on by itself: somebody must look after it while its user reads.
            let going = tokio::spawn(calling);
            self.kept.keep(name.to_string(), Waiting { owner, going, cancel, heard, inquiry });
            return Ok(Made::Asks(Box::new(asks)));
        }
    }

    /// Goes on with a call whose user was asked.
    pub(crate) async fn go_on(
        &self,
        (name, replied): (&str, Replied),
        call: &Call,
        gone: &CancellationToken,
        request: &CallToolRequestParams,
    ) -> Result<Made, ErrorData> {
        let Some(waiting) = self.kept.take(name, &call.principal.key()) else {
            let message = "the question is closed: its time is over, or the server was started anew. What the call did is on \
                           record; call again without requestState";
            return Err(ErrorData::invalid_params(message, None));
        };
        // What was granted when the call began may be granted no longer.
        if let Some(scope) = self.house().lacking(call) {
            let message = format!("the token lacks the scope {scope}: the question was closed");
            return Err(ErrorData::invalid_params(message, None));
        }
        let Waiting { going, cancel, heard, inquiry, .. } = waiting;
        let _ = inquiry.answer.send(replied);
        let calling = Calling::of(cancel.clone(), going.map(|ended| ended.ok().flatten()));
        let open = Open { calling, cancel, heard };
        self.until_it_asks(open, gone, request, &call.principal).await
    }
}

/// Whether a client opens pages for its user.
pub(crate) fn opens_pages(capabilities: Option<&ClientCapabilities>) -> bool {
    capabilities.and_then(|can| can.elicitation.as_ref()).is_some_and(|modes| modes.url.is_some())
}

/// A question in the protocol's words; `name` is that of the question.
pub(crate) fn shown(question: &Question, name: &str) -> Value {
    match &question.wanted {
        Wanted::Form(form) => json!({ "mode": "form", "message": question.text, "requestedSchema": form }),
        Wanted::Page(url) => {
            json!({ "mode": "url", "message": question.text, "url": url, "elicitationId": name })
        }
    }
}

/// What an answer of the newer era says.
pub(crate) fn replied(answer: Option<&Value>) -> Replied {
    match answer.and_then(|answer| answer.get("action")).and_then(Value::as_str) {
        Some("accept") => {
            let content = answer.and_then(|answer| answer.get("content")).and_then(Value::as_object);
            Replied::Accepted(content.cloned().unwrap_or_default())
        }
        Some("decline") => Replied::Declined,
        _ => Replied::Cancelled,
    }
}

/// Asks in the middle of a call. Once nobody waits for the answer, nobody is asked any more.
async fn ask(context: &RequestContext<RoleServer>, mut inquiry: Inquiry) {
    let name = TranscriptId::random().map(|id| id.to_string()).unwrap_or_default();
    let Ok(form) = serde_json::from_value::<ElicitRequestParams>(shown(&inquiry.question, &name)) else {
        return;
    };
    let answered = tokio::select! {
        answered = context.peer.create_elicitation_with_timeout(form, Some(ANSWERED)) => answered,
        () = inquiry.answer.closed() => return,
    };
    let replied = match answered {
        Ok(answered) => match answered.action {
            ElicitationAction::Accept => {
                let given = answered.content.and_then(|given| given.as_object().cloned());
                Replied::Accepted(given.unwrap_or_default())
            }
            ElicitationAction::Decline => Replied::Declined,
            _ => Replied::Cancelled,
        },
        Err(error) => {
            tracing::debug!(%error, "the user could not be asked");
            Replied::Cancelled
        }
    };
    let _ = inquiry.answer.send(replied);
}

/// Whether questions of others can be shown, and pages opened, by whoever makes a request.
pub(crate) fn ways(context: &RequestContext<RoleServer>) -> (bool, bool) {
    (confirm::can_ask(context), opens_pages(context.client_capabilities().as_ref()))
}
