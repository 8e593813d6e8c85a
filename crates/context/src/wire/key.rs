//! Keys: `gwk_`, the key's id, `_`, and 256 random bits. The server keeps the digest of those alone.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::Digest;
use store_api::id::KeyId;

/// What every key begins with.
pub const PREFIX: &str = "gwk_";

/// A key. It is shown once, when it is made.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// Which one it is: no secret.
    pub id: KeyId,
    secret: String,
}

/// It is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("that is no key: one begins with gwk_ and is shown when it is made")]
pub struct BadKey;

impl Key {
    /// A key of so many random bytes.
    #[must_use]
    pub fn new(id: KeyId, random: &[u8; 32]) -> Self {
        Self { id, secret: URL_SAFE_NO_PAD.encode(random) }
    }

    /// Reads one.
    pub fn read(text: &str) -> Result<Self, BadKey> {
        let rest = text.trim().strip_prefix(PREFIX).ok_or(BadKey)?;
        let (id, secret) = rest.split_once('_').ok_or(BadKey)?;
        let id = format!("{}{id}", KeyId::PREFIX).parse().map_err(|_| BadKey)?;
        let is_whole = URL_SAFE_NO_PAD.decode(secret).is_ok_and(|bytes| bytes.len() == 32);
        if is_whole { Ok(Self { id, secret: secret.to_owned() }) } else { Err(BadKey) }
    }

    /// As it is sent.
    #[must_use]
    pub fn reveal(&self) -> String {
        let id = self.id.as_str().trim_start_matches(KeyId::PREFIX);
        format!("{PREFIX}{id}_{}", self.secret)
    }

    /// What is kept of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.secret.as_bytes())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use store_api::Timestamp;

    use super::*;

    #[test]
    fn a_key_is_read_as_it_is_sent_and_shown_to_nobody_else() {
        let id = KeyId::new(Timestamp::from_millis(1_795_305_600_000), 7);
        for random in [[0_u8; 32], [0xff; 32], [0xfb; 32]] {
            let key = Key::new(id.clone(), &random);
            assert_eq!(Key::read(&format!(" {}\n", key.reveal())), Ok(key.clone()));
            assert!(!format!("{key:?}").contains(&key.secret));
        }
        let whole = Key::new(id, &[3; 32]).reveal();
        for bad in ["", "gwk_", &whole[1..], &whole[..whole.len() - 1], &format!("{whole}A"), "gwk_x_y"] {
            assert_eq!(Key::read(bad), Err(BadKey), "{bad}");
        }
    }
}
