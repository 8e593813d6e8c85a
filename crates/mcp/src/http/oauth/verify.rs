//! Signed tokens: the signature by ring, the claims by our own rules, which are narrower than the library's.

use std::time::{SystemTime, UNIX_EPOCH};

use contract::Principal;
use contract::text::is_deceptive;
use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::signature::{Error as Unverified, Verifier};
use jsonwebtoken::{
    Algorithm, DecodingKey, DecodingKeyKind, Header, Validation, dangerous, decode, decode_header,
};
use ring::signature as ring;
use serde_json::Value;

use super::{Issuer, LEEWAY, TokenError};

/// Longest subject and longest list of scopes, in bytes: they go into every record.
const MAX_SUBJECT: usize = 255;
const MAX_SCOPE: usize = 4096;

/// Makes ring the library's cryptography, for this process.
pub(super) fn install() {
    static RING: CryptoProvider = CryptoProvider {
        // This server writes no tokens.
        signer_factory: |_, _| Err(ErrorKind::InvalidAlgorithm.into()),
        verifier_factory: |algorithm, key| Ok(Box::new(Ring { algorithm: *algorithm, key: key.clone() })),
        key_utils: KeyUtils::new_unimplemented(),
    };
    // Installed before by another server of this process: the same.
    let _ = RING.install_default();
}

struct Ring {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for Ring {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), Unverified> {
        let rsa = |parameters: &ring::RsaParameters| match self.key.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                let (n, e) = (unpadded(n), unpadded(e));
                ring::RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            DecodingKeyKind::SecretOrDer(_) => Err(::ring::error::Unspecified),
        };
        let raw = |algorithm: &'static dyn ring::VerificationAlgorithm| match self.key.kind() {
            DecodingKeyKind::SecretOrDer(point) => {
                ring::UnparsedPublicKey::new(algorithm, point).verify(message, signature)
            }
            DecodingKeyKind::RsaModulusExponent { .. } => Err(::ring::error::Unspecified),
        };
        let verified = match self.algorithm {
            Algorithm::RS256 => rsa(&ring::RSA_PKCS1_2048_8192_SHA256),
            Algorithm::RS384 => rsa(&ring::RSA_PKCS1_2048_8192_SHA384),
            Algorithm::RS512 => rsa(&ring::RSA_PKCS1_2048_8192_SHA512),
            Algorithm::PS256 => rsa(&ring::RSA_PSS_2048_8192_SHA256),
            Algorithm::PS384 => rsa(&ring::RSA_PSS_2048_8192_SHA384),
            Algorithm::PS512 => rsa(&ring::RSA_PSS_2048_8192_SHA512),
            Algorithm::ES256 => raw(&ring::ECDSA_P256_SHA256_FIXED),
            Algorithm::ES384 => raw(&ring::ECDSA_P384_SHA384_FIXED),
            Algorithm::EdDSA => raw(&ring::ED25519),
            // A shared secret is no proof of who signed.
            _ => Err(::ring::error::Unspecified),
        };
        verified.map_err(|_| Unverified::new())
    }
}

impl JwtVerifier for Ring {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

/// Some issuers write a sign byte before the number; ring takes numbers only.
fn unpadded(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|b| **b == 0).count();
    &number[zeros..]
}

const fn invalid(why: &'static str) -> TokenError {
    TokenError::Invalid(why)
}

/// Who `token` speaks for, if one of `issuers` wrote it for one of `audiences`.
pub(super) async fn principal(
    token: &str,
    issuers: &[Issuer],
    audiences: &[String],
) -> Result<Principal, TokenError> {
    let header = decode_header(token).map_err(|_| invalid("the token is not one of ours"))?;
    let unread: Value =
        dangerous::insecure_decode_claims(token).map_err(|_| invalid("the token is not one of ours"))?;
    // Only whose keys to use is taken from what is not verified yet.
    let named = unread.get("iss").and_then(Value::as_str);
    let issuer = issuers
        .iter()
        .find(|i| Some(i.name.as_str()) == named)
        .ok_or(invalid("the token's issuer is unknown"))?;
    check_header(&header, issuer)?;
    let key = issuer.keys.find(header.kid.as_deref(), header.alg).await?;
    let mut rules = Validation::new(header.alg);
    // The claims are checked below.
    rules.validate_exp = false;
    rules.validate_aud = false;
    rules.required_spec_claims.clear();
    let verified =
        decode::<Value>(token, &key, &rules).map_err(|_| invalid("the token's signature does not verify"))?;
    check_claims(&verified.claims, &issuer.name, audiences, now())
}

