//! The resource server of OAuth 2.1: who calls is what a verified access token says, and nothing else.
//!
//! - [`metadata`]: where a client learns whom to ask for a token (RFC 9728), and the challenges that lead it there.
//! - [`keys`]: the issuers' keys, fetched seldom and kept.
//! - [`verify`]: signature and claims of a signed token (RFC 7519, RFC 9068).
//! - [`introspect`]: tokens that only their issuer can read (RFC 7662).

mod introspect;
mod keys;
mod metadata;
mod verify;

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use contract::Principal;
use exec::Fetcher;
use exec::fetch::checked;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jsonwebtoken::{Algorithm, AlgorithmFamily};

use super::caller::{Identify, Refused};
use introspect::Introspector;
use keys::Keys;
pub use metadata::Metadata;

/// Longest token that is looked at, in bytes.
const MAX_TOKEN: usize = 16 * 1024;

/// How far clocks may be apart, in seconds.
const LEEWAY: i64 = 30;

/// What the resource server is told.
#[derive(Debug, Clone)]
pub struct Config {
    /// This server as clients name it: the URL that they reach, `https://tools.example/mcp` (RFC 8707).
    pub resource: String,
    /// Other audiences that stand for this server, for issuers that cannot name a resource by its URL.
    pub audiences: Vec<String>,
    /// Whose tokens are accepted.
    pub issuers: Vec<IssuerConfig>,
    /// The scopes that clients may ask for.
    pub scopes: Vec<String>,
}

/// One issuer.
#[derive(Debug, Clone)]
pub struct IssuerConfig {
    /// Its identifier, exactly as it stands in tokens.
    pub issuer: String,
    /// Where its keys are; found through its metadata (RFC 8414) where none is given.
    pub jwks_uri: Option<String>,
    /// The signature algorithms that it uses.
    pub algorithms: Vec<String>,
    /// Whether tokens of the type `JWT`, or of none, are taken for access tokens: not every issuer writes `at+jwt`.
    pub plain_jwt: bool,
    /// How to ask about tokens that are not signed.
    pub introspection: Option<Introspection>,
}

/// As whom an issuer is asked about a token.
#[derive(Clone)]
pub struct Introspection {
    /// Where; found through the issuer's metadata where none is given.
    pub endpoint: Option<String>,
    /// This server's client id.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
}

impl std::fmt::Debug for Introspection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Introspection({:?} as {})", self.endpoint, self.client_id)
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A URL that will not be asked, or that clients could not name.
    #[error("{what}: {why}")]
    Url {
        /// Which.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Nobody issues tokens.
    #[error("no issuer is named: whose tokens should be accepted?")]
    NoIssuer,
    /// Two issuers of one name, or two that read tokens which are not signed.
    #[error("{0}")]
    Ambiguous(String),
    /// Not an algorithm of public keys.
    #[error("{0:?} is not accepted: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384 or EdDSA")]
    Algorithm(String),
}

/// One issuer, ready.
struct Issuer {
    name: String,
    algorithms: Vec<Algorithm>,
    plain_jwt: bool,
    keys: Arc<Keys>,
}

/// Accepts the tokens that its issuers wrote for it.
pub struct ResourceServer {
    metadata: Metadata,
    audiences: Vec<String>,
    issuers: Vec<Issuer>,
    introspector: Option<Introspector>,
}

/// Why a token is not accepted. The caller hears why it is invalid, and not why an issuer cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum TokenError {
    #[error("{0}")]
    Invalid(&'static str),
    #[error("the issuer cannot be asked: {0}")]
    Unavailable(String),
}

