//! JSON, JSON with comments and JSON5, parsed to a tree that knows where everything stands.

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value;

use crate::diagnostic::{At, Diagnostics};
use crate::resolve::Map;
use crate::strict;

/// Most bytes of one file.
const MAX_FILE: usize = 64 * 1024 * 1024;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: At,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Node>),
    Object(Object),
}

/// Members in the order of the file; the key's place beside each.
pub(crate) type Object = Map<(At, Node)>;

impl Node {
    pub(crate) fn string(&self) -> Option<&str> {
        if let Kind::String(s) = &self.kind { Some(s) } else { None }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        if let Kind::Number(n) = self.kind { Some(n) } else { None }
    }

    pub(crate) fn object(&self) -> Option<&Object> {
        if let Kind::Object(o) = &self.kind { Some(o) } else { None }
    }

    pub(crate) fn array(&self) -> Option<&[Self]> {
        if let Kind::Array(a) = &self.kind { Some(a) } else { None }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.object()?.get(key).map(|(_, node)| node)
    }

    /// What it is, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        }
    }

    /// The same as plain JSON.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(b) => Value::Bool(*b),
            Kind::Number(n) => number(*n),
            Kind::String(s) => Value::String(s.clone()),
            Kind::Array(items) => items.iter().map(Self::to_value).collect(),
            Kind::Object(members) => {
                Value::Object(members.iter().map(|(k, (_, v))| (k.clone(), v.to_value())).collect())
            }
        }
    }
}

/// A JSON number: an integer where it is one.
pub(crate) fn number(n: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a small integer")]
    if n.fract() == 0.0 && n.abs() < 9e15 { Value::from(n as i64) } else { Value::from(n) }
}

/// Parses `text`. Plain `.json` must be JSON with, at most, comments and trailing commas; `.json5` may be all of JSON5.
pub(crate) fn parse(name: &str, text: &str, diagnostics: &mut Diagnostics) -> Option<Node> {
    let file = diagnostics.add_file(name, text);
    if text.len() > MAX_FILE {
        diagnostics.error(
            At { file, offset: 0 },
            "file-too-large",
            "the file is larger than 64 MiB",
            "split it",
        );
        return None;
    }
    if !diagnostics.has_places(file)
        && let Some((node, twice)) = strict::parse(file, text)
    {
        diagnostics.number(file);
        for (at, name) in twice {
            twice_here(at, &name, diagnostics);
        }
        return Some(node);
    }
    diagnostics.keep_places(file);
    let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let loose = is_loose(name);
    let (options, collect) = syntax(loose);
    let mut convert = Convert { file, bom, diagnostics };
    match parse_to_ast(&text[bom..], &collect, &options) {
        Ok(parsed) => match parsed.value {
            Some(value) => Some(convert.node(&value)),
            None => {
                let at = At { file, offset: 0 };
                convert.diagnostics.error(at, "syntax", "the file is empty", "write at least `{}`");
                None
            }
        },
        Err(error) => {
            let at = convert.at(error.range().start);
            let fix = if loose { "" } else { "name the file `.json5` if it is JSON5" };
            convert.diagnostics.error(at, "syntax", error.kind().to_string(), fix);
            None
        }
    }
}

/// Whether a file of this name may be all of JSON5.
pub(crate) fn is_loose(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("json5"))
}

/// How such a file is read.
pub(crate) fn syntax(loose: bool) -> (ParseOptions, CollectOptions) {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: loose,
        allow_missing_commas: false,
        allow_single_quoted_strings: loose,
        allow_hexadecimal_numbers: loose,
        allow_unary_plus_numbers: loose,
        allow_bare_decimal_point_numbers: loose,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: loose,
    };
    (options, CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false })
}

/// Where the nodes and keys of a plain JSON text stand, by their numbers.
pub(crate) fn offsets(text: &str) -> Vec<u32> {
    let (options, collect) = syntax(false);
    let mut offsets = Vec::new();
    if let Some(value) = parse_to_ast(text, &collect, &options).ok().and_then(|parsed| parsed.value) {
        strict::offsets(&value, &mut offsets);
    }
    offsets
}

