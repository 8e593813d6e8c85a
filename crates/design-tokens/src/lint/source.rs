//! Token files with the ranges of their parts, and where groups and tokens stand in them.

use std::collections::BTreeMap;
use std::ops::Range;

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged;
use jsonc_parser::parse_to_ast;

use crate::diagnostic::Diagnostics;
use crate::json;
use crate::tree::Dialect;

/// Deepest nesting of groups; the compiler has refused deeper ones.
const MAX_DEPTH: usize = 201;

/// A value and the bytes that it takes.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Text(String),
    Object(Vec<Member>),
    Array(Vec<Node>),
    Number,
    /// `null`, `true` or `false`.
    Word,
}

/// One member of an object.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    /// The key as it is written, quotes included.
    pub(super) at: Range<usize>,
    pub(super) value: Node,
}

impl Node {
    pub(super) fn members(&self) -> &[Member] {
        if let Kind::Object(members) = &self.kind { members } else { &[] }
    }

    pub(super) fn items(&self) -> &[Self] {
        if let Kind::Array(items) = &self.kind { items } else { &[] }
    }

    pub(super) fn member(&self, key: &str) -> Option<&Member> {
        self.members().iter().find(|member| member.key == key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.member(key).map(|member| &member.value)
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    pub(super) const fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(_))
    }

    /// The node that begins at `byte` and is an object.
    fn object_at(&self, byte: usize) -> Option<&Self> {
        if self.range.start == byte && self.is_object() {
            return Some(self);
        }
        let mut below = self.items().iter().chain(self.members().iter().map(|member| &member.value));
        below.find(|node| node.range.contains(&byte))?.object_at(byte)
    }
}

/// A file.
#[derive(Debug)]
pub(super) struct Doc {
    pub(super) name: String,
    pub(super) text: String,
    /// `None` where it is not even JSON: the compiler says so.
    pub(super) root: Option<Node>,
}

impl Doc {
    pub(super) fn parse(name: &str, text: &str) -> Self {
        let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let (options, collect) = json::syntax(json::is_loose(name));
        let body = text.get(bom..).unwrap_or_default();
        let value = parse_to_ast(body, &collect, &options).ok().and_then(|parsed| parsed.value);
        Self { name: name.to_owned(), text: text.to_owned(), root: value.map(|value| node(&value, bom)) }
    }

    /// What stands at `range`.
    pub(super) fn written(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// The bytes between the quotes of a string or key, where they say just what they are: no escapes.
    pub(super) fn inside(&self, range: &Range<usize>, decoded: &str) -> Option<Range<usize>> {
        let written = self.written(range);
        let inner = match written.as_bytes() {
            [b'"' | b'\'', .., last] if written.as_bytes().first() == Some(last) && written.len() > 1 => {
                range.start + 1..range.end - 1
            }
            _ => range.clone(),
        };
        (self.written(&inner) == decoded).then_some(inner)
    }
}

fn node(value: &ast::Value<'_>, shift: usize) -> Node {
    let range = moved(value, shift);
    let kind = match value {
        ast::Value::StringLit(text) => Kind::Text(text.value.to_string()),
        ast::Value::NumberLit(_) => Kind::Number,
        ast::Value::BooleanLit(_) | ast::Value::NullKeyword(_) => Kind::Word,
        ast::Value::Array(array) => Kind::Array(array.elements.iter().map(|e| node(e, shift)).collect()),
        ast::Value::Object(object) => {
            let member = |property: &ast::ObjectProp<'_>| Member {
                key: match &property.name {
                    ObjectPropName::String(name) => name.value.to_string(),
                    ObjectPropName::Word(name) => name.value.to_owned(),
                },
                at: moved(&property.name, shift),
                value: node(&property.value, shift),
            };
            Kind::Object(object.properties.iter().map(member).collect())
        }
    };
    Node { range, kind }
}

fn moved(ranged: &impl Ranged, shift: usize) -> Range<usize> {
    ranged.start() + shift..ranged.end() + shift
}

/// A group or token where it stands.
#[derive(Debug, Clone)]
pub(super) struct Site<'d> {
    /// The number of the file.
    pub(super) file: usize,
    /// The names from the root of its tree down.
    pub(super) path: Vec<String>,
    /// Its name as it is written.
    pub(super) key: Range<usize>,
    pub(super) node: &'d Node,
    /// The object that it is a member of.
    pub(super) parent: &'d Node,
    pub(super) is_token: bool,
    pub(super) dialect: Dialect,
    /// Whether its tree is all that the file holds.
    pub(super) is_whole: bool,
}

