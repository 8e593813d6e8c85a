//! The schema's number, and how an older one is brought up to date.

use sqlx::ConnectOptions as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool};
use store_api::StoreError;

use crate::error::Doing as _;

/// A schema of ours, and how a file comes by it.
#[derive(Debug)]
pub(crate) struct Schema {
    /// What marks a file as one of it (`application_id`).
    owner: i64,
    /// What leads from nothing to the newest, one number at a time. Each script sets its number itself (`user_version`), within the
    /// transaction that it runs in.
    ///
    /// sqlx has a runner of its own; it takes no lock on SQLite, so that two processes that start together would collide.
    scripts: &'static [&'static str],
}

/// Of what is remembered.
pub(crate) const STORE: Schema = Schema {
    // "GWST"
    owner: 0x4757_5354,
    scripts: &[
        include_str!("../../migrations/sqlite/0001_failures.sql"),
        include_str!("../../migrations/sqlite/0002_working_day.sql"),
        include_str!("../../migrations/sqlite/0003_context.sql"),
        include_str!("../../migrations/sqlite/0004_uses.sql"),
    ],
};

/// Of indexes of libraries.
pub(crate) const LIBRARY: Schema = Schema {
    // "GWLI"
    owner: 0x4757_4C49,
    scripts: &[include_str!("../../migrations/library/0001_indexes.sql")],
};

/// The number of the newest schema of a store.
pub(crate) const NEWEST: i64 = STORE.newest();

impl Schema {
    /// The number of the newest.
    #[allow(clippy::cast_possible_wrap, reason = "a handful of scripts")]
    pub(crate) const fn newest(&self) -> i64 {
        self.scripts.len() as i64
    }

    /// The schema's number, when the file is one of ours or empty. To be asked within a transaction.
    async fn version(&self, connection: &mut SqliteConnection) -> Result<i64, StoreError> {
        let doing = "the schema's number was read";
        let version: i64 =
            sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await.doing(doing)?;
        let owner: i64 =
            sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await.doing(doing)?;
        if owner != self.owner {
            let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
                .fetch_one(&mut *connection)
                .await
                .doing(doing)?;
            if (owner, version, tables) != (0, 0, 0) {
                return Err(StoreError::Foreign);
            }
        }
        self.known(version).map(|()| version)
    }

    fn known(&self, found: i64) -> Result<(), StoreError> {
        let known = self.newest();
        if found > known { Err(StoreError::NewerSchema { found, known }) } else { Ok(()) }
    }

    /// Refuses a file that is not ours or too new, without changing anything in it.
    pub(super) async fn look(&self, reading: &SqliteConnectOptions) -> Result<(), StoreError> {
        use sqlx::Connection as _;
        let doing = "the store was looked at";
        let mut connection = reading.connect().await.doing(doing)?;
        // One state of it: half of what another process is just making would look like a database of something else.
        let mut tx = connection.begin().await.doing(doing)?;
        let looked = self.version(&mut tx).await.map(|_| ());
        tx.rollback().await.doing(doing)?;
        connection.close().await.doing(doing)?;
        looked
    }

    /// Refuses a schema that another program changed meanwhile.
    pub(super) async fn check(&self, connection: &mut SqliteConnection) -> Result<(), StoreError> {
        let found: i64 = sqlx::query_scalar("PRAGMA user_version")
            .fetch_one(connection)
            .await
            .doing("the schema's number was read")?;
        self.known(found)
    }

    /// Brings the schema up to date, all of it or nothing; who comes second finds it done.
    pub(super) async fn migrate(&self, writer: &SqlitePool) -> Result<(), StoreError> {
        let doing = "the schema was brought up to date";
        let mut tx = writer.begin_with("BEGIN IMMEDIATE").await.doing(doing)?;
        let found = self.version(&mut tx).await?;
        for script in self.scripts.iter().skip(usize::try_from(found).unwrap_or(0)) {
            sqlx::raw_sql(*script).execute(&mut *tx).await.doing(doing)?;
        }
        tx.commit().await.doing(doing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_sets_its_own_number_last() {
        for schema in [STORE, LIBRARY] {
            for (script, number) in schema.scripts.iter().zip(1..) {
                assert!(script.trim_end().ends_with(&format!("PRAGMA user_version = {number};")), "{number}");
            }
            assert!(schema.scripts[0].contains(&format!("PRAGMA application_id = {};", schema.owner)));
        }
        assert!(STORE.scripts[1].contains(words::FTS5_TOKENIZE), "words are indexed as they were analysed");
    }
}
