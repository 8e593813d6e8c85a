//! Names of what is remembered: a prefix that says what it is, and a ULID.
//!
//! Whoever writes makes the id, so that a write that is sent again is the same row. They sort by when they were made.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use crate::error::StoreError;
use crate::time::Timestamp;

/// Characters of a ULID (<https://github.com/ulid/spec>): Crockford's base 32.
const LENGTH: usize = 26;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal, $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// What every one begins with.
            pub const PREFIX: &'static str = $prefix;

            /// The id of something made at `at`; `random` makes it one of its own (80 bits are used).
            #[must_use]
            pub fn new(at: Timestamp, random: u128) -> Self {
                let millis = u64::try_from(at.as_millis()).unwrap_or(0);
                Self(format!("{}{}", $prefix, Ulid::from_parts(millis, random)))
            }

            /// As it is written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = StoreError;

            fn from_str(text: &str) -> Result<Self, StoreError> {
                let is_one = text.strip_prefix($prefix).is_some_and(is_ulid);
                if is_one { Ok(Self(text.to_owned())) } else { Err(StoreError::Invalid { what: $what, why: concat!("it is not ", $prefix, " and 26 characters") }) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = StoreError;

            fn try_from(text: String) -> Result<Self, StoreError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": concat!("^", $prefix, "[0-7][0-9A-HJKMNP-TV-Z]{25}$") })
            }
        }
    )*};
}

ids! {
    /// A session's id.
    SessionId = "sess_", "session";
    /// A handoff's id.
    HandoffId = "ho_", "handoff";
    /// A checkpoint's id.
    CheckpointId = "cp_", "checkpoint";
    /// A note's id.
    NoteId = "note_", "note";
    /// A machine's id.
    MachineId = "mach_", "machine";
    /// The id of a key of the API.
    KeyId = "key_", "key";
}

fn is_ulid(text: &str) -> bool {
    let is_of_it = |b: u8| matches!(b, b'0'..=b'9' | b'A'..=b'H' | b'J' | b'K' | b'M' | b'N' | b'P'..=b'T' | b'V'..=b'Z');
    text.len() == LENGTH && text.bytes().all(is_of_it) && text.bytes().next().is_some_and(|b| b <= b'7')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_was_written_and_sorts_by_its_time() {
        let at = |millis| SessionId::new(Timestamp::from_millis(millis), u128::MAX - 7);
        let id = at(1_750_000_000_000);
        assert_eq!(id.as_str().parse::<SessionId>().unwrap(), id);
        assert_eq!(serde_json::from_str::<SessionId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
        assert!(at(1_750_000_000_000) < at(1_750_000_000_001));
        assert_ne!(id, SessionId::new(Timestamp::from_millis(1_750_000_000_000), 3));
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let id = NoteId::new(Timestamp::from_millis(5), u128::MAX).to_string();
        for text in [
            "",
            "note_",
            &id.to_lowercase(),
            &format!("{id}0"),
            &id.replace("note_", "sess_"),
            "note_8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        ] {
            assert!(text.parse::<NoteId>().is_err(), "{text}");
        }
    }
}
