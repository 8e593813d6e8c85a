//! The forward-ratcheting MAC key.
//!
//! Record *i* is authenticated under `kᵢ`; afterwards only `kᵢ₊₁ = HMAC(kᵢ, label)` is kept. Whoever steals the
//! key of today cannot recompute the MACs of yesterday; whoever holds `k₀` can check them all.

use contract::Digest;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

const STEP: &[u8] = b"gatewright ledger ratchet v1";

/// The MAC key of one place in the ledger. Erased from memory when dropped.
#[derive(Clone)]
pub struct RatchetKey(Zeroizing<[u8; 32]>);

impl RatchetKey {
    /// A fresh first key.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut())?;
        Ok(Self(bytes))
    }

    /// A key that was kept.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The key, to be kept where only the owner reads it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The MAC of `bytes`.
    #[must_use]
    pub fn mac(&self, bytes: &[u8]) -> Digest {
        Digest::from_bytes(hmac(self.0.as_ref(), bytes))
    }

    /// The key of the next place.
    #[must_use]
    pub fn next(&self) -> Self {
        Self(Zeroizing::new(hmac(self.0.as_ref(), STEP)))
    }

    /// The MAC of `bytes`, and the key of the next place: both at once are cheaper, as the key is taken in once.
    #[must_use]
    pub fn mac_and_next(&self, bytes: &[u8]) -> (Digest, Self) {
        let keyed = keyed(self.0.as_ref());
        let mac = finished(keyed.clone(), bytes);
        (Digest::from_bytes(mac), Self(Zeroizing::new(finished(keyed, STEP))))
    }

    /// Whether `mac` is the MAC of `bytes`, compared in constant time.
    #[must_use]
    pub fn verify(&self, bytes: &[u8], mac: &Digest) -> bool {
        keyed(self.0.as_ref()).is_some_and(|mut m| {
            m.update(bytes);
            m.verify_slice(mac.as_bytes()).is_ok()
        })
    }
}

fn keyed(key: &[u8]) -> Option<Hmac<Sha256>> {
    // HMAC takes a key of any length, so this is always `Some`.
    Hmac::<Sha256>::new_from_slice(key).ok()
}

/// HMAC-SHA-256 (RFC 2104).
pub(crate) fn hmac(key: &[u8], bytes: &[u8]) -> [u8; 32] {
    finished(keyed(key), bytes)
}

fn finished(keyed: Option<Hmac<Sha256>>, bytes: &[u8]) -> [u8; 32] {
    keyed.map_or([0; 32], |mut m| {
        m.update(bytes);
        m.finalize().into_bytes().into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mac_is_the_published_one() {
        // RFC 4231, test case 2.
        let tag = Digest::from_bytes(hmac(b"Jefe", b"what do ya want for nothing?"));
        assert_eq!(tag.to_string(), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn a_later_key_does_not_verify_an_earlier_record() {
        let first = RatchetKey::from_bytes([7; 32]);
        let mac = first.mac(b"record");
        assert!(first.verify(b"record", &mac));
        assert!(!first.next().verify(b"record", &mac));
        assert!(!first.verify(b"recorD", &mac));
        let (at_once, next) = first.mac_and_next(b"record");
        assert_eq!((at_once, next.as_bytes()), (mac, first.next().as_bytes()));
    }
}
