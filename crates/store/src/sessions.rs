//! Sessions in tables. The rules are in the trait's documentation.

use store_api::handoff::{Checkpoint, Handoff, HandoffQuery, NewCheckpoint, NewHandoff};
use store_api::id::{MachineId, SessionId};
use store_api::once::{Done, Once};
use store_api::session::{
    Begin, Begun, LiveQuery, Over, SILENCE, Session, SessionKey, SessionStatus, Speaker, Standing, Update,
};
use store_api::{Answer, Cursor, Page, Sessions, StoreError, Timestamp};

use crate::Store;
use crate::error::json;
use crate::handoffs::{self, End};
use crate::once::Write;
use crate::sql::{Conn, Fields, Sql, after, page, sql, values};

const ASKING: &str = "sessions were read";

/// A statement with the columns that [`read`] reads.
macro_rules! session {
    ($before:literal, $after:literal $($more:tt)*) => {
        sql!(
            $before
            "id, agent, venture, repo, track, status, client, client_version, machine, branch, commit_id, issue,
             started_commit, started, heartbeat, ended, version, principal"
            $after
            $($more)*
        )
    };
}

impl Sessions for Store {
    fn begin(&self, begin: Begin, once: Option<Once>) -> Answer<Done<Begun>> {
        self.once(begin, once)
    }

    fn update(&self, update: Update, once: Option<Once>) -> Answer<Done<Session>> {
        self.once(update, once)
    }

    fn heartbeat(&self, id: SessionId) -> Answer<Session> {
        self.plain(Heartbeat(id))
    }

    fn end(
        &self,
        id: SessionId,
        handoff: Option<NewHandoff>,
        reason: String,
        once: Option<Once>,
    ) -> Answer<Done<(Session, Option<Handoff>)>> {
        self.once(End { id, handoff, reason }, once)
    }

    fn checkpoint(&self, new: NewCheckpoint, once: Option<Once>) -> Answer<Done<Checkpoint>> {
        self.once(new, once)
    }

    fn checkpoints(&self, session: SessionId, limit: u32, after: Option<Cursor>) -> Answer<Page<Checkpoint>> {
        let store = self.clone();
        Box::pin(async move { handoffs::checkpoints(&store, &session, limit, after).await })
    }

    fn session(&self, id: SessionId) -> Answer<Option<Session>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read(ASKING).await?;
            let row = tx.maybe(session!("SELECT ", " FROM sessions WHERE id = $1"), values![id.as_str()]);
            row.await?.map(|row| read(&mut row.fields())).transpose()
        })
    }

    fn current(&self, key: SessionKey) -> Answer<Option<Session>> {
        let store = self.clone();
        Box::pin(async move {
            key.check()?;
            let mut tx = store.read(ASKING).await?;
            let silent = silent(store.now());
            let wanted = values![&key.agent, &key.venture, &key.repo, &key.track, silent];
            let current = session!(
                "SELECT ",
                " FROM sessions WHERE agent = $1 AND venture = $2 AND repo = $3 AND track = $4
                  AND status = 'active' AND heartbeat > $5 ORDER BY heartbeat DESC, number DESC LIMIT 1"
            );
            tx.maybe(current, wanted).await?.map(|row| read(&mut row.fields())).transpose()
        })
    }

    fn live(&self, query: LiveQuery) -> Answer<Page<Session>> {
        let store = self.clone();
        Box::pin(async move { live(&store, query).await })
    }

    fn handoffs(&self, query: HandoffQuery) -> Answer<Page<Handoff>> {
        let store = self.clone();
        Box::pin(async move { handoffs::handoffs(&store, query).await })
    }
}

fn read(row: &mut Fields<'_>) -> Result<Session, StoreError> {
    Ok(Session {
        id: row.parsed(|id| id.parse().ok())?,
        key: SessionKey { agent: row.text()?, venture: row.text()?, repo: row.text()?, track: row.text()? },
        status: row.parsed(SessionStatus::of)?,
        speaker: Speaker {
            client: row.maybe_text()?,
            client_version: row.maybe_text()?,
            machine: row.maybe_parsed(|id| id.parse().ok())?,
        },
        standing: Standing {
            branch: row.maybe_text()?,
            commit: row.maybe_text()?,
            issue: row.maybe_int()?.map(i64::unsigned_abs),
        },
        started_commit: row.maybe_text()?,
        started: row.time()?,
        heartbeat: row.time()?,
        ended: row.maybe_int()?.map(Timestamp::from_millis),
        version: row.int()?,
        by: row.text()?,
    })
}

