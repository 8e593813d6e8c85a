//! Tokens that only their issuer can read (RFC 7662). An answer counts for half a minute, so a token that is taken back
//! is refused soon after.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::{Digest, Principal};
use exec::Fetcher;
use serde_json::Value;
use tokio::sync::Semaphore;

use super::keys::found_by_metadata;
use super::verify::{check_claims, now};
use super::{Introspection, TokenError};

/// How long an answer counts.
const KEPT: Duration = Duration::from_secs(30);

/// Most answers that are kept.
const MAX_KEPT: usize = 10_000;

/// Most questions at once, about tokens that were good a while ago and about others; who finds no place in time is told to
/// come back. Made-up tokens take no place of those that were good.
const AT_ONCE: usize = 4;

/// How long it is remembered that a token was good.
const WAS_GOOD: Duration = Duration::from_hours(1);

const PATIENCE: Duration = Duration::from_secs(5);

/// What was answered, by the tokens' digests.
#[derive(Default)]
struct Kept {
    good: BTreeMap<Digest, (Instant, Value)>,
    bad: BTreeMap<Digest, (Instant, Value)>,
}

/// Asks one issuer about tokens.
pub(super) struct Introspector {
    issuer: String,
    how: Introspection,
    fetcher: Fetcher,
    known: Semaphore,
    others: Semaphore,
    kept: Mutex<Kept>,
    endpoint: Mutex<Option<String>>,
}

impl Introspector {
    pub(super) fn new(issuer: String, how: Introspection, fetcher: Fetcher) -> Self {
        let endpoint = Mutex::new(how.endpoint.clone());
        let (known, others) = (Semaphore::new(AT_ONCE), Semaphore::new(AT_ONCE));
        Self { issuer, how, fetcher, known, others, kept: Mutex::default(), endpoint }
    }

    /// Who `token` speaks for. Its times are checked again each time, whenever its issuer was asked.
    pub(super) async fn principal(&self, token: &str, audiences: &[String]) -> Result<Principal, TokenError> {
        let digest = Digest::of(token.as_bytes());
        let answer = match self.remembered(&digest) {
            Some(answer) => answer,
            None => {
                let answer = self.ask(token, &digest).await?;
                self.remember(digest, answer.clone());
                answer
            }
        };
        if answer.get("active") != Some(&Value::Bool(true)) {
            return Err(TokenError::Invalid("the token is not active"));
        }
        // A refresh token is active, too.
        let kind = answer.get("token_type").and_then(Value::as_str).unwrap_or("bearer");
        if !kind.eq_ignore_ascii_case("bearer") {
            return Err(TokenError::Invalid("the token is no bearer token"));
        }
        let mut claims = answer;
        if let Value::Object(claims) = &mut claims {
            // Who answers is who issued, unless the answer says otherwise.
            claims.entry("iss").or_insert_with(|| Value::String(self.issuer.clone()));
        }
        check_claims(&claims, &self.issuer, audiences, now())
    }

    fn remembered(&self, token: &Digest) -> Option<Value> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.good.get(token).or_else(|| kept.bad.get(token));
        found.filter(|(at, _)| at.elapsed() < KEPT).map(|(_, answer)| answer.clone())
    }

    fn was_good(&self, token: &Digest) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).good.contains_key(token)
    }

    fn remember(&self, token: Digest, answer: Value) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let is_good = answer.get("active") == Some(&Value::Bool(true));
        if !is_good {
            kept.good.remove(&token);
        }
        let (answers, long) = if is_good { (&mut kept.good, WAS_GOOD) } else { (&mut kept.bad, KEPT) };
        if answers.len() >= MAX_KEPT {
            answers.retain(|_, (at, _)| at.elapsed() < long);
        }
        if answers.len() >= MAX_KEPT {
            answers.pop_first();
        }
        answers.insert(token, (Instant::now(), answer));
    }

    async fn ask(&self, token: &str, digest: &Digest) -> Result<Value, TokenError> {
        let unavailable = |why: &str| TokenError::Unavailable(why.to_owned());
        let places = if self.was_good(digest) { &self.known } else { &self.others };
        let place = tokio::time::timeout(PATIENCE, places.acquire()).await;
        let _place =
            place.ok().and_then(Result::ok).ok_or_else(|| unavailable("too many questions at once"))?;
        let known = self.endpoint.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (fetcher, issuer, token) = (self.fetcher.clone(), self.issuer.clone(), token.to_owned());
        let (id, secret) = (self.how.client_id.clone(), self.how.client_secret.clone());
        let asked = tokio::task::spawn_blocking(move || {
            let endpoint = match known {
                Some(endpoint) => endpoint,
                None => found_by_metadata(&fetcher, &issuer, "introspection_endpoint")?,
            };
            let form = [("token", token.as_str()), ("token_type_hint", "access_token")];
            let answered = fetcher.post(&endpoint, (&id, &secret), &form).map_err(|e| e.to_string())?;
            if answered.status != 200 {
                return Err(format!("introspection was answered {}", answered.status));
            }
            let answer: Value = serde_json::from_slice(&answered.body).map_err(|e| e.to_string())?;
            Ok((endpoint, answer))
        });
        let (endpoint, answer) = asked
            .await
            .map_err(|_| unavailable("the question was lost"))?
            .map_err(TokenError::Unavailable)?;
        *self.endpoint.lock().unwrap_or_else(PoisonError::into_inner) = Some(endpoint);
        Ok(answer)
    }
}
