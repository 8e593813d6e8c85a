//! Sends what waits, in order, one at a time.

use std::time::Duration;

use store_api::outbox::{Letter, Waiting};
use store_api::{StoreError, session};

use super::stand_in::{self, Mirrored};
use super::{Offline, PATIENCE};
use crate::wire::Endpoint as _;
use crate::wire::session::{Day, Sod};

/// What the lease is called.
const LEASE: &str = "courier";
/// How long it is one process's turn, in milliseconds, unless it says that it goes on.
const TURN: i64 = 20_000;
/// How often is looked whether something waits.
const ROUND: Duration = Duration::from_secs(30);

impl Offline {
    /// Sends what waits, for `longest` at most; whether nothing waits any more. What is refused for good steps aside, and what follows
    /// goes on.
    pub async fn deliver(&self, longest: Duration) -> Result<bool, StoreError> {
        if self.outbox.length().await?.waiting == 0 {
            return Ok(true);
        }
        // Whoever was just told that nobody answers asks nobody.
        if self.rests() {
            return Ok(false);
        }
        match tokio::time::timeout(longest, self.line_sent()).await {
            Ok(done) => done,
            Err(_) => {
                self.is_away();
                Ok(false)
            }
        }
    }

    async fn line_sent(&self) -> Result<bool, StoreError> {
        loop {
            if !self.outbox.lease(LEASE.to_owned(), self.holder.to_string(), TURN).await? {
                return Ok(false);
            }
            let Some(waiting) = self.outbox.first().await? else {
                self.outbox.lease(LEASE.to_owned(), self.holder.to_string(), 0).await?;
                return Ok(true);
            };
            let Waiting { number, key, request, path, body, .. } = waiting;
            let letter = Letter { key, request, path: path.clone(), body: body.clone() };
            match self.remote.deliver(letter).await {
                Ok(answer) => {
                    self.is_back();
                    if path == Sod::PATH {
                        self.arrived(&body, &answer).await?;
                    }
                    self.outbox.take_out(number).await?;
                }
                Err(StoreError::Unreachable(_)) => {
                    self.is_away();
                    return Ok(false);
                }
                Err(error) => {
                    tracing::warn!(%error, "a write that waited for the context was refused");
                    self.outbox.refuse(number, error.to_string()).await?;
                }
            }
        }
    }

    /// A session that began here: it is called what the context calls it, which may have had one of the same key.
    async fn arrived(&self, asked: &str, answer: &[u8]) -> Result<(), StoreError> {
        let (Ok(asked), Ok(day)) =
            (serde_json::from_str::<serde_json::Value>(asked), serde_json::from_slice::<Day>(answer))
        else {
            return Ok(());
        };
        let Some(own) = asked["session_id"].as_str() else { return Ok(()) };
        if own != day.session.id.as_str() {
            self.outbox.rename(own.to_owned(), day.session.id.to_string()).await?;
        }
        if day.session.status == session::SessionStatus::Active {
            self.keep(&stand_in::current(&day.session.key), &Some(&day.session)).await?;
        }
        self.keep(&stand_in::session(&day.session.id), &Some(&day.session)).await
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
        Mirrored(&*self.outbox).keep(question, answer).await
    }
}