/// The last sign of life of whoever has just fallen silent.
pub(crate) fn silent(now: Timestamp) -> i64 {
    now.as_millis().saturating_sub(SILENCE)
}

/// A number as columns have it. Whoever checked a standing knows that it fits.
pub(crate) fn issue(number: Option<u64>) -> Option<i64> {
    number.and_then(|number| i64::try_from(number).ok())
}

/// A session, kept from other writers until the end.
pub(crate) async fn held(tx: &mut Conn, id: &SessionId) -> Result<Option<Session>, StoreError> {
    let one = session!("SELECT ", " FROM sessions WHERE id = $1"[lock]);
    tx.maybe(one, values![id.as_str()]).await?.map(|row| read(&mut row.fields())).transpose()
}

/// An active session, kept from other writers until the end.
pub(crate) async fn active(tx: &mut Conn, id: &SessionId) -> Result<Session, StoreError> {
    let Some(session) = held(tx, id).await? else {
        return Err(StoreError::NotFound { what: "session", id: id.to_string() });
    };
    match session.status {
        SessionStatus::Active => Ok(session),
        status => Err(StoreError::Closed { id: session.id, status }),
    }
}

/// Puts an end to a session.
pub(crate) async fn close(
    tx: &mut Conn,
    id: &SessionId,
    status: SessionStatus,
    ended: Timestamp,
    reason: &str,
) -> Result<Session, StoreError> {
    let close = session!(
        "UPDATE sessions SET status = $2, ended = $3, heartbeat = $3, reason = $4, version = version + 1
         WHERE id = $1 RETURNING ",
        ""
    );
    let row = tx.one(close, values![id.as_str(), status.word(), ended, reason]).await?;
    read(&mut row.fields())
}

impl Write for Begin {
    type Answer = Begun;
    const DOING: &'static str = "a session began";

    fn check(&self) -> Result<(), StoreError> {
        Self::check(self)
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Begun, StoreError> {
        let SessionKey { agent, venture, repo, track } = &self.key;
        tx.lock(&format!("session {}", json(&[agent, venture, repo, track])?)).await?;
        if let Some(session) = held(tx, &self.id).await? {
            return if session.key == self.key {
                Ok(Begun { session, resumed: true, ended: Vec::new() })
            } else {
                Err(StoreError::Exists { what: "session" })
            };
        }
        let of_key = session!(
            "SELECT ",
            " FROM sessions WHERE agent = $1 AND venture = $2 AND repo = $3 AND track = $4 AND status = 'active'
              ORDER BY heartbeat DESC, number DESC" [lock]
        );
        let (mut latest, mut ended) = (None, Vec::new());
        for row in tx.rows(of_key, values![agent, venture, repo, track]).await? {
            let session = read(&mut row.fields())?;
            let (status, at) = if session.heartbeat.as_millis() <= silent(now) {
                (SessionStatus::Abandoned, session.heartbeat)
            } else if latest.is_none() {
                latest = Some(session.id);
                continue;
            } else {
                (SessionStatus::Superseded, now)
            };
            let over = close(tx, &session.id, status, at, status.word()).await?;
            ended.push(Over { id: over.id, status });
        }
        let (resumed, session) = match latest {
            Some(id) => (true, resume(tx, &id, self, now).await?),
            None => (false, insert(tx, self, now).await?),
        };
        Ok(Begun { session, resumed, ended })
    }
}

async fn insert(tx: &mut Conn, begin: &Begin, now: Timestamp) -> Result<Session, StoreError> {
    let Begin { id, key, speaker, standing, by } = begin;
    let insert = session!(
        "INSERT INTO sessions (id, agent, venture, repo, track, status, client, client_version, machine, branch, commit_id,
                started_commit, issue, started, heartbeat, version, principal)
         VALUES ($1, $2, $3, $4, $5, 'active', $6, $7, $8, $9, $10, $10, $11, $12, $12, 1, $13) RETURNING ",
        ""
    );
    let row = values![
        id.as_str(),
        &key.agent,
        &key.venture,
        &key.repo,
        &key.track,
        &speaker.client,
        &speaker.client_version,
        speaker.machine.as_ref().map(MachineId::as_str),
        &standing.branch,
        &standing.commit,
        issue(standing.issue),
        now,
        by,
    ];
    read(&mut tx.one(insert, row).await?.fields())
}

