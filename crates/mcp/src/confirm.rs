//! Asks the caller's user where policy wants a person's consent: by a request of the server in the older era, by an answer
//! that asks in the newer one. Between the rounds of the newer era nothing is remembered but which questions were answered:
//! what must be known again goes along, signed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::{Digest, PlanId, Principal, TranscriptId, canonical};
use kit::choice::{Choice, Chosen};
use kit::consent::{Consent, Question};
use kit::inquiry::Replied;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequestParams, ElicitationAction, ErrorData,
    InputRequest, InputRequests, InputRequiredResult, RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{choosing, inquiring};

/// How long a question may be answered.
pub(crate) const ANSWERED: Duration = Duration::from_mins(10);

/// The key of the one question among the input requests.
const KEY: &str = "confirm";

/// Most answered questions of one caller that are remembered; beyond that none of his is accepted until old ones expire.
const MAX_ANSWERED: usize = 1_000;

/// When each caller's questions were answered, by their names.
type Answered = BTreeMap<Digest, BTreeMap<String, Instant>>;

/// What goes along with a question and comes back with its answer.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    plan: Option<PlanId>,
    /// Names the question: each is answered once.
    question: TranscriptId,
    /// What there was to choose from, where that was the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<Choice>,
    /// What was chosen before, for the same call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen: Option<Chosen>,
    /// The call that waits for the answer, where its tool asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waits: Option<String>,
}

/// What a user is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asking<'a> {
    /// Whether it may be done; with what was chosen before.
    Consent(&'a Question, Option<&'a Chosen>),
    /// Which ones.
    Choice(&'a Choice),
    /// What a tool of others wants to know; the call waits under this name.
    Inquiry(&'a kit::inquiry::Question, &'a TranscriptId),
}

/// What a request says that comes back with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// Whether the user agreed, where that was the question.
    pub(crate) consent: Option<Consent>,
    /// What was chosen, now or before.
    pub(crate) chosen: Option<Chosen>,
    /// The call that waits, and what the user answered it.
    pub(crate) waits: Option<(String, Replied)>,
}

/// Asks, and knows its own questions again.
#[derive(Clone)]
pub(crate) struct Asker {
    states: Arc<RequestStateCodec>,
    answered: Arc<Mutex<Answered>>,
}

