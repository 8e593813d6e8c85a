//! Handoffs and checkpoints in tables.

use store_api::handoff::{
    Anchor, Checkpoint, From, Handoff, HandoffQuery, HandoffStatus, NewCheckpoint, NewHandoff,
};
use store_api::history::check_limit;
use store_api::id::{MachineId, SessionId};
use store_api::session::{Session, SessionStatus, check_reason};
use store_api::{Cursor, Page, StoreError, Timestamp};

use crate::Store;
use crate::error::json;
use crate::once::Write;
use crate::sessions::{Heartbeat, active, close, held, issue};
use crate::sql::{Conn, Fields, Sql, after, page, sql, values};

const ASKING: &str = "handoffs were read";

/// The end of a session, and what it hands over.
pub(crate) struct End {
    pub(crate) id: SessionId,
    pub(crate) handoff: Option<NewHandoff>,
    pub(crate) reason: String,
}

impl Write for End {
    type Answer = (Session, Option<Handoff>);
    const DOING: &'static str = "a session ended";

    fn check(&self) -> Result<(), StoreError> {
        check_reason(&self.reason)?;
        self.handoff.as_ref().map_or(Ok(()), NewHandoff::check)
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Self::Answer, StoreError> {
        let Some(session) = held(tx, &self.id).await? else {
            return Err(StoreError::NotFound { what: "session", id: self.id.to_string() });
        };
        let known = match &self.handoff {
            Some(new) => handoff(tx, new).await?,
            None => None,
        };
        match (session.status, known) {
            // Sent again.
            (SessionStatus::Ended, Some(known)) if known.session == self.id => Ok((session, Some(known))),
            (SessionStatus::Active, Some(_)) => Err(StoreError::Exists { what: "handoff" }),
            (SessionStatus::Active, None) => {
                let handoff = match &self.handoff {
                    Some(new) => Some(insert(tx, new, &session, now).await?),
                    None => None,
                };
                let session = close(tx, &self.id, SessionStatus::Ended, now, &self.reason).await?;
                Ok((session, handoff))
            }
            (status, _) => Err(StoreError::Closed { id: session.id, status }),
        }
    }
}

/// A statement with the columns that [`read`] reads.
macro_rules! handoff {
    ($before:literal, $($after:tt)+) => {
        sql!(
            $before
            "id, session, venture, repo, track, summary, status, issue, anchor, payload, at, agent, machine"
            $($after)+
        )
    };
}

fn read(row: &mut Fields<'_>) -> Result<Handoff, StoreError> {
    Ok(Handoff {
        id: row.parsed(|id| id.parse().ok())?,
        session: row.parsed(|id| id.parse().ok())?,
        venture: row.text()?,
        repo: row.text()?,
        track: row.text()?,
        summary: row.text()?,
        status: row.parsed(HandoffStatus::of)?,
        issue: row.maybe_int()?.map(i64::unsigned_abs),
        anchor: row.maybe_parsed(|anchor| serde_json::from_str(anchor).ok())?,
        payload: row.maybe_parsed(|payload| serde_json::from_str(payload).ok())?,
        at: row.time()?,
        from: From { agent: row.text()?, machine: row.maybe_parsed(|id| id.parse().ok())? },
    })
}

async fn handoff(tx: &mut Conn, new: &NewHandoff) -> Result<Option<Handoff>, StoreError> {
    let one = handoff!("SELECT ", " FROM handoffs WHERE id = $1");
    tx.maybe(one, values![new.id.as_str()]).await?.map(|row| read(&mut row.fields())).transpose()
}

/// An anchor and a payload as columns have them. A payload of null is none.
fn belongings(
    anchor: Option<&Anchor>,
    payload: Option<&serde_json::Value>,
) -> Result<(Option<String>, Option<String>), StoreError> {
    let payload = payload.filter(|payload| !payload.is_null());
    Ok((anchor.map(json).transpose()?, payload.map(json).transpose()?))
}

async fn insert(
    tx: &mut Conn,
    new: &NewHandoff,
    session: &Session,
    now: Timestamp,
) -> Result<Handoff, StoreError> {
    let insert = handoff!(
        "INSERT INTO handoffs (id, session, venture, repo, track, agent, machine, summary, status, issue, anchor,
                payload, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING ",
        ""
    );
    let (anchor, payload) = belongings(new.anchor.as_ref(), new.payload.as_ref())?;
    let row = values![
        new.id.as_str(),
        session.id.as_str(),
        &session.key.venture,
        &session.key.repo,
        &session.key.track,
        &session.key.agent,
        session.speaker.machine.as_ref().map(MachineId::as_str),
        &new.summary,
        new.status.word(),
        issue(new.issue),
        anchor,
        payload,
        now,
    ];
    read(&mut tx.one(insert, row).await?.fields())
}

/// Handoffs of venture $1, in $2, of track $3, of session $4, since $5.
macro_rules! told {
    ($spelled:ident, [$($head:tt)+], $place:literal, $rest:literal) => {
        $spelled!(
            $($head)+
            " FROM handoffs WHERE at >= $5 AND ($3 IS NULL OR track = $3) AND ($4 IS NULL OR session = $4)"
            $place
            $rest
        )
    };
}

/// What counts and what lists.
macro_rules! both {
    ($place:literal) => {
        [
            told!(sql, ["SELECT count(*)"], $place, ""),
            told!(
                handoff,
                ["SELECT at, number, ",],
                $place,
                " AND ($6 IS NULL OR (at, number) < ($6, $7)) ORDER BY at DESC, number DESC LIMIT $8"
            ),
        ]
    };
}

/// With an index of its own, which the other question could not use.
const OF_PLACE: [Sql; 2] = both!(" AND venture = $1 AND repo = $2");
const OF_ANY: [Sql; 2] = both!(" AND ($1 IS NULL OR venture = $1) AND ($2 IS NULL OR repo = $2)");

pub(crate) async fn handoffs(store: &Store, query: HandoffQuery) -> Result<Page<Handoff>, StoreError> {
    query.check()?;
    let mut tx = store.read(ASKING).await?;
    let since = query.since.map_or(i64::MIN, Timestamp::as_millis);
    let session = query.session.as_ref().map(SessionId::as_str);
    let [count, list] = if query.venture.is_some() && query.repo.is_some() { OF_PLACE } else { OF_ANY };
    let mut wanted = values![&query.venture, &query.repo, &query.track, session, since];
    let total = tx.one(count, wanted.clone()).await?.fields().count()?;
    wanted.extend(after(query.after, query.limit));
    page(&tx.rows(list, wanted).await?, query.limit, total, read)
}

/// A statement with the columns that [`read_checkpoint`] reads.
macro_rules! checkpoint {
    ($before:literal, $after:literal) => {
        sql!($before "id, session, ordinal, summary, anchor, payload, at" $after)
    };
}

fn read_checkpoint(row: &mut Fields<'_>) -> Result<Checkpoint, StoreError> {
    Ok(Checkpoint {
        id: row.parsed(|id| id.parse().ok())?,
        session: row.parsed(|id| id.parse().ok())?,
        ordinal: row.count()?,
        summary: row.text()?,
        anchor: row.maybe_parsed(|anchor| serde_json::from_str(anchor).ok())?,
        payload: row.maybe_parsed(|payload| serde_json::from_str(payload).ok())?,
        at: row.time()?,
    })
}

impl Write for NewCheckpoint {
    type Answer = Checkpoint;
    const DOING: &'static str = "a checkpoint was kept";

