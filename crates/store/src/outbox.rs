//! What waits for a server, and its last answers, in tables.

use store_api::outbox::{
    Letter, Line, MAX_MIRRORED, MAX_WAITING, MAX_WAITING_BYTES, MIRRORED, Outbox, Waiting,
};
use store_api::{Answer, StoreError, Timestamp};

use crate::Store;
use crate::once::Write;
use crate::sql::{Conn, Fields, sql, values};

/// A statement with the columns that [`read`] reads.
macro_rules! waiting {
    ($before:literal, $after:literal) => {
        sql!($before "number, key, request, context, path, body, made, why" $after)
    };
}

fn read(row: &mut Fields<'_>) -> Result<Waiting, StoreError> {
    Ok(Waiting {
        number: row.int()?,
        key: row.text()?,
        request: row.parsed(|request| request.parse().ok())?,
        context: row.text()?,
        path: row.text()?,
        body: row.text()?,
        made: row.time()?,
        why: row.maybe_text()?,
    })
}

/// Writes that need no more than a statement or two.
macro_rules! writes {
    ($($name:ident $fields:tt -> $answer:ty, $doing:literal, |$this:ident, $tx:ident, $now:ident| $body:block)*) => {$(
        struct $name $fields;

        impl Write for $name {
            type Answer = $answer;
            const DOING: &'static str = $doing;

            fn check(&self) -> Result<(), StoreError> {
                Ok(())
            }

            async fn write(&self, $tx: &mut Conn, $now: Timestamp) -> Result<$answer, StoreError> {
                let $this = self;
                $body
            }
        }
    )*};
}

impl Outbox for Store {
    fn post(&self, letter: Letter) -> Answer<i64> {
        self.plain(letter)
    }

    fn first(&self, context: String) -> Answer<Option<Waiting>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("the outbox was read").await?;
            let one = waiting!(
                "SELECT ",
                " FROM outbox WHERE why IS NULL AND context = $1 ORDER BY number LIMIT 1"
            );
            tx.maybe(one, values![context]).await?.map(|row| read(&mut row.fields())).transpose()
        })
    }

    fn line(&self, limit: u32) -> Answer<Vec<Waiting>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("the outbox was read").await?;
            let list = waiting!("SELECT ", " FROM outbox ORDER BY number LIMIT $1");
            tx.rows(list, values![limit]).await?.iter().map(|row| read(&mut row.fields())).collect()
        })
    }

    fn length(&self, context: String) -> Answer<Line> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("the outbox was counted").await?;
            let row = tx
                .one("SELECT count(*), count(why) FROM outbox WHERE context = $1", values![context])
                .await?;
            let mut row = row.fields();
            let (all, failed) = (row.count()?, row.count()?);
            Ok(Line { waiting: all.saturating_sub(failed), failed })
        })
    }

    fn take_out(&self, number: i64) -> Answer<bool> {
        self.plain(TakeOut(number))
    }

    fn refuse(&self, number: i64, why: String) -> Answer<()> {
        self.plain(Refuse(number, why))
    }

    fn retry(&self, context: String) -> Answer<u64> {
        self.plain(Retry(context))
    }

    fn rename(&self, id: String, becomes: String) -> Answer<()> {
        self.plain(Rename(id, becomes))
    }

    fn named_now(&self, id: String) -> Answer<Option<String>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("a session's name was read").await?;
            let row = tx.maybe("SELECT becomes FROM renamed WHERE id = $1", values![id]).await?;
            row.map(|row| row.fields().text()).transpose()
        })
    }

    fn mirror(&self, question: String, answer: String) -> Answer<()> {
        self.plain(Mirror(question, answer))
    }

    fn mirrored(&self, question: String) -> Answer<Option<(Timestamp, String)>> {
        let store = self.clone();
        Box::pin(async move {
            let oldest = store.now().as_millis().saturating_sub(MIRRORED);
            let mut tx = store.read("a kept answer was read").await?;
            let one = "SELECT at, answer FROM mirror WHERE question = $1 AND at >= $2";
            let row = tx.maybe(one, values![question, oldest]).await?;
            row.map(|row| {
                let mut row = row.fields();
                Ok((row.time()?, row.text()?))
            })
            .transpose()
        })
    }

    fn lease(&self, name: String, holder: String, millis: i64) -> Answer<bool> {
        self.plain(Lease(name, holder, millis))
    }
}

