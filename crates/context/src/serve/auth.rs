//! Who asks: keys are looked up by their id, compared by digest in constant time, and remembered for a few seconds.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use contract::Digest;
use store_api::id::KeyId;
use store_api::server::ApiKey;
use subtle::ConstantTimeEq as _;

use super::App;
use crate::wire::error::{ApiError, ErrorCode};
use crate::wire::key::Key;
use crate::wire::{ADMIN_HEADER, Auth, KEY_HEADER};

/// How long a key is taken for what it was: a revoked one is refused after that at the latest.
const REMEMBERED: Duration = Duration::from_secs(5);
/// Most keys that are remembered.
const MOST: usize = 10_000;

/// Keys that were looked up.
#[derive(Default)]
pub(super) struct Known(BTreeMap<KeyId, (Instant, ApiKey)>);

/// Requests without a key that counts, in the minute that is named: counted here, so that they cost the store nothing.
#[derive(Default)]
pub(super) struct Strangers(i64, u64);

/// Whether one more request without a key that counts may be looked at in this minute.
pub(super) fn may_ask(app: &App) -> Result<(), ApiError> {
    let minute = app.now().as_millis() / 60_000;
    let mut strangers = app.strangers.lock().unwrap_or_else(PoisonError::into_inner);
    if strangers.0 != minute {
        *strangers = Strangers(minute, 0);
    }
    strangers.1 = strangers.1.saturating_add(1);
    if strangers.1 <= app.per_minute { Ok(()) } else { Err(too_many(app)) }
}

/// The one value of a header.
pub(super) fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, ApiError> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(ApiError::invalid(format!("{name}: it is there more than once")));
    }
    first.to_str().map(Some).map_err(|_| ApiError::invalid(format!("{name}: it is no text")))
}

/// The key with which a request comes.
pub(super) async fn key(app: &App, auth: Auth, headers: &HeaderMap) -> Result<ApiKey, ApiError> {
    let name = match auth {
        Auth::Key => KEY_HEADER,
        Auth::Admin => ADMIN_HEADER,
    };
    let unauthorized = || {
        let message =
            format!("the header {name} has no key that counts: `gatewright context key add` makes one");
        ApiError::new(ErrorCode::Unauthorized, message)
    };
    let Some(sent) = single(headers, name)?.and_then(|text| Key::read(text).ok()) else {
        return Err(unauthorized());
    };
    let kept = found(app, &sent.id).await?;
    if kept.is_none() {
        may_ask(app)?;
    }
    // Compared also where there is none, so that an id that is there takes as long as one that is not.
    let hash = kept.as_ref().map_or(Digest::ZERO, |kept| kept.hash);
    let is_same = bool::from(hash.as_bytes().ct_eq(sent.digest().as_bytes()));
    let Some(kept) = kept.filter(|kept| is_same && kept.revoked.is_none()) else {
        return Err(unauthorized());
    };
    if auth == Auth::Key && kept.admin {
        return Err(unauthorized());
    }
    if auth == Auth::Admin && !kept.admin {
        return Err(ApiError::new(ErrorCode::AdminRequired, "this takes the key of an administrator"));
    }
    Ok(kept)
}

async fn found(app: &App, id: &KeyId) -> Result<Option<ApiKey>, ApiError> {
    {
        let known = app.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, kept)) = known.0.get(id)
            && at.elapsed() < REMEMBERED
        {
            return Ok(Some(kept.clone()));
        }
    }
    let kept = app.store.key(id.clone()).await?;
    let mut known = app.known.lock().unwrap_or_else(PoisonError::into_inner);
    match &kept {
        Some(kept) => {
            if known.0.len() >= MOST {
                known.0.clear();
            }
            known.0.insert(id.clone(), (Instant::now(), kept.clone()));
        }
        None => {
            known.0.remove(id);
        }
    }
    Ok(kept)
}

/// Counts a request, and refuses it where there were too many in this minute.
pub(super) async fn counted(app: &App, owner: &str) -> Result<(), ApiError> {
    let count = app.store.count(owner.to_owned()).await?;
    if count <= app.per_minute { Ok(()) } else { Err(too_many(app)) }
}

fn too_many(app: &App) -> ApiError {
    let second = app.now().as_millis().rem_euclid(60_000) / 1_000;
    let wait = u64::try_from(60 - second).unwrap_or(60);
    let message = format!("more than {} requests in a minute: try again in {wait} s", app.per_minute);
    ApiError { retry_after: Some(wait), ..ApiError::new(ErrorCode::RateLimited, message) }
}
