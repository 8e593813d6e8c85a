//! Keys, traffic and texts in tables.

use store_api::id::KeyId;
use store_api::server::{ApiKey, LOGGED, Logged, NewKey, NewText, Text, TextKind};
use store_api::{Answer, Keys, StoreError, Texts, Timestamp, Traffic};

use crate::error::json;
use crate::once::Write;
use crate::sql::{Conn, Fields, sql, values};
use crate::{Database, Store};

/// Most keys that are listed.
const KEYS: u32 = 10_000;
/// Most texts that are listed.
const TEXTS: u32 = 1_000;
/// Milliseconds of a minute.
const MINUTE: i64 = 60_000;

/// A statement with the columns that [`read_key`] reads.
macro_rules! key {
    ($before:literal, $after:literal) => {
        sql!($before "id, name, admin, hash, created, used, revoked" $after)
    };
}

/// A statement with the columns that [`read_text`] reads.
macro_rules! text {
    ($before:literal, $($after:tt)+) => {
        sql!($before "name, version, sha256, updated, content" $($after)+)
    };
}

fn read_key(row: &mut Fields<'_>) -> Result<ApiKey, StoreError> {
    Ok(ApiKey {
        id: row.parsed(|id| id.parse().ok())?,
        name: row.text()?,
        admin: row.int()? != 0,
        hash: row.parsed(|hash| hash.parse().ok())?,
        created: row.time()?,
        used: row.maybe_int()?.map(Timestamp::from_millis),
        revoked: row.maybe_int()?.map(Timestamp::from_millis),
    })
}

fn read_text(row: &mut Fields<'_>) -> Result<Text, StoreError> {
    Ok(Text {
        name: row.text()?,
        version: row.int()?,
        sha256: row.text()?,
        updated: row.time()?,
        content: row.text()?,
    })
}

impl Keys for Store {
    fn add_key(&self, key: NewKey) -> Answer<ApiKey> {
        self.plain(key)
    }

    fn key(&self, id: KeyId) -> Answer<Option<ApiKey>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("a key was read").await?;
            let one = key!("SELECT ", " FROM api_keys WHERE id = $1");
            tx.maybe(one, values![id.as_str()]).await?.map(|row| read_key(&mut row.fields())).transpose()
        })
    }

    fn keys(&self) -> Answer<Vec<ApiKey>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("keys were read").await?;
            let list = key!("SELECT ", " FROM api_keys ORDER BY created DESC, id DESC LIMIT $1");
            tx.rows(list, values![KEYS]).await?.iter().map(|row| read_key(&mut row.fields())).collect()
        })
    }

    fn revoke(&self, id: KeyId) -> Answer<bool> {
        self.plain(Revoke(id))
    }
}

impl Write for NewKey {
    type Answer = ApiKey;
    const DOING: &'static str = "a key was kept";

    fn check(&self) -> Result<(), StoreError> {
        Self::check(self)
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<ApiKey, StoreError> {
        let insert = key!(
            "INSERT INTO api_keys (id, name, admin, hash, created) VALUES ($1, $2, $3, $4, $5) RETURNING ",
            ""
        );
        let row = values![self.id.as_str(), &self.name, self.admin, self.hash.to_string(), now];
        read_key(&mut tx.one(insert, row).await?.fields())
    }
}

struct Revoke(KeyId);

impl Write for Revoke {
    type Answer = bool;
    const DOING: &'static str = "a key was revoked";

    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<bool, StoreError> {
        let revoke = "UPDATE api_keys SET revoked = $2 WHERE id = $1 AND revoked IS NULL";
        Ok(tx.execute(revoke, values![self.0.as_str(), now]).await? > 0)
    }
}

impl Traffic for Store {
    fn count(&self, owner: String) -> Answer<u64> {
        let store = self.clone();
        Box::pin(async move {
            let minute = store.now().as_millis() / MINUTE;
            // One process has a file to itself, and a write to disk for each request would cost more than the request.
            if let Database::Lite(_) = &store.database {
                return Ok(store.counted(owner, minute));
            }
            let mut tx = store.write("a request was counted").await?;
            tx.execute("SET LOCAL synchronous_commit = off", Vec::new()).await?;
            let count = "INSERT INTO rate (owner, minute, count) VALUES ($1, $2, 1)
                 ON CONFLICT (owner, minute) DO UPDATE SET count = rate.count + 1 RETURNING count";
            let now = tx.one(count, values![owner, minute]).await?.fields().count()?;
            tx.commit().await?;
            Ok(now)
        })
    }

    fn log(&self, requests: Vec<Logged>) -> Answer<()> {
        self.plain(Log(requests))
    }

    fn logged(&self, limit: u32) -> Answer<Vec<Logged>> {
        let store = self.clone();
        Box::pin(async move {
            store_api::history::check_limit(limit)?;
            let mut tx = store.read("the log was read").await?;
            let list = "SELECT at, correlation, key, method, route, status, millis FROM request_log
                 ORDER BY number DESC LIMIT $1";
            let rows = tx.rows(list, values![limit]).await?;
            rows.iter().map(|row| read_logged(&mut row.fields())).collect()
        })
    }

