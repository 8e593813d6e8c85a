//! One request: put together, sent, sent again where that is safe.

use std::time::{Duration, Instant};

use contract::Digest;
use exec::fetch::{Ask, FetchError, Told};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use store_api::StoreError;
use store_api::once::Once;
use url::form_urlencoded;

use super::{CONNECTING, MOST, Remote, digest, not_one};
use crate::wire::error::{ErrorBody, ErrorCode};
use crate::wire::{
    ADMIN_HEADER, Auth, CORRELATION_HEADER, DIGEST_HEADER, Endpoint, KEY_HEADER, ONCE_HEADER,
    REPLAYED_HEADER, SCHEMA_VERSION,
};

/// How long to wait before each further try.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(800)];
/// Longest that a server is waited for where it says how long.
const PATIENCE: Duration = Duration::from_secs(3);

/// What stays as it is in a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A request, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) method: &'static str,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) body: Option<String>,
    /// The idempotency key, and the digest of what is asked.
    pub(crate) once: Option<(String, Digest)>,
    pub(crate) is_admin: bool,
}

/// Puts a request together.
pub(crate) fn sent<E: Endpoint>(request: &E, once: Option<&Once>) -> Result<Sent, StoreError> {
    let none = |e: serde_json::Error| StoreError::Refused(format!("the request cannot be written: {e}"));
    let Value::Object(mut fields) = serde_json::to_value(request).map_err(none)? else {
        return Err(StoreError::Refused("the request is no object".to_owned()));
    };
    let mut target = String::new();
    for part in E::PATH.split('/').skip(1) {
        target.push('/');
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => {
                let text = fields.remove(name).map(|value| plain(&value)).unwrap_or_default();
                target.extend(utf8_percent_encode(&text, SEGMENT));
            }
            None => target.push_str(part),
        }
    }
    let body = if E::METHOD.has_body() {
        fields.insert("schema_version".to_owned(), Value::from(SCHEMA_VERSION));
        Some(serde_json::to_string(&fields).map_err(none)?)
    } else {
        let query = query(&fields);
        if !query.is_empty() {
            target.push('?');
            target.push_str(&query);
        }
        None
    };
    let once = match (once, &body) {
        (Some(once), _) => Some((named(once), once.request)),
        // So that a try whose answer was lost is not done twice.
        (None, Some(body)) => Some((own()?, digest(&target, body))),
        (None, None) => None,
    };
    Ok(Sent { method: E::METHOD.word(), target, body, once, is_admin: E::AUTH == Auth::Admin })
}

/// A key of many owners as one of ours.
fn named(once: &Once) -> String {
    let all = Digest::of_parts(&[once.owner.as_bytes(), b"\n", once.key.as_bytes()]);
    format!("o_{all}")
}

fn own() -> Result<String, StoreError> {
    Ok(format!("c_{:032x}", random()?))
}

/// Randomness for an id.
pub(crate) fn random() -> Result<u128, StoreError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| StoreError::Refused(format!("there is no randomness: {e}")))?;
    Ok(u128::from_le_bytes(bytes))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn query(fields: &Map<String, Value>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        query.append_pair(name, &plain(value));
    }
    query.finish()
}

/// What became of a try.
enum Tried {
    Answered(Vec<u8>, bool),
    /// It may go through later.
    Later(StoreError, Option<Duration>),
    Refused(StoreError),
}

impl Remote {
    /// Sends, a few times where nobody answers and it is a reading or the same write: the body, and whether it is the answer of the
    /// first time.
    pub(crate) async fn send(&self, sent: &Sent) -> Result<(Vec<u8>, bool), StoreError> {
        let (began, longest) = (Instant::now(), self.patience);
        let is_safe = sent.method == "GET" || sent.once.is_some();
        let mut pauses = PAUSES.into_iter();
        loop {
            let left = longest.saturating_sub(began.elapsed());
            let (why, told) = match self.tried(sent.clone(), left).await {
                Tried::Answered(body, replayed) => return Ok((body, replayed)),
                Tried::Refused(error) => return Err(error),
                Tried::Later(error, wait) => (error, wait),
            };
            let Some(pause) = pauses.next().filter(|_| is_safe) else { return Err(why) };
            let pause = told.unwrap_or(pause).max(pause) + scattered();
            if pause > PATIENCE || began.elapsed() + pause >= longest {
                return Err(why);
            }
            tokio::time::sleep(pause).await;
        }
    }

    async fn tried(&self, sent: Sent, left: Duration) -> Tried {
        let remote = self.clone();
        let trying = tokio::task::spawn_blocking(move || remote.ask(&sent, left));
        match trying.await {
            Ok(Ok(told)) => judged(&told),
            Ok(Err(error)) => error,
            Err(error) => Tried::Refused(StoreError::Refused(error.to_string())),
        }
    }

