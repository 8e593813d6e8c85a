//! The databases' errors in the store's words. SQLite's result codes: <https://www.sqlite.org/rescode.html>; PostgreSQL's:
//! appendix A of its documentation.

use std::time::Duration;

use sqlx::postgres::PgDatabaseError;
use store_api::StoreError;

use crate::{PATIENCE, pg};

const BUSY: i32 = 5;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const NOT_A_DATABASE: i32 = 26;

const LOCK_TIMEOUT: &str = "55P03";
const STATEMENT_TIMEOUT: &str = "57014";
const DISK_FULL: &str = "53100";

/// Says what was being done when an error came.
pub(crate) trait Doing<T> {
    fn doing(self, what: &'static str) -> Result<T, StoreError>;
}

impl<T> Doing<T> for Result<T, sqlx::Error> {
    fn doing(self, what: &'static str) -> Result<T, StoreError> {
        self.map_err(|error| convert(what, error))
    }
}

fn convert(doing: &'static str, error: sqlx::Error) -> StoreError {
    let away = matches!(error, sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_));
    if matches!(error, sqlx::Error::PoolTimedOut) {
        return busy(PATIENCE);
    }
    let Some(database) = error.as_database_error() else {
        return if away { StoreError::Unreachable(error.to_string()) } else { driver(doing, error) };
    };
    let Some(code) = database.code() else { return driver(doing, error) };
    if database.try_downcast_ref::<PgDatabaseError>().is_some() {
        return match &*code {
            LOCK_TIMEOUT => busy(pg::LOCKS),
            STATEMENT_TIMEOUT => busy(pg::STATEMENTS),
            DISK_FULL => StoreError::Full,
            // It is full of others, it is stopping, it is starting; the connection broke.
            "53300" | "57P01" | "57P02" | "57P03" => StoreError::Unreachable(database.message().to_owned()),
            code if code.starts_with("08") => StoreError::Unreachable(database.message().to_owned()),
            _ => driver(doing, error),
        };
    }
    // The low byte is the primary code, the rest says more about it.
    match code.parse::<i32>().ok().map(|code| code & 0xff) {
        Some(BUSY) => busy(PATIENCE),
        Some(FULL) => StoreError::Full,
        Some(CORRUPT | NOT_A_DATABASE) => StoreError::Damaged(database.message().to_owned()),
        _ => driver(doing, error),
    }
}

/// Whether two transactions came in each other's way, so that one of them may go through when it is done again: what could not be
/// put in an order, a deadlock, an id that another one took meanwhile.
pub(crate) fn is_conflict(error: &StoreError) -> bool {
    let StoreError::Driver { source, .. } = error else { return false };
    let database = source.downcast_ref::<sqlx::Error>().and_then(sqlx::Error::as_database_error);
    let database = database.and_then(|database| database.try_downcast_ref::<PgDatabaseError>());
    database.is_some_and(|database| matches!(database.code(), "40001" | "40P01" | "23505"))
}

pub(crate) const fn busy(waited: Duration) -> StoreError {
    StoreError::Busy { seconds: waited.as_secs() }
}

pub(crate) fn is_busy(error: &StoreError) -> bool {
    matches!(error, StoreError::Busy { .. })
}

pub(crate) fn driver(
    doing: &'static str,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    StoreError::Driver { doing, source: error.into() }
}

/// A row does not hold what this program wrote.
pub(crate) fn damaged(error: impl std::fmt::Display) -> StoreError {
    StoreError::Damaged(error.to_string())
}

/// Something as the JSON text that a column or a list of parameters holds.
pub(crate) fn json(value: &(impl serde::Serialize + ?Sized)) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| driver("a value was written as JSON", error))
}
