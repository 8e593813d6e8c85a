//! Writes: all of one or nothing, and once where it is told so.

use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use store_api::once::{Done, KEPT, Once};
use store_api::{Answer, StoreError, Timestamp};

use crate::Store;
use crate::error::{busy, damaged, is_conflict, json};
use crate::sql::{Conn, sql, values};

/// Answers that are let go of with each write that is kept, when their time is over.
const SWEPT: u32 = 32;

/// How often a write is tried when others come in its way.
const TRIES: u32 = 4;

/// A write.
pub(crate) trait Write: Send + Sync + 'static {
    /// What it answers.
    type Answer: Serialize + DeserializeOwned + Send + Sync;

    /// What it does, as an error says it and as it is told apart from other writes under the same key.
    const DOING: &'static str;

    /// Whether it can be stored, before anything is opened.
    fn check(&self) -> Result<(), StoreError>;

    /// Does it, within a transaction. It may be done again when that came to nothing.
    fn write(
        &self,
        tx: &mut Conn,
        now: Timestamp,
    ) -> impl Future<Output = Result<Self::Answer, StoreError>> + Send;
}

impl Store {
    /// Does a write.
    pub(crate) fn plain<W: Write>(&self, write: W) -> Answer<W::Answer> {
        let done = self.once(write, None);
        Box::pin(async move { Ok(done.await?.value) })
    }

    /// Does a write, or gives the answer of the first time: look, do, keep the answer, commit.
    pub(crate) fn once<W: Write>(&self, write: W, once: Option<Once>) -> Answer<Done<W::Answer>> {
        let store = self.clone();
        Box::pin(async move {
            write.check()?;
            once.as_ref().map_or(Ok(()), Once::check)?;
            store.written(&write, once.as_ref()).await
        })
    }

    /// Does a write that was checked, again where another one came in its way.
    pub(crate) async fn written<W: Write>(
        &self,
        write: &W,
        once: Option<&Once>,
    ) -> Result<Done<W::Answer>, StoreError> {
        let began = Instant::now();
        for _ in 0..TRIES {
            let done = self.attempt(write, once).await;
            self.used.forget();
            match done {
                Err(error) if is_conflict(&error) => {}
                done => return done,
            }
        }
        Err(busy(began.elapsed()))
    }

    async fn attempt<W: Write>(&self, write: &W, once: Option<&Once>) -> Result<Done<W::Answer>, StoreError> {
        let mut tx = self.write(W::DOING).await?;
        if let Some(once) = once {
            // Who comes second waits here, and then finds the answer.
            tx.lock(&format!("once {} {}", once.key, once.owner)).await?;
        }
        let now = self.now();
        if let Some(once) = once
            && let Some(answer) = before(&mut tx, once, W::DOING, now).await?
        {
            let value = serde_json::from_str(&answer).map_err(damaged)?;
            return Ok(Done { value, replayed: true });
        }
        let value = write.write(&mut tx, now).await?;
        if let Some(once) = once {
            keep(&mut tx, once, W::DOING, &json(&value)?, now).await?;
        }
        tx.commit().await?;
        Ok(Done::now(value))
    }
}

/// What was asked for under a key: the write and what it was given.
fn request(once: &Once, doing: &str) -> String {
    format!("{doing} {}", once.request)
}

/// The answer of the first time, while it is kept.
async fn before(
    tx: &mut Conn,
    once: &Once,
    doing: &str,
    now: Timestamp,
) -> Result<Option<String>, StoreError> {
    let find = "SELECT request, answer FROM idempotency WHERE owner = $1 AND key = $2 AND expires > $3";
    let Some(row) = tx.maybe(find, values![&once.owner, &once.key, now]).await? else { return Ok(None) };
    let mut row = row.fields();
    if row.text()? == request(once, doing) { row.text().map(Some) } else { Err(StoreError::OnceReused) }
}

/// Keeps an answer in place of one whose time is over, and lets go of some others.
async fn keep(
    tx: &mut Conn,
    once: &Once,
    doing: &str,
    answer: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sweep = sql!(
        "DELETE FROM idempotency WHERE (owner, key) IN (SELECT owner, key FROM idempotency WHERE expires <= $1
         ORDER BY expires LIMIT $2" [unlocked] ")"
    );
    tx.execute(sweep, values![now, SWEPT]).await?;
    let keep = "INSERT INTO idempotency (owner, key, request, answer, created, expires)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (owner, key) DO UPDATE SET request = excluded.request, answer = excluded.answer,
                created = excluded.created, expires = excluded.expires";
    let expires = now.as_millis().saturating_add(KEPT);
    let kept = values![&once.owner, &once.key, request(once, doing), answer, now, expires];
    tx.execute(keep, kept).await.map(|_| ())
}
