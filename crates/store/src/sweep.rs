//! What is over is let go of, in small steps: others write in between.

use store_api::session::SessionStatus;
use store_api::upkeep::{DAY, FAILURES_KEPT};
use store_api::{Answer, Failures as _, StoreError, Swept, Timestamp, Traffic as _, Upkeep};

use crate::Store;
use crate::error::json;
use crate::once::Write;
use crate::sql::{Conn, Row, Sql, sql, values};

/// Most rows of a kind that one step lets go of.
const STEP: u32 = 500;

impl Upkeep for Store {
    fn sweep(&self, keep_days: Option<u32>) -> Answer<Swept> {
        let store = self.clone();
        Box::pin(async move {
            let days = keep_days.filter(|days| *days > 0);
            let now = store.now();
            let ago = |millis: i64| Timestamp::from_millis(now.as_millis().saturating_sub(millis));
            let failures = store.forget(ago(FAILURES_KEPT)).await?;
            let mut swept = Swept { failures, requests: store.sweep_traffic().await?, ..Swept::default() };
            let step = Step { over: days.map(|days| ago(i64::from(days).saturating_mul(DAY))) };
            loop {
                let done = store.written(&step, None).await?.value;
                swept.answers += done.answers;
                swept.abandoned += done.abandoned;
                swept.sessions += done.sessions;
                swept.handoffs += done.handoffs;
                swept.checkpoints += done.checkpoints;
                swept.notes += done.notes;
                if done.is_nothing() {
                    return Ok(swept);
                }
            }
        })
    }
}

/// One step, but for failures.
struct Step {
    /// What ended before goes.
    over: Option<Timestamp>,
}

const ANSWERS: Sql = sql!(
    "DELETE FROM idempotency WHERE (owner, key) IN (SELECT owner, key FROM idempotency WHERE expires <= $1
     ORDER BY expires LIMIT $2" [unlocked] ")"
);
/// What [`crate::sessions::close`] does to each.
const ABANDON: Sql = sql!(
    "UPDATE sessions SET status = $3, ended = heartbeat, reason = $3, version = version + 1
     WHERE number IN (SELECT number FROM sessions WHERE status = 'active' AND heartbeat <= $1
     ORDER BY heartbeat LIMIT $2" [unlocked] ")"
);
/// In the order in which they began: the oldest stand at the front, and are found without a look at the rest.
const OVER: Sql = sql!(
    "SELECT id FROM sessions WHERE status <> 'active' AND ended < $1 ORDER BY number LIMIT $2"[unlocked]
);
/// What belongs to sessions, and they themselves last.
const BELONGINGS: [Sql; 3] = [
    sql!("DELETE FROM handoffs WHERE session IN " [texts "$1"]),
    sql!("DELETE FROM checkpoints WHERE session IN " [texts "$1"]),
    sql!("DELETE FROM sessions WHERE id IN " [texts "$1"]),
];
const AWAY: Sql =
    sql!("SELECT place FROM notes WHERE archived = 1 AND updated < $1 ORDER BY place LIMIT $2"[unlocked]);
const NOTES: Sql = sql!("DELETE FROM notes WHERE place IN " [ints "$1"]);
const WORDS: Sql = Sql::new(
    "DELETE FROM note_words WHERE rowid IN (SELECT value FROM json_each($1))",
    "DELETE FROM note_words WHERE place IN (SELECT json_array_elements_text($1::json)::bigint)",
);

impl Write for Step {
    type Answer = Swept;
    const DOING: &'static str = "what is over was swept";

    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Swept, StoreError> {
        let answers = tx.execute(ANSWERS, values![now, STEP]).await?;
        let abandoned = SessionStatus::Abandoned.word();
        let silent = crate::sessions::silent(now);
        let abandoned = tx.execute(ABANDON, values![silent, STEP, abandoned]).await?;
        let swept = Swept { answers, abandoned, ..Swept::default() };
        let Some(over) = self.over else { return Ok(swept) };

        let ids = tx.rows(OVER, values![over, STEP]).await?;
        let ids = ids.iter().map(|row| row.fields().text()).collect::<Result<Vec<_>, _>>()?;
        let mut gone = [0; 3];
        if !ids.is_empty() {
            let ids = json(&ids)?;
            for (statement, gone) in BELONGINGS.into_iter().zip(&mut gone) {
                *gone = tx.execute(statement, values![&ids]).await?;
            }
        }
        let [handoffs, checkpoints, sessions] = gone;

        let places = tx.rows(AWAY, values![over, STEP]).await?;
        let places = places.iter().map(Row::int).collect::<Result<Vec<_>, _>>()?;
        let mut notes = 0;
        if !places.is_empty() {
            let places = json(&places)?;
            tx.execute(WORDS, values![&places]).await?;
            // Their tags go with them.
            notes = tx.execute(NOTES, values![&places]).await?;
        }
        Ok(Swept { sessions, handoffs, checkpoints, notes, ..swept })
    }
}
