//! Reading in.

use std::io::{BufRead, Seek};

use store_api::StoreError;

use super::export::{body, patient};
use super::reader::{self, Reader};
use super::row::{Read, Row, spell_cells};
use super::tables::{TABLES, Table};
use super::{TransferError, Transferred};
use crate::error::damaged;
use crate::notes::save_tags;
use crate::search::Indexed;
use crate::sql::{Conn, values};
use crate::{Database, Store};

const DOING: &str = "an export was taken in";

/// Most rows, and bytes of rows but for the last, that go into the database at once.
const ROWS: usize = 500;
const BYTES: usize = 1_024 * 1_024;

pub(super) async fn import(
    store: &Store,
    from: &mut (impl BufRead + Seek + Send),
) -> Result<Transferred, TransferError> {
    // Whole, before anybody waits for the database.
    let checked = reader::whole(from)?;
    let mut tx = store.write(DOING).await?;
    patient(&mut tx).await?;
    if tx.is_pg() {
        tx.execute(LOCK, Vec::new()).await?;
    }
    empty(&mut tx).await?;
    let is_indexed_last = tx.is_pg() && tx.maybe(OWNED, Vec::new()).await?.is_some();
    if is_indexed_last {
        tx.execute("DROP INDEX note_words_by_word", Vec::new()).await?;
    }
    let mut reader = Reader::begin(from)?;
    let schema = reader.schema();
    let mut batch = Batch::default();
    while let Some(read) = reader.next()? {
        if batch.table.is_some_and(|table| table.name != read.table.name) || batch.is_full() {
            batch.flush(&mut tx).await?;
        }
        batch.add(&read, schema)?;
    }
    batch.flush(&mut tx).await?;
    number_on(&mut tx).await?;
    if is_indexed_last {
        tx.execute("SET LOCAL maintenance_work_mem = '256MB'", Vec::new()).await?;
        tx.execute(INDEXED, Vec::new()).await?;
    }
    if tx.is_pg() {
        // Until it has looked at what is in them, the planner takes tables for empty.
        tx.execute("ANALYZE notes, note_words, note_tags, sessions, handoffs, documents", Vec::new()).await?;
    }
    // What went in must come out again, and the file must have stayed what it was.
    let back = body(&mut tx, schema, &mut std::io::sink()).await?;
    if reader.done() != checked || back != checked {
        let why = "its rows did not come back from the database as they were".to_owned();
        return Err(TransferError::Contents { why });
    }
    tx.commit().await?;
    if let Database::Pg(postgres) = &store.database {
        postgres.settle().await;
    }
    Ok(checked)
}

/// Nobody else writes until it is done. A test holds it to [`TABLES`].
const LOCK: &str = "LOCK TABLE runs, tests, failures, lines, sessions, handoffs, checkpoints, notes, note_tags, note_words, documents, machines, idempotency, api_keys, texts, outbox, renamed, used_patterns, pattern_uses IN SHARE ROW EXCLUSIVE MODE";

/// Whether the index of words may be made last: seven times as fast as word by word. Who does not own the table cannot.
const OWNED: &str =
    "SELECT 1 FROM pg_catalog.pg_class WHERE oid = 'note_words'::regclass AND pg_has_role(relowner, 'USAGE')";
/// As the migration has it; a test compares them.
const INDEXED: &str =
    "CREATE INDEX note_words_by_word ON note_words USING gin (words) WITH (fastupdate = off)";

async fn empty(tx: &mut Conn) -> Result<(), TransferError> {
    for table in TABLES {
        if tx.one(table.count, Vec::new()).await?.int()? > 0 {
            return Err(TransferError::NotEmpty { table: table.name });
        }
    }
    Ok(())
}

/// Rows of one table that go in together.
#[derive(Default)]
struct Batch {
    table: Option<&'static Table>,
    /// As a JSON list that is not closed yet.
    json: Vec<u8>,
    rows: usize,
    notes: Vec<Derived>,
}

/// What of a note is derived.
struct Derived {
    number: i64,
    place: i64,
    tags: Vec<String>,
    indexed: Indexed,
}

impl Batch {
    const fn is_full(&self) -> bool {
        self.rows >= ROWS || self.json.len() >= BYTES
    }

