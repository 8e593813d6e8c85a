//! Front matter: YAML between two lines of `---`, as JSON.
//!
//! Values have the types of YAML 1.2's core schema (10.3): no `yes`, no dates, no numbers to base 60. What JSON cannot say, or
//! what says one thing twice, is refused with its place: aliases (D06: nothing is ever expanded), keys that are there twice, several
//! documents, tags of one's own, infinities.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value};
use thiserror::Error;

use crate::problem::Place;
use crate::text::{number, shown};

/// Most bytes of front matter: 64 KiB.
pub const MAX_FRONT: usize = 64 * 1024;
/// Deepest nesting of lists and mappings.
pub const MAX_DEPTH: usize = 32;

/// Where the parts of a file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The YAML, in bytes; none where the file does not begin with a line of `---`, or where that is never closed.
    pub yaml: Option<Range<usize>>,
    /// The line on which the YAML begins, from 1.
    pub line: u32,
    /// What is behind it.
    pub body: Range<usize>,
    /// Whether a first line of `---` is never closed: a thematic break, or front matter that somebody forgot to close.
    pub is_unclosed: bool,
}

/// Looks for front matter: the first line is `---` (white space behind it, a byte order mark before it are allowed), and so
/// is a later one. A `---` further down is the body's.
pub fn split(text: &str) -> Split {
    let none = |is_unclosed| Split { yaml: None, line: 1, body: 0..text.len(), is_unclosed };
    let mut at = 0;
    let mut begin = None;
    for (count, whole) in text.split_inclusive('\n').enumerate() {
        let line = if count == 0 { whole.strip_prefix('\u{feff}').unwrap_or(whole) } else { whole };
        let end = at + whole.len();
        let is_mark = line.trim_end() == "---";
        match begin {
            None if is_mark => begin = Some(end),
            None => return none(false),
            Some(begin) if is_mark => {
                return Split { yaml: Some(begin..at), line: 2, body: end..text.len(), is_unclosed: false };
            }
            Some(_) => {}
        }
        at = end;
    }
    none(begin.is_some())
}

/// Why front matter cannot be read, and where in the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{why}")]
pub struct FrontError {
    /// Of the file, not of the YAML.
    pub place: Place,
    why: String,
}

/// The front matter of a file. None where it has none; an error where there is some that cannot be read.
pub fn read(text: &str) -> Result<Option<Map<String, Value>>, FrontError> {
    let found = split(text);
    match found.yaml {
        Some(at) => parse(text.get(at).unwrap_or_default(), found.line).map(Some),
        None => Ok(None),
    }
}

struct Open {
    value: Value,
    key: Option<String>,
    at: usize,
}

