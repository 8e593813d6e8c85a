//! A [`Serializer`](ser::Serializer) whose text is canonical: a value that serde gives is written without a
//! [`Value`](serde_json::Value) in between, and refused where its text would not read back.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Display;

use serde::Serialize;
use serde::ser;
use serde_json::{Error, Number, Value};

use super::write::{write_number, write_string};
use super::{Strict, key_order, no_exact_double, reads_back};

/// A key, and where its field lies in the text.
pub(super) type Field = (Cow<'static, str>, usize);

/// Appends `value` to `out`; of an object, says where its fields lie.
pub(super) fn write<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<Vec<Field>, Error> {
    value.serialize(Canonical { out, at: Strict { depth: 0 } })
}

/// Appends `value`, which is the value of a field.
pub(super) fn write_within<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    value.serialize(Canonical { out, at: Strict { depth: 1 } }).map(drop)
}

struct Canonical<'o> {
    out: &'o mut Vec<u8>,
    at: Strict,
}

impl<'o> Canonical<'o> {
    fn text(self, text: &str) -> Vec<Field> {
        write_string(text, self.out);
        Vec::new()
    }

    fn word(self, word: &str) -> Vec<Field> {
        self.out.extend_from_slice(word.as_bytes());
        Vec::new()
    }

    fn number(self, number: &Number) -> Result<Vec<Field>, Error> {
        if !reads_back(number) {
            return Err(no_exact_double(number));
        }
        write_number(number, self.out);
        Ok(Vec::new())
    }

    fn items(self) -> Result<Items<'o>, Error> {
        let at = self.at.deeper()?;
        self.out.push(b'[');
        Ok(Items { out: self.out, at, is_first: true, closes: false })
    }

    fn fields(self, most: usize) -> Result<Fields<'o>, Error> {
        let at = self.at.deeper()?;
        let start = self.out.len();
        Ok(Fields {
            out: self.out,
            at,
            start,
            written: Vec::with_capacity(most),
            is_ordered: true,
            key: None,
            closes: false,
        })
    }

    /// `{"variant":`, whose value follows one level deeper.
    fn variant(self, variant: &str) -> Result<Self, Error> {
        let at = self.at.deeper()?;
        self.out.push(b'{');
        write_string(variant, self.out);
        self.out.push(b':');
        Ok(Self { out: self.out, at })
    }
}

macro_rules! numbers {
    ($($method:ident $of:ty),*) => {
        $(fn $method(self, value: $of) -> Result<Vec<Field>, Error> {
            self.number(&Number::from(value))
        })*
    };
}

impl<'o> ser::Serializer for Canonical<'o> {
    type Ok = Vec<Field>;
    type Error = Error;
    type SerializeSeq = Items<'o>;
    type SerializeTuple = Items<'o>;
    type SerializeTupleStruct = Items<'o>;
    type SerializeTupleVariant = Items<'o>;
    type SerializeMap = Fields<'o>;
    type SerializeStruct = Fields<'o>;
    type SerializeStructVariant = Fields<'o>;

    numbers! {
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64
    }

