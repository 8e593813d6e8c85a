//! The way of every request: who asks, how often, what; the answer or the error; the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, ETAG, HOST, HeaderValue, IF_NONE_MATCH, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use contract::Digest;
use http_body_util::{BodyExt as _, Limited};
use store_api::id::KeyId;
use store_api::once::Once;
use store_api::server::Logged;

use super::table::{Answered, Route};
use super::{App, auth, input};
use crate::wire::error::{ApiError, ErrorCode};
use crate::wire::{
    CORRELATION_HEADER, DIGEST_HEADER, MAX_BODY, MAX_LARGE_BODY, Method, ONCE_HEADER, REPLAYED_HEADER,
};

/// How long a request may take in all.
const LONGEST: Duration = Duration::from_secs(30);

/// Answers a request of a route.
pub(super) async fn pass(app: &Arc<App>, route: &Route, request: Request) -> Response {
    let began = Instant::now();
    let (head, body) = request.into_parts();
    let correlation = correlation(&head.headers);
    let mut key = None;
    let answered = tokio::time::timeout(LONGEST, answer(app, route, &head, body, &mut key)).await;
    let answered = answered.unwrap_or_else(|_| {
        Err(ApiError::new(ErrorCode::Unavailable, "it took longer than 30 s: try again"))
    });
    let mut response = match answered {
        Ok(answered) => given(route, &head.headers, answered),
        Err(error) => wrong(error, &correlation),
    };
    named(&mut response, &correlation);
    logged(app, route.method.word(), route.path, key, correlation, response.status(), began);
    response
}

/// Answers a request of no route.
pub(super) fn refused(app: &Arc<App>, request: Request, code: ErrorCode, message: &str) -> Response {
    let began = Instant::now();
    let (head, _) = request.into_parts();
    let correlation = correlation(&head.headers);
    let error = auth::may_ask(app).err().unwrap_or_else(|| ApiError::new(code, message));
    let mut response = wrong(error, &correlation);
    named(&mut response, &correlation);
    // What was asked for instead may be anything, also a secret.
    let method = Some(head.method.as_str()).filter(|method| method.len() <= 16).unwrap_or("?");
    logged(app, method, "?", None, correlation, response.status(), began);
    response
}

async fn answer(
    app: &Arc<App>,
    route: &Route,
    head: &Parts,
    body: Body,
    key: &mut Option<KeyId>,
) -> Result<Answered, ApiError> {
    if app.stop.is_cancelled() {
        return Err(ApiError::new(ErrorCode::Draining, "this server is about to end: try again"));
    }
    host(app, &head.headers)?;
    let kept = match auth::key(app, route.auth, &head.headers).await {
        Ok(kept) => kept,
        Err(error) => {
            // What nobody counts is not written down either.
            if error.code != ErrorCode::RateLimited {
                auth::may_ask(app)?;
            }
            return Err(error);
        }
    };
    *key = Some(kept.id.clone());
    auth::counted(app, kept.id.as_str()).await?;
    let body = read(route, &head.headers, body).await?;
    let asked = input::asked(route, head.uri.path(), head.uri.query().unwrap_or_default(), &body)?;
    let once = once(route, head, &kept.id, &body)?;
    (route.run)(Arc::clone(app), asked, once).await
}

/// A name that this server goes by. Names that resolve to it by somebody's trick are none (DNS rebinding).
fn host(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    if app.hosts.is_empty() {
        return Ok(());
    }
    let said = auth::single(headers, HOST.as_str())?.unwrap_or_default();
    let bare = said.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let bare = bare.map_or(said, |(name, _)| name);
    let own = ["localhost", "127.0.0.1", "[::1]"];
    let is_own = app.hosts.iter().map(String::as_str).chain(own).any(|name| name.eq_ignore_ascii_case(bare));
    if is_own { Ok(()) } else { Err(ApiError::invalid("the Host header names another server")) }
}

async fn read(route: &Route, headers: &HeaderMap, body: Body) -> Result<Bytes, ApiError> {
    if route.method.has_body() {
        let said = auth::single(headers, CONTENT_TYPE.as_str())?.unwrap_or_default();
        let kind = said.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let message = "the body must be JSON: `Content-Type: application/json`";
            return Err(ApiError::new(ErrorCode::UnsupportedMediaType, message));
        }
    }
    let most = if route.large { MAX_LARGE_BODY } else { MAX_BODY };
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(ApiError::new(ErrorCode::TooLarge, format!("the body is larger than {most} bytes")))
        }
        Err(_) => Err(ApiError::invalid("the body broke off")),
    }
}

/// What makes this write the same write.
fn once(route: &Route, head: &Parts, key: &KeyId, body: &[u8]) -> Result<Option<Once>, ApiError> {
    let Some(own) = auth::single(&head.headers, ONCE_HEADER)? else { return Ok(None) };
    if !route.once {
        return Ok(None);
    }
    let request = match auth::single(&head.headers, DIGEST_HEADER)? {
        Some(digest) => digest
            .parse()
            .map_err(|_| ApiError::invalid(format!("{DIGEST_HEADER}: it is no SHA-256 in hexadecimal")))?,
        None => Digest::of_parts(&[head.uri.path().as_bytes(), b"\n", body]),
    };
    let once = Once { owner: key.to_string(), key: own.to_owned(), request };
    once.check()?;
    Ok(Some(once))
}

fn given(route: &Route, headers: &HeaderMap, answered: Answered) -> Response {
    let Answered { body, replayed, etag } = answered;
    let etag = etag.and_then(|etag| HeaderValue::from_str(&format!("\"{etag}\"")).ok());
    let asked_for = headers.get(IF_NONE_MATCH);
    let is_same = route.method == Method::Get && etag.is_some() && asked_for == etag.as_ref();
    let mut response = if is_same {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(CONTENT_TYPE, "application/json")], body).into_response()
    };
    if let Some(etag) = etag {
        response.headers_mut().insert(ETAG, etag);
    }
    if replayed {
        response.headers_mut().insert(REPLAYED_HEADER, HeaderValue::from_static("true"));
    }
    response
}

fn wrong(error: ApiError, correlation: &str) -> Response {
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let wait = error.retry_after;
    let body = serde_json::to_vec(&error.body(correlation.to_owned())).unwrap_or_default();
    let mut response = (status, [(CONTENT_TYPE, "application/json")], body).into_response();
    if let Some(wait) = wait {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait));
    }
    response
}

/// What the client calls the request, where that is a name; else one of our own.
fn correlation(headers: &HeaderMap) -> String {
    let is_name = |text: &&str| {
        (8..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    };
    let sent = headers.get(CORRELATION_HEADER).and_then(|value| value.to_str().ok()).filter(is_name);
    sent.map_or_else(|| format!("corr_{:032x}", App::random().unwrap_or_default()), str::to_owned)
}

fn named(response: &mut Response, correlation: &str) {
    if let Ok(value) = HeaderValue::from_str(correlation) {
        response.headers_mut().insert(CORRELATION_HEADER, value);
    }
}

fn logged(
    app: &App,
    method: &str,
    route: &str,
    key: Option<KeyId>,
    correlation: String,
    status: StatusCode,
    began: Instant,
) {
    // Whoever has no key fills no disk.
    if key.is_none() && status == StatusCode::TOO_MANY_REQUESTS {
        return;
    }
    let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (method, route, status) = (method.to_owned(), route.to_owned(), status.as_u16());
    app.log.write(Logged { at: app.now(), correlation, key, method, route, status, millis });
}
