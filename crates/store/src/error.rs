//! SQLite's errors in the store's words. Result codes: <https://www.sqlite.org/rescode.html>.

use store_api::StoreError;

use crate::lite::PATIENCE;

const BUSY: i32 = 5;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const NOT_A_DATABASE: i32 = 26;

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
    if matches!(error, sqlx::Error::PoolTimedOut) {
        return busy();
    }
    let Some(database) = error.as_database_error() else { return driver(doing, error) };
    // The low byte is the primary code, the rest says more about it.
    let code = database.code().and_then(|code| code.parse::<i32>().ok()).map(|code| code & 0xff);
    match code {
        Some(BUSY) => busy(),
        Some(FULL) => StoreError::Full,
        Some(CORRUPT | NOT_A_DATABASE) => StoreError::Damaged(database.message().to_owned()),
        _ => driver(doing, error),
    }
}

fn busy() -> StoreError {
    StoreError::Busy { seconds: PATIENCE.as_secs() }
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