fn check_header(header: &Header, issuer: &Issuer) -> Result<(), TokenError> {
    if !issuer.algorithms.contains(&header.alg) {
        return Err(invalid("the token's algorithm is not accepted"));
    }
    if header.crit.is_some() {
        return Err(invalid("the token has critical extensions, and none is understood"));
    }
    // RFC 9068 §4: what is signed is not yet an access token.
    let typ = header.typ.as_deref().map(|t| t.strip_prefix("application/").unwrap_or(t).to_ascii_lowercase());
    match typ.as_deref() {
        Some("at+jwt") => Ok(()),
        None | Some("jwt") if issuer.plain_jwt => Ok(()),
        _ => Err(invalid("the token is no access token")),
    }
}

/// The claims of RFC 9068 §2.2, strictly: those that are missing or of another type are not excused. What an
/// introspection answers is held to the same.
pub(super) fn check_claims(
    claims: &Value,
    issuer: &str,
    audiences: &[String],
    now: i64,
) -> Result<Principal, TokenError> {
    if claims.get("iss").and_then(Value::as_str) != Some(issuer) {
        return Err(invalid("the token's issuer is unknown"));
    }
    // A token that is bound to a key is nobody's without the proof (RFC 7800); what only an ID token has is no access
    // token, whatever its type says.
    if ["cnf", "nonce", "at_hash"].iter().any(|claim| claims.get(*claim).is_some()) {
        return Err(invalid("the token is no plain access token"));
    }
    let for_us = |text: &Value| text.as_str().is_some_and(|text| audiences.iter().any(|a| a == text));
    let is_meant = match claims.get("aud") {
        Some(Value::Array(several)) => several.iter().any(for_us),
        Some(one) => for_us(one),
        None => false,
    };
    if !is_meant {
        return Err(invalid("the token is for somebody else"));
    }
    let moment = |name: &str| match claims.get(name) {
        None => Ok(None),
        // Some issuers write fractions of seconds.
        #[expect(clippy::cast_possible_truncation, reason = "saturates; a date beyond is far enough")]
        Some(value) => match value.as_f64() {
            Some(seconds) => Ok(Some(seconds as i64)),
            None => Err(invalid("the token's times are no numbers")),
        },
    };
    let Some(ends) = moment("exp")? else { return Err(invalid("the token never expires")) };
    if now >= ends.saturating_add(LEEWAY) {
        return Err(invalid("the token has expired"));
    }
    for begins in ["nbf", "iat"] {
        if moment(begins)?.is_some_and(|at| at > now.saturating_add(LEEWAY)) {
            return Err(invalid("the token is not valid yet"));
        }
    }
    let hidden = |c: char| c.is_control() || is_deceptive(c);
    let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
    if subject.is_empty() || subject.len() > MAX_SUBJECT || subject.chars().any(hidden) {
        return Err(invalid("the token has no usable subject"));
    }
    Ok(Principal::Token { issuer: issuer.to_owned(), subject: subject.to_owned(), scopes: scopes(claims)? })
}

/// `scope` is words in one text (RFC 8693 §4.2); some issuers write a list, some `scp`.
fn scopes(claims: &Value) -> Result<Vec<String>, TokenError> {
    let mut found = Vec::new();
    for name in ["scope", "scp"] {
        match claims.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(words)) => found.extend(words.split_ascii_whitespace().map(str::to_owned)),
            Some(Value::Array(list)) => {
                found.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            Some(_) => return Err(invalid("the token's scopes are no text")),
        }
    }
    if found.iter().map(String::len).sum::<usize>() > MAX_SCOPE {
        return Err(invalid("the token has too many scopes"));
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Seconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
