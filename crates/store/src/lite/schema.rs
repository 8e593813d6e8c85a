//! The schema's number, and how an older one is brought up to date.

use sqlx::ConnectOptions as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool};
use store_api::StoreError;

use crate::error::Doing as _;

/// What leads from nothing to the newest schema, one number at a time. Each script sets its number itself
/// (`user_version`), within the transaction that it runs in.
///
/// sqlx has a runner of its own; it takes no lock on SQLite, so that two processes that start together would collide.
const MIGRATIONS: [&str; 4] = [
    include_str!("../../migrations/sqlite/0001_failures.sql"),
    include_str!("../../migrations/sqlite/0002_working_day.sql"),
    include_str!("../../migrations/sqlite/0003_context.sql"),
    include_str!("../../migrations/sqlite/0004_uses.sql"),
];

/// The number of the newest schema.
pub(crate) const NEWEST: i64 = 4;

/// "GWST", which marks a file as a store (`application_id`).
const OURS: i64 = 0x4757_5354;

/// The schema's number, when the file is a store or empty. To be asked within a transaction.
async fn version(connection: &mut SqliteConnection) -> Result<i64, StoreError> {
    let doing = "the schema's number was read";
    let version: i64 =
        sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await.doing(doing)?;
    let owner: i64 =
        sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await.doing(doing)?;
    if owner != OURS {
        let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
            .fetch_one(&mut *connection)
            .await
            .doing(doing)?;
        if (owner, version, tables) != (0, 0, 0) {
            return Err(StoreError::Foreign);
        }
    }
    if version > NEWEST {
        return Err(StoreError::NewerSchema { found: version, known: NEWEST });
    }
    Ok(version)
}

/// Refuses a file that is not ours or too new, without changing anything in it.
pub(super) async fn look(reading: &SqliteConnectOptions) -> Result<(), StoreError> {
    use sqlx::Connection as _;
    let doing = "the store was looked at";
    let mut connection = reading.connect().await.doing(doing)?;
    // One state of it: half of what another process is just making would look like a database of something else.
    let mut tx = connection.begin().await.doing(doing)?;
    let looked = version(&mut tx).await.map(|_| ());
    tx.rollback().await.doing(doing)?;
    connection.close().await.doing(doing)?;
    looked
}

/// Refuses a schema that another program changed meanwhile.
pub(super) async fn check(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let found: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(connection)
        .await
        .doing("the schema's number was read")?;
    if found > NEWEST { Err(StoreError::NewerSchema { found, known: NEWEST }) } else { Ok(()) }
}

/// Brings the schema up to date, all of it or nothing; who comes second finds it done.
pub(super) async fn migrate(writer: &SqlitePool) -> Result<(), StoreError> {
    let doing = "the schema was brought up to date";
    let mut tx = writer.begin_with("BEGIN IMMEDIATE").await.doing(doing)?;
    let found = version(&mut tx).await?;
    for script in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        sqlx::raw_sql(*script).execute(&mut *tx).await.doing(doing)?;
    }
    tx.commit().await.doing(doing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_sets_its_own_number_last() {
        assert_eq!(MIGRATIONS.len(), usize::try_from(NEWEST).unwrap());
        for (script, number) in MIGRATIONS.iter().zip(1..) {
            assert!(script.trim_end().ends_with(&format!("PRAGMA user_version = {number};")), "{number}");
        }
        assert!(MIGRATIONS[1].contains(words::FTS5_TOKENIZE), "words are indexed as they were analysed");
        assert!(MIGRATIONS[0].contains(&format!("PRAGMA application_id = {OURS};")));
    }
}
