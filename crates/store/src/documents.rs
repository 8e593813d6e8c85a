//! Documents in tables.

use store_api::document::{Document, DocumentRow, Index, NewDocument, Origin, placed};
use store_api::history::check_limit;
use store_api::{Answer, Documents, StoreError, Timestamp};

use crate::Store;
use crate::error::json;
use crate::once::Write;
use crate::sql::{Conn, Fields, sql, values};

const ASKING: &str = "documents were read";

/// A statement with the columns that [`read_row`] reads.
macro_rules! row {
    ($before:literal, $($after:tt)+) => {
        sql!($before "scope, name, title, version, origin, sha256, updated" $($after)+)
    };
}

/// A statement with the columns that [`read`] reads.
macro_rules! whole {
    ($before:literal, $($after:tt)+) => { row!($before, ", content, sources" $($after)+) };
}

impl Documents for Store {
    fn put(&self, document: NewDocument) -> Answer<Document> {
        self.plain(document)
    }

    fn document(&self, scope: String, name: String) -> Answer<Option<Document>> {
        let store = self.clone();
        Box::pin(async move {
            placed(&scope, &name)?;
            let mut tx = store.read(ASKING).await?;
            let one = whole!("SELECT ", " FROM documents WHERE scope = $1 AND name = $2");
            tx.maybe(one, values![scope, name]).await?.map(|row| read(&mut row.fields())).transpose()
        })
    }

    fn index(&self, scopes: Vec<String>, limit: u32) -> Answer<Index> {
        let store = self.clone();
        Box::pin(async move { index(&store, &scopes, limit).await })
    }

    fn remove(&self, scope: String, name: String) -> Answer<bool> {
        self.plain(Remove { scope, name })
    }
}

fn read_row(row: &mut Fields<'_>) -> Result<DocumentRow, StoreError> {
    Ok(DocumentRow {
        scope: row.text()?,
        name: row.text()?,
        title: row.text()?,
        version: row.int()?,
        origin: row.parsed(Origin::of)?,
        sha256: row.text()?,
        updated: row.time()?,
    })
}

fn read(row: &mut Fields<'_>) -> Result<Document, StoreError> {
    Ok(Document {
        row: read_row(row)?,
        content: row.text()?,
        sources: row.parsed(|sources| serde_json::from_str(sources).ok())?,
    })
}

impl Write for NewDocument {
    type Answer = Document;
    const DOING: &'static str = "a document was kept";

    fn check(&self) -> Result<(), StoreError> {
        Self::check(self)
    }

    async fn write(&self, tx: &mut Conn, now: Timestamp) -> Result<Document, StoreError> {
        // A name that is not there yet has no row to lock.
        tx.lock(&format!("document {}/{}", self.scope, self.name)).await?;
        let one = whole!("SELECT ", " FROM documents WHERE scope = $1 AND name = $2"[lock]);
        let known = tx.maybe(one, values![&self.scope, &self.name]).await?;
        let known = known.map(|row| read(&mut row.fields())).transpose()?;
        let found = known.as_ref().map_or(0, |known| known.row.version);
        if let Some(expected) = self.expected.filter(|expected| *expected != found) {
            return Err(StoreError::Stale { found, expected });
        }
        if let Some(known) = known {
            if known.row.origin == Origin::Written && self.origin == Origin::Generated {
                return Err(StoreError::Exists { what: "document" });
            }
            let is_same = known.content == self.content
                && known.row.title == self.title
                && known.row.origin == self.origin
                && known.sources == self.sources;
            if is_same {
                return Ok(known);
            }
        }
        let put = whole!(
            "INSERT INTO documents (scope, name, title, version, origin, sha256, updated, content, sources)
             VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8)
             ON CONFLICT (scope, name) DO UPDATE SET title = excluded.title, version = documents.version + 1,
                    origin = excluded.origin, sha256 = excluded.sha256, updated = excluded.updated,
                    content = excluded.content, sources = excluded.sources
             RETURNING ",
            ""
        );
        let row = values![
            &self.scope,
            &self.name,
            &self.title,
            self.origin.word(),
            self.digest().to_string(),
            now,
            &self.content,
            json(&self.sources)?,
        ];
        read(&mut tx.one(put, row).await?.fields())
    }
}

async fn index(store: &Store, scopes: &[String], limit: u32) -> Result<Index, StoreError> {
    check_limit(limit)?;
    scopes.iter().try_for_each(|scope| placed(scope, "name"))?;
    let scopes = json(scopes)?;
    let mut tx = store.read(ASKING).await?;
    let count = sql!("SELECT count(*) FROM documents WHERE scope IN " [texts "$1"]);
    let total = tx.one(count, values![&scopes]).await?.fields().count()?;
    let list =
        row!("SELECT ", " FROM documents WHERE scope IN " [texts "$1"] " ORDER BY scope, name LIMIT $2");
    let rows = tx.rows(list, values![scopes, limit]).await?;
    let rows = rows.iter().map(|row| read_row(&mut row.fields())).collect::<Result<_, _>>()?;
    Ok(Index { rows, total })
}

struct Remove {
    scope: String,
    name: String,
}

impl Write for Remove {
    type Answer = bool;
    const DOING: &'static str = "a document was removed";

    fn check(&self) -> Result<(), StoreError> {
        placed(&self.scope, &self.name)
    }

    async fn write(&self, tx: &mut Conn, _: Timestamp) -> Result<bool, StoreError> {
        let remove = "DELETE FROM documents WHERE scope = $1 AND name = $2";
        Ok(tx.execute(remove, values![&self.scope, &self.name]).await? > 0)
    }
}
