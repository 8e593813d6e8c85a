//! JSON in which no name stands twice: whoever reads the first and whoever reads the last would read different things.
//!
//! Numbers stay as they are written, other than in `contract::canonical`, whose digests need exact doubles.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A value whose names are there once, at any depth. The parser bounds the depth to 128.
struct Once(Value);

/// Parses.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes).map(|Once(value)| value)
}

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any).map(Self)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Once(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format!("{name:?} is there twice")));
            }
            let Once(value) = map.next_value()?;
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_once_at_any_depth_and_numbers_as_they_are() {
        for text in [r#"{"a":1,"a":2}"#, r#"[{"b":{"a":1,"a":1}}]"#, r#"{"a":1,"\u0061":2}"#] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        let text = r#"{"a":9223372036854775807,"b":[1.5,-3,null,true,"x"]}"#;
        assert_eq!(parse(text.as_bytes()).unwrap().to_string(), text);
        assert!(parse("[".repeat(100_000).as_bytes()).is_err(), "depth is bounded");
    }

    proptest::proptest! {
        #[test]
        fn whatever_serde_reads_without_twins_is_read_the_same(text in r#"[\[\]{}":,a-c0-9 \\.e-]{0,40}"#) {
            if let Ok(strict) = parse(text.as_bytes()) {
                proptest::prop_assert_eq!(strict, serde_json::from_str::<Value>(&text).unwrap());
            }
        }
    }
}
