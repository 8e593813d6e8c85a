//! RFC 8785 canonical JSON, and parsing that refuses what canonicalisation would hide.
//!
//! Canonical form alone is not injective: duplicate keys vanish and integers beyond 2⁵³ collide. Whatever is
//! hashed here is therefore first *admitted*: [`parse_strict`] refuses both.

mod serialize;
mod text;
mod write;

use serde::Serialize;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

pub use text::Text;
pub use write::key_order;

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

/// The canonical bytes of `value`. A number that is not finite is `null`, as in every [`Value`].
pub fn to_vec<T: Serialize>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_value(value).map(|value| of(&value))
}

/// The canonical bytes of `value`.
#[must_use]
pub fn of(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    write::write(value, &mut out);
    out
}

/// The canonical bytes of the object that `map` is.
#[must_use]
pub fn of_object(map: &Map<String, Value>) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    write::write_object(map, &mut out);
    out
}

/// Parses JSON, refusing duplicate keys at any depth, integers beyond ±2⁵³−1 and nesting beyond [`MAX_DEPTH`].
pub fn parse_strict(bytes: &[u8]) -> Result<Value, Refusal> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0 }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Refuses what [`parse_canonical`] might refuse once it is written: nesting beyond [`MAX_DEPTH`], and whatever is written
/// as an integer beyond ±2⁵³−1. A value has no key twice.
pub fn admit(value: &Value) -> Result<(), Refusal> {
    admit_within(value, Strict { depth: 0 }).map_err(Refusal::Parse)
}

fn admit_within(value: &Value, at: Strict) -> Result<(), serde_json::Error> {
    match value {
        Value::Number(number) if !reads_back(number) => Err(no_exact_double(number)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        Value::Array(items) => {
            let inner = at.deeper()?;
            items.iter().try_for_each(|item| admit_within(item, inner))
        }
        Value::Object(map) => {
            let inner = at.deeper()?;
            map.values().try_for_each(|item| admit_within(item, inner))
        }
    }
}

/// Whether the number is written as a text that is no integer beyond [`MAX_SAFE_INTEGER`]: from 10²¹ on it has an exponent.
fn reads_back(number: &Number) -> bool {
    if let Some(magnitude) = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs)) {
        return magnitude <= MAX_SAFE_INTEGER;
    }
    #[expect(clippy::cast_precision_loss, reason = "the bound itself is exact")]
    let safe = MAX_SAFE_INTEGER as f64;
    number.as_f64().is_some_and(|double| double.abs() <= safe || double.abs() >= 1e21)
}

fn no_exact_double<E: de::Error>(integer: impl std::fmt::Display) -> E {
    E::custom(format_args!("integer {integer} has no exact double; write it as a string"))
}

/// Parses `bytes` and checks that they are the canonical form of what they say.
pub fn parse_canonical(bytes: &[u8]) -> Result<Value, Refusal> {
    let value = parse_strict(bytes)?;
    if of(&value) == bytes { Ok(value) } else { Err(Refusal::NotCanonical) }
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
            return Err(no_exact_double(value));
        }
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        if value > MAX_SAFE_INTEGER {
            return Err(no_exact_double(value));
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
    fn the_text_of_a_value_that_is_admitted_is_admitted() {
        let nested = |levels| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let doubles = [
            1e15,
            9_007_199_254_740_991.0,
            9_007_199_254_740_992.0,
            -1e16,
            9.99e20,
            1e21,
            -1e300,
            0.1,
            5e-324,
        ];
        let integers = [MAX_SAFE_INTEGER, MAX_SAFE_INTEGER + 1, u64::MAX];
        let values = doubles.map(Value::from).into_iter().chain(integers.map(Value::from));
        for value in
            values.chain([i64::MIN.into(), (-9_007_199_254_740_991_i64).into(), nested(96), nested(97)])
        {
            let within = serde_json::json!({ "a": [value] });
            for value in [value, within] {
                let reads_back = parse_canonical(&of(&value)).is_ok();
                // Integers that no machine word holds are read as doubles.
                let is_wide =
                    value.as_f64().or_else(|| value["a"][0].as_f64()).is_some_and(|f| f.abs() > 9e18);
                assert!(admit(&value).is_ok() == reads_back || (reads_back && is_wide), "{value}");
            }
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{}{}", "[".repeat(97), "]".repeat(97));
        assert!(parse_strict(deep.as_bytes()).is_err());
    }
}
