//! Indexes of libraries in a database of their own: of files of this machine, so never in a server that several share.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use store_api::index::{
    Changes, Document, Facts, Head, Indexes, Known, LISTED_AT_ONCE, MAX_AT_ONCE, Piece, Span, Term, Wanted,
    Whose,
};
use store_api::{Answer, Clock, StoreError};

use crate::absolute;
use crate::lite::Sqlite;
use crate::sql::{Conn, Fields, Sql, values};

/// How long a generation may take that is not finished, in milliseconds.
const UNFINISHED: i64 = 60 * 60 * 1_000;

/// Indexes of libraries in a file of SQLite. Clones share their connections.
///
/// A write that was answered may be lost by a power cut: what is lost is made anew.
#[derive(Clone)]
pub struct IndexStore {
    sqlite: Arc<Sqlite>,
    clock: Clock,
}

impl IndexStore {
    /// In the file `path`, which must be absolute and in a folder of the program's own. Nothing is opened: the first call makes what
    /// is missing (the folder 0700, the file 0600). Calls need a tokio runtime with time.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        absolute(path)?;
        let sqlite = Arc::new(Sqlite::library(path.to_owned()));
        Ok(Self { sqlite, clock: Arc::new(|| jiff::Timestamp::now().into()) })
    }

    /// The same indexes by another clock.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Closes the connections when their calls have ended. A later call opens the file again.
    pub async fn close(&self) {
        self.sqlite.close().await;
    }

    async fn read(&self, doing: &'static str) -> Result<Conn, StoreError> {
        self.ask(How::Read, doing).await
    }

    async fn single(&self, doing: &'static str) -> Result<Conn, StoreError> {
        self.ask(How::Single, doing).await
    }

    async fn write(&self, doing: &'static str) -> Result<Conn, StoreError> {
        self.ask(How::Write, doing).await
    }

    async fn ask(&self, how: How, doing: &'static str) -> Result<Conn, StoreError> {
        match self.ask_once(how, doing).await {
            Err(error) if is_useless(&error) => {
                self.sqlite.start_over().await?;
                self.ask_once(how, doing).await
            }
            done => done,
        }
    }

    async fn ask_once(&self, how: How, doing: &'static str) -> Result<Conn, StoreError> {
        match how {
            How::Read => self.sqlite.read(doing).await,
            How::Single => self.sqlite.single(doing).await,
            How::Write => self.sqlite.write(doing).await,
        }
    }
}

/// What a connection is for.
#[derive(Debug, Clone, Copy)]
enum How {
    /// Several questions of one state.
    Read,
    /// Single questions.
    Single,
    Write,
}

/// Whether the file is of no use: it is damaged, or a newer program's. It has nothing that is not made anew.
const fn is_useless(error: &StoreError) -> bool {
    matches!(error, StoreError::Damaged(_) | StoreError::NewerSchema { .. })
}

/// Where a row of a generation is. [`at`] turns it back.
fn id(generation: i64, number: u32) -> i64 {
    generation.wrapping_shl(32) | i64::from(number)
}

/// The number in its generation of a row.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the low half is the number")]
const fn number(id: i64) -> u32 {
    id as u32
}

/// The numbers as a JSON list of ids.
fn ids(generation: i64, numbers: &[u32]) -> Result<String, StoreError> {
    few(numbers.len())?;
    crate::error::json(&numbers.iter().map(|number| id(generation, *number)).collect::<Vec<_>>())
}

fn few(got: usize) -> Result<(), StoreError> {
    if got > MAX_AT_ONCE {
        return Err(StoreError::TooLarge { what: "a part of an index", got, most: MAX_AT_ONCE });
    }
    Ok(())
}

fn read_known(row: &mut Fields<'_>) -> Result<Known, StoreError> {
    Ok(Known {
        id: row.text()?,
        main: row.text()?,
        state: row.text()?,
        stated: row.count()?,
        verified: row.int()? != 0,
        wrong: u32::try_from(row.int()?).unwrap_or(u32::MAX),
    })
}

fn read_document(row: &mut Fields<'_>) -> Result<Document, StoreError> {
    Ok(Document { known: read_known(row)?, facts: row.text()? })
}

/// A document as it comes in a list.
#[derive(Deserialize)]
struct Listed(String, String, String, i64, i64, i64, String);

impl From<Listed> for Document {
    fn from(Listed(id, main, state, stated, verified, wrong, facts): Listed) -> Self {
        let (stated, wrong) = (stated.unsigned_abs(), u32::try_from(wrong).unwrap_or(u32::MAX));
        Self { known: Known { id, main, state, stated, verified: verified != 0, wrong }, facts }
    }
}