impl Write for Letter {
    type Answer = i64;
    const DOING: &'static str = "a write was kept for later";

    fn check(&self) -> Result<(), StoreError> {
        Self::check(self)
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<i64, StoreError> {
        let known = tx.maybe("SELECT number FROM outbox WHERE key = $1", values![&self.key]).await?;
        if let Some(row) = known {
            return row.int();
        }
        let size = "SELECT count(*), coalesce(sum(length(body)), 0) FROM outbox";
        let row = tx.one(size, Vec::new()).await?;
        let mut row = row.fields();
        let (count, bytes) = (row.count()?, row.count()?.saturating_add(self.body.len() as u64));
        for (what, got, most) in [
            ("writes that wait for the context", count + 1, MAX_WAITING),
            ("bytes that wait for the context", bytes, MAX_WAITING_BYTES),
        ] {
            if got > most {
                let fits = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                return Err(StoreError::TooLarge { what, got: fits(got), most: fits(most) });
            }
        }
        let insert =
            "INSERT INTO outbox (key, request, context, path, body, made) VALUES ($1, $2, $3, $4, $5, $6)
             RETURNING number";
        let row = values![&self.key, self.request.to_string(), &self.context, &self.path, &self.body, now];
        tx.one(insert, row).await?.int()
    }
}

writes! {
    TakeOut(i64) -> bool, "a write left the outbox", |this, tx, _now| {
        Ok(tx.execute("DELETE FROM outbox WHERE number = $1", values![this.0]).await? > 0)
    }

    Refuse(i64, String) -> (), "a write was refused", |this, tx, _now| {
        let refuse = "UPDATE outbox SET why = $2 WHERE why IS NULL AND (number = $1 OR (number > $1 AND (context, path) IN
             (SELECT context, path FROM outbox WHERE number = $1 AND path LIKE '/notes/%/update')))";
        tx.execute(refuse, values![this.0, &this.1]).await?;
        Ok(())
    }

    Retry(String) -> u64, "refused writes wait again", |this, tx, _now| {
        tx.execute("UPDATE outbox SET why = NULL WHERE why IS NOT NULL AND context = $1", values![&this.0]).await
    }

    Rename(String, String) -> (), "a session was named anew", |this, tx, _now| {
        let keep = "INSERT INTO renamed (id, becomes) VALUES ($1, $2)
             ON CONFLICT (id) DO UPDATE SET becomes = excluded.becomes";
        tx.execute(keep, values![&this.0, &this.1]).await?;
        // An id is 26 random characters: it stands in a body where the session is meant, and nowhere by chance.
        let body = "UPDATE outbox SET body = replace(body, $1, $2) WHERE why IS NULL";
        tx.execute(body, values![&this.0, &this.1]).await?;
        Ok(())
    }

    Mirror(String, String) -> (), "an answer was kept", |this, tx, now| {
        let keep = "INSERT INTO mirror (question, at, answer) VALUES ($1, $2, $3)
             ON CONFLICT (question) DO UPDATE SET at = excluded.at, answer = excluded.answer";
        tx.execute(keep, values![&this.0, now, &this.1]).await?;
        // Without its session nobody can hand over.
        let sweep = "DELETE FROM mirror WHERE at < $1 OR (question NOT LIKE 'session:%' AND question NOT LIKE 'current:%'
             AND question NOT IN (SELECT question FROM mirror
               WHERE question NOT LIKE 'session:%' AND question NOT LIKE 'current:%' ORDER BY at DESC, question LIMIT $2))";
        let oldest = now.as_millis().saturating_sub(MIRRORED);
        tx.execute(sweep, values![oldest, MAX_MIRRORED]).await?;
        Ok(())
    }

    Lease(String, String, i64) -> bool, "a lease was asked for", |this, tx, now| {
        let take = "INSERT INTO leases (name, holder, until) VALUES ($1, $2, $3)
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
             WHERE leases.holder = excluded.holder OR leases.until <= $4";
        let until = now.as_millis().saturating_add(this.2);
        Ok(tx.execute(take, values![&this.0, &this.1, until, now]).await? > 0)
    }
}
