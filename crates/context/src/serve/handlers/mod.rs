//! What endpoints do: each asks the store and says what it answered.

mod admin;
mod document;
mod handoff;
mod machine;
mod note;
mod session;

use store_api::once::Done;
use store_api::{Cursor, Timestamp};

use super::App;
use super::table::Reply;
use crate::wire::error::{ApiError, ErrorCode};
use crate::wire::{MAX_PAGE, PAGE, Part, cursor};

/// A reply of a write.
fn done<T, U>(done: Done<T>, said: impl FnOnce(T) -> U) -> Reply<U> {
    Reply { value: said(done.value), replayed: done.replayed, etag: None }
}

/// Which part of the list that `question` names is asked for.
fn part(part: Part, question: &str) -> Result<(u32, Option<Cursor>), ApiError> {
    let limit = part.limit.unwrap_or(PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(ApiError::invalid(format!("limit: it is not from 1 to {MAX_PAGE}")));
    }
    let after = part.cursor.map(|text| cursor::read_of(&text, question)).transpose();
    let after = after.map_err(|bad| ApiError::new(ErrorCode::CursorInvalid, bad.to_string()))?;
    Ok((limit, after))
}

/// When the next sign of life is due.
fn next_heartbeat(app: &App) -> Timestamp {
    Timestamp::from_millis(app.now().as_millis().saturating_add(store_api::session::HEARTBEAT))
}
