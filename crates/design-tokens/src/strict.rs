//! The fast way to read what is plain JSON: one pass, and no places.
//!
//! Instead of a byte offset every node and key gets its number in the order of the text. Only when something has to be
//! said about one of them does [`offsets`] find out where they stand.

use std::fmt;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::diagnostic::At;
use crate::json::{Kind, Node, Object};

/// A name that stands twice in an object: the key's number and the name.
pub(crate) type Twice = (At, String);

/// Reads `text`; `None` when it is not plain JSON, or nested deeper than the fast way goes.
pub(crate) fn parse(file: u32, text: &str) -> Option<(Node, Vec<Twice>)> {
    let mut numbering = Numbering { file, next: 0, twice: Vec::new() };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let node = Seed(&mut numbering).deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some((node, numbering.twice))
}

struct Numbering {
    file: u32,
    next: u32,
    twice: Vec<Twice>,
}

impl Numbering {
    const fn number(&mut self) -> At {
        let at = At { file: self.file, offset: self.next };
        self.next += 1;
        at
    }
}

struct Seed<'n>(&'n mut Numbering);

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        let at = self.0.number();
        let kind = deserializer.deserialize_any(KindOf(self.0))?;
        Ok(Node { at, kind })
    }
}

struct KindOf<'n>(&'n mut Numbering);

impl<'de> Visitor<'de> for KindOf<'_> {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Kind, E> {
        Ok(Kind::Bool(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "JSON numbers are doubles")]
    fn visit_u64<E>(self, value: u64) -> Result<Kind, E> {
        Ok(Kind::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "JSON numbers are doubles")]
    fn visit_i64<E>(self, value: i64) -> Result<Kind, E> {
        Ok(Kind::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Kind, E> {
        Ok(Kind::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Kind, E> {
        Ok(Kind::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Kind, E> {
        Ok(Kind::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Kind, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Seed(&mut *self.0))? {
            all.push(item);
        }
        Ok(Kind::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Kind, A::Error> {
        let mut members = Object::default();
        while let Some(name) = entries.next_key_seed(Text)? {
            let key_at = self.0.number();
            let node = entries.next_value_seed(Seed(&mut *self.0))?;
            if members.contains_key(&name) {
                self.0.twice.push((key_at, name.clone()));
            }
            members.insert(name, (key_at, node));
        }
        Ok(Kind::Object(members))
    }
}

struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        String::deserialize(deserializer)
    }
}

/// The byte offset of every node and key, by its number.
pub(crate) fn offsets(value: &ast::Value<'_>, out: &mut Vec<u32>) {
    let offset = |start: usize| u32::try_from(start).unwrap_or(u32::MAX);
    out.push(offset(value.range().start));
    match value {
        ast::Value::Array(array) => array.elements.iter().for_each(|element| offsets(element, out)),
        ast::Value::Object(object) => {
            for property in &object.properties {
                out.push(offset(property.name.range().start));
                offsets(&property.value, out);
            }
        }
        _ => {}
    }
}
