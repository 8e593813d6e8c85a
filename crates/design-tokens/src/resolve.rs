//! Types and aliases resolved over one merged tree: own type, else the referenced token's, else the nearest group's,
//! else an error; every member of a cycle is an error.

use indexmap::IndexMap;
use serde_json::Value as Json;

use crate::diagnostic::{At, Diagnostics};
use crate::emit;
use crate::json::{Kind, Node};
use crate::names;
use crate::options::Options;
use crate::reference;
use crate::studio;
use crate::tree::{Child, Deprecated, Dialect, Group, RawToken};
use crate::value::color::Color;
use crate::value::{Context, Target, Type, Value, parse, parse_modified};

/// Longest chain of references.
const MAX_CHAIN: usize = 2_000;

/// Most tokens of one build.
pub(crate) const MAX_TOKENS: usize = 500_000;

/// A token, resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// The names from the root down; `$root` is one of them.
    pub path: Vec<String>,
    /// What it is called in output, by the options, without any escaping of the target language.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its value.
    pub value: Value,
    /// The token that its whole value refers to, one step on.
    pub alias: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Whether it is deprecated, and the reason where one is given.
    pub deprecated: Option<Option<String>>,
    /// What its tools keep with it.
    pub extensions: Option<Json>,
    pub(crate) at: At,
}

impl Token {
    /// Every name that the token takes up in output, composites have several: in CSS after `--`, in SCSS after `$`.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        emit::names_of(&self.name, &self.value)
    }
}

/// Tokens by their id (the path, joined with dots), in the order of the files.
pub type Tokens = Map<Token>;

/// A map by name in the order of the files. Its hash is keyed at random, as std's is, and faster.
pub type Map<T> = IndexMap<String, T, foldhash::fast::RandomState>;

/// A token as it is to be resolved.
struct Entry<'t> {
    path: Vec<String>,
    raw: &'t RawToken,
    /// The nearest type of the groups above.
    group_type: Option<&'t (At, String)>,
    deprecated: Option<Deprecated>,
}

#[derive(Clone)]
enum Progress {
    Open,
    Failed,
    Done(Box<(Type, Value, Option<String>)>),
}

/// Resolves everything in `tree`.
pub(crate) fn resolve(tree: &Group, options: &Options, diagnostics: &mut Diagnostics) -> Tokens {
    let mut entries = Map::default();
    flatten(tree, &mut Vec::new(), None, None, &mut entries, diagnostics);
    if entries.len() > MAX_TOKENS {
        let message = format!("{} tokens, at most {MAX_TOKENS} are built at once", entries.len());
        diagnostics.error(tree.at, "too-many-tokens", message, "build a part of the source");
        return Tokens::default();
    }
    let ids: Vec<String> = entries.keys().cloned().collect();
    let mut resolver =
        Resolver { tree, entries, progress: Map::default(), open: Vec::new(), diagnostics, plain: false };
    for id in &ids {
        resolver.token(id);
    }
    let Resolver { entries, mut progress, .. } = resolver;
    let mut tokens = Tokens::with_capacity_and_hasher(entries.len(), foldhash::fast::RandomState::default());
    for (id, entry) in entries {
        let Some(Progress::Done(done)) = progress.swap_remove(&id) else { continue };
        let (ty, value, alias) = *done;
        let token = Token {
            name: names::name(&entry.path, options),
            path: entry.path,
            ty,
            value,
            alias,
            description: entry.raw.description.clone(),
            deprecated: entry.raw.deprecated.clone().or(entry.deprecated).flatten(),
            extensions: entry.raw.extensions.as_ref().map(Node::to_value),
            at: entry.raw.at,
        };
        tokens.insert(id, token);
    }
    tokens
}

fn flatten<'t>(
    group: &'t Group,
    path: &mut Vec<String>,
    ty: Option<&'t (At, String)>,
    deprecated: Option<&Deprecated>,
    out: &mut Map<Entry<'t>>,
    diagnostics: &mut Diagnostics,
) {
    let ty = group.ty.as_ref().or(ty);
    let deprecated = group.deprecated.as_ref().or(deprecated);
    for (name, child) in &group.children {
        path.push(name.clone());
        match child {
            Child::Token(raw) => {
                let entry =
                    Entry { path: path.clone(), raw, group_type: ty, deprecated: deprecated.cloned() };
                let id = path.join(".");
                if out.insert(id.clone(), entry).is_some() {
                    let message = format!("two tokens have the path {id}: one of them has a dot in its name");
                    diagnostics.error(raw.at, "bad-name", message, "rename it");
                }
            }
            Child::Group(below) => flatten(below, path, ty, deprecated, out, diagnostics),
        }
        path.pop();
    }
}

