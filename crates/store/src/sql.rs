//! One way to ask, whichever database answers: statements, values, rows.
//!
//! Statements are written once. Parameters are `$1`, `$2` … in both databases; what the two spell differently stands in brackets in
//! [`sql!`]. No statement is ever put together from what was given.

use futures_util::TryStreamExt as _;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnection, PgRow, Postgres};
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteConnection, SqliteRow};
use sqlx::{Row as _, Transaction};
use store_api::{Cursor, Page, StoreError, Timestamp};

use crate::error::Doing as _;

/// A statement as each database spells it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sql {
    lite: &'static str,
    pg: &'static str,
    is_planned_anew: bool,
}

impl Sql {
    /// A statement from its spellings: what [`sql!`] makes.
    pub(crate) const fn new(lite: &'static str, pg: &'static str) -> Self {
        Self { lite, pg, is_planned_anew: false }
    }

    /// PostgreSQL plans it for the values of each time. A plan that it keeps for all values takes every question for a rare one, and
    /// reads the whole table by its key to find the newest that match.
    pub(crate) const fn planned_anew(self) -> Self {
        Self { is_planned_anew: true, ..self }
    }

    /// A statement that both spell alike.
    pub(crate) const fn both(same: &'static str) -> Self {
        Self::new(same, same)
    }
}

impl From<&'static str> for Sql {
    fn from(same: &'static str) -> Self {
        Self::both(same)
    }
}

/// A statement in pieces: texts, and in brackets what is spelled differently.
///
/// - `[texts "$1"]`: a table of the texts of a JSON list, as a subquery for `IN`.
/// - `[ints "$1"]`: the same of numbers.
/// - `[column "$1"]`: a table `p` with the texts of a JSON list in its column `id`.
/// - `[rows "$1"]`: a table `j` with the values of a JSON list in its column `value`.
/// - `[next_place]`: the next place of a note.
/// - `[lock]`: keeps the rows that were read from others until the end.
/// - `[unlocked]`: leaves out rows that others keep.
macro_rules! sql {
    ($($part:tt)+) => {
        $crate::sql::Sql::new(
            concat!($($crate::sql::lite_part!($part)),+),
            concat!($($crate::sql::pg_part!($part)),+),
        )
    };
}

macro_rules! lite_part {
    ($text:literal) => {
        $text
    };
    ([texts $n:literal]) => {
        concat!("(SELECT value FROM json_each(", $n, "))")
    };
    ([ints $n:literal]) => {
        concat!("(SELECT value FROM json_each(", $n, "))")
    };
    ([column $n:literal]) => {
        concat!("(SELECT value AS id FROM json_each(", $n, ")) AS p")
    };
    ([rows $n:literal]) => {
        concat!("json_each(", $n, ") AS j")
    };
    ([next_place]) => {
        "(SELECT coalesce(max(place), 0) + 1 FROM notes)"
    };
    ([lock]) => {
        ""
    };
    ([unlocked]) => {
        ""
    };
}

macro_rules! pg_part {
    ($text:literal) => {
        $text
    };
    ([texts $n:literal]) => {
        concat!("(SELECT json_array_elements_text(", $n, "::json))")
    };
    ([ints $n:literal]) => {
        concat!("(SELECT json_array_elements_text(", $n, "::json)::bigint)")
    };
    ([column $n:literal]) => {
        concat!("json_array_elements_text(", $n, "::json) AS p(id)")
    };
    ([rows $n:literal]) => {
        concat!("json_array_elements(", $n, "::json) AS j(value)")
    };
    ([next_place]) => {
        "nextval('note_places')"
    };
    ([lock]) => {
        " FOR UPDATE"
    };
    ([unlocked]) => {
        " FOR UPDATE SKIP LOCKED"
    };
}

/// Values for a statement's parameters, in order.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::sql::Value::from($value)),*] };
}

pub(crate) use {lite_part, pg_part, sql, values};

/// A value for a parameter. A null has a type too: PostgreSQL asks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

macro_rules! into_value {
    ($($from:ty => $value:ident, $how:expr;)*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                let how: fn($from) -> Option<_> = $how;
                Self::$value(how(value))
            }
        }
    )*};
}

into_value! {
    i64 => Int, Some;
    u32 => Int, |number| Some(i64::from(number));
    bool => Int, |is| Some(i64::from(is));
    Option<i64> => Int, |number| number;
    Timestamp => Int, |at| Some(at.as_millis());
    Option<Timestamp> => Int, |at| at.map(Timestamp::as_millis);
    &str => Text, |text| Some(text.to_owned());
    String => Text, Some;
    &String => Text, |text| Some(text.clone());
    Option<&str> => Text, |text| text.map(str::to_owned);
    Option<String> => Text, |text| text;
    &Option<String> => Text, Clone::clone;
    Vec<u8> => Bytes, Some;
}