/// YAML as JSON: one document, a mapping or nothing. `line` is that of the first line, for errors. Linear in the text but for
/// the look-up of keys; at most [`MAX_FRONT`] bytes and [`MAX_DEPTH`] levels.
pub fn parse(yaml: &str, line: u32) -> Result<Map<String, Value>, FrontError> {
    let refuse = |place: Place, why: String| Err(FrontError { place, why });
    if yaml.len() > MAX_FRONT {
        let why =
            format!("front matter has more than {} KiB: move what is long into the text", MAX_FRONT / 1024);
        return refuse(Place::line(line), why);
    }
    too_deep(yaml, line)?;
    let mut open: Vec<Open> = Vec::new();
    let mut done: Option<Map<String, Value>> = None;
    for event in Parser::new_from_str(yaml) {
        let (event, span) = match event {
            Ok(found) => found,
            Err(error) => {
                let place = place(yaml, line, error.marker().index());
                return refuse(place, format!("this is no YAML: {}", shown(error.info())));
            }
        };
        // Its line is counted only when it is refused.
        let at = span.start.index();
        let refuse = |why: String| Err(FrontError { place: place(yaml, line, at), why });
        let (value, text, at) = match event {
            Event::Alias(_) => {
                return refuse("aliases (`*name`) are not expanded: write the value out".to_owned());
            }
            Event::DocumentStart(_) if done.is_some() => {
                return refuse("there is more than one document: keep the first".to_owned());
            }
            Event::SequenceStart(_, tag) | Event::MappingStart(_, tag)
                if !fits(tag.as_deref(), &["seq", "map"]) =>
            {
                return refuse("tags other than YAML's own cannot be read: leave the tag out".to_owned());
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == MAX_DEPTH => {
                return refuse(format!("values are nested more than {MAX_DEPTH} deep: flatten them"));
            }
            Event::SequenceStart(..) => {
                open.push(Open { value: Value::Array(Vec::new()), key: None, at });
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open { value: Value::Object(Map::new()), key: None, at });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(closed) => (closed.value, None, closed.at),
                None => continue,
            },
            Event::Scalar(text, style, _, tag) => match scalar(&text, style, tag.as_deref()) {
                Ok(value) => (value, Some(text.into_owned()), at),
                Err(why) => return refuse(why),
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {
                continue;
            }
        };
        close(&mut open, &mut done, value, text)
            .map_err(|why| FrontError { place: place(yaml, line, at), why })?;
    }
    Ok(done.unwrap_or_default())
}

/// Puts a value where it belongs: into the list or mapping that is open, or at the top.
fn close(
    open: &mut [Open],
    done: &mut Option<Map<String, Value>>,
    value: Value,
    text: Option<String>,
) -> Result<(), String> {
    let Some(top) = open.last_mut() else {
        match value {
            Value::Object(map) => *done = Some(map),
            Value::Null => *done = Some(Map::new()),
            _ => return Err("front matter is a mapping, as `name: value`".to_owned()),
        }
        return Ok(());
    };
    match &mut top.value {
        Value::Array(list) => list.push(value),
        Value::Object(map) => match (top.key.take(), text) {
            (Some(key), _) => {
                map.insert(key, value);
            }
            (None, Some(key)) => {
                if map.contains_key(&key) {
                    return Err(format!("the key `{}` is there twice: keep one", shown(&key)));
                }
                top.key = Some(key);
            }
            (None, None) => return Err("a key is a text here, no list and no mapping".to_owned()),
        },
        _ => {}
    }
    Ok(())
}

/// Lines are counted by `\n`, as everywhere here: to YAML a lone carriage return ends one too. `index` is in characters.
fn place(yaml: &str, first: u32, index: usize) -> Place {
    let (mut line, mut column) = (first, 1_u32);
    for c in yaml.chars().take(index) {
        if c == '\n' {
            (line, column) = (line.saturating_add(1), 1);
        } else {
            column = column.saturating_add(1);
        }
    }
    Place { line, column: Some(column) }
}

/// Brackets that are opened and not closed, before the parser is asked: it is slow on deep ones.
fn too_deep(yaml: &str, line: u32) -> Result<(), FrontError> {
    // Brackets in texts count too, so only what could never be front matter is refused here.
    let most = MAX_DEPTH * 8;
    let mut depth = 0_usize;
    for (at, text) in yaml.lines().enumerate() {
        for byte in text.bytes() {
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth > most {
            let place = Place::line(line.saturating_add(number(at)));
            return Err(FrontError {
                place,
                why: format!("values are nested more than {MAX_DEPTH} deep: flatten them"),
            });
        }
    }
    Ok(())
}

/// Whether a tag is absent, `!`, or one of these of the core schema.
fn fits(tag: Option<&Tag>, names: &[&str]) -> bool {
    tag.is_none_or(|tag| {
        tag.is_yaml_core_schema() && names.contains(&tag.suffix.as_str())
            || tag.suffix.is_empty() && tag.handle == "!"
            || tag.handle.is_empty() && tag.suffix == "!"
    })
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let string = || Ok(Value::String(text.to_owned()));
    let Some(tag) = tag else {
        return if style == ScalarStyle::Plain { core(text) } else { string() };
    };
    if fits(Some(tag), &["str"]) {
        return string();
    }
    if !tag.is_yaml_core_schema() {
        return Err("tags other than YAML's own cannot be read: leave the tag out".to_owned());
    }
    let found = core(text)?;
    let is_so = match tag.suffix.as_str() {
        "null" => found.is_null(),
        "bool" => found.is_boolean(),
        "int" => found.is_i64() || found.is_u64(),
        "float" => found.is_number(),
        _ => false,
    };
    if is_so { Ok(found) } else { Err(format!("the tag `!!{}` does not fit its value", shown(&tag.suffix))) }
}

/// A plain scalar by the core schema (YAML 1.2.2, 10.3.2).
fn core(text: &str) -> Result<Value, String> {
    let number = |n: Option<Number>| {
        n.map(Value::Number)
            .ok_or_else(|| format!("`{}` is beyond what a number can hold: put it into quotes", shown(text)))
    };
    if let Some((digits, base)) = based(text) {
        return number(u64::from_str_radix(digits, base).ok().map(Number::from));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_integer(text) => {
            let digits = text.strip_prefix('+').unwrap_or(text);
            return number(
                digits
                    .parse::<i64>()
                    .map(Number::from)
                    .or_else(|_| digits.parse::<u64>().map(Number::from))
                    .ok(),
            );
        }
        _ if is_infinite(text) => {
            return Err(format!("`{}` is no number in JSON: put it into quotes", shown(text)));
        }
        _ if is_float(text) => return number(text.parse().ok().and_then(Number::from_f64)),
        _ => Value::String(text.to_owned()),
    })
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// The digits of a number to another base, and the base.
fn based(text: &str) -> Option<(&str, u32)> {
    let (digits, base) =
        text.strip_prefix("0o").map(|d| (d, 8)).or_else(|| text.strip_prefix("0x").map(|d| (d, 16)))?;
    let is_so = !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
    if is_so { Some((digits, base)) } else { None }
}

fn is_infinite(text: &str) -> bool {
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(rest, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = rest.split_once(['e', 'E']).map_or((rest, None), |(m, e)| (m, Some(e)));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_mantissa = digits(whole) && digits(part) && (!whole.is_empty() || !part.is_empty());
    is_mantissa && exponent.is_none_or(is_integer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parsed(yaml: &str) -> Value {
        Value::Object(parse(yaml, 2).unwrap())
    }

    fn refused(yaml: &str) -> (u32, u32, String) {
        let error = parse(yaml, 2).unwrap_err();
        (error.place.line, error.place.column.unwrap_or(0), error.to_string())
    }

    #[test]
    fn values_have_the_types_of_the_core_schema() {
        assert_eq!(
            parsed(
                "a: 1\nb: -2.50\nc: yes\nd: 2025-11-05\ne: \"1\"\nf: ~\ng:\nh: 0o17\ni: 0xFF\nj: .5\nk: 1e3\nl: True\nm: '~'\nn: 1_000\no: 1:30\n"
            ),
            json!({"a": 1, "b": -2.5, "c": "yes", "d": "2025-11-05", "e": "1", "f": null, "g": null, "h": 15, "i": 255, "j": 0.5,
                "k": 1000.0, "l": true, "m": "~", "n": "1_000", "o": "1:30"})
        );
        assert_eq!(
            parsed("a: [1, {b: c}]\nd:\n  - x\n  - y: |\n      two\n      lines\n1: one\n"),
            json!({"a": [1, {"b": "c"}], "d": ["x", {"y": "two\nlines\n"}], "1": "one"})
        );
        assert_eq!(parsed("a: !!str 1\nb: !!int \"2\"\nc: ! 3\n"), json!({"a": "1", "b": 2, "c": "3"}));
        assert_eq!((parsed(""), parsed("# only a comment\n")), (json!({}), json!({})));
    }

    #[test]
    fn what_is_refused_has_its_place_in_the_file() {
        let (line, column, why) = refused("a: &x 1\nb: *x\n");
        assert_eq!((line, column), (3, 4));
        assert!(why.contains("alias"), "{why}");
        let (line, column, why) = refused("a: 1\nb: 2\n\"a\": 3\n");
        assert_eq!((line, column), (4, 1));
        assert!(why.contains("`a` is there twice"), "{why}");
        assert!(refused("a: 1\n...\n---\nb: 2\n").2.contains("more than one document"));
        assert_eq!(refused("- a\n").2, "front matter is a mapping, as `name: value`");
        assert!(refused("? [a]\n: b\n").2.contains("a key is a text"));
        assert!(refused("a: .inf\n").2.contains("quotes"));
        assert!(refused("a: 123456789012345678901234567890\n").2.contains("quotes"));
        assert!(refused("a: !mine x\n").2.contains("tag"));
        assert!(refused("a: !!int x\n").2.contains("does not fit"));
        assert_eq!(refused("a: [1, 2\nb: }\n").0, 3);
        assert_eq!(refused("a: b: c\n").0, 2);
        assert_eq!(refused("a: é\r\n# c\r\nb: |\r\n  x\r\nc: *x\r\n"), (6, 4, refused("a: *x\n").2));
        assert_eq!(refused("a: 1\rb: *x\n").0, 2, "a lone carriage return ends no line here");
    }

    #[test]
    fn what_is_deep_or_long_is_refused_quickly() {
        let nested = |n: usize| format!("a: {}{}\n", "[".repeat(n), "]".repeat(n));
        assert!(parse(&nested(MAX_DEPTH - 1), 1).is_ok());
        assert!(refused(&nested(MAX_DEPTH)).2.contains("32 deep"));
        assert!(refused(&"[".repeat(60_000)).2.contains("32 deep"));
        assert!(refused(&"- ".repeat(30_000)).2.contains("32 deep"));
        assert!(refused(&"a: {".repeat(15_000)).2.contains("32 deep"));
        assert!(refused(&"a".repeat(MAX_FRONT + 1)).2.contains("64 KiB"));
    }

    #[test]
    fn front_matter_ends_at_its_second_mark() {
        let text = "\u{feff}---  \r\na: 1\r\n---\r\nbody\r\n---\r\nmore";
        let found = split(text);
        assert_eq!(&text[found.yaml.unwrap()], "a: 1\r\n");
        assert_eq!(&text[found.body], "body\r\n---\r\nmore");
        assert!(split("---\nno end\n").is_unclosed && split("---").is_unclosed);
        assert!(!split("text\n---\n").is_unclosed);
        assert_eq!(split("---\n---\n").yaml, Some(4..4));
        assert_eq!(split(" ---\n---\n").yaml, None);
        assert_eq!(read("---\na: 1\n---\n").unwrap().unwrap().get("a"), Some(&json!(1)));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(yaml in "(\\PC|[-:\\[\\]{},&*!|>'\"%@`#?~ \t\r\n]|a: |- |\n  |---\n|\\.\\.\\.\n){0,80}") {
            if let Err(error) = parse(&yaml, 2) {
                let lines = u32::try_from(yaml.lines().count()).unwrap();
                prop_assert!((2..=lines + 3).contains(&error.place.line), "{:?}", error);
            }
            let _ = read(&yaml);
        }

        #[test]
        fn json_is_read_as_itself(map in proptest::collection::btree_map("[a-z]{1,6}", "[ -~]{0,20}", 0..8), n in any::<i64>()) {
            let mut value = json!(map);
            value["number"] = json!(n);
            value["list"] = json!([null, true, "x", [n]]);
            prop_assert_eq!(Value::Object(parse(&value.to_string(), 1).unwrap()), value);
        }
    }
}
