//! What an upstream may say unasked: that one of its lists changed, how far a call of it is, and what it wants to ask the
//! caller's user. No sampling and no roots are offered to it.
#![expect(deprecated, reason = "what is deprecated is refused by its name")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::text;
use kit::ForeignDesk;
use kit::inquiry::Replied;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientConfig, ClientRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorData,
    FormElicitationCapability, Implementation, ListRootsRequestMethod, ListRootsResult,
    ProgressNotificationParam, ProgressToken, RequestId, ServerResult, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, Peer, PeerRequestOptions, RequestContext, RunningService};
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::Notify;

use crate::asking::Calls;
use crate::config::Questions;
use crate::error::SessionError;

/// Least time between two steps of one call that are passed on; the one that completes it is passed on always.
const STEP: Duration = Duration::from_millis(100);

/// Longest message of a step, in bytes.
const MAX_STEP: usize = 200;

/// What is heard of one upstream, over one connection.
pub(crate) struct Ears {
    pub(crate) changed: Arc<Notify>,
    pub(crate) steps: Steps,
    pub(crate) calls: Calls,
    pub(crate) questions: Questions,
}

/// The calls whose progress somebody hears of, by the tokens that they went out with.
#[derive(Clone, Default)]
pub(crate) struct Steps(Arc<Mutex<BTreeMap<String, Arc<Mutex<Teller>>>>>);

/// Tells one call's caller how far it is: rising numbers, not too often, text without what is hidden.
pub(crate) struct Teller {
    desk: ForeignDesk,
    upstream: String,
    pace: Pace,
    cleaned: Box<dyn Fn(&str) -> String + Send>,
}

/// Which steps go on: numbers only rise, and what comes too soon after another is left out unless it is the last one.
#[derive(Default)]
struct Pace {
    last: f64,
    at: Option<Instant>,
}

impl Pace {
    fn admits(&mut self, done: f64, total: Option<f64>, now: Instant) -> bool {
        let is_last = total.is_some_and(|total| done >= total && self.last < total);
        let is_soon = self.at.is_some_and(|at| now.saturating_duration_since(at) < STEP);
        if !done.is_finite() || done <= self.last || is_soon && !is_last {
            return false;
        }
        (self.last, self.at) = (done, Some(now));
        true
    }
}

/// A call that is heard of, until it is dropped.
struct Listened {
    steps: Steps,
    token: String,
}

impl Drop for Listened {
    fn drop(&mut self) {
        self.steps.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

/// A request that is taken back when it is dropped before its answer came.
struct Abandoned<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let peer = self.peer.clone();
        let told = CancelledNotification::new(CancelledNotificationParam::new(Some(id), None));
        runtime.spawn(async move { peer.send_notification(told.into()).await });
    }
}

impl Teller {
    /// One for the caller at `desk`; `cleaned` takes out of texts what the upstream was given.
    pub(crate) fn new(
        desk: ForeignDesk,
        upstream: &str,
        cleaned: impl Fn(&str) -> String + Send + 'static,
    ) -> Self {
        Self { desk, upstream: upstream.to_owned(), pace: Pace::default(), cleaned: Box::new(cleaned) }
    }

    fn tell(&mut self, step: &ProgressNotificationParam) {
        let total = step.total.filter(|total| total.is_finite() && *total > 0.0);
        if !self.pace.admits(step.progress, total, Instant::now()) {
            return;
        }
        let said = step.message.as_deref().map(&self.cleaned).unwrap_or_default();
        let said = text::visible(&said).replace(['\n', '\t'], " ");
        let said = kit::shape::bounded(said.trim(), MAX_STEP);
        let message =
            if said.is_empty() { self.upstream.clone() } else { format!("{}: {said}", self.upstream) };
        self.desk.progress(step.progress, total, message);
    }
}

impl Steps {
    /// Sends a request whose progress `teller` hears. Dropping this cancels it there.
    pub(crate) async fn heard(
        &self,
        running: &RunningService<RoleClient, Ears>,
        request: ClientRequest,
        teller: Teller,
    ) -> Result<ServerResult, SessionError> {
        let peer = running.peer();
        let handle = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await?;
        let mut abandoned = Abandoned { peer, id: Some(handle.id.clone()) };
        let token = key(&handle.progress_token);
        let listened = Listened { steps: self.clone(), token: token.clone() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token, Arc::new(Mutex::new(teller)));
        let answered = handle.await_response().await;
        drop(listened);
        abandoned.id = None;
        Ok(answered?)
    }
}

fn key(token: &ProgressToken) -> String {
    serde_json::to_value(token).unwrap_or_default().to_string()
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::new().with_form(FormElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = match self.questions {
            Questions::Never => None,
            Questions::Forms => Some(elicitation),
            Questions::Pages => Some(elicitation.with_url(UrlElicitationCapability::default())),
        };
        ClientConfig::new(capabilities, Implementation::new("gatewright", env!("CARGO_PKG_VERSION")))
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let replied = tokio::select! {
            replied = self.calls.ask(&asked) => replied,
            // It wants no answer any more.
            () = context.ct.cancelled() => Replied::Cancelled,
        };
        Ok(match replied {
            Replied::Accepted(given) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(given))
            }
            Replied::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
            Replied::Declined | Replied::Unasked => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListRootsRequestMethod>())
    }

    async fn on_progress(&self, step: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let steps = self.steps.0.lock().unwrap_or_else(PoisonError::into_inner);
        let teller = steps.get(&key(&step.progress_token)).cloned();
        drop(steps);
        if let Some(teller) = teller {
            teller.lock().unwrap_or_else(PoisonError::into_inner).tell(&step);
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_rise_come_at_a_pace_and_the_last_one_comes_once() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let at = |millis: u64| start + Duration::from_millis(millis);
        assert!(pace.admits(1.0, Some(10.0), at(0)));
        assert!(!pace.admits(2.0, Some(10.0), at(20)), "too soon");
        assert!(!pace.admits(1.0, Some(10.0), at(200)), "it does not rise");
        assert!(!pace.admits(f64::NAN, None, at(200)) && !pace.admits(f64::INFINITY, None, at(200)));
        assert!(pace.admits(3.0, Some(10.0), at(200)));
        assert!(pace.admits(10.0, Some(10.0), at(210)), "the last one");
        assert!(!pace.admits(11.0, Some(10.0), at(220)), "which comes once");
    }
}