    fn serialize_f32(self, value: f32) -> Result<Vec<Field>, Error> {
        self.serialize_f64(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Result<Vec<Field>, Error> {
        match Number::from_f64(value) {
            Some(number) => self.number(&number),
            None => Ok(self.word("null")),
        }
    }

    fn serialize_bool(self, value: bool) -> Result<Vec<Field>, Error> {
        Ok(self.word(if value { "true" } else { "false" }))
    }

    fn serialize_char(self, value: char) -> Result<Vec<Field>, Error> {
        Ok(self.text(value.encode_utf8(&mut [0; 4])))
    }

    fn serialize_str(self, value: &str) -> Result<Vec<Field>, Error> {
        Ok(self.text(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Vec<Field>, Error> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<Vec<Field>, Error> {
        Ok(self.word("null"))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Vec<Field>, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Vec<Field>, Error> {
        Ok(self.word("null"))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Vec<Field>, Error> {
        Ok(self.word("null"))
    }

    fn serialize_unit_variant(self, _: &str, _: u32, variant: &str) -> Result<Vec<Field>, Error> {
        Ok(self.text(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Vec<Field>, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Vec<Field>, Error> {
        let Self { out, at } = self.variant(variant)?;
        value.serialize(Canonical { out: &mut *out, at })?;
        out.push(b'}');
        Ok(Vec::new())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'o>, Error> {
        self.items()
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'o>, Error> {
        self.items()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'o>, Error> {
        self.items()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'o>, Error> {
        Ok(Items { closes: true, ..self.variant(variant)?.items()? })
    }

    fn serialize_map(self, most: Option<usize>) -> Result<Fields<'o>, Error> {
        // What is said is not believed beyond what is usual.
        self.fields(most.unwrap_or_default().min(64))
    }

    fn serialize_struct(self, _: &'static str, most: usize) -> Result<Fields<'o>, Error> {
        self.fields(most)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        most: usize,
    ) -> Result<Fields<'o>, Error> {
        Ok(Fields { closes: true, ..self.variant(variant)?.fields(most)? })
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<Vec<Field>, Error> {
        Ok(self.text(&value.to_string()))
    }
}

/// An array that is being written.
struct Items<'o> {
    out: &'o mut Vec<u8>,
    at: Strict,
    is_first: bool,
    /// Whether it is a variant's, whose object ends with it.
    closes: bool,
}

impl Items<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b',');
        }
        value.serialize(Canonical { out: &mut *self.out, at: self.at }).map(drop)
    }

    fn close(self) -> Vec<Field> {
        self.out.extend_from_slice(if self.closes { b"]}" } else { b"]" });
        Vec::new()
    }
}

macro_rules! items {
    ($($of:ident $method:ident),*) => {
        $(impl ser::$of for Items<'_> {
            type Ok = Vec<Field>;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            fn end(self) -> Result<Vec<Field>, Error> {
                Ok(self.close())
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element, SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field
}

/// An object that is being written: its fields as they come, put into order at its end where they are not.
struct Fields<'o> {
    out: &'o mut Vec<u8>,
    at: Strict,
    start: usize,
    /// Each key, with where its field begins; it ends before the comma of the next.
    written: Vec<Field>,
    /// Whether each key so far comes after the one before.
    is_ordered: bool,
    key: Option<Cow<'static, str>>,
    closes: bool,
}

impl Fields<'_> {
    fn field<T: Serialize + ?Sized>(&mut self, key: Cow<'static, str>, value: &T) -> Result<(), Error> {
        let before = self.written.last();
        self.is_ordered &= before.is_none_or(|(before, _)| key_order(before, &key) == Ordering::Less);
        self.out.push(if before.is_none() { b'{' } else { b',' });
        let begins = self.out.len();
        write_string(&key, self.out);
        self.out.push(b':');
        self.written.push((key, begins));
        value.serialize(Canonical { out: &mut *self.out, at: self.at }).map(drop)
    }

    fn close(self) -> Result<Vec<Field>, Error> {
        let end: &[u8] = if self.closes { b"}}" } else { b"}" };
        if self.is_ordered {
            if self.written.is_empty() {
                self.out.push(b'{');
            }
            self.out.extend_from_slice(end);
            return Ok(self.written);
        }
        let Self { out, start, written: mut fields, .. } = self;
        let ends = fields.iter().skip(1).map(|(_, begins)| *begins - 1).chain([out.len()]);
        let mut parts: Vec<(usize, usize)> =
            fields.iter().zip(ends).enumerate().map(|(index, (_, ends))| (index, ends)).collect();
        parts.sort_by(|(a, _), (b, _)| key_order(&fields[*a].0, &fields[*b].0));
        if let Some(pair) = parts.windows(2).find(|pair| fields[pair[0].0].0 == fields[pair[1].0].0) {
            let shown: String = fields[pair[0].0].0.chars().take(64).collect();
            return Err(ser::Error::custom(format_args!("duplicate key {shown:?}")));
        }
        let mut ordered = Vec::with_capacity(out.len() - start + end.len());
        let mut placed = Vec::with_capacity(fields.len() + 4);
        for (index, ends) in parts {
            ordered.push(if placed.is_empty() { b'{' } else { b',' });
            let (key, begins) = &mut fields[index];
            placed.push((std::mem::take(key), start + ordered.len()));
            ordered.extend_from_slice(&out[*begins..ends]);
        }
        out.truncate(start);
        out.extend_from_slice(&ordered);
        out.extend_from_slice(end);
        Ok(placed)
    }
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = Vec<Field>;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.field(Cow::Borrowed(key), value)
    }

    fn end(self) -> Result<Vec<Field>, Error> {
        self.close()
    }
}

impl ser::SerializeStructVariant for Fields<'_> {
    type Ok = Vec<Field>;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.field(Cow::Borrowed(key), value)
    }

    fn end(self) -> Result<Vec<Field>, Error> {
        self.close()
    }
}

impl ser::SerializeMap for Fields<'_> {
    type Ok = Vec<Field>;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        // As serde_json has it: what is written as a word is a key.
        self.key = Some(Cow::Owned(match serde_json::to_value(key)? {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(truth) => truth.to_string(),
            _ => return Err(ser::Error::custom("a key is a string")),
        }));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = self.key.take().ok_or_else(|| ser::Error::custom("a value without a key"))?;
        self.field(key, value)
    }

    fn end(self) -> Result<Vec<Field>, Error> {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::super::write::tests::any_value;
    use super::super::{admit, of};
    use super::*;

    fn written<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
        let mut out = b"before".to_vec();
        write(value, &mut out)?;
        Ok(out.split_off("before".len()))
    }

    proptest! {
        #[test]
        fn a_value_is_written_as_it_is_with_a_value_between_or_refused_as_it_would_be(value in any_value()) {
            match written(&value) {
                Ok(text) => prop_assert_eq!((text, admit(&value).is_ok()), (of(&value), true)),
                Err(_) => prop_assert!(admit(&value).is_err()),
            }
        }
    }

    #[derive(Serialize)]
    struct Plain<'a> {
        zebra: u8,
        #[serde(rename = "ant\u{e000}")]
        ant: Option<f32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        gone: Option<u8>,
        every: Vec<Kind<'a>>,
        pair: (char, i64),
        unit: (),
        map: BTreeMap<i32, bool>,
        #[serde(flatten)]
        more: BTreeMap<&'a str, Wrapped>,
    }

