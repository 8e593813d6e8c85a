//! The schema's number, and how an older one is brought up to date. The numbers are SQLite's.

use sqlx::PgPool;
use store_api::StoreError;

use crate::error::Doing as _;
use crate::sql::{Conn, values};

/// The schema that everything is in, so that a database may hold other things too.
pub(super) const NAME: &str = "gatewright";

/// What leads from nothing to the newest schema, one number at a time.
const MIGRATIONS: [&str; 4] = [
    include_str!("../../migrations/postgres/0001_failures.sql"),
    include_str!("../../migrations/postgres/0002_working_day.sql"),
    include_str!("../../migrations/postgres/0003_context.sql"),
    include_str!("../../migrations/postgres/0004_uses.sql"),
];

/// The number of the newest schema.
pub(crate) const NEWEST: i64 = 4;

const LOOKING: &str = "the schema's number was read";
const MIGRATING: &str = "the schema was brought up to date";

/// Refuses a schema that another program changed meanwhile.
pub(super) async fn check(tx: &mut Conn) -> Result<(), StoreError> {
    let found = tx.one("SELECT version FROM gatewright_schema", Vec::new()).await?.int()?;
    if found > NEWEST { Err(StoreError::NewerSchema { found, known: NEWEST }) } else { Ok(()) }
}

/// The schema's number; none where there is nothing yet.
async fn version(tx: &mut Conn) -> Result<Option<i64>, StoreError> {
    let there = "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = $2";
    if tx.one(there, values![NAME, "gatewright_schema"]).await?.int()? > 0 {
        let found = tx.one("SELECT version FROM gatewright_schema", Vec::new()).await?.int()?;
        return if found > NEWEST {
            Err(StoreError::NewerSchema { found, known: NEWEST })
        } else {
            Ok(Some(found))
        };
    }
    let others = "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = $1";
    if tx.one(others, values![NAME]).await?.int()? > 0 {
        return Err(StoreError::Foreign);
    }
    Ok(None)
}

/// Brings the schema up to date, all of it or nothing; who comes second finds it done.
pub(super) async fn migrate(pool: &PgPool) -> Result<(), StoreError> {
    let mut tx = Conn::from(pool.begin().await.doing(LOOKING)?).doing(LOOKING);
    if version(&mut tx).await? == Some(NEWEST) {
        return Ok(());
    }
    drop(tx);
    let mut tx = Conn::from(pool.begin().await.doing(MIGRATING)?).doing(MIGRATING);
    // A large table takes its time, and so does whoever came first.
    tx.execute("SET LOCAL statement_timeout = 0", Vec::new()).await?;
    tx.execute("SET LOCAL lock_timeout = '300s'", Vec::new()).await?;
    tx.lock("gatewright schema").await?;
    let found = match version(&mut tx).await? {
        Some(found) => found,
        None => {
            // Asked first: to make a schema that is there already takes the right to make schemas.
            let there = "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = $1";
            if tx.one(there, values![NAME]).await?.int()? == 0 {
                tx.execute("CREATE SCHEMA gatewright", Vec::new()).await?;
            }
            let number = "CREATE TABLE gatewright_schema (one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL)";
            tx.execute(number, Vec::new()).await?;
            tx.execute("INSERT INTO gatewright_schema (one, version) VALUES (1, 0)", Vec::new()).await?;
            0
        }
    };
    for script in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        tx.script(script).await?;
    }
    tx.execute("UPDATE gatewright_schema SET version = $1", values![NEWEST]).await?;
    tx.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_script() {
        assert_eq!(MIGRATIONS.len(), usize::try_from(NEWEST).unwrap());
    }
}
