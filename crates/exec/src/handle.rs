//! Handles: random names for what a caller may come back to. They belong to a principal and expire.

use std::fmt;

use contract::{Code, Digest, Fault, Principal};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::state::{Durable, PLAN_LIFETIME, StateDir, broken, write_atomically};

/// A random name: a kind, an underscore and 128 bits in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle(String);

impl Handle {
    /// A fresh one.
    pub fn random(kind: &str) -> Result<Self, Fault> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| Fault::internal("the system gave no random bytes"))?;
        Ok(Self(bytes.iter().fold(format!("{kind}_"), |text, byte| text + &format!("{byte:02x}"))))
    }

    /// The handle that `text` is, when it has the form of one.
    pub(crate) fn parse(kind: &str, text: &str) -> Option<Self> {
        let hex = text.strip_prefix(kind)?.strip_prefix('_')?;
        let fits = hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        fits.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Serialize, Deserialize)]
struct Kept<T> {
    owner: Digest,
    expires: String,
    value: T,
}

impl StateDir {
    /// Keeps `value` under a fresh handle of `kind` for `owner`.
    pub fn keep_handle<T: Serialize>(
        &self,
        kind: &str,
        owner: &Principal,
        value: &T,
    ) -> Result<Handle, Fault> {
        let handle = Handle::random(kind)?;
        self.keep_under(&handle, owner, value)?;
        Ok(handle)
    }

    /// Keeps `value` under a handle that is `owner`'s already, as long as under a fresh one.
    pub(crate) fn keep_under<T: Serialize>(
        &self,
        handle: &Handle,
        owner: &Principal,
        value: &T,
    ) -> Result<(), Fault> {
        let expires =
            Timestamp::now().checked_add(PLAN_LIFETIME).map_err(|e| Fault::internal(e.to_string()))?;
        let kept = Kept { owner: owner.key(), expires: format!("{expires:.3}"), value };
        // A power cut may lose it: whoever has it then asks again, and is told how.
        let bytes = serde_json::to_vec(&kept).map_err(|e| Fault::internal(e.to_string()))?;
        write_atomically(&self.handle_path(handle), &bytes, Durable::No).map_err(|e| broken("handle", &e))
    }

    /// What stands under a handle. One that expired, is unknown or belongs to someone else does not exist.
    pub fn handle<T: DeserializeOwned>(&self, kind: &str, text: &str, owner: &Principal) -> Result<T, Fault> {
        let unknown =
            || Fault::new(Code::NotFound, format!("there is no such {kind}: it expired, or never was"));
        let handle = Handle::parse(kind, text).ok_or_else(unknown)?;
        let kept: Kept<T> = Self::read_json(&self.handle_path(&handle)).ok_or_else(unknown)?;
        let expired = kept.expires.parse::<Timestamp>().map_or(true, |at| at < Timestamp::now());
        if expired || kept.owner != owner.key() { Err(unknown()) } else { Ok(kept.value) }
    }

    /// What stands under the handles of `kind` that belong to `owner` and have not expired, in no order.
    pub(crate) fn handles<T: DeserializeOwned>(&self, kind: &str, owner: &Principal) -> Vec<(String, T)> {
        let listed = std::fs::read_dir(self.path().join("handles")).into_iter().flatten().flatten();
        let names =
            listed.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".json").map(str::to_owned));
        let of_kind = names.filter(|name| Handle::parse(kind, name).is_some());
        of_kind.filter_map(|name| self.handle(kind, &name, owner).ok().map(|value| (name, value))).collect()
    }

    fn handle_path(&self, handle: &Handle) -> std::path::PathBuf {
        self.path().join("handles").join(format!("{handle}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_belongs_to_whoever_got_it_and_nobody_guesses_one() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("state")).unwrap();
        let (me, you) = (Principal::Local { uid: 1 }, Principal::Local { uid: 2 });
        let handle = state.keep_handle("cursor", &me, &7_u64).unwrap().to_string();
        assert_eq!(state.handle::<u64>("cursor", &handle, &me).unwrap(), 7);
        let refused = |text: &str, kind: &str, who: &Principal| {
            state.handle::<u64>(kind, text, who).unwrap_err().code == Code::NotFound
        };
        assert!(refused(&handle, "cursor", &you), "another principal");
        assert!(refused(&handle, "job", &me), "another kind");
        assert!(refused("cursor_../../../../etc/passwd", "cursor", &me), "no path");
        assert!(refused(&Handle::random("cursor").unwrap().to_string(), "cursor", &me), "never made");
        let file = state.path().join("handles").join(format!("{handle}.json"));
        let text = std::fs::read_to_string(&file).unwrap();
        let year = &text[text.find("\"expires\":\"").unwrap() + 11..][..4];
        std::fs::write(&file, text.replace(&format!("\"{year}-"), "\"2001-")).unwrap();
        assert!(refused(&handle, "cursor", &me), "expired");
    }
}
