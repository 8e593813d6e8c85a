//! A token for an upstream, from the issuer of the caller's: in exchange for it (RFC 8693), or by gatewright's own
//! credentials (RFC 6749 §4.4) where nobody came with one. The caller's token is sent to its issuer alone.

use std::time::Duration;

use contract::{Code, Fault};
use exec::Fetcher;
use kit::call::Bearer;
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::config::Exchange;

/// For how long a token is used whose issuer does not say how long it lasts.
const UNSAID: Duration = Duration::from_mins(1);

/// No token is used for longer, whatever its issuer says.
const LONGEST: Duration = Duration::from_hours(12);

/// A token is not used in its last moments.
const MARGIN: Duration = Duration::from_secs(30);

const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// A token, and for how long it is good.
pub(crate) struct Issued {
    pub(crate) token: Zeroizing<String>,
    pub(crate) lasts: Duration,
}

/// What a token endpoint answers (RFC 6749 §5.1, RFC 8693 §2.2.1).
#[derive(Deserialize)]
struct Answer {
    access_token: String,
    token_type: String,
    expires_in: Option<u64>,
}

/// What it answers when it does not (RFC 6749 §5.2).
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

/// A token for `upstream`, about the caller that came with `bearer`.
pub(crate) async fn token(
    upstream: &str,
    exchange: &Exchange,
    bearer: Option<&Bearer>,
) -> Result<Issued, Fault> {
    let (upstream, exchange, bearer) = (upstream.to_owned(), exchange.clone(), bearer.cloned());
    let asked = tokio::task::spawn_blocking(move || ask(&upstream, &exchange, bearer.as_ref()));
    asked.await.unwrap_or_else(|_| Err(Fault::internal("the exchange of a token was lost")))
}

fn ask(upstream: &str, exchange: &Exchange, bearer: Option<&Bearer>) -> Result<Issued, Fault> {
    let scope = exchange.scopes.join(" ");
    let mut form = vec![("resource", exchange.resource.as_str())];
    match bearer {
        None => form.push(("grant_type", "client_credentials")),
        Some(bearer) => form.extend([
            ("grant_type", GRANT),
            ("subject_token", bearer.expose()),
            ("subject_token_type", ACCESS_TOKEN),
            ("requested_token_type", ACCESS_TOKEN),
        ]),
    }
    if !scope.is_empty() {
        form.push(("scope", &scope));
    }
    let credentials = (exchange.client_id.as_str(), exchange.client_secret.as_str());
    let answer = Fetcher::default()
        .post(&exchange.endpoint, credentials, &form)
        .map_err(|e| fault(upstream, &format!("the token endpoint does not answer: {e}")))?;
    if answer.status != 200 {
        let why = serde_json::from_slice::<Refusal>(&answer.body).map(|r| r.error).unwrap_or_default();
        return Err(fault(upstream, &format!("the token endpoint refused: HTTP {} {why}", answer.status)));
    }
    let answer: Answer = serde_json::from_slice(&answer.body)
        .map_err(|_| fault(upstream, "the token endpoint answers with something else than a token"))?;
    let token = Zeroizing::new(answer.access_token);
    if !answer.token_type.eq_ignore_ascii_case("bearer") {
        return Err(fault(upstream, "the token endpoint gives tokens of a type that is not understood"));
    }
    // An issuer that gives the same token back would have it passed through.
    if bearer.is_some_and(|bearer| bearer.expose() == token.as_str()) {
        return Err(fault(upstream, "the token endpoint gave the caller's own token back"));
    }
    let lasts = answer.expires_in.map_or(UNSAID, Duration::from_secs).min(LONGEST).saturating_sub(MARGIN);
    Ok(Issued { token, lasts })
}

fn fault(upstream: &str, why: &str) -> Fault {
    Fault::new(Code::ToolExecutionFailed, format!("{upstream}: no token for the upstream: {why}")).suggest(
        format!("A person checks [upstreams.{upstream}.exchange]; nothing was sent to the upstream."),
    )
}