    #[derive(Serialize)]
    struct Wrapped(&'static str);

    #[derive(Serialize)]
    enum Kind<'a> {
        Unit,
        New(&'a str),
        Tuple(u64, Option<i8>),
        Struct { b: u16, a: f64 },
    }

    #[derive(Serialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Tagged<'a> {
        Boxed(Box<Plain<'a>>),
    }

    #[test]
    fn every_shape_that_serde_gives_is_written_as_its_value_is() {
        let plain = Plain {
            zebra: 1,
            ant: Some(0.5),
            gone: None,
            every: vec![Kind::Unit, Kind::New("\n\""), Kind::Tuple(7, None), Kind::Struct { b: 2, a: 1e21 }],
            pair: ('\u{1f600}', -5),
            unit: (),
            map: [(10, true), (9, false)].into(),
            more: [("\u{10000}", Wrapped("x")), ("b", Wrapped("y"))].into(),
        };
        let tagged = Tagged::Boxed(Box::new(plain));
        let value = serde_json::to_value(&tagged).unwrap();
        assert_eq!(
            String::from_utf8(written(&tagged).unwrap()).unwrap(),
            String::from_utf8(of(&value)).unwrap()
        );
        assert_eq!(written(&f64::NAN).unwrap(), b"null");
        assert_eq!(written(&[0_u8, 255][..]).unwrap(), b"[0,255]");
    }

    #[test]
    fn what_would_not_read_back_is_refused() {
        #[derive(Serialize)]
        struct Twice {
            a: u8,
            #[serde(flatten)]
            more: BTreeMap<&'static str, u8>,
        }
        assert!(written(&Twice { a: 1, more: [("a", 2)].into() }).is_err(), "one key twice");
        assert!(written(&u64::MAX).is_err());
        assert!(written(&BTreeMap::from([((1, 2), 3)])).is_err(), "a key that is none");
        let deep = |levels| (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }));
        assert!(written(&deep(96)).is_ok() && written(&deep(97)).is_err());
    }
}
