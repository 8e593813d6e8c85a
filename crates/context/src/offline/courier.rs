//! Sends what waits, in order, one at a time.

use std::time::{Duration, Instant};

use contract::Digest;
use serde_json::Value;
use store_api::StoreError;
use store_api::id::SessionId;
use store_api::outbox::{Letter, Waiting};
use store_api::session::SessionStatus;

use super::stand_in::Mirrored;
use super::{Offline, PATIENCE};
use crate::client::random;
use crate::wire::Endpoint as _;
use crate::wire::session::{Alive, Day, Ended, Eod, Sod, Update};

/// How long it is one process's turn, in milliseconds, unless it says that it goes on.
const TURN: i64 = 20_000;
/// How long one letter may take.
const LONGEST: Duration = Duration::from_secs(5);
/// How often is looked whether something waits.
const ROUND: Duration = Duration::from_secs(30);

/// The session that a body is about.
fn session_of(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    body["session_id"].as_str().map(str::to_owned)
}

/// Whether an answer says of a session that it is over.
fn is_over(own: &str, answer: &[u8]) -> bool {
    serde_json::from_slice::<Day>(answer)
        .is_ok_and(|day| day.session.id.as_str() == own && day.session.status != SessionStatus::Active)
}

/// What became of the first that waits.
enum Next {
    /// It is out of the way.
    Sent,
    /// There is none.
    Nothing,
    /// It stays, and all behind it.
    Stopped,
}

impl Offline {
    /// Sends what waits, for `longest` at most; whether nothing waits any more. What is refused for good steps aside, and what follows
    /// goes on; without a key that counts, nothing is sent and nothing steps aside.
    pub async fn deliver(&self, longest: Duration) -> Result<bool, StoreError> {
        if self.outbox.length(self.context()).await?.waiting == 0 {
            return Ok(true);
        }
        // Whoever was just told that nobody answers asks nobody.
        if self.rests() {
            return Ok(false);
        }
        let until = Instant::now() + longest;
        let Ok(_alone) = tokio::time::timeout(longest, self.sending.lock()).await else { return Ok(false) };
        let lease = || self.outbox.lease(self.lease(), self.holder.to_string(), TURN);
        if !lease().await? {
            return Ok(false);
        }
        let mut is_empty = false;
        // A long line is no sign that nobody answers: what has no time left waits for the next turn.
        while Instant::now() < until && lease().await? {
            let left = until.saturating_duration_since(Instant::now()).max(PATIENCE);
            match self.next(left).await? {
                Next::Sent => {}
                Next::Nothing => {
                    is_empty = true;
                    break;
                }
                Next::Stopped => break,
            }
        }
        self.outbox.lease(self.lease(), self.holder.to_string(), 0).await?;
        Ok(is_empty)
    }

    fn lease(&self) -> String {
        format!("courier {}", self.context())
    }

    /// Sends the first that waits.
    async fn next(&self, left: Duration) -> Result<Next, StoreError> {
        let Some(waiting) = self.outbox.first(self.context()).await? else { return Ok(Next::Nothing) };
        let Waiting { number, key, request, context, path, body, .. } = waiting;
        let letter = Letter { key, request, context, path, body };
        let mut answer = match self.tried(number, letter.clone(), left).await? {
            Ok(answer) => answer,
            Err(next) => return Ok(next),
        };
        if letter.path == Sod::PATH {
            let own = session_of(&letter.body);
            if own.as_deref().is_some_and(|own| is_over(own, &answer)) {
                // What went on here was given up over there: it goes on as another one.
                let anew = self.anew(&letter, own.as_deref().unwrap_or_default())?;
                answer = match self.tried(number, anew, left).await? {
                    Ok(answer) => answer,
                    Err(next) => return Ok(next),
                };
            }
            self.arrived(own, &answer).await?;
        }
        self.told(&letter.path, &answer).await?;
        self.outbox.take_out(number).await?;
        Ok(Next::Sent)
    }

    /// Sends a letter: the answer, or what becomes of the line without one.
    async fn tried(
        &self,
        number: i64,
        letter: Letter,
        left: Duration,
    ) -> Result<Result<Vec<u8>, Next>, StoreError> {
        match self.sender.within(left.min(LONGEST)).deliver(letter).await {
            Ok(answer) => {
                self.is_back();
                Ok(Ok(answer))
            }
            Err(StoreError::Unreachable(_)) => {
                self.is_away();
                Ok(Err(Next::Stopped))
            }
            Err(error @ StoreError::NoKey(_)) => {
                tracing::warn!(%error, "what waits for the context is not sent");
                Ok(Err(Next::Stopped))
            }
            Err(error) => {
                tracing::warn!(%error, "a write that waited for the context was refused");
                self.outbox.refuse(number, error.to_string()).await?;
                Ok(Err(Next::Sent))
            }
        }
    }

    /// A letter that begins the same as another session, which makes it another write.
    fn anew(&self, letter: &Letter, own: &str) -> Result<Letter, StoreError> {
        let fresh = SessionId::new(self.now(), random()?);
        let body = letter.body.replace(own, fresh.as_str());
        let (key, request) = (format!("c_{:032x}", random()?), Digest::of(body.as_bytes()));
        Ok(Letter { key, request, body, ..letter.clone() })
    }

    /// A session that began here is called what the context calls it, in all that waits.
    async fn arrived(&self, own: Option<String>, answer: &[u8]) -> Result<(), StoreError> {
        let (Some(own), Ok(day)) = (own, serde_json::from_slice::<Day>(answer)) else { return Ok(()) };
        if own != day.session.id.as_str() {
            self.outbox.rename(own, day.session.id.to_string()).await?;
        }
        Ok(())
    }

    /// What an answer says of a session is what is known of it from now on.
    async fn told(&self, path: &str, answer: &[u8]) -> Result<(), StoreError> {
        let session = match path {
            Sod::PATH => serde_json::from_slice::<Day>(answer).map(|day| day.session),
            Eod::PATH => serde_json::from_slice::<Ended>(answer).map(|ended| ended.session),
            Update::PATH => serde_json::from_slice::<Alive>(answer).map(|alive| alive.session),
            _ => return Ok(()),
        };
        match session {
            Ok(session) => self.keep_session(&session).await,
            Err(_) => Ok(()),
        }
    }

    /// Sends what waits every half a minute, until it is dropped. To be spawned by a server.
    pub async fn rounds(self) {
        loop {
            match self.deliver(Duration::from_secs(15)).await {
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "what waits for the context could not be looked at"),
            }
            tokio::time::sleep(ROUND).await;
        }
    }

    /// Sends what waits before something else is sent; whether nothing waits any more.
    pub(super) async fn caught_up(&self) -> Result<bool, StoreError> {
        self.deliver(PATIENCE).await
    }

    pub(super) async fn keep<T: serde::Serialize + Sync>(
        &self,
        question: &str,
        answer: &T,
    ) -> Result<(), StoreError> {
        // What was answered was answered, whatever this disk says.
        if let Err(error) = Mirrored::of(self).keep(question, answer).await {
            tracing::warn!(%error, "an answer of the context was not kept");
        }
        Ok(())
    }
}
