//! The keys of one issuer: fetched when they are first needed, kept, and fetched again when they are old or when a token
//! names one that is not among them, but not for every such token.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use exec::Fetcher;
use exec::fetch::{checked, is_here};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use serde_json::Value;
use tokio::sync::Mutex;

use super::TokenError;

/// How long keys count as fresh.
const FRESH: Duration = Duration::from_mins(10);

/// How long old keys serve on while the issuer does not answer.
const GRACE: Duration = Duration::from_hours(1);

/// How long an issuer is left alone after it was asked.
const COOLDOWN: Duration = Duration::from_secs(30);

/// The same, where there is not one key yet.
const IMPATIENT: Duration = Duration::from_secs(5);

/// Most keys that are kept of one issuer.
const MAX_KEYS: usize = 64;

/// The keys of one issuer.
pub(super) struct Keys {
    issuer: String,
    place: Option<String>,
    fetcher: Fetcher,
    known: RwLock<Known>,
    /// Held by whoever asks the issuer: one at a time.
    asking: Mutex<()>,
}

#[derive(Debug, Clone, Default)]
struct Known {
    keys: Arc<Vec<Key>>,
    since: Option<Instant>,
    asked: Option<Instant>,
    why: Option<String>,
}

#[derive(Debug, Clone)]
struct Key {
    id: Option<String>,
    algorithm: Option<Algorithm>,
    kind: AlgorithmFamily,
    curve: Option<Algorithm>,
    public: DecodingKey,
}

impl Known {
    /// Whether the issuer was left alone for long enough.
    fn may_ask(&self) -> bool {
        let wait = if self.keys.is_empty() { IMPATIENT } else { COOLDOWN };
        self.asked.is_none_or(|at| at.elapsed() >= wait)
    }
}

impl Key {
    /// The key of `jwk`, if it is a public one for signatures.
    fn of(jwk: &Jwk) -> Option<Self> {
        let signs = jwk.common.public_key_use.as_ref().is_none_or(|u| *u == PublicKeyUse::Signature)
            && jwk.common.key_operations.as_ref().is_none_or(|all| all.contains(&KeyOperations::Verify));
        let (kind, curve) = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => (AlgorithmFamily::Rsa, None),
            AlgorithmParameters::EllipticCurve(p) => match p.curve {
                EllipticCurve::P256 => (AlgorithmFamily::Ec, Some(Algorithm::ES256)),
                EllipticCurve::P384 => (AlgorithmFamily::Ec, Some(Algorithm::ES384)),
                _ => return None,
            },
            AlgorithmParameters::OctetKeyPair(p) if p.curve == EllipticCurve::Ed25519 => {
                (AlgorithmFamily::Ed, Some(Algorithm::EdDSA))
            }
            _ => return None,
        };
        let algorithm = match jwk.common.key_algorithm {
            None => None,
            Some(named) => Some(algorithm_of(named)?),
        };
        let public = DecodingKey::from_jwk(jwk).ok()?;
        signs.then_some(Self { id: jwk.common.key_id.clone(), algorithm, kind, curve, public })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        self.kind == algorithm.family()
            && self.algorithm.is_none_or(|own| own == algorithm)
            && self.curve.is_none_or(|own| own == algorithm)
    }
}

fn algorithm_of(named: KeyAlgorithm) -> Option<Algorithm> {
    named.to_string().parse().ok()
}

impl Keys {
    /// The keys of `issuer`, at `place` or where its metadata says.
    pub(super) fn new(issuer: String, place: Option<String>, fetcher: Fetcher) -> Self {
        Self { issuer, place, fetcher, known: RwLock::default(), asking: Mutex::default() }
    }

