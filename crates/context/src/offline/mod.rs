//! A context somewhere else, also while nobody answers there: writes wait in an outbox on this machine and are sent in order when it
//! answers again; what was answered last is shown in place of what cannot be asked.

mod courier;
mod read;
mod stand_in;
mod write;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use store_api::id::SessionId;
use store_api::outbox::{Line, Outbox};
use store_api::{Clock, StoreError, Timestamp};

use crate::Remote;
use crate::wire::machine::Venture;

/// How long a call waits for the context before it does without it: less than a day's first call may take.
const PATIENCE: Duration = Duration::from_millis(900);
/// How long nobody is asked after nobody answered.
const REST: Duration = Duration::from_secs(5);

/// How the context stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Link {
    /// Since when nobody answers.
    pub offline_since: Option<Timestamp>,
    /// From when the oldest answer is that was shown in place of one that could not be had.
    pub shown_from: Option<Timestamp>,
    /// What waits for it.
    pub line: Line,
}

#[derive(Debug, Default)]
struct State {
    rests_until: Option<Instant>,
    since: Option<Timestamp>,
    shown_from: Option<Timestamp>,
}

/// A context that may be out of reach. Clones are the same one.
#[derive(Clone)]
pub struct Offline {
    /// Asked while somebody waits.
    remote: Remote,
    /// Sends what waits.
    sender: Remote,
    outbox: Arc<dyn Outbox>,
    /// One at a time sends: the lease tells processes apart, not calls.
    sending: Arc<tokio::sync::Mutex<()>>,
    clock: Clock,
    /// Who this process is among those that share the outbox.
    holder: Arc<str>,
    state: Arc<Mutex<State>>,
}

impl Offline {
    /// `remote`, with what waits for it in `outbox`; `holder` tells this process from others that share it.
    #[must_use]
    pub fn new(remote: Remote, outbox: Arc<dyn Outbox>, clock: Clock, holder: &str) -> Self {
        let (sender, remote) = (remote.clone(), remote.within(PATIENCE));
        let (sending, holder, state) = (Arc::default(), holder.into(), Arc::default());
        Self { remote, sender, outbox, sending, clock, holder, state }
    }

    /// The context itself, asked without anything in its place.
    #[must_use]
    pub const fn context_itself(&self) -> &Remote {
        &self.sender
    }

    /// The address, which all that is kept belongs to.
    fn context(&self) -> String {
        self.remote.base().to_owned()
    }

    /// How it stands.
    pub async fn link(&self) -> Result<Link, StoreError> {
        let line = self.outbox.length(self.context()).await?;
        let state = self.state();
        Ok(Link { offline_since: state.since, shown_from: state.shown_from, line })
    }

    /// What the team works on: asked once, else what was said last.
    pub async fn ventures(&self) -> Result<Vec<Venture>, StoreError> {
        let remote = self.remote.clone();
        self.ask("ventures", Box::pin(async move { remote.ventures().await })).await
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Whether nobody is to be asked for a while.
    fn rests(&self) -> bool {
        self.state().rests_until.is_some_and(|until| Instant::now() < until)
    }

    fn is_away(&self) {
        let now = self.now();
        let mut state = self.state();
        state.rests_until = Some(Instant::now() + REST);
        if state.since.is_none() {
            tracing::warn!("the context cannot be reached: what is written waits, what is read is of before");
            state.since = Some(now);
        }
    }

    fn is_back(&self) {
        let mut state = self.state();
        if state.since.is_some() {
            tracing::info!("the context answers again");
        }
        *state = State::default();
    }

    /// What a session is called by the context, which may have resumed another in its place.
    async fn named(&self, id: SessionId) -> Result<SessionId, StoreError> {
        match self.outbox.named_now(id.to_string()).await? {
            Some(now) => now.parse(),
            None => Ok(id),
        }
    }
}