struct Resolver<'t, 'd> {
    tree: &'t Group,
    entries: Map<Entry<'t>>,
    progress: Map<Progress>,
    open: Vec<String>,
    diagnostics: &'d mut Diagnostics,
    /// Whether the token at hand is of an older dialect.
    plain: bool,
}

impl Resolver<'_, '_> {
    fn token(&mut self, id: &str) -> Option<(Type, Value, Option<String>)> {
        match self.progress.get(id) {
            Some(Progress::Done(done)) => return Some((**done).clone()),
            Some(Progress::Failed) => return None,
            Some(Progress::Open) => {
                self.cycle(id);
                return None;
            }
            None => {}
        }
        if self.open.len() >= MAX_CHAIN {
            let at = self.entries.get(id).map(|e| e.raw.at).unwrap_or_default();
            self.diagnostics.error(
                at,
                "alias-chain",
                format!("a chain of more than {MAX_CHAIN} references"),
                "",
            );
            return None;
        }
        self.progress.insert(id.to_owned(), Progress::Open);
        self.open.push(id.to_owned());
        let before = self.plain;
        let done = self.compute(id);
        self.plain = before;
        self.open.pop();
        let failed_meanwhile = matches!(self.progress.get(id), Some(Progress::Failed));
        let progress = match &done {
            Some(done) if !failed_meanwhile => Progress::Done(Box::new(done.clone())),
            _ => Progress::Failed,
        };
        self.progress.insert(id.to_owned(), progress);
        if failed_meanwhile { None } else { done }
    }

    /// Every member of the cycle is an error, each at its own place.
    fn cycle(&mut self, id: &str) {
        let from = self.open.iter().position(|open| open == id).unwrap_or(0);
        let members: Vec<String> = self.open[from..].to_vec();
        let chain =
            members.iter().chain(members.first()).map(|m| format!("{{{m}}}")).collect::<Vec<_>>().join(" → ");
        for member in &members {
            if let Some(entry) = self.entries.get(member) {
                let message = format!("the references go in a circle: {chain}");
                self.diagnostics.error(entry.raw.at, "alias-cycle", message, "give one of them a value");
            }
            self.progress.insert(member.clone(), Progress::Failed);
        }
    }

    fn compute(&mut self, id: &str) -> Option<(Type, Value, Option<String>)> {
        let (ty, value, alias) = self.unmodified(id)?;
        let raw = self.entries.get(id)?.raw;
        let Some(modifier) = raw.extensions.as_ref().and_then(studio::modifier) else {
            // Older dialects say number and write a length: the value decides.
            let ty = if matches!((&value, ty), (Value::Dimension(_), Type::Number)) {
                Type::Dimension
            } else {
                ty
            };
            return Some((ty, value, alias));
        };
        let Value::Color(color) = &value else {
            let message = format!("{id} is a {}, only colours are modified", ty.name());
            self.diagnostics.warn(modifier.at, "studio-modify", message, "take the modifier away");
            return Some((ty, value, alias));
        };
        // The outcome is a colour of its own, whatever it was made from.
        let color = parse_modified(color, modifier, self)?;
        Some((ty, Value::Color(color), None))
    }

    fn unmodified(&mut self, id: &str) -> Option<(Type, Value, Option<String>)> {
        let entry = self.entries.get(id)?;
        let (raw, group_type) = (entry.raw, entry.group_type);
        self.plain = raw.dialect == Dialect::Plain;
        let own = raw.ty.as_ref();
        let own_type = match own {
            Some((at, name)) => Some(self.named_type(*at, name)?),
            None => None,
        };
        if let Some((target_id, target_type, value)) = self.whole_alias(raw)? {
            return self.aliased(raw.at, own_type, target_id, target_type, value);
        }
        let ty = match (own_type, group_type) {
            (Some(ty), _) => ty,
            (None, Some((at, name))) => self.named_type(*at, name)?,
            (None, None) if self.plain => guess(&raw.value),
            (None, None) => {
                self.diagnostics.error(
                    raw.at,
                    "no-type",
                    format!("{id} has no type of its own, by reference or by group"),
                    "add `$type`",
                );
                return None;
            }
        };
        let value = parse(ty, &raw.value, self)?;
        Some((ty, value, None))
    }

