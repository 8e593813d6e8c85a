//! Identifiers. Handles that grant something are random; ids that name content are digests.

use std::cell::RefCell;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, NotADigest, hex};

/// The operating system gave no randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no random bytes")]
pub struct NoRandomness;

fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// The bytes of a fresh name. Nobody has to guess it, so that the system is asked for some names at once: asking costs more than all
/// else here.
fn fresh() -> Result<[u8; 16], NoRandomness> {
    thread_local! {
        static AHEAD: RefCell<Vec<[u8; 16]>> = const { RefCell::new(Vec::new()) };
    }
    AHEAD.with_borrow_mut(|ahead| {
        if ahead.is_empty() {
            let bytes: [u8; 16 * 32] = random()?;
            ahead.extend_from_slice(bytes.as_chunks().0);
        }
        ahead.pop().ok_or(NoRandomness)
    })
}

/// A version 4 UUID (RFC 9562 §5.4) in its 36-character spelling.
fn uuid_v4() -> Result<String, NoRandomness> {
    let mut b = fresh()?;
    b[6] = b[6] & 0x0f | 0x40;
    b[8] = b[8] & 0x3f | 0x80;
    let mut digits = [0; 32];
    let all = hex(&b, &mut digits);
    let mut uuid = String::with_capacity(36);
    for (part, ends) in [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)] {
        if part > 0 {
            uuid.push('-');
        }
        uuid.push_str(all.get(part..ends).unwrap_or_default());
    }
    Ok(uuid)
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// A fresh one from the operating system's randomness.
            pub fn random() -> Result<Self, NoRandomness> {
                uuid_v4().map(Self)
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

uuid_id! {
    /// Names one transcript in the ledger: a version 4 UUID.
    TranscriptId
}

uuid_id! {
    /// The idempotency key that goes with a downstream request: one version 4 UUID per call, the same on every retry.
    Key
}

impl FromStr for TranscriptId {
    type Err = BadTranscriptId;

    fn from_str(text: &str) -> Result<Self, BadTranscriptId> {
        let fits = text.len() == 36
            && text.bytes().enumerate().all(|(i, b)| match i {
                8 | 13 | 18 | 23 => b == b'-',
                _ => b.is_ascii_digit() || (b'a'..=b'f').contains(&b),
            });
        if fits { Ok(Self(text.to_owned())) } else { Err(BadTranscriptId(text.to_owned())) }
    }
}

/// The text is not a transcript's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a transcript id (a UUID such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427)")]
pub struct BadTranscriptId(pub String);

/// What the caller names its call: the JSON-RPC id, or what the CLI made up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

/// Names a plan by the hash of its canonical form: `plan_` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlanId(Digest);

impl PlanId {
    const PREFIX: &str = "plan_";

    /// The id of a plan whose canonical form has this digest.
    #[must_use]
    pub const fn from_digest(digest: Digest) -> Self {
        Self(digest)
    }

    /// The digest of the plan's canonical form.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.0
    }
}

impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::PREFIX, self.0)
    }
}

/// The text is not `plan_` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a plan id is `plan_` and 64 lower-case hexadecimal digits, as a rehearsal returned it")]
pub struct BadPlanId;

impl FromStr for PlanId {
    type Err = BadPlanId;

    fn from_str(text: &str) -> Result<Self, BadPlanId> {
        let hex = text.strip_prefix(Self::PREFIX).ok_or(BadPlanId)?;
        hex.parse().map(Self).map_err(|NotADigest| BadPlanId)
    }
}

impl TryFrom<String> for PlanId {
    type Error = BadPlanId;

    fn try_from(text: String) -> Result<Self, BadPlanId> {
        text.parse()
    }
}

impl From<PlanId> for String {
    fn from(id: PlanId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_have_version_four_and_the_rfc_variant() {
        let id = TranscriptId::random().unwrap();
        let text = id.as_str();
        assert_eq!((text.len(), &text[14..15]), (36, "4"));
        assert!(matches!(&text[19..20], "8" | "9" | "a" | "b"), "{text}");
        assert_eq!(text.parse(), Ok(id));
        assert_ne!(Key::random().unwrap(), Key::random().unwrap());
    }

    #[test]
    fn plan_ids_round_trip() {
        let id = PlanId::from_digest(Digest::of(b"x"));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!("plan_12".parse::<PlanId>().is_err());
    }
}