fn read_span(row: &mut Fields<'_>) -> Result<Span, StoreError> {
    Ok(Span { number: number(row.int()?), terms: row.bytes()? })
}

fn read_int(row: &mut Fields<'_>) -> Result<i64, StoreError> {
    row.int()
}

fn read_bytes(row: &mut Fields<'_>) -> Result<Vec<u8>, StoreError> {
    row.bytes()
}

/// All rows of an answer.
async fn list<T>(
    tx: &mut Conn,
    sql: impl Into<Sql>,
    values: Vec<crate::sql::Value>,
    read: impl Fn(&mut Fields<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    tx.rows(sql, values).await?.iter().map(|row| read(&mut row.fields())).collect()
}

/// Documents from one row with a list of them, by id: each row comes by itself from SQLite's thread, and wakes this one.
async fn listed(
    tx: &mut Conn,
    sql: &'static str,
    values: Vec<crate::sql::Value>,
) -> Result<Vec<Document>, StoreError> {
    let row = tx.one(sql, values).await?;
    let mut all: Vec<Listed> = serde_json::from_str(&row.fields().text()?)
        .map_err(|error| StoreError::Damaged(error.to_string()))?;
    all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(all.into_iter().map(Document::from).collect())
}

async fn put_document(tx: &mut Conn, generation: i64, document: &Document) -> Result<(), StoreError> {
    let Document { known, facts } = document;
    let put = "INSERT INTO documents (generation, id, main, state, stated, verified, wrong, facts)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
               ON CONFLICT DO UPDATE SET main = excluded.main, state = excluded.state, stated = excluded.stated,
                 verified = excluded.verified, wrong = excluded.wrong, facts = excluded.facts";
    let stated = i64::try_from(known.stated).unwrap_or(i64::MAX);
    let row =
        values![generation, &known.id, &known.main, &known.state, stated, known.verified, known.wrong, facts];
    tx.execute(put, row).await.map(|_| ())
}

/// Takes what nobody will ask for again away.
async fn drop_generation(tx: &mut Conn, generation: i64) -> Result<(), StoreError> {
    let (from, to) = (id(generation, 0), id(generation, u32::MAX));
    tx.execute("DELETE FROM terms WHERE id BETWEEN $1 AND $2", values![from, to]).await?;
    tx.execute("DELETE FROM spans WHERE id BETWEEN $1 AND $2", values![from, to]).await?;
    tx.execute("DELETE FROM dead WHERE id BETWEEN $1 AND $2", values![from, to]).await?;
    tx.execute("DELETE FROM documents WHERE generation = $1", values![generation]).await?;
    tx.execute("DELETE FROM changed WHERE generation = $1", values![generation]).await?;
    tx.execute("DELETE FROM generations WHERE id = $1", values![generation]).await.map(|_| ())
}

/// The generation and epoch of a library's index.
async fn there(tx: &mut Conn, whose: &Whose) -> Result<Option<(i64, i64)>, StoreError> {
    let one = "SELECT generation, epoch FROM libraries WHERE place = $1 AND name = $2";
    let row = tx.maybe(one, values![&whose.place, &whose.name]).await?;
    row.map(|row| {
        let mut row = row.fields();
        Ok((row.int()?, row.int()?))
    })
    .transpose()
}

impl Indexes for IndexStore {
    fn epoch(&self, whose: Whose) -> Answer<Option<i64>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.single("an index was looked for").await?;
            Ok(there(&mut tx, &whose).await?.map(|(_, epoch)| epoch))
        })
    }

    fn head(&self, whose: Whose) -> Answer<Option<Head>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.read("an index was read").await?;
            let one = "SELECT generation, epoch, format, vocabulary, columns, notes FROM libraries
                       WHERE place = $1 AND name = $2";
            let Some(row) = tx.maybe(one, values![&whose.place, &whose.name]).await? else { return Ok(None) };
            let mut row = row.fields();
            let (generation, epoch) = (row.int()?, row.int()?);
            let format = u32::try_from(row.int()?).unwrap_or(u32::MAX);
            let facts = Facts { format, vocabulary: row.bytes()?, columns: row.bytes()?, notes: row.text()? };
            let dead = "SELECT id, terms FROM dead WHERE id BETWEEN $1 AND $2 ORDER BY id";
            let of_it = values![id(generation, 0), id(generation, u32::MAX)];
            let dead = list(&mut tx, dead, of_it, read_span).await?;
            let changed = "SELECT analysed FROM changed WHERE generation = $1 ORDER BY id";
            let changed = list(&mut tx, changed, values![generation], read_bytes).await?;
            Ok(Some(Head { generation, epoch, facts, dead, changed }))
        })
    }

    fn terms(&self, generation: i64, wanted: Vec<Wanted>) -> Answer<Vec<Term>> {
        let store = self.clone();
        Box::pin(async move {
            let numbers = |with: bool| -> Vec<u32> {
                let some = wanted.iter().filter(|term| term.positions == with);
                some.map(|term| term.number).collect()
            };
            let (without, with) = (ids(generation, &numbers(false))?, ids(generation, &numbers(true))?);
            few(wanted.len())?;
            let mut tx = store.single("terms of an index were read").await?;
            // The pages of positions that are not asked for are not read.
            let some = "SELECT id, postings, x'' FROM terms WHERE id IN (SELECT value FROM json_each($1))
                        UNION ALL
                        SELECT id, postings, positions FROM terms WHERE id IN (SELECT value FROM json_each($2))";
            let read = |row: &mut Fields<'_>| {
                Ok(Term { number: number(row.int()?), postings: row.bytes()?, positions: row.bytes()? })
            };
            let mut terms = list(&mut tx, some, values![without, with], read).await?;
            terms.sort_unstable_by_key(|term| term.number);
            Ok(terms)
        })
    }

    fn spans(&self, generation: i64, numbers: Vec<u32>) -> Answer<Vec<Span>> {
        let store = self.clone();
        Box::pin(async move {
            let ids = ids(generation, &numbers)?;
            let mut tx = store.single("documents of an index were read").await?;
            let some =
                "SELECT id, terms FROM spans WHERE id IN (SELECT value FROM json_each($1)) ORDER BY id";
            list(&mut tx, some, values![ids], read_span).await
        })
    }

    fn documents(&self, generation: i64, ids: Vec<String>) -> Answer<Vec<Document>> {
        let store = self.clone();
        Box::pin(async move {
            few(ids.len())?;
            let mut tx = store.single("documents of an index were read").await?;
            let all = "SELECT json_group_array(json_array(id, main, state, stated, verified, wrong, facts))
                       FROM documents WHERE generation = $1 AND id IN (SELECT value FROM json_each($2))";
            listed(&mut tx, all, values![generation, crate::error::json(&ids)?]).await
        })
    }

    fn known(&self, generation: i64, after: Option<String>) -> Answer<Vec<Known>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.single("documents of an index were listed").await?;
            let next = "SELECT json_group_array(json_array(id, main, state, stated, verified, wrong, ''))
                        FROM (SELECT id, main, state, stated, verified, wrong FROM documents WHERE generation = $1 AND id > $2 ORDER BY id LIMIT $3)";
            let most = i64::try_from(LISTED_AT_ONCE).unwrap_or(i64::MAX);
            // Nothing is called by an empty name.
            let next = listed(&mut tx, next, values![generation, after.unwrap_or_default(), most]).await?;
            Ok(next.into_iter().map(|document| document.known).collect())
        })
    }

    fn wrong(&self, generation: i64, most: u32) -> Answer<Vec<Document>> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.single("what is wrong in a library was listed").await?;
            let some = "SELECT id, main, state, stated, verified, wrong, facts FROM documents
                        WHERE generation = $1 AND wrong > 0 ORDER BY main LIMIT $2";
            list(&mut tx, some, values![generation, most], read_document).await
        })
    }

    fn begin(&self) -> Answer<i64> {
        let store = self.clone();
        Box::pin(async move {
            let now = (store.clock)().as_millis();
            let mut tx = store.write("an index was begun").await?;
            let left = "SELECT id FROM generations WHERE begun < $1 AND id NOT IN (SELECT generation FROM libraries)";
            for left in list(&mut tx, left, values![now.saturating_sub(UNFINISHED)], read_int).await? {
                drop_generation(&mut tx, left).await?;
            }
            let begun =
                tx.one("INSERT INTO generations (begun) VALUES ($1) RETURNING id", values![now]).await?;
            let generation = begun.int()?;
            tx.commit().await?;
            Ok(generation)
        })
    }

    fn put(&self, generation: i64, piece: Piece) -> Answer<()> {
        let store = self.clone();
        Box::pin(async move {
            few(piece.len())?;
            let now = (store.clock)().as_millis();
            let mut tx = store.write("a part of an index was written").await?;
            // It is being worked at; one that was taken for left is not there any more.
            let on = "UPDATE generations SET begun = $1 WHERE id = $2 AND id NOT IN (SELECT generation FROM libraries)";
            if tx.execute(on, values![now, generation]).await? == 0 {
                return Err(StoreError::NotFound { what: "unfinished index", id: generation.to_string() });
            }
            match piece {
                Piece::Documents(all) => {
                    for document in &all {
                        put_document(&mut tx, generation, document).await?;
                    }
                }
                Piece::Terms(all) => {
                    let put = "INSERT INTO terms (id, postings, positions) VALUES ($1, $2, $3)";
                    for Term { number, postings, positions } in all {
                        tx.execute(put, values![id(generation, number), postings, positions]).await?;
                    }
                }
                Piece::Spans(all) => {
                    let put = "INSERT INTO spans (id, terms) VALUES ($1, $2)";
                    for Span { number, terms } in all {
                        tx.execute(put, values![id(generation, number), terms]).await?;
                    }
                }
            }
            tx.commit().await
        })
    }

    fn finish(&self, whose: Whose, expected: Option<i64>, generation: i64, facts: Facts) -> Answer<i64> {
        let store = self.clone();
        Box::pin(async move {
            whose.check()?;
            let mut tx = store.write("an index was finished").await?;
            let before = there(&mut tx, &whose).await?;
            let found = before.map(|(_, epoch)| epoch);
            if found != expected {
                drop_generation(&mut tx, generation).await?;
                tx.commit().await?;
                return Err(StoreError::Stale {
                    found: found.unwrap_or_default(),
                    expected: expected.unwrap_or_default(),
                });
            }
            if let Some((old, _)) = before {
                drop_generation(&mut tx, old).await?;
            }
            let epoch = found.unwrap_or_default().saturating_add(1);
            let put = "INSERT INTO libraries (place, name, generation, epoch, format, vocabulary, columns, notes)
                       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                       ON CONFLICT DO UPDATE SET generation = excluded.generation, epoch = excluded.epoch,
                         format = excluded.format, vocabulary = excluded.vocabulary, columns = excluded.columns,
                         notes = excluded.notes";
            let Facts { format, vocabulary, columns, notes } = facts;
            let row = values![whose.place, whose.name, generation, epoch, format, vocabulary, columns, notes];
            tx.execute(put, row).await?;
            tx.commit().await?;
            Ok(epoch)
        })
    }

    fn change(&self, whose: Whose, expected: i64, changes: Changes) -> Answer<i64> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.write("an index was changed").await?;
            let Some((generation, found)) = there(&mut tx, &whose).await? else {
                return Err(StoreError::Stale { found: 0, expected });
            };
            if found != expected {
                return Err(StoreError::Stale { found, expected });
            }
            for Span { number, terms } in changes.dead {
                let put = "INSERT INTO dead (id, terms) VALUES ($1, $2) ON CONFLICT DO NOTHING";
                tx.execute(put, values![id(generation, number), terms]).await?;
            }
            for gone in &changes.gone {
                tx.execute(
                    "DELETE FROM documents WHERE generation = $1 AND id = $2",
                    values![generation, gone],
                )
                .await?;
                tx.execute(
                    "DELETE FROM changed WHERE generation = $1 AND id = $2",
                    values![generation, gone],
                )
                .await?;
            }
            for (document, analysed) in changes.put {
                put_document(&mut tx, generation, &document).await?;
                let Some(analysed) = analysed else { continue };
                let put = "INSERT INTO changed (generation, id, analysed) VALUES ($1, $2, $3)
                           ON CONFLICT DO UPDATE SET analysed = excluded.analysed";
                tx.execute(put, values![generation, &document.known.id, analysed]).await?;
            }
            let on =
                "UPDATE libraries SET epoch = epoch + 1, notes = $1 WHERE generation = $2 RETURNING epoch";
            let epoch = tx.one(on, values![changes.notes, generation]).await?.int()?;
            tx.commit().await?;
            Ok(epoch)
        })
    }

    fn forget(&self, whose: Whose) -> Answer<()> {
        let store = self.clone();
        Box::pin(async move {
            let mut tx = store.write("an index was let go of").await?;
            if let Some((generation, _)) = there(&mut tx, &whose).await? {
                drop_generation(&mut tx, generation).await?;
                let away = "DELETE FROM libraries WHERE generation = $1";
                tx.execute(away, values![generation]).await?;
            }
            tx.commit().await
        })
    }
}
