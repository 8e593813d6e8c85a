//! JSON whose members keep their order, as JavaScript keeps it: the order of conditions in `exports` decides.

use std::fmt;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

/// A value. Numbers are only told apart from other kinds, and from zero.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(IndexMap<String, Json>),
}

impl Json {
    /// Reads a document, with or without a byte order mark.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let text = String::from_utf8_lossy(bytes);
        serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text))
    }

    /// A member of an object; `None` too when this is no object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(key),
            _ => None,
        }
    }

    /// The text, when this is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What JavaScript takes for true.
    pub(crate) fn truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Number(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(_) | Self::Object(_) => true,
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    #[allow(clippy::cast_precision_loss, reason = "only told apart from zero")]
    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    #[allow(clippy::cast_precision_loss, reason = "only told apart from zero")]
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element()? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = IndexMap::new();
        while let Some((key, value)) = map.next_entry::<String, Json>()? {
            members.insert(key, value);
        }
        if members.keys().any(|key| array_index(key).is_some()) {
            // JavaScript lists members with the name of an array index first, by number.
            members.sort_by(|a, _, b, _| {
                let place = |key: &str| array_index(key).map_or(u64::MAX, u64::from);
                place(a).cmp(&place(b))
            });
        }
        Ok(Json::Object(members))
    }
}

fn array_index(key: &str) -> Option<u32> {
    let index: u32 = key.parse().ok()?;
    (index != u32::MAX && index.to_string() == key).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        match Json::parse(text.as_bytes()).unwrap() {
            Json::Object(members) => members.into_keys().collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn members_keep_their_order_and_the_last_of_two_wins_in_the_first_ones_place() {
        assert_eq!(keys(r#"{"b":1,"a":2,"b":3}"#), ["b", "a"]);
        assert_eq!(Json::parse(br#"{"b":1,"a":2,"b":3}"#).unwrap().get("b"), Some(&Json::Number(3.0)));
    }

    #[test]
    fn array_indices_come_first_by_number() {
        assert_eq!(keys(r#"{"b":1,"10":1,"2":1,"02":1}"#), ["2", "10", "b", "02"]);
    }

    #[test]
    fn a_byte_order_mark_is_no_fault() {
        assert_eq!(Json::parse("\u{feff}null".as_bytes()).unwrap(), Json::Null);
    }
}