    fn aliased(
        &mut self,
        at: At,
        own: Option<Type>,
        target_id: String,
        target: Type,
        value: Value,
    ) -> Option<(Type, Value, Option<String>)> {
        match own {
            Some(own) if own != target => {
                // Older files give a type to what is plain text; and a number serves where one is expected.
                let lenient = self.plain || own == Type::Text || target == Type::Text;
                if lenient {
                    return Some((target, value, Some(target_id)));
                }
                let message =
                    format!("its type is {}, but {{{target_id}}} is a {}", own.name(), target.name());
                self.diagnostics.error(
                    at,
                    "alias-type",
                    message,
                    "remove `$type`, or refer to a token of that type",
                );
                None
            }
            _ => Some((target, value, Some(target_id))),
        }
    }

    fn named_type(&mut self, at: At, name: &str) -> Option<Type> {
        if let Some(ty) = Type::named(name) {
            return Some(ty);
        }
        if let Some(ty) = Type::legacy(name) {
            if !self.plain {
                let message = format!("{name:?} is not a type of the format");
                let fix = if ty == Type::Text {
                    "its values are passed on as text".into()
                } else {
                    format!("write {:?}", ty.name())
                };
                self.diagnostics.warn(at, "legacy-type", message, fix);
            }
            return Some(ty);
        }
        if self.plain {
            return Some(Type::Text);
        }
        let names: Vec<&str> = Type::ALL.iter().map(|(n, _)| *n).collect();
        self.diagnostics.error(
            at,
            "unknown-type",
            format!("{name:?} is not a type"),
            format!("one of {}", names.join(", ")),
        );
        None
    }

    /// When the whole value is a reference: the target. `None`: a failed one, reported.
    #[expect(clippy::option_option, reason = "no reference, or a reference that failed")]
    fn whole_alias(&mut self, raw: &RawToken) -> Option<Option<(String, Type, Value)>> {
        if let Some(text) = raw.value.string() {
            return match reference::curly(text) {
                None => Some(None),
                Some(Ok(path)) => Context::token(self, raw.value.at, &path).map(Some),
                Some(Err(why)) => {
                    let message = format!("{text:?}: {why}");
                    self.diagnostics.error(raw.value.at, "bad-reference", message, "write `{group.token}`");
                    None
                }
            };
        }
        match raw.value.get("$ref").map(|n| (n.at, n.string().map(str::to_owned))) {
            Some((at, Some(text))) => self.pointer_alias(at, &text),
            _ => Some(None),
        }
    }

    #[expect(clippy::option_option, reason = "no reference to a token, or a reference that failed")]
    fn pointer_alias(&mut self, at: At, text: &str) -> Option<Option<(String, Type, Value)>> {
        match reference::pointer(text) {
            Err(why) => {
                self.diagnostics.error(
                    at,
                    "bad-reference",
                    format!("{text:?}: {why}"),
                    "write `#/group/token`",
                );
                None
            }
            Ok(segments) => match self.pointer(at, &segments)? {
                Target::Token(id, ty, value) => Some(Some((id, ty, value))),
                // A part of a value: parsed as the type that this token has otherwise.
                Target::Part(_) => Some(None),
            },
        }
    }

    fn missing(&mut self, at: At, shown: &str, path: &[String]) {
        if let Some(Child::Group(group)) = self.tree.find(path) {
            let fix = if group.children.contains_key("$root") {
                format!("did you mean {{{}.$root}}?", path.join("."))
            } else {
                "name a token in it".to_owned()
            };
            self.diagnostics.error(at, "reference-to-group", format!("{shown} is a group, not a token"), fix);
            return;
        }
        let wanted = path.join(".");
        let close = self
            .entries
            .keys()
            .map(|id| (strsim::jaro_winkler(&wanted, id), id))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let fix = close
            .filter(|(score, _)| *score > 0.85)
            .map(|(_, id)| format!("did you mean {{{id}}}?"))
            .unwrap_or_default();
        self.diagnostics.error(at, "dangling-reference", format!("there is no token {shown}"), fix);
    }

    /// The part of `node` that `rest` leads to; references on the way, and at the end, are followed.
    fn part(&mut self, at: At, shown: &str, mut node: Node, rest: &[String]) -> Option<Target> {
        for depth in 0..=rest.len() {
            if let Some(path) = referred(&node) {
                let mut further = path;
                if further.last().is_none_or(|s| s != "$value") && !further.iter().any(|s| s == "$value") {
                    further.push("$value".into());
                }
                further.extend_from_slice(&rest[depth..]);
                return self.pointer(at, &further);
            }
            let Some(segment) = rest.get(depth) else { break };
            let next = match &node.kind {
                Kind::Object(members) => members.get(segment).map(|(_, n)| n.clone()),
                Kind::Array(items) => index(segment).and_then(|i| items.get(i)).cloned(),
                _ => None,
            };
            let Some(next) = next else {
                let message = format!("{shown} leads nowhere: there is no {segment:?}");
                self.diagnostics.error(at, "dangling-reference", message, "");
                return None;
            };
            node = next;
        }
        Some(Target::Part(node))
    }
}

