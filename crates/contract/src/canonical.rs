//! RFC 8785 canonical JSON, and parsing that refuses what canonicalisation would hide.
//!
//! Canonical form alone is not injective: duplicate keys vanish and integers beyond 2⁵³ collide. Whatever is
//! hashed here is therefore first *admitted*: [`parse_strict`] refuses both.

use serde::Serialize;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Integers beyond this magnitude lose digits in IEEE 754 doubles, which RFC 8785 numbers are.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Deepest nesting that [`parse_strict`] accepts.
pub const MAX_DEPTH: usize = 96;

/// Why a text is not admitted.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Not JSON, nested deeper than [`MAX_DEPTH`], with a duplicate key, or with an integer that has no exact double.
    #[error("{0}")]
    Parse(#[from] serde_json::Error),
    /// JSON, but not the bytes that canonicalisation gives.
    #[error("the bytes are not their own canonical form (RFC 8785)")]
    NotCanonical,
}

/// The canonical bytes of `value`.
pub fn to_vec<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    serde_json_canonicalizer::to_vec(value)
}

/// Parses JSON, refusing duplicate keys at any depth, integers beyond ±2⁵³−1 and nesting beyond [`MAX_DEPTH`].
pub fn parse_strict(bytes: &[u8]) -> Result<Value, Refusal> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0 }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Whether every integer in `value` is one that [`parse_strict`] would admit: others look like their neighbours once they
/// are canonical.
#[must_use]
pub fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(n) => n.is_f64() || n.as_i64().is_some_and(|i| i.unsigned_abs() <= MAX_SAFE_INTEGER),
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(map) => map.values().all(is_exact),
        _ => true,
    }
}

/// Parses `bytes` and checks that they are the canonical form of what they say.
pub fn parse_canonical(bytes: &[u8]) -> Result<Value, Refusal> {
    let value = parse_strict(bytes)?;
    if to_vec(&value)? == bytes { Ok(value) } else { Err(Refusal::NotCanonical) }
}

#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > MAX_SAFE_INTEGER {
            return Err(E::custom(format_args!("integer {value} has no exact double; write it as a string")));
        }
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        if value > MAX_SAFE_INTEGER {
            return Err(E::custom(format_args!("integer {value} has no exact double; write it as a string")));
        }
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let value = access.next_value_seed(inner)?;
            if map.contains_key(&key) {
                let shown: String = key.chars().take(64).collect();
                return Err(de::Error::custom(format_args!("duplicate key {shown:?}")));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_and_numbers_are_shortest() {
        let value = parse_strict(br#"{"b":1.0,"a":[1e2,0.1]}"#).unwrap();
        assert_eq!(to_vec(&value).unwrap(), br#"{"a":[100,0.1],"b":1}"#);
    }

    #[test]
    fn duplicate_keys_are_refused_at_any_depth() {
        assert!(parse_strict(br#"{"a":[{"x":1,"x":2}]}"#).is_err());
    }

    #[test]
    fn integers_that_would_collide_are_refused() {
        assert!(parse_strict(b"9007199254740993").is_err());
        assert!(parse_strict(b"-9007199254740992").is_err());
        assert!(parse_strict(b"9007199254740991").is_ok());
    }

    #[test]
    fn another_spelling_of_the_same_value_is_not_canonical() {
        for text in [r#"{"a":1.0}"#, r#"{ "a":1}"#, "{\"a\":1}\n", r#"{"\u0061":1}"#] {
            assert!(parse_canonical(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse_canonical(br#"{"a":1}"#).is_ok());
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{}{}", "[".repeat(97), "]".repeat(97));
        assert!(parse_strict(deep.as_bytes()).is_err());
    }
}