impl Asker {
    /// An asker with a key of its own: its questions end with the process, as the plans' owners do.
    pub(crate) fn new() -> Result<Self, String> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|e| e.to_string())?;
        let states = RequestStateCodec::try_new(key).map_err(|e| e.to_string())?;
        Ok(Self { states: Arc::new(states), answered: Arc::default() })
    }

    /// The answer that asks. It holds for the same caller, tool and arguments, for a while, once.
    pub(crate) fn asks(
        &self,
        asking: Asking<'_>,
        request: &CallToolRequestParams,
        caller: &Principal,
    ) -> Result<InputRequiredResult, ErrorData> {
        let question = TranscriptId::random().map_err(|e| internal(&e))?;
        let (form, asked) = match asking {
            Asking::Consent(about, chosen) => {
                let chosen = chosen.cloned();
                (form(about), Asked { plan: about.plan, question, choice: None, chosen, waits: None })
            }
            Asking::Choice(choice) => {
                let choice_of = Some(choice.clone());
                let asked = Asked { plan: None, question, choice: choice_of, chosen: None, waits: None };
                (choosing::form(choice), asked)
            }
            Asking::Inquiry(about, name) => {
                let waits = Some(name.to_string());
                let asked = Asked { plan: None, question, choice: None, chosen: None, waits };
                (inquiring::shown(about, &name.to_string()), asked)
            }
        };
        let state = json!(asked).to_string();
        let bound = bound(request, caller)?;
        let sealed = self
            .states
            .seal_with(state.as_bytes(), &SealOptions::new().associated_data(&bound).ttl(ANSWERED));
        let elicitation = json!({ "method": "elicitation/create", "params": form });
        let asked: InputRequest = serde_json::from_value(elicitation).map_err(|e| internal(&e))?;
        Ok(InputRequiredResult::new(Some(InputRequests::from([(KEY.to_owned(), asked)])), Some(sealed)))
    }

    /// What a request that comes back says about the question that it comes back with; none where it brings none.
    pub(crate) fn answer(
        &self,
        request: &CallToolRequestParams,
        caller: &Principal,
    ) -> Result<Option<Said>, ErrorData> {
        let Some(sealed) = &request.request_state else { return Ok(None) };
        let unknown = || {
            ErrorData::invalid_params("requestState is not that of this call: call again without it", None)
        };
        let opened = self.states.open_with(sealed, &bound(request, caller)?).map_err(|_| unknown())?;
        let asked: Asked = serde_json::from_slice(&opened).map_err(|_| unknown())?;
        if !self.is_first(caller.key(), asked.question.to_string()) {
            return Err(ErrorData::invalid_params(
                "this question was answered before: call again without it",
                None,
            ));
        }
        let answer = request.input_responses.as_ref().and_then(|all| all.get(KEY));
        if let Some(name) = asked.waits {
            let waits = Some((name, inquiring::replied(answer)));
            return Ok(Some(Said { consent: None, chosen: None, waits }));
        }
        let action = answer.and_then(|answer| answer.get("action")).and_then(Value::as_str);
        if let Some(choice) = &asked.choice {
            let content = answer.and_then(|answer| answer.get("content"));
            let chosen = (action == Some("accept")).then(|| choosing::chosen(choice, content)).flatten();
            return Ok(Some(Said { consent: None, chosen, waits: None }));
        }
        let consent = match action {
            Some("accept") => Consent::Given(asked.plan),
            Some("decline") => Consent::Refused(asked.plan),
            _ => Consent::Unanswered(asked.plan),
        };
        Ok(Some(Said { consent: Some(consent), chosen: asked.chosen, waits: None }))
    }

    fn is_first(&self, caller: Digest, question: String) -> bool {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.retain(|_, own| {
            own.retain(|_, at| at.elapsed() < ANSWERED);
            !own.is_empty()
        });
        let own = answered.entry(caller).or_default();
        own.len() < MAX_ANSWERED && own.insert(question, Instant::now()).is_none()
    }
}

/// What a question is bound to: who is asked, and about which call.
fn bound(request: &CallToolRequestParams, caller: &Principal) -> Result<[u8; 32], ErrorData> {
    let arguments =
        canonical::to_vec(&request.arguments.clone().unwrap_or_default()).map_err(|e| internal(&e))?;
    let caller = caller.key();
    let parts = [caller.as_bytes().as_slice(), b"tools/call\0", request.name.as_bytes(), b"\0", &arguments];
    Ok(*Digest::of_parts(&parts).as_bytes())
}

fn internal(error: &dyn std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// A form without fields: to send it off is to agree.
fn form(question: &Question) -> Value {
    json!({
        "mode": "form",
        "message": question.text,
        "requestedSchema": { "type": "object", "properties": {} },
    })
}

/// Whether the caller's client shows forms to its user.
pub(crate) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    shows_forms(context.client_capabilities().as_ref())
}

/// Whether a client that can do this shows forms to its user.
pub(crate) fn shows_forms(capabilities: Option<&ClientCapabilities>) -> bool {
    let said = capabilities.and_then(|can| can.elicitation.as_ref());
    // Whoever names no mode has the first one.
    said.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Asks in the middle of the call.
pub(crate) async fn ask(context: &RequestContext<RoleServer>, question: &Question) -> Consent {
    let unanswered = Consent::Unanswered(question.plan);
    let Ok(form) = serde_json::from_value::<ElicitRequestParams>(form(question)) else { return unanswered };
    let answered = tokio::select! {
        answered = context.peer.create_elicitation_with_timeout(form, Some(ANSWERED)) => answered,
        () = context.ct.cancelled() => return unanswered,
    };
    match answered.map(|result| result.action) {
        Ok(ElicitationAction::Accept) => Consent::Given(question.plan),
        Ok(ElicitationAction::Decline) => Consent::Refused(question.plan),
        Ok(_) => unanswered,
        Err(error) => {
            tracing::debug!(%error, "the user could not be asked");
            unanswered
        }
    }
}