/// Where a node that is nothing but a reference leads.
fn referred(node: &Node) -> Option<Vec<String>> {
    match (node.string().and_then(reference::curly), node.get("$ref").and_then(Node::string)) {
        (Some(Ok(path)), _) => Some(path),
        (_, Some(text)) => reference::pointer(text).ok(),
        _ => None,
    }
}

/// An array index of RFC 6901: digits without leading zeros.
fn index(segment: &str) -> Option<usize> {
    (segment == "0" || (!segment.starts_with('0') && segment.bytes().all(|b| b.is_ascii_digit())))
        .then(|| segment.parse().ok())
        .flatten()
}

/// Older dialects have no types: what the value plainly is.
fn guess(value: &Node) -> Type {
    match &value.kind {
        Kind::String(text) if Color::from_css(text).is_some() => Type::Color,
        // A colour put together from references.
        Kind::String(text) if ["rgb(", "rgba(", "hsl(", "hsla("].iter().any(|f| text.starts_with(f)) => {
            Type::Color
        }
        Kind::Number(_) => Type::Number,
        Kind::String(text) => {
            let text = text.trim();
            let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
            let unit = &text[digits.len()..];
            if digits.parse::<f64>().is_ok() && !digits.is_empty() {
                match unit {
                    "" => Type::Number,
                    "ms" | "s" => Type::Duration,
                    _ => Type::Dimension,
                }
            } else {
                Type::Text
            }
        }
        _ => Type::Text,
    }
}

impl Context for Resolver<'_, '_> {
    fn token(&mut self, at: At, path: &[String]) -> Option<(String, Type, Value)> {
        let mut id = path.join(".");
        if !self.entries.contains_key(&id) && self.plain && path.last().is_some_and(|s| s == "value") {
            id = path[..path.len() - 1].join(".");
        }
        if !self.entries.contains_key(&id) {
            self.missing(at, &format!("{{{}}}", path.join(".")), path);
            return None;
        }
        let (ty, value, _) = Resolver::token(self, &id)?;
        Some((id, ty, value))
    }

    fn pointer(&mut self, at: At, segments: &[String]) -> Option<Target> {
        let shown = format!("#/{}", segments.join("/"));
        if self.open.contains(&shown) {
            self.cycle(&shown);
            self.diagnostics.error(
                at,
                "alias-cycle",
                format!("{shown} leads back to itself"),
                "give it a value",
            );
            return None;
        }
        if self.open.len() >= MAX_CHAIN {
            self.diagnostics.error(
                at,
                "alias-chain",
                format!("a chain of more than {MAX_CHAIN} references"),
                "",
            );
            return None;
        }
        self.open.push(shown.clone());
        let found = self.pointed(at, &shown, segments);
        self.open.pop();
        found
    }

    fn diagnostics(&mut self) -> &mut Diagnostics {
        self.diagnostics
    }

    fn plain(&self) -> bool {
        self.plain
    }
}

impl Resolver<'_, '_> {
    fn pointed(&mut self, at: At, shown: &str, segments: &[String]) -> Option<Target> {
        // The longest front that is a token's path.
        for n in (1..=segments.len()).rev() {
            let Some(Child::Token(raw)) = self.tree.find(&segments[..n]) else { continue };
            let (id, rest) = (segments[..n].join("."), &segments[n..]);
            return match rest {
                [] => Resolver::token(self, &id).map(|(ty, value, _)| Target::Token(id, ty, value)),
                [value] if value == "$value" => {
                    Resolver::token(self, &id).map(|(ty, value, _)| Target::Token(id, ty, value))
                }
                [value, rest @ ..] if value == "$value" => {
                    if self.open.contains(&id) {
                        self.cycle(&id);
                        return None;
                    }
                    self.part(at, shown, raw.value.clone(), rest)
                }
                [name, rest @ ..] => {
                    let data = match name.as_str() {
                        "$extensions" => raw.extensions.clone(),
                        "$description" => {
                            raw.description.clone().map(|d| Node { at: raw.at, kind: Kind::String(d) })
                        }
                        _ => None,
                    };
                    match data {
                        Some(node) => self.part(at, shown, node, rest),
                        None => {
                            self.missing(at, shown, segments);
                            None
                        }
                    }
                }
            };
        }
        self.missing(at, shown, segments);
        None
    }
}
