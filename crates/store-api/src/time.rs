//! Points in time.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, to the millisecond, from the year -9999 to 9999. Spelled after RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The point `millis` milliseconds after the beginning of 1970 in UTC. Beyond the range it is the range's end.
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        let end = if millis < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        let end = || jiff::Timestamp::from_second(end.as_second()).unwrap_or(end);
        Self(jiff::Timestamp::from_millisecond(millis).unwrap_or_else(|_| end()))
    }

    /// Milliseconds since the beginning of 1970 in UTC.
    #[must_use]
    pub fn as_millis(self) -> i64 {
        self.0.as_millisecond()
    }
}

impl From<jiff::Timestamp> for Timestamp {
    /// What is finer than a millisecond is dropped.
    fn from(time: jiff::Timestamp) -> Self {
        Self::from_millis(time.as_millisecond())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse::<jiff::Timestamp>().map(Self::from).map_err(D::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_to_the_millisecond_and_the_range_has_ends() {
        for millis in [0, 1, -1, 1_700_000_000_123, -62_135_596_800_000, i64::MAX, i64::MIN] {
            let time = Timestamp::from_millis(millis);
            let text = serde_json::to_string(&time).unwrap();
            assert_eq!(serde_json::from_str::<Timestamp>(&text).unwrap(), time, "{text}");
            assert_eq!(Timestamp::from_millis(time.as_millis()), time, "{text}");
        }
        assert_eq!(Timestamp::from_millis(1_700_000_000_123).to_string(), "2023-11-14T22:13:20.123Z");
        assert!(serde_json::from_str::<Timestamp>("\"yesterday\"").is_err());
    }
}