impl Site<'_> {
    pub(super) fn id(&self) -> String {
        self.path.join(".")
    }

    /// Its own name.
    pub(super) fn name(&self) -> &str {
        self.path.last().map(String::as_str).unwrap_or_default()
    }

    /// Its value, of a token that has one.
    pub(super) fn value(&self) -> Option<&Member> {
        self.node.member(if self.dialect == Dialect::Dtcg { "$value" } else { "value" })
    }

    /// What says its type.
    pub(super) fn own_type(&self) -> Option<&Member> {
        let plain = || self.node.member("type").filter(|member| member.value.text().is_some());
        self.node.member("$type").or_else(|| plain().filter(|_| self.dialect == Dialect::Plain))
    }
}

/// Everything that stands in the files.
#[derive(Debug)]
pub(super) struct Sites<'d> {
    pub(super) all: Vec<Site<'d>>,
    /// The tokens, by file and the byte where the name begins.
    by_key: BTreeMap<(usize, usize), usize>,
    /// The objects that trees of tokens are read from, their dialects and files.
    pub(super) roots: Vec<(usize, &'d Node, Dialect)>,
}

impl<'d> Sites<'d> {
    /// Finds the groups and tokens of every tree that the compiler read.
    pub(super) fn find(docs: &'d [Doc], diagnostics: &Diagnostics) -> Self {
        let mut sites = Self { all: Vec::new(), by_key: BTreeMap::new(), roots: Vec::new() };
        for (at, dialect) in diagnostics.roots() {
            let Some((file, byte)) = diagnostics.byte(*at) else { continue };
            let Some(whole) = docs.get(file).and_then(|doc| doc.root.as_ref()) else { continue };
            let Some(root) = whole.object_at(byte) else { continue };
            sites.roots.push((file, root, *dialect));
            let from = Walk { file, dialect: *dialect, is_whole: std::ptr::eq(root, whole) };
            from.group(root, &mut Vec::new(), &mut sites.all);
        }
        for (number, site) in sites.all.iter().enumerate() {
            if site.is_token {
                sites.by_key.entry((site.file, site.key.start)).or_insert(number);
            }
        }
        sites
    }

    /// The token that this byte is part of.
    pub(super) fn token_around(&self, file: usize, byte: usize) -> Option<&Site<'d>> {
        let (_, number) = self.by_key.range((file, 0)..=(file, byte)).next_back()?;
        self.all.get(*number).filter(|site| site.node.range.end >= byte)
    }

    /// The tokens.
    pub(super) fn tokens(&self) -> impl Iterator<Item = &Site<'d>> {
        self.all.iter().filter(|site| site.is_token)
    }
}

/// Goes through one tree, as `tree.rs` reads it.
struct Walk {
    file: usize,
    dialect: Dialect,
    is_whole: bool,
}

impl Walk {
    fn group<'d>(&self, node: &'d Node, path: &mut Vec<String>, found: &mut Vec<Site<'d>>) {
        if path.len() > MAX_DEPTH {
            return;
        }
        for member in node.members() {
            let skipped = member.key.starts_with('$') && member.key != "$root";
            // In older dialects what is no object below a group is said about it.
            if skipped || !member.value.is_object() {
                continue;
            }
            path.push(member.key.clone());
            let is_token = self.is_token(&member.value);
            found.push(Site {
                file: self.file,
                path: path.clone(),
                key: member.at.clone(),
                node: &member.value,
                parent: node,
                is_token,
                dialect: self.dialect,
                is_whole: self.is_whole,
            });
            if !is_token {
                self.group(&member.value, path, found);
            }
            path.pop();
        }
    }

    fn is_token(&self, node: &Node) -> bool {
        match self.dialect {
            Dialect::Plain => node.get("value").is_some_and(|value| !is_group_like(value)),
            Dialect::Dtcg => {
                let only_own = || node.members().iter().all(|m| m.key.starts_with('$') && m.key != "$root");
                node.get("$value").is_some() || (node.get("$ref").is_some() && only_own())
            }
        }
    }
}

/// A group may be called `value`: then its members are objects with values of their own.
fn is_group_like(node: &Node) -> bool {
    let has_value = |node: &Node| node.get("value").is_some() || node.get("$value").is_some();
    node.members().iter().any(|member| has_value(&member.value))
}
