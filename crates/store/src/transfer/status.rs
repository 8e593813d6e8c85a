//! What there is.

use super::TransferError;
use super::tables::TABLES;
use crate::{Database, NEWEST, Store};

/// What a store is, and how much is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// `sqlite` or `postgresql`.
    pub kind: &'static str,
    /// Its file, or the database's name, server and user. Never a password.
    pub place: String,
    /// The number of its schema.
    pub schema: i64,
    /// Rows by table, in the order of [`TABLES`].
    pub rows: Vec<(&'static str, u64)>,
    /// Bytes on disk, indexes included.
    pub bytes: u64,
}

impl Store {
    /// What it is, and how much is in it. All rows are counted.
    pub async fn status(&self) -> Result<Status, TransferError> {
        let mut tx = self.read("the store was looked at").await?;
        let mut rows = Vec::with_capacity(TABLES.len());
        for table in TABLES {
            rows.push((table.name, tx.one(table.count, Vec::new()).await?.fields().count()?));
        }
        let bytes = tx.one(BYTES, Vec::new()).await?.fields().count()?;
        Ok(Status { kind: self.kind(), place: self.place(), schema: NEWEST, rows, bytes })
    }

    /// Its file, or the database's name, server and user. Never a password.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.database {
            Database::Lite(sqlite) => sqlite.path().display().to_string(),
            Database::Pg(postgres) => postgres.place(),
        }
    }
}

/// Pages that are used by the file, or relations of our schema.
const BYTES: crate::sql::Sql = crate::sql::Sql::new(
    "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_catalog.pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'",
);