/// A transaction, or a connection for single questions, and what it is for.
pub(crate) struct Conn {
    doing: &'static str,
    transaction: Either,
}

enum Either {
    Lite(Transaction<'static, Sqlite>),
    /// Without a transaction: each statement sees a state of its own.
    Single(PoolConnection<Sqlite>),
    Pg(Transaction<'static, Postgres>),
}

/// Who answers.
enum Asked<'c> {
    Lite(&'c mut SqliteConnection),
    Pg(&'c mut PgConnection),
}

impl Either {
    fn ask(&mut self) -> Asked<'_> {
        match self {
            Self::Lite(tx) => Asked::Lite(tx),
            Self::Single(connection) => Asked::Lite(connection),
            Self::Pg(tx) => Asked::Pg(tx),
        }
    }
}

impl From<PoolConnection<Sqlite>> for Conn {
    fn from(connection: PoolConnection<Sqlite>) -> Self {
        Self { doing: "", transaction: Either::Single(connection) }
    }
}

impl From<Transaction<'static, Sqlite>> for Conn {
    fn from(transaction: Transaction<'static, Sqlite>) -> Self {
        Self { doing: "", transaction: Either::Lite(transaction) }
    }
}

impl From<Transaction<'static, Postgres>> for Conn {
    fn from(transaction: Transaction<'static, Postgres>) -> Self {
        Self { doing: "", transaction: Either::Pg(transaction) }
    }
}

impl Conn {
    /// Says what it is for: errors name it.
    pub(crate) fn doing(self, doing: &'static str) -> Self {
        Self { doing, ..self }
    }

    /// Whether PostgreSQL answers.
    pub(crate) const fn is_pg(&self) -> bool {
        matches!(self.transaction, Either::Pg(_))
    }

    /// Waits until no other transaction has taken the same name, and takes it until the end. SQLite has one writer anyway.
    pub(crate) async fn lock(&mut self, name: &str) -> Result<(), StoreError> {
        self.advise("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", name).await
    }

    /// The same beside others who share it.
    pub(crate) async fn share(&mut self, name: &str) -> Result<(), StoreError> {
        self.advise("SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))", name).await
    }

    async fn advise(&mut self, sql: &'static str, name: &str) -> Result<(), StoreError> {
        if self.is_pg() {
            self.execute(sql, values![name]).await?;
        }
        Ok(())
    }

    /// All rows that answer.
    pub(crate) async fn rows(
        &mut self,
        sql: impl Into<Sql>,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, StoreError> {
        let rows = match self.transaction.ask() {
            Asked::Lite(tx) => {
                let rows = lite_query(sql.into(), values).fetch_all(tx).await;
                rows.map(|rows| rows.into_iter().map(Row::Lite).collect())
            }
            Asked::Pg(tx) => {
                let rows = pg_query(sql.into(), values).fetch_all(tx).await;
                rows.map(|rows| rows.into_iter().map(Row::Pg).collect())
            }
        };
        rows.doing(self.doing)
    }

    /// The first row that answers.
    pub(crate) async fn maybe(
        &mut self,
        sql: impl Into<Sql>,
        values: Vec<Value>,
    ) -> Result<Option<Row>, StoreError> {
        let row = match self.transaction.ask() {
            Asked::Lite(tx) => {
                let row = lite_query(sql.into(), values).fetch_optional(tx).await;
                row.map(|row| row.map(Row::Lite))
            }
            Asked::Pg(tx) => {
                let row = pg_query(sql.into(), values).fetch_optional(tx).await;
                row.map(|row| row.map(Row::Pg))
            }
        };
        row.doing(self.doing)
    }

    /// Each row that answers, as it comes: they are not collected. Ends with what `take` refuses.
    pub(crate) async fn each<E: From<StoreError>>(
        &mut self,
        sql: Sql,
        mut take: impl FnMut(Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let doing = self.doing;
        match self.transaction.ask() {
            Asked::Lite(tx) => {
                let mut rows = lite_query(sql, Vec::new()).fetch(tx);
                while let Some(row) = rows.try_next().await.doing(doing)? {
                    take(Row::Lite(row))?;
                }
            }
            Asked::Pg(tx) => {
                let mut rows = pg_query(sql, Vec::new()).fetch(tx);
                while let Some(row) = rows.try_next().await.doing(doing)? {
                    take(Row::Pg(row))?;
                }
            }
        }
        Ok(())
    }

    /// The row that always answers.
    pub(crate) async fn one(&mut self, sql: impl Into<Sql>, values: Vec<Value>) -> Result<Row, StoreError> {
        let doing = self.doing;
        let row = self.maybe(sql, values).await?;
        row.ok_or(sqlx::Error::RowNotFound).doing(doing)
    }

    /// Changes rows; how many.
    pub(crate) async fn execute(
        &mut self,
        sql: impl Into<Sql>,
        values: Vec<Value>,
    ) -> Result<u64, StoreError> {
        let done = match self.transaction.ask() {
            Asked::Lite(tx) => {
                let done = lite_query(sql.into(), values).execute(tx).await;
                done.map(|done| done.rows_affected())
            }
            Asked::Pg(tx) => {
                let done = pg_query(sql.into(), values).execute(tx).await;
                done.map(|done| done.rows_affected())
            }
        };
        done.doing(self.doing)
    }

    /// Runs a script of several statements.
    pub(crate) async fn script(&mut self, script: &'static str) -> Result<(), StoreError> {
        let done = match self.transaction.ask() {
            Asked::Lite(tx) => sqlx::raw_sql(script).execute(tx).await.map(|_| ()),
            Asked::Pg(tx) => sqlx::raw_sql(script).execute(tx).await.map(|_| ()),
        };
        done.doing(self.doing)
    }

    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        let done = match self.transaction {
            Either::Lite(tx) => tx.commit().await,
            Either::Single(_) => Ok(()),
            Either::Pg(tx) => tx.commit().await,
        };
        done.doing(self.doing)
    }
}

fn lite_query(sql: Sql, values: Vec<Value>) -> Query<'static, Sqlite, SqliteArguments> {
    values.into_iter().fold(sqlx::query(sql.lite), |query, value| match value {
        Value::Int(number) => query.bind(number),
        Value::Text(text) => query.bind(text),
        Value::Bytes(bytes) => query.bind(bytes),
    })
}