fn twice_here(at: At, name: &str, diagnostics: &mut Diagnostics) {
    let message = format!("the name {name:?} stands here twice");
    diagnostics.error(at, "duplicate-name", message, "keep one of them");
}

struct Convert<'d> {
    file: u32,
    bom: usize,
    diagnostics: &'d mut Diagnostics,
}

impl Convert<'_> {
    fn at(&self, offset: usize) -> At {
        At { file: self.file, offset: u32::try_from(offset + self.bom).unwrap_or(u32::MAX) }
    }

    fn node(&mut self, value: &ast::Value<'_>) -> Node {
        let at = self.at(value.range().start);
        let kind = match value {
            ast::Value::NullKeyword(_) => Kind::Null,
            ast::Value::BooleanLit(b) => Kind::Bool(b.value),
            ast::Value::StringLit(s) => Kind::String(s.value.to_string()),
            ast::Value::NumberLit(n) => Kind::Number(self.number(at, n.value)),
            ast::Value::Array(a) => Kind::Array(a.elements.iter().map(|e| self.node(e)).collect()),
            ast::Value::Object(o) => {
                let mut members = Object::with_capacity_and_hasher(
                    o.properties.len(),
                    foldhash::fast::RandomState::default(),
                );
                for property in &o.properties {
                    let key_at = self.at(property.name.range().start);
                    let name = match &property.name {
                        ObjectPropName::String(s) => s.value.to_string(),
                        ObjectPropName::Word(w) => w.value.to_owned(),
                    };
                    let node = self.node(&property.value);
                    if members.contains_key(&name) {
                        twice_here(key_at, &name, self.diagnostics);
                    }
                    members.insert(name, (key_at, node));
                }
                Kind::Object(members)
            }
        };
        Node { at, kind }
    }

    fn number(&mut self, at: At, text: &str) -> f64 {
        let bare = text.strip_prefix('+').unwrap_or(text);
        let (sign, digits) = bare.strip_prefix('-').map_or((1.0, bare), |rest| (-1.0, rest));
        let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        #[expect(clippy::cast_precision_loss, reason = "JSON numbers are doubles")]
        let parsed = match hex {
            Some(hex) => u64::from_str_radix(hex, 16).ok().map(|n| sign * n as f64),
            None => bare.parse().ok(),
        };
        match parsed.filter(|n: &f64| n.is_finite()) {
            Some(n) => n,
            None => {
                self.diagnostics.error(at, "number", format!("{text} is not a finite number"), "");
                0.0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_read_give_the_same_nodes_at_the_same_places() {
        let text = r#" {"a": {"$value": "x\u00e9\n", "n": [1, -2.5e3, 0.1, 18446744073709551616, true, null]},
            "b": {}, "a b": [[]], "dup": 1, "dup": 2 }"#;
        let (mut strict, mut loose) = (Diagnostics::default(), Diagnostics::default());
        let fast = parse("a.json", text, &mut strict).unwrap();
        let slow = parse("a.json", &format!("{text}// a comment"), &mut loose).unwrap();
        assert_eq!(fast.to_value(), slow.to_value());
        fn places(node: &Node, diagnostics: &Diagnostics, out: &mut Vec<(String, u32, u32)>) {
            out.push(diagnostics.place(node.at));
            node.array().into_iter().flatten().for_each(|n| places(n, diagnostics, out));
            for (at, below) in node.object().into_iter().flat_map(Map::values) {
                out.push(diagnostics.place(*at));
                places(below, diagnostics, out);
            }
        }
        let (mut a, mut b) = (Vec::new(), Vec::new());
        places(&fast, &strict, &mut a);
        places(&slow, &loose, &mut b);
        assert_eq!(a, b);
        assert_eq!(strict.sorted(), loose.sorted());
        assert_eq!((strict.sorted()[0].line, strict.sorted()[0].column), (2, 45));
    }
}