/// Goes on with a session: with the branch and commit of now, and whoever speaks now.
async fn resume(tx: &mut Conn, id: &SessionId, begin: &Begin, now: Timestamp) -> Result<Session, StoreError> {
    let Begin { speaker, standing, .. } = begin;
    let resume = session!(
        "UPDATE sessions SET heartbeat = $2, version = version + 1,
           client = CASE WHEN $3 IS NULL THEN client ELSE $3 END,
           client_version = CASE WHEN $3 IS NULL THEN client_version ELSE $4 END,
           machine = coalesce($5, machine),
           branch = CASE WHEN $6 IS NULL AND $7 IS NULL THEN branch ELSE $6 END,
           commit_id = CASE WHEN $6 IS NULL AND $7 IS NULL THEN commit_id ELSE $7 END,
           issue = coalesce($8, issue)
         WHERE id = $1 RETURNING ",
        ""
    );
    let row = values![
        id.as_str(),
        now,
        &speaker.client,
        &speaker.client_version,
        speaker.machine.as_ref().map(MachineId::as_str),
        &standing.branch,
        &standing.commit,
        issue(standing.issue),
    ];
    read(&mut tx.one(resume, row).await?.fields())
}

impl Write for Update {
    type Answer = Session;
    const DOING: &'static str = "a session was changed";

    fn check(&self) -> Result<(), StoreError> {
        self.standing.check()
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Session, StoreError> {
        let found = active(tx, &self.id).await?.version;
        if let Some(expected) = self.expected.filter(|expected| *expected != found) {
            return Err(StoreError::Stale { found, expected });
        }
        let update = session!(
            "UPDATE sessions SET heartbeat = $2, version = version + 1, branch = coalesce($3, branch),
               commit_id = coalesce($4, commit_id), issue = coalesce($5, issue) WHERE id = $1 RETURNING ",
            ""
        );
        let Standing { branch, commit, issue: number } = &self.standing;
        let row = tx.one(update, values![self.id.as_str(), now, branch, commit, issue(*number)]).await?;
        read(&mut row.fields())
    }
}

/// A sign of life. It is no change: versions stay, so that nobody who changes a session is told that it was changed.
pub(crate) struct Heartbeat(pub(crate) SessionId);

impl Write for Heartbeat {
    type Answer = Session;
    const DOING: &'static str = "a session gave a sign of life";

    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Session, StoreError> {
        let beat =
            session!("UPDATE sessions SET heartbeat = $2 WHERE id = $1 AND status = 'active' RETURNING ", "");
        match tx.maybe(beat, values![self.0.as_str(), now]).await? {
            Some(row) => read(&mut row.fields()),
            // Not there, or over: that says which.
            None => active(tx, &self.0).await,
        }
    }
}

/// Sessions that are alive: since $1, but $2, of $3, in $4.
macro_rules! alive {
    ($what:literal, $rest:literal) => {
        sql!(
            $what
            " FROM sessions WHERE status = 'active' AND heartbeat > $1 AND ($2 IS NULL OR id <> $2)
              AND ($3 IS NULL OR venture = $3) AND ($4 IS NULL OR repo = $4)"
            $rest
        )
    };
}

const COUNT: Sql = alive!("SELECT count(*)", "");
const LIST: Sql = alive!(
    "SELECT heartbeat, number, id, agent, venture, repo, track, status, client, client_version, machine, branch,
            commit_id, issue, started_commit, started, heartbeat, ended, version, principal",
    " AND ($5 IS NULL OR (heartbeat, number) < ($5, $6)) ORDER BY heartbeat DESC, number DESC LIMIT $7"
);

async fn live(store: &Store, query: LiveQuery) -> Result<Page<Session>, StoreError> {
    query.check()?;
    let mut tx = store.read(ASKING).await?;
    let except = query.except.as_ref().map(SessionId::as_str);
    let mut wanted = values![silent(store.now()), except, &query.venture, &query.repo];
    let total = tx.one(COUNT, wanted.clone()).await?.fields().count()?;
    wanted.extend(after(query.after, query.limit));
    page(&tx.rows(LIST, wanted).await?, query.limit, total, read)
}