    fn known(&self) -> Known {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The key called `id`, for `algorithm`. A token that names none means the only one that fits.
    ///
    /// Nobody whose key is known waits for the issuer: old keys serve on while they are fetched again.
    pub(super) async fn find(
        self: &Arc<Self>,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<DecodingKey, TokenError> {
        let known = self.known();
        let age = known.since.map(|at| at.elapsed());
        if let Some(key) = among(&known.keys, id, algorithm)
            && let Some(age) = age.filter(|age| *age < FRESH + GRACE)
        {
            if age >= FRESH {
                self.refresh();
            }
            return Ok(key);
        }
        let asking = self.asking.lock().await;
        let mut known = self.known();
        let mut found = among(&known.keys, id, algorithm);
        let is_old = known.since.is_none_or(|at| at.elapsed() >= FRESH + GRACE);
        if (found.is_none() || is_old) && known.may_ask() {
            known = self.ask().await;
            found = among(&known.keys, id, algorithm);
        }
        drop(asking);
        let serve = known.since.is_some_and(|at| at.elapsed() < FRESH + GRACE);
        match found {
            Some(key) if serve => Ok(key),
            None if serve => Err(TokenError::Invalid("the token's key is unknown")),
            _ => Err(TokenError::Unavailable(known.why.unwrap_or_else(|| "it has no keys".into()))),
        }
    }

    /// Fetches the keys again beside the calls, unless somebody does.
    fn refresh(self: &Arc<Self>) {
        let keys = Arc::clone(self);
        tokio::spawn(async move {
            if let Ok(_asking) = keys.asking.try_lock()
                && keys.known().may_ask()
            {
                keys.ask().await;
            }
        });
    }

    /// Asks the issuer; what is known stays where it does not answer.
    async fn ask(&self) -> Known {
        let (fetcher, issuer, place) = (self.fetcher.clone(), self.issuer.clone(), self.place.clone());
        let asked = tokio::task::spawn_blocking(move || {
            let place = match place {
                Some(place) => place,
                None => found_by_metadata(&fetcher, &issuer, "jwks_uri")?,
            };
            keys(&json(&fetcher, &place)?)
        });
        let answered = asked.await.unwrap_or_else(|_| Err("the question was lost".into()));
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.asked = Some(Instant::now());
        match answered {
            Ok(keys) => {
                known.keys = Arc::new(keys);
                known.since = known.asked;
                known.why = None;
            }
            Err(why) => {
                tracing::warn!(issuer = self.issuer, why, "the issuer's keys could not be fetched");
                known.why = Some(why);
            }
        }
        known.clone()
    }
}

fn among(keys: &[Key], id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
    let mut fitting = keys.iter().filter(|key| key.fits(algorithm));
    match id {
        Some(id) => fitting.find(|key| key.id.as_deref() == Some(id)).map(|key| key.public.clone()),
        None => {
            let only = fitting.next()?;
            fitting.next().is_none().then(|| only.public.clone())
        }
    }
}

/// The keys of a JWK set that can be used; what cannot is passed over (RFC 7517 §5).
fn keys(set: &Value) -> Result<Vec<Key>, String> {
    let listed = set.get("keys").and_then(Value::as_array).ok_or("the key set has no `keys`")?;
    let usable = listed.iter().filter_map(|jwk| serde_json::from_value::<Jwk>(jwk.clone()).ok());
    let keys: Vec<Key> = usable.filter_map(|jwk| Key::of(&jwk)).take(MAX_KEYS).collect();
    // An issuer without keys could not have signed anything: something is wrong there, and the keys that were stay.
    if keys.is_empty() { Err("the key set has no key that can be used".into()) } else { Ok(keys) }
}

fn json(fetcher: &Fetcher, url: &str) -> Result<Value, String> {
    let answered = fetcher.get(url).map_err(|e| format!("{url}: {e}"))?;
    if answered.status != 200 {
        return Err(format!("{url}: status {}", answered.status));
    }
    serde_json::from_slice(&answered.body).map_err(|e| format!("{url}: {e}"))
}

/// The URL called `field` in the metadata of `issuer`: by RFC 8414, else by `OpenID` Connect Discovery. Metadata that names
/// another issuer is not its own (RFC 8414 §3.3). An issuer on the network cannot name an address of this machine; what its
/// names resolve to is its own affair.
pub(super) fn found_by_metadata(fetcher: &Fetcher, issuer: &str, field: &str) -> Result<String, String> {
    let parsed = checked(issuer).map_err(|e| e.to_string())?;
    let (origin, path) = (parsed.origin().ascii_serialization(), parsed.path().trim_end_matches('/'));
    let places = [
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
        format!("{origin}{path}/.well-known/openid-configuration"),
    ];
    let mut why = String::new();
    for place in places {
        let document = match json(fetcher, &place) {
            Ok(document) => document,
            Err(error) => {
                why = error;
                continue;
            }
        };
        if document.get("issuer").and_then(Value::as_str) != Some(issuer) {
            return Err(format!("{place}: the metadata is that of another issuer"));
        }
        let url =
            document.get(field).and_then(Value::as_str).ok_or_else(|| format!("{place}: no `{field}`"))?;
        let found = checked(url).map_err(|e| e.to_string())?;
        if found.scheme() != parsed.scheme() || is_here(&found) && !is_here(&parsed) {
            return Err(format!(
                "{place}: `{field}` leads to {}, away from the issuer's network",
                found.origin().ascii_serialization()
            ));
        }
        return Ok(url.to_owned());
    }
    Err(why)
}