    fn add(&mut self, read: &Read, schema: i64) -> Result<(), TransferError> {
        self.json.push(if self.rows == 0 { b'[' } else { b',' });
        spell_cells(&mut self.json, read.table, schema, &read.cells).map_err(damaged)?;
        self.rows += 1;
        self.table = Some(read.table);
        if read.table.name == "notes" {
            let row = Row { table: read.table, cells: &read.cells };
            self.notes.push(derived(&row).map_err(|why| damaged(format!("a note: {why}")))?);
        }
        Ok(())
    }

    async fn flush(&mut self, tx: &mut Conn) -> Result<(), TransferError> {
        let Self { table, mut json, rows, notes } = std::mem::take(self);
        let Some(table) = table else { return Ok(()) };
        json.push(b']');
        let json = String::from_utf8(json).map_err(damaged)?;
        let taken = tx.execute(table.take, values![json]).await.map_err(contradicts)?;
        if usize::try_from(taken).ok() != Some(rows) {
            let why = format!("{} took {taken} rows of {rows}", table.name);
            return Err(TransferError::Contradiction(why));
        }
        let tags: Vec<_> = notes.iter().map(|note| (note.number, note.tags.as_slice())).collect();
        save_tags(tx, &tags).await?;
        let words: Vec<_> = notes.into_iter().map(|note| (note.place, note.indexed)).collect();
        Indexed::keep_all(tx, &words).await?;
        Ok(())
    }
}

fn derived(row: &Row<'_>) -> Result<Derived, String> {
    let tags: Vec<String> = serde_json::from_str(row.text("tags")?).map_err(|error| error.to_string())?;
    let (title, content) = (row.text("title")?, row.text("content")?);
    let indexed = Indexed::of(row.maybe_text("venture")?, title, &tags, content, row.int("archived")? != 0);
    Ok(Derived { number: row.int("number")?, place: row.int("place")?, tags, indexed })
}

/// What is not unique that must be, or refers to what is not there.
fn contradicts(error: StoreError) -> TransferError {
    let StoreError::Driver { source, .. } = &error else { return error.into() };
    let database = source.downcast_ref::<sqlx::Error>().and_then(sqlx::Error::as_database_error);
    let contradiction = database.filter(|error| {
        error.is_unique_violation() || error.is_foreign_key_violation() || error.is_check_violation()
    });
    match contradiction {
        Some(contradiction) => TransferError::Contradiction(contradiction.message().to_owned()),
        None => error.into(),
    }
}

/// In SQLite the next number is beyond all that were ever given; failures also name runs that are forgotten.
const RUNS_LITE: [&str; 2] = [
    "UPDATE sqlite_sequence SET seq = max(seq, (SELECT coalesce(max(failed_run), 0) FROM failures)) WHERE name = 'runs'",
    "INSERT INTO sqlite_sequence (name, seq) SELECT 'runs', max(failed_run) FROM failures
     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'runs') HAVING count(*) > 0",
];

/// The same in PostgreSQL, where sequences know nothing of rows; then the places of notes.
const ON_PG: [&str; 2] = [
    "SELECT setval(pg_get_serial_sequence('runs', 'number'), greatest((SELECT max(number) FROM runs), (SELECT max(failed_run) FROM failures)))",
    "SELECT setval('note_places', (SELECT max(place) FROM notes))",
];

/// What is written from now on gets numbers of its own.
async fn number_on(tx: &mut Conn) -> Result<(), TransferError> {
    let statements: Vec<&'static str> = if tx.is_pg() {
        TABLES.iter().filter_map(|table| table.number_on).chain(ON_PG).collect()
    } else {
        RUNS_LITE.to_vec()
    };
    for statement in statements {
        tx.execute(statement, Vec::new()).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::LEFT_OUT;

    #[test]
    fn every_table_that_is_taken_in_or_derived_is_kept_from_others() {
        let derived = LEFT_OUT.iter().filter(|(_, why)| why.starts_with("derived")).map(|(name, _)| *name);
        for name in TABLES.iter().map(|table| table.name).chain(derived) {
            assert!(LOCK.contains(&format!(" {name},")) || LOCK.contains(&format!(" {name} IN")), "{name}");
        }
    }

    #[test]
    fn the_index_that_is_made_last_is_the_migrations() {
        let migration = include_str!("../../migrations/postgres/0002_working_day.sql");
        assert!(migration.contains(&format!("{INDEXED};")));
    }
}