fn pg_query(sql: Sql, values: Vec<Value>) -> Query<'static, Postgres, PgArguments> {
    let query = sqlx::query(sql.pg).persistent(!sql.is_planned_anew);
    values.into_iter().fold(query, |query, value| match value {
        Value::Int(number) => query.bind(number),
        Value::Text(text) => query.bind(text),
        Value::Bytes(bytes) => query.bind(bytes),
    })
}

/// A row of an answer.
pub(crate) enum Row {
    Lite(SqliteRow),
    Pg(PgRow),
}

impl Row {
    /// Its fields, one after another.
    pub(crate) const fn fields(&self) -> Fields<'_> {
        Fields { row: self, next: 0 }
    }

    /// The number in its first field.
    pub(crate) fn int(&self) -> Result<i64, StoreError> {
        self.fields().int()
    }
}

/// What is left of a row. What is not of the type that is asked for is damage: this program wrote it otherwise.
pub(crate) struct Fields<'r> {
    row: &'r Row,
    next: usize,
}

macro_rules! fields {
    ($($name:ident -> $of:ty;)*) => {$(
        pub(crate) fn $name(&mut self) -> Result<$of, StoreError> {
            let at = self.next;
            self.next += 1;
            let got = match self.row {
                Row::Lite(row) => row.try_get(at),
                Row::Pg(row) => row.try_get(at),
            };
            got.map_err(|error| StoreError::Damaged(error.to_string()))
        }
    )*};
}

impl Fields<'_> {
    fields! {
        int -> i64;
        maybe_int -> Option<i64>;
        text -> String;
        maybe_text -> Option<String>;
        bytes -> Vec<u8>;
    }

    /// Milliseconds as a time.
    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        self.int().map(Timestamp::from_millis)
    }

    /// A count.
    pub(crate) fn count(&mut self) -> Result<u64, StoreError> {
        self.int().map(i64::unsigned_abs)
    }

    /// A text that stands for something.
    pub(crate) fn parsed<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
        let text = self.text()?;
        parse(&text).ok_or_else(|| StoreError::Damaged(format!("a row says {text:?}")))
    }

    /// A text that stands for something, if there is one.
    pub(crate) fn maybe_parsed<T>(
        &mut self,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let Some(text) = self.maybe_text()? else { return Ok(None) };
        parse(&text).map(Some).ok_or_else(|| StoreError::Damaged(format!("a row says {text:?}")))
    }
}

/// The last three parameters of a list by pages: where the page before ended, and one row more than the page has.
pub(crate) fn after(after: Option<Cursor>, limit: u32) -> Vec<Value> {
    values![after.map(|after| after.rank), after.map(|after| after.number), i64::from(limit) + 1]
}

/// A page of rows that begin with what a cursor has: `limit` of them, and where it goes on if there is one more.
pub(crate) fn page<T>(
    rows: &[Row],
    limit: u32,
    total: u64,
    read: impl Fn(&mut Fields<'_>) -> Result<T, StoreError>,
) -> Result<Page<T>, StoreError> {
    let shown = rows.get(..limit as usize).unwrap_or(rows);
    let (mut items, mut last) = (Vec::with_capacity(shown.len()), None);
    for row in shown {
        let mut row = row.fields();
        last = Some(Cursor { rank: row.int()?, number: row.int()? });
        items.push(read(&mut row)?);
    }
    Ok(Page { items, next: last.filter(|_| rows.len() > shown.len()), total })
}