    fn ask(&self, sent: &Sent, left: Duration) -> Result<Told, Tried> {
        let inner = &*self.inner;
        let (header, key) = if sent.is_admin {
            (ADMIN_HEADER, inner.admin.as_deref())
        } else {
            (KEY_HEADER, inner.key.get())
        };
        let Some(key) = key else {
            let message = format!("there is no key for it: `gatewright context login {}`", inner.base);
            return Err(Tried::Refused(StoreError::NoKey(message)));
        };
        let once = sent.once.as_ref().map(|(key, digest)| (key.as_str(), digest.to_string()));
        let mut headers = vec![(header, key), ("accept", "application/json")];
        if sent.body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        if let Some((key, digest)) = &once {
            headers.extend([(ONCE_HEADER, *key), (DIGEST_HEADER, digest.as_str())]);
        }
        let asked = inner.fetcher.ask(&Ask {
            method: sent.method,
            url: &format!("{}{}", inner.base, sent.target),
            headers: &headers,
            body: sent.body.as_deref().map(str::as_bytes),
            connecting: CONNECTING,
            timeout: left,
            most: MOST,
        });
        asked.map_err(|error| match error {
            FetchError::Failed(why) => Tried::Later(StoreError::Unreachable(why), None),
            other => Tried::Refused(StoreError::Refused(other.to_string())),
        })
    }

    /// Asks a path that needs no key, once.
    pub(super) async fn plain(&self, method: &'static str, path: &'static str) -> Result<Told, StoreError> {
        let remote = self.clone();
        let asked = tokio::task::spawn_blocking(move || {
            remote.inner.fetcher.ask(&Ask {
                method,
                url: &format!("{}{path}", remote.inner.base),
                headers: &[],
                body: None,
                connecting: CONNECTING,
                timeout: remote.patience,
                most: MOST,
            })
        });
        let asked = asked.await.map_err(|e| StoreError::Refused(e.to_string()))?;
        asked.map_err(|e| StoreError::Unreachable(e.to_string()))
    }
}

fn judged(told: &Told) -> Tried {
    let is_ours = told.header(CORRELATION_HEADER).is_some();
    if told.status == 200 && is_ours {
        return Tried::Answered(told.body.clone(), told.header(REPLAYED_HEADER) == Some("true"));
    }
    let wait = told.header("retry-after").and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
    let Ok(ErrorBody { error: problem }) = serde_json::from_slice(&told.body) else {
        // A gateway in front of it, a portal of a hotel, a wrong address: whoever it is, the context it is not.
        let away = StoreError::Unreachable(not_one(told.status));
        return Tried::Later(away, wait);
    };
    match problem.code {
        code if code.is_retryable() => Tried::Later(problem.into(), wait),
        ErrorCode::Unauthorized => Tried::Refused(StoreError::NoKey(
            "the key does not count any more: `gatewright context login URL` takes another".to_owned(),
        )),
        _ => Tried::Refused(problem.into()),
    }
}

/// A little more, so that clients that failed together do not come back together.
fn scattered() -> Duration {
    let mut byte = [0_u8];
    let _ = getrandom::fill(&mut byte);
    Duration::from_millis(u64::from(byte.first().copied().unwrap_or_default()) / 4)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use store_api::Timestamp;
    use store_api::id::NoteId;
    use store_api::note::NotePatch;

    use super::*;
    use crate::wire::document::Doc;
    use crate::wire::note::{NoteChange, Notes};

    #[test]
    fn a_field_of_the_path_stands_there_and_nowhere_else() {
        let id = NoteId::new(Timestamp::from_millis(1), 2);
        let patch = NotePatch { venture: Some(None), ..NotePatch::of(id.clone(), "me") };
        let out = sent(&NoteChange::from(patch), None).unwrap();
        assert_eq!((out.method, out.target), ("POST", format!("/notes/{id}/update")));
        let body: Value = serde_json::from_str(&out.body.unwrap()).unwrap();
        assert_eq!(body, json!({ "schema_version": "1.0", "venture": null, "by": "me" }));
        let doc = Doc { scope: "a/../b".to_owned(), name: "x?y#z".to_owned() };
        assert_eq!(sent(&doc, None).unwrap().target, "/docs/a%2F..%2Fb/x%3Fy%23z");
        let notes = Notes { q: Some("a&b c".to_owned()), ..Notes::default() };
        let out = sent(&notes, None).unwrap();
        assert!(out.target.contains("q=a%26b+c") && out.body.is_none() && out.once.is_none(), "{out:?}");
    }

    #[test]
    fn every_write_has_a_key_of_its_own_unless_it_is_given_one() {
        let note = Archive();
        assert_ne!(sent(&note, None).unwrap().once, sent(&note, None).unwrap().once);
        let once = Once { owner: "me".to_owned(), key: "k".to_owned(), request: Digest::of(b"x") };
        let out = sent(&note, Some(&once)).unwrap();
        assert_eq!(out, sent(&note, Some(&once)).unwrap());
        let other = Once { owner: "you".to_owned(), ..once };
        assert_ne!(out.once, sent(&note, Some(&other)).unwrap().once);
    }

    #[expect(non_snake_case, reason = "a request")]
    fn Archive() -> crate::wire::note::Archive {
        crate::wire::note::Archive { id: NoteId::new(Timestamp::from_millis(1), 2), by: "me".to_owned() }
    }
}
