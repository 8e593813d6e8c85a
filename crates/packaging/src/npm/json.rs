//! JSON as JavaScript has it: keys in its order, values as its operators see them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    /// Keys once each: integers ascending, then the others as they were first written.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// A value of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The entries of an object; none of anything else.
    pub(crate) fn entries(&self) -> &[(String, Json)] {
        match self {
            Self::Object(entries) => entries,
            _ => &[],
        }
    }

    /// A text.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether `if` would take it.
    pub(crate) fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(truth) => *truth,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(_) | Self::Object(_) => true,
        }
    }

    /// What a template literal makes of it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(truth) => truth.to_string(),
            Self::Number(number) => written(*number),
            Self::Text(text) => text.clone(),
            Self::List(items) => {
                let shown = |item: &Json| if *item == Self::Null { String::new() } else { item.shown() };
                items.iter().map(shown).collect::<Vec<_>>().join(",")
            }
            Self::Object(_) => "[object Object]".to_owned(),
        }
    }
}

fn written(number: f64) -> String {
    ryu_js::Buffer::new().format(number).to_owned()
}

/// Whether a key is one of those that JavaScript puts first, and which.
fn index(key: &str) -> Option<u32> {
    key.parse::<u32>().ok().filter(|number| *number != u32::MAX && number.to_string() == key)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Read)
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript has no other numbers")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript has no other numbers")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut places = std::collections::BTreeMap::new();
        let mut entries: Vec<(String, Json)> = Vec::new();
        while let Some((key, value)) = access.next_entry::<String, Json>()? {
            // Of a key that is there twice, the first place and the last value count.
            let place = *places.entry(key.clone()).or_insert(entries.len());
            match entries.get_mut(place) {
                Some(entry) => entry.1 = value,
                None => entries.push((key, value)),
            }
        }
        entries.sort_by_key(|(key, _)| index(key).map_or(u64::MAX, u64::from));
        Ok(Json::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Json {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn keys_are_in_the_order_of_javascript() {
        let value = read(r#"{"b":1,"2":2,"a":3,"1":4,"b":5,"01":6}"#);
        let keys: Vec<&str> = value.entries().iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["1", "2", "b", "a", "01"]);
        assert_eq!(value.get("b"), Some(&Json::Number(5.0)));
    }

    #[test]
    fn values_are_shown_as_in_a_template() {
        assert_eq!(read(r#"["a",null,[1,2.5],{}]"#).shown(), "a,,1,2.5,[object Object]");
        assert_eq!(read("1e21").shown(), "1e+21");
        assert_eq!(read("-0.0").shown(), "0");
    }
}