    fn sweep_traffic(&self) -> Answer<u64> {
        self.plain(Sweep)
    }
}

fn read_logged(row: &mut Fields<'_>) -> Result<Logged, StoreError> {
    Ok(Logged {
        at: row.time()?,
        correlation: row.text()?,
        key: row.maybe_parsed(|id| id.parse().ok())?,
        method: row.text()?,
        route: row.text()?,
        status: u16::try_from(row.int()?).unwrap_or_default(),
        millis: row.count()?,
    })
}

struct Log(Vec<Logged>);

impl Write for Log {
    type Answer = ();
    const DOING: &'static str = "requests were logged";

    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn write(&self, tx: &mut Conn, _: Timestamp) -> Result<(), StoreError> {
        let insert = "INSERT INTO request_log (at, correlation, key, method, route, status, millis)
             VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let used = "UPDATE api_keys SET used = $2 WHERE id = $1 AND (used IS NULL OR used < $2)";
        let mut last = std::collections::BTreeMap::new();
        for request in &self.0 {
            let key = request.key.as_ref().map(KeyId::as_str);
            let millis = i64::try_from(request.millis).unwrap_or(i64::MAX);
            let row = values![
                request.at,
                &request.correlation,
                key,
                &request.method,
                &request.route,
                i64::from(request.status),
                millis
            ];
            tx.execute(insert, row).await?;
            if let Some(key) = key {
                last.insert(key, request.at.as_millis() / MINUTE * MINUTE);
            }
        }
        for (key, at) in last {
            tx.execute(used, values![key, at]).await?;
        }
        Ok(())
    }
}

struct Sweep;

impl Write for Sweep {
    type Answer = u64;
    const DOING: &'static str = "the log was swept";

    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<u64, StoreError> {
        let now = now.as_millis();
        tx.execute("DELETE FROM rate WHERE minute < $1", values![now / MINUTE - 1]).await?;
        tx.execute("DELETE FROM request_log WHERE at < $1", values![now.saturating_sub(LOGGED)]).await
    }
}

impl Texts for Store {
    fn put_text(&self, text: NewText) -> Answer<Text> {
        self.plain(text)
    }

    fn text(&self, kind: TextKind, name: String) -> Answer<Option<Text>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("a text was read").await?;
            let one = text!("SELECT ", " FROM texts WHERE kind = $1 AND name = $2");
            tx.maybe(one, values![kind.word(), name])
                .await?
                .map(|row| read_text(&mut row.fields()))
                .transpose()
        })
    }

    fn texts(&self, kind: TextKind) -> Answer<Vec<Text>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("texts were read").await?;
            let list = text!("SELECT ", " FROM texts WHERE kind = $1 ORDER BY name LIMIT $2");
            let rows = tx.rows(list, values![kind.word(), TEXTS]).await?;
            rows.iter().map(|row| read_text(&mut row.fields())).collect()
        })
    }

    fn remove_text(&self, kind: TextKind, name: String) -> Answer<bool> {
        self.plain(RemoveText(kind, name))
    }
}

impl Write for NewText {
    type Answer = Text;
    const DOING: &'static str = "a text was kept";

    fn check(&self) -> Result<(), StoreError> {
        Self::check(self)
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Text, StoreError> {
        let kind = self.kind.word();
        tx.lock(&format!("text {}", json(&[kind, &self.name])?)).await?;
        let one = text!("SELECT ", " FROM texts WHERE kind = $1 AND name = $2"[lock]);
        let known = tx.maybe(one, values![kind, &self.name]).await?;
        let known = known.map(|row| read_text(&mut row.fields())).transpose()?;
        let found = known.as_ref().map_or(0, |known| known.version);
        if let Some(expected) = self.expected.filter(|expected| *expected != found) {
            return Err(StoreError::Stale { found, expected });
        }
        if let Some(known) = known.filter(|known| known.content == self.content) {
            return Ok(known);
        }
        let put = text!(
            "INSERT INTO texts (kind, name, version, sha256, updated, content) VALUES ($1, $2, 1, $3, $4, $5)
             ON CONFLICT (kind, name) DO UPDATE SET version = texts.version + 1, sha256 = excluded.sha256,
                    updated = excluded.updated, content = excluded.content
             RETURNING ",
            ""
        );
        let digest = contract::Digest::of(self.content.as_bytes()).to_string();
        let row = values![kind, &self.name, digest, now, &self.content];
        read_text(&mut tx.one(put, row).await?.fields())
    }
}

struct RemoveText(TextKind, String);

impl Write for RemoveText {
    type Answer = bool;
    const DOING: &'static str = "a text was removed";

    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn write(&self, tx: &mut Conn, _: Timestamp) -> Result<bool, StoreError> {
        let remove = "DELETE FROM texts WHERE kind = $1 AND name = $2";
        Ok(tx.execute(remove, values![self.0.word(), &self.1]).await? > 0)
    }
}
