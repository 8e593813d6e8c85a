//! The writer: a [`Value`] as RFC 8785 spells it. It cannot fail.

use std::cmp::Ordering;
use std::io::Write as _;

use serde_json::{Map, Number, Value};

use super::MAX_SAFE_INTEGER;

/// Appends the canonical bytes of `value` to `out`.
pub(super) fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Value::Object(map) => write_object(map, out),
    }
}

/// Appends the canonical bytes of an object to `out`.
pub(super) fn write_object(map: &Map<String, Value>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (key, value)) in ordered(map).into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(key, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

/// The entries in the order of their keys. The map has them ordered by bytes, which is nearly that, or as they came when
/// another crate asks `serde_json` for it.
fn ordered(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by(|(a, _), (b, _)| key_order(a, b));
    entries
}

/// The order of UTF-16 code units, without transcoding. It is the order of UTF-8 bytes but for U+E000 to U+FFFF (first
/// byte EE or EF), which come after the surrogates that stand for what lies beyond (first byte F0 and up).
pub fn key_order(a: &str, b: &str) -> Ordering {
    let high = |byte: u8| matches!(byte, 0xEE | 0xEF);
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        Some((x, y)) if high(x) && y >= 0xF0 => Ordering::Greater,
        Some((x, y)) if x >= 0xF0 && high(y) => Ordering::Less,
        Some((x, y)) => x.cmp(&y),
        None => a.len().cmp(&b.len()),
    }
}

pub(super) fn write_number(number: &Number, out: &mut Vec<u8>) {
    let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    if magnitude.is_some_and(|n| n <= MAX_SAFE_INTEGER) {
        // Writing to memory does not fail.
        let _ = write!(out, "{number}");
        return;
    }
    // JSON has no other numbers than finite ones; larger integers are the doubles that they are read as.
    let double = number.as_f64().unwrap_or_default();
    out.extend_from_slice(ryu_js::Buffer::new().format(double).as_bytes());
}

pub(super) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    // Most need nothing, which many bytes at a time are asked for.
    let is_escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    if !bytes.iter().fold(false, |any, byte| any | is_escaped(*byte)) {
        out.extend_from_slice(bytes);
        out.push(b'"');
        return;
    }
    let mut plain = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let short = match byte {
            b'"' | b'\\' => *byte,
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0C => b'f',
            b'\r' => b'r',
            0..0x20 => b'u',
            _ => continue,
        };
        out.extend_from_slice(&bytes[plain..index]);
        out.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            let _ = write!(out, "{byte:04x}");
        }
        plain = index + 1;
    }
    out.extend_from_slice(&bytes[plain..]);
    out.push(b'"');
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn canonical(value: &Value) -> String {
        let mut out = Vec::new();
        write(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_example_of_rfc_8785_comes_out_as_it_says() {
        let text = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let expected = concat!(
            r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
            r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        );
        assert_eq!(canonical(&serde_json::from_str(text).unwrap()), expected);
    }

    #[test]
    fn keys_are_sorted_as_in_the_example_of_rfc_8785() {
        let text = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
        let expected =
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}";
        assert_eq!(canonical(&serde_json::from_str(text).unwrap()), expected);
    }

    #[test]
    fn numbers_are_those_of_rfc_8785_appendix_b() {
        let table: [(u64, &str); 24] = [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ];
        for (bits, expected) in table {
            assert_eq!(canonical(&json!(f64::from_bits(bits))), expected, "{bits:016x}");
        }
    }

    #[test]
    fn integers_are_exact_up_to_the_bound_and_doubles_beyond() {
        assert_eq!(canonical(&json!(MAX_SAFE_INTEGER)), "9007199254740991");
        assert_eq!(canonical(&json!(-9_007_199_254_740_991_i64)), "-9007199254740991");
        assert_eq!(canonical(&json!(u64::MAX)), "18446744073709552000");
        assert_eq!(canonical(&json!(i64::MIN)), "-9223372036854776000");
    }

    fn number() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-5_i64..1000).prop_map(Value::from),
            any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Value::from),
            (-1e25..1e25).prop_map(Value::from),
        ]
    }

    /// What needs escaping, what sorts differently in UTF-8 and UTF-16, and anything else.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[\u{0}-\u{20}\"\\\\/a\u{7f}]{0,6}",
            "[a\u{d7ff}\u{e000}\u{fb33}\u{ffff}\u{10000}\u{1f600}]{0,4}",
            ".{0,8}",
        ]
    }

    pub(in super::super) fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            number(),
            text().prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 48, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((text(), inner), 0..8)
                    .prop_map(|entries| entries.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_is_written_as_another_implementation_writes_it(value in any_value()) {
            let other = serde_json_canonicalizer::to_string(&value).unwrap();
            prop_assert_eq!(canonical(&value), other);
        }

        #[test]
        fn keys_are_ordered_by_utf_16_code_units(a in text(), b in text()) {
            prop_assert_eq!(key_order(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
        }
    }
}
