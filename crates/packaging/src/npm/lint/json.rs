//! JSON as JavaScript sees it: the order of keys counts, and keys that are array indices come first.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// Nothing here asks more of a number than this.
    Number {
        zero: bool,
    },
    String(String),
    Array(Vec<Json>),
    /// Boxed, or every number would take the room of a map.
    Object(Box<IndexMap<String, Json>>),
}

impl Json {
    /// Reads a file's bytes as programs in JavaScript do: a byte order mark is dropped, bytes that are no UTF-8 become U+FFFD.
    /// Nesting beyond 128 levels is an error (the limit of `serde_json`), so whatever walks a value may recurse.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_str(&String::from_utf8_lossy(super::source::without_mark(bytes)))
    }

    /// What `typeof` says.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "boolean",
            Self::Number { .. } => "number",
            Self::String(_) => "string",
            Self::Null | Self::Array(_) | Self::Object(_) => "object",
        }
    }

    /// Whether `if` takes it for true.
    pub(super) fn truthy(&self) -> bool {
        match self {
            Self::Null | Self::Bool(false) | Self::Number { zero: true } => false,
            Self::String(text) => !text.is_empty(),
            _ => true,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// A member of an object; `None` for other values.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        if let Self::Object(members) = self { members.get(key) } else { None }
    }

    /// Whether it is an array or an object.
    pub(super) fn is_nested(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Object(_))
    }

    /// The members of an array (by number) or an object, in the order of `for … in`; none for other values.
    pub(super) fn members(&self) -> Vec<(Cow<'_, str>, &Self)> {
        match self {
            Self::Array(items) => {
                items.iter().enumerate().map(|(at, item)| (Cow::Owned(at.to_string()), item)).collect()
            }
            Self::Object(members) => {
                members.iter().map(|(key, item)| (Cow::Borrowed(key.as_str()), item)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a key of that name is anywhere inside.
    pub(super) fn has_key_inside(&self, key: &str) -> bool {
        match self {
            Self::Array(items) => items.iter().any(|item| item.has_key_inside(key)),
            Self::Object(members) => {
                members.iter().any(|(name, item)| name == key || item.has_key_inside(key))
            }
            _ => false,
        }
    }

    /// Whether a text that fits is anywhere inside. The value itself is not asked.
    pub(super) fn has_text_inside(&self, fits: fn(&str) -> bool) -> bool {
        let one = |item: &Self| item.text().is_some_and(fits) || item.has_text_inside(fits);
        match self {
            Self::Array(items) => items.iter().any(one),
            Self::Object(members) => members.values().any(one),
            _ => false,
        }
    }
}

/// The number that a key stands for when JavaScript orders it by number: 0 to 2³² − 2, written without leading zeros.
fn index(key: &str) -> Option<u32> {
    let number = key.parse::<u32>().ok().filter(|number| *number != u32::MAX)?;
    (number.to_string() == key).then_some(number)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number { zero: value == 0 })
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number { zero: value == 0 })
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number { zero: value == 0.0 })
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        // A key that is there twice keeps its place and takes the later value, as `JSON.parse` has it.
        let mut members = IndexMap::new();
        while let Some((key, value)) = from.next_entry::<String, Json>()? {
            members.insert(key, value);
        }
        if members.keys().any(|key| index(key).is_some()) {
            members.sort_by_cached_key(|key, _| index(key).map_or((true, 0), |number| (false, number)));
        }
        Ok(Json::Object(Box::new(members)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        Json::parse(text.as_bytes()).unwrap().members().into_iter().map(|(key, _)| key.into_owned()).collect()
    }

    #[test]
    fn keys_that_are_numbers_come_first_and_the_others_keep_their_order() {
        assert_eq!(
            keys(r#"{"b":1,"10":1,"a":1,"2":1,"01":1,"4294967295":1,"b":2}"#),
            ["2", "10", "b", "a", "01", "4294967295"]
        );
    }

    #[test]
    fn truth_and_kinds_are_those_of_javascript() {
        for (text, truthy, kind) in [
            ("null", false, "object"),
            ("false", false, "boolean"),
            ("0", false, "number"),
            ("-0.0", false, "number"),
            ("0.5", true, "number"),
            ("-3", true, "number"),
            ("\"\"", false, "string"),
            ("\"0\"", true, "string"),
            ("[]", true, "object"),
            ("{}", true, "object"),
        ] {
            let value = Json::parse(text.as_bytes()).unwrap();
            assert_eq!((value.truthy(), value.kind()), (truthy, kind), "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_fault_and_deep_nesting_is() {
        assert_eq!(Json::parse(b"\xEF\xBB\xBF{}").unwrap(), Json::Object(Box::default()));
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        assert!(Json::parse(deep.as_bytes()).unwrap_err().to_string().contains("recursion limit"));
    }
}