    fn check(&self) -> Result<(), StoreError> {
        Self::check(self)
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Checkpoint, StoreError> {
        let known = checkpoint!("SELECT ", " FROM checkpoints WHERE id = $1");
        if let Some(row) = tx.maybe(known, values![self.id.as_str()]).await? {
            let known = read_checkpoint(&mut row.fields())?;
            let is_same = known.session == self.session;
            return if is_same { Ok(known) } else { Err(StoreError::Exists { what: "checkpoint" }) };
        }
        // Holds the session, so that no other checkpoint takes the same ordinal.
        active(tx, &self.session).await?;
        Heartbeat(self.session.clone()).write(tx, now).await?;
        let insert = checkpoint!(
            "INSERT INTO checkpoints (id, session, ordinal, summary, anchor, payload, at)
             VALUES ($1, $2, (SELECT coalesce(max(ordinal), 0) + 1 FROM checkpoints WHERE session = $2),
                     $3, $4, $5, $6) RETURNING ",
            ""
        );
        let (anchor, payload) = belongings(self.anchor.as_ref(), self.payload.as_ref())?;
        let row = values![self.id.as_str(), self.session.as_str(), &self.summary, anchor, payload, now];
        read_checkpoint(&mut tx.one(insert, row).await?.fields())
    }
}

pub(crate) async fn checkpoints(
    store: &Store,
    session: &SessionId,
    limit: u32,
    goes_on: Option<Cursor>,
) -> Result<Page<Checkpoint>, StoreError> {
    check_limit(limit)?;
    let mut tx = store.read(ASKING).await?;
    let count = "SELECT count(*) FROM checkpoints WHERE session = $1";
    let total = tx.one(count, values![session.as_str()]).await?.fields().count()?;
    let list = checkpoint!(
        "SELECT ordinal, number, ",
        " FROM checkpoints WHERE session = $1 AND ($2 IS NULL OR (ordinal, number) > ($2, $3))
          ORDER BY ordinal, number LIMIT $4"
    );
    let mut wanted = values![session.as_str()];
    wanted.extend(after(goes_on, limit));
    page(&tx.rows(list, wanted).await?, limit, total, read_checkpoint)
}
