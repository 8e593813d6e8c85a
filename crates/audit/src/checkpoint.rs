//! Signed checkpoints: the tree's size and root in the signed-note format (C2SP `signed-note` and `tlog-checkpoint`).
//!
//! ```text
//! gatewright/<ledger id>
//! <size>
//! <root, base64>
//!
//! — gatewright/<ledger id> <base64 of key hash (4 bytes) and signature (64 bytes)>
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use contract::Digest;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

/// The tree at some size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The ledger's id.
    pub ledger: String,
    /// How many records.
    pub size: u64,
    /// The Merkle root over them.
    pub root: Digest,
}

/// Why a note is not a checkpoint signed by this key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadNote {
    /// Not in the format.
    #[error("not a signed checkpoint")]
    Format,
    /// No signature by this key.
    #[error("not signed by the ledger's key")]
    Key,
    /// Signed by a key that was not in force at that size.
    #[error("signed by a key that was not in force then")]
    Retired,
    /// A signature that does not verify.
    #[error("the signature does not verify")]
    Signature,
}

fn origin(ledger: &str) -> String {
    format!("gatewright/{ledger}")
}

/// The first four bytes of `SHA-256(name || '\n' || 0x01 || key)`, as the note format names a key.
fn key_hash(name: &str, key: &VerifyingKey) -> [u8; 4] {
    let digest = Digest::of_parts(&[name.as_bytes(), b"\n\x01", key.as_bytes()]);
    let [a, b, c, d, ..] = *digest.as_bytes();
    [a, b, c, d]
}

/// A public key as text.
#[must_use]
pub fn encode_key(key: &VerifyingKey) -> String {
    BASE64.encode(key.as_bytes())
}

/// A public key from text.
#[must_use]
pub fn decode_key(text: &str) -> Option<VerifyingKey> {
    VerifyingKey::from_bytes(&BASE64.decode(text).ok()?.try_into().ok()?).ok()
}

/// What the old key signs to hand over to a new one.
#[must_use]
pub fn rekey_message(ledger: &str, new_key: &str) -> Vec<u8> {
    format!("gatewright rekey\n{ledger}\n{new_key}\n").into_bytes()
}

/// A signature over `message` as text.
#[must_use]
pub fn sign(key: &SigningKey, message: &[u8]) -> String {
    BASE64.encode(key.sign(message).to_bytes())
}

/// Whether `signature` (base64) is `key`'s over `message`.
#[must_use]
pub fn verify(key: &VerifyingKey, message: &[u8], signature: &str) -> bool {
    BASE64
        .decode(signature)
        .ok()
        .and_then(|bytes| Signature::from_slice(&bytes).ok())
        .is_some_and(|signature| key.verify_strict(message, &signature).is_ok())
}

impl Checkpoint {
    fn body(&self) -> String {
        format!("{}\n{}\n{}\n", origin(&self.ledger), self.size, BASE64.encode(self.root.as_bytes()))
    }

    /// The note, signed by `key`.
    #[must_use]
    pub fn sign(&self, key: &SigningKey) -> String {
        let (body, name) = (self.body(), origin(&self.ledger));
        let mut line = key_hash(&name, &key.verifying_key()).to_vec();
        line.extend_from_slice(&key.sign(body.as_bytes()).to_bytes());
        format!("{body}\n\u{2014} {name} {}\n", BASE64.encode(line))
    }

    /// How many records a note says that it covers, whoever signed it.
    pub(crate) fn size_stated(note: &str) -> Option<u64> {
        note.split('\n').nth(1)?.parse().ok()
    }

    /// Reads a note and checks that `key` signed it.
    pub fn open(note: &str, key: &VerifyingKey) -> Result<Self, BadNote> {
        let (body, signatures) = note.split_once("\n\n").ok_or(BadNote::Format)?;
        let mut lines = body.split('\n');
        let name = lines.next().ok_or(BadNote::Format)?;
        let ledger = name.strip_prefix("gatewright/").ok_or(BadNote::Format)?;
        let size = lines.next().and_then(|l| l.parse().ok()).ok_or(BadNote::Format)?;
        let root = lines.next().and_then(|l| BASE64.decode(l).ok()).ok_or(BadNote::Format)?;
        let root = Digest::from_bytes(root.try_into().map_err(|_| BadNote::Format)?);
        let checkpoint = Self { ledger: ledger.to_owned(), size, root };
        let prefix = format!("\u{2014} {name} ");
        let mut verdict = BadNote::Key;
        for line in signatures.lines().filter_map(|l| l.strip_prefix(&prefix)) {
            let Ok(bytes) = BASE64.decode(line) else { continue };
            let Some((hash, signature)) = bytes.split_at_checked(4) else { continue };
            if hash != key_hash(name, key) {
                continue;
            }
            verdict = BadNote::Signature;
            // The body is rebuilt, so that nothing beside the three lines can ride along.
            let signed = checkpoint.body();
            if Signature::from_slice(signature)
                .is_ok_and(|s| key.verify_strict(signed.as_bytes(), &s).is_ok())
            {
                return Ok(checkpoint);
            }
        }
        Err(verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_opens_only_with_its_key_and_unchanged() {
        let (key, other) = (SigningKey::from_bytes(&[1; 32]), SigningKey::from_bytes(&[2; 32]));
        let checkpoint = Checkpoint { ledger: "l".into(), size: 42, root: Digest::of(b"r") };
        let note = checkpoint.sign(&key);
        assert_eq!(Checkpoint::size_stated(&note), Some(42));
        assert_eq!(Checkpoint::open(&note, &key.verifying_key()), Ok(checkpoint));
        assert_eq!(Checkpoint::open(&note, &other.verifying_key()), Err(BadNote::Key));
        let forged = note.replace("42", "41");
        assert_eq!(Checkpoint::open(&forged, &key.verifying_key()), Err(BadNote::Signature));
    }
}