impl ResourceServer {
    /// A resource server as `config` says. Nobody is asked anything yet.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        verify::install();
        let metadata = Metadata::new(&config)?;
        let fetcher = Fetcher::default();
        let (mut issuers, mut introspector) = (Vec::<Issuer>::new(), None);
        for one in config.issuers {
            checked_url("issuer", &one.issuer)?;
            if one.issuer.contains('@') {
                // Records name a caller `subject@issuer`: the last `@` must be the one between the two.
                return Err(ConfigError::Url {
                    what: "issuer",
                    why: format!("{} has an `@` in it", one.issuer),
                });
            }
            if issuers.iter().any(|issuer| issuer.name == one.issuer) {
                return Err(ConfigError::Ambiguous(format!("the issuer {} stands twice", one.issuer)));
            }
            if let Some(uri) = &one.jwks_uri {
                checked_url("jwks-uri", uri)?;
            }
            if let Some(introspection) = one.introspection {
                if let Some(endpoint) = &introspection.endpoint {
                    checked_url("introspection endpoint", endpoint)?;
                }
                let new = Introspector::new(one.issuer.clone(), introspection, fetcher.clone());
                if introspector.replace(new).is_some() {
                    let why =
                        "a token that is not signed names no issuer: only one may have an introspection";
                    return Err(ConfigError::Ambiguous(why.into()));
                }
            }
            issuers.push(Issuer {
                algorithms: algorithms(&one.algorithms)?,
                plain_jwt: one.plain_jwt,
                keys: Arc::new(Keys::new(one.issuer.clone(), one.jwks_uri, fetcher.clone())),
                name: one.issuer,
            });
        }
        if issuers.is_empty() {
            return Err(ConfigError::NoIssuer);
        }
        let mut audiences = config.audiences;
        audiences.push(config.resource);
        Ok(Self { metadata, audiences, issuers, introspector })
    }

    async fn principal(&self, token: &str) -> Result<Principal, TokenError> {
        let is_signed = token.bytes().filter(|b| *b == b'.').count() == 2;
        match &self.introspector {
            Some(introspector) if !is_signed => introspector.principal(token, &self.audiences).await,
            _ => verify::principal(token, &self.issuers, &self.audiences).await,
        }
    }
}

fn checked_url(what: &'static str, text: &str) -> Result<(), ConfigError> {
    checked(text).map(|_| ()).map_err(|e| ConfigError::Url { what, why: e.to_string() })
}

fn algorithms(names: &[String]) -> Result<Vec<Algorithm>, ConfigError> {
    if names.is_empty() {
        return Ok(vec![Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::EdDSA]);
    }
    let public = |name: &String| {
        let known: Option<Algorithm> = name.parse().ok();
        known
            .filter(|a| a.family() != AlgorithmFamily::Hmac)
            .ok_or_else(|| ConfigError::Algorithm(name.clone()))
    };
    names.iter().map(public).collect()
}

/// The token of the `Authorization` header: one scheme, one token (RFC 6750 §2.1). A token anywhere else is none.
fn bearer(head: &Parts) -> Result<Option<&str>, TokenError> {
    let Some(value) = head.headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let malformed = TokenError::Invalid("the Authorization header is malformed");
    let Some((scheme, token)) = value.to_str().ok().and_then(|text| text.split_once(' ')) else {
        return Err(malformed);
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
    let fits = !token.is_empty() && token.len() <= MAX_TOKEN && token.bytes().all(plain);
    if scheme.eq_ignore_ascii_case("bearer") && fits { Ok(Some(token)) } else { Err(malformed) }
}

impl Identify for ResourceServer {
    fn identify<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Principal, Refused>> {
        async move {
            let found = match bearer(head) {
                Ok(None) => {
                    return Err(Refused::challenged(StatusCode::UNAUTHORIZED, self.metadata.challenge()));
                }
                Ok(Some(token)) => self.principal(token).await,
                Err(error) => Err(error),
            };
            found.map_err(|error| {
                tracing::debug!(%error, "a token was not accepted");
                match error {
                    TokenError::Invalid(why) => {
                        Refused::challenged(StatusCode::UNAUTHORIZED, self.metadata.invalid(why))
                    }
                    TokenError::Unavailable(_) => Refused::unavailable(),
                }
            })
        }
        .boxed()
    }

    fn step_up(&self, granted: &[String], needed: &str) -> Option<String> {
        Some(self.metadata.step_up(granted, needed))
    }

    fn metadata(&self) -> Option<&Metadata> {
        Some(&self.metadata)
    }
}
