//! The canonical text of an object that grows: a hash is taken of it, then put into it.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::Serialize;

use super::serialize::{self, Field};
use super::write::write_string;
use super::{Refusal, key_order};

/// An object's canonical bytes, to which fields are added at their places.
#[derive(Debug)]
pub struct Text {
    bytes: Vec<u8>,
    fields: Vec<Field>,
}

impl Text {
    /// The text of `value`, which is an object. What would not read back is refused, as [`admit`](super::admit) does.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, Refusal> {
        let mut bytes = Vec::with_capacity(2048);
        let fields = serialize::write(value, &mut bytes)?;
        if bytes.first() == Some(&b'{') { Ok(Self { bytes, fields }) } else { Err(Refusal::NotCanonical) }
    }

    /// The canonical bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The canonical bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Adds a field. One that is there already stays, and nothing is added. What would not read back is refused.
    pub fn insert<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Refusal> {
        let index = self.fields.partition_point(|(k, _)| key_order(k, key) == Ordering::Less);
        let next = self.fields.get(index);
        if next.is_some_and(|(k, _)| k == key) {
            return Ok(());
        }
        let mut field = Vec::with_capacity(128);
        let at = match next {
            Some((_, at)) => {
                let at = *at;
                write_field(key, value, &mut field)?;
                field.push(b',');
                self.fields.insert(index, (Cow::Borrowed(key), at));
                at
            }
            None => {
                // Behind the last field, before the brace.
                let end = self.bytes.len() - 1;
                let comma = usize::from(!self.fields.is_empty());
                field.extend_from_slice(&b","[..comma]);
                write_field(key, value, &mut field)?;
                self.fields.push((Cow::Borrowed(key), end + comma));
                end
            }
        };
        for (_, later) in self.fields.iter_mut().skip(index + 1) {
            *later += field.len();
        }
        let (end, more) = (self.bytes.len(), field.len());
        self.bytes.resize(end + more, 0);
        self.bytes.copy_within(at..end, at + more);
        self.bytes[at..at + more].copy_from_slice(&field);
        Ok(())
    }
}

fn write_field<T: Serialize + ?Sized>(key: &str, value: &T, out: &mut Vec<u8>) -> Result<(), Refusal> {
    write_string(key, out);
    out.push(b':');
    serialize::write_within(value, out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::canonical::of_object;

    const ADDED: [&str; 8] = ["", "a", "bb", "c\u{e000}", "\u{10000}", "e\u{10000}", "z", "\u{e000}"];

    proptest! {
        #[test]
        fn what_is_added_field_by_field_is_what_is_written_whole(
            before in prop::collection::btree_map("[a-e\u{e000}\u{10000}]{0,2}", 0..100_u8, 0..6),
            added in prop::collection::vec(prop::sample::select(ADDED.to_vec()), 0..5),
        ) {
            let mut whole: Map<String, Value> =
                before.into_iter().map(|(key, value)| (key, json!([value]))).collect();
            let start = whole.clone();
            let mut text = Text::of(&start).unwrap();
            for key in added {
                text.insert(key, &json!("\"added\"")).unwrap();
                whole.entry(key).or_insert_with(|| json!("\"added\""));
                prop_assert_eq!(text.bytes(), of_object(&whole));
            }
        }
    }

    #[test]
    fn what_is_added_is_no_deeper_than_what_is_read() {
        let nested = |levels| (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        let mut text = Text::of(&Map::new()).unwrap();
        text.insert("deep", &nested(95)).unwrap();
        assert!(crate::canonical::parse_canonical(text.bytes()).is_ok());
        assert!(text.insert("deeper", &nested(96)).is_err());
        assert!(crate::canonical::parse_canonical(text.bytes()).is_ok());
    }
}
