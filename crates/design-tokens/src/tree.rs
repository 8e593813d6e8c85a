//! Groups and tokens as the files have them, before anything is resolved.

use crate::diagnostic::{At, Diagnostics};
use crate::json::{Kind, Node, Object};
use crate::resolve::Map;

/// How a file spells tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dialect {
    /// `$value`, `$type`: the stable format and its drafts.
    Dtcg,
    /// `value`, `type`, `comment`: Style Dictionary and Tokens Studio.
    Plain,
}

/// Deprecated or not, with the reason where one is given.
pub(crate) type Deprecated = Option<Option<String>>;

/// A token as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RawToken {
    pub(crate) at: At,
    pub(crate) value: Node,
    /// Written with `$ref` at the token's level: an alias, or a group that extends, as its target decides.
    pub(crate) is_ref: bool,
    pub(crate) ty: Option<(At, String)>,
    pub(crate) description: Option<String>,
    /// `Some(None)` is `false`: not deprecated, whatever the group says.
    pub(crate) deprecated: Option<Deprecated>,
    pub(crate) extensions: Option<Node>,
    pub(crate) dialect: Dialect,
}

/// A group as written.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Group {
    pub(crate) at: At,
    pub(crate) ty: Option<(At, String)>,
    pub(crate) description: Option<String>,
    pub(crate) deprecated: Option<Deprecated>,
    pub(crate) extends: Option<(At, String)>,
    pub(crate) extensions: Option<Node>,
    pub(crate) children: Map<Child>,
}

/// What a group holds.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "tokens are many and boxed, groups are few")]
pub(crate) enum Child {
    Token(Box<RawToken>),
    Group(Group),
}

impl Group {
    /// Lays `over` on this group: groups merge, a token replaces whole, the later wins.
    pub(crate) fn merge(&mut self, over: Self, diagnostics: &mut Diagnostics) {
        self.ty = over.ty.or(self.ty.take());
        self.description = over.description.or(self.description.take());
        self.deprecated = over.deprecated.or(self.deprecated.take());
        self.extends = over.extends.or(self.extends.take());
        self.extensions = over.extensions.or(self.extensions.take());
        for (name, child) in over.children {
            match (self.children.get_mut(&name), child) {
                (Some(Child::Group(below)), Child::Group(above)) => below.merge(above, diagnostics),
                (Some(Child::Group(below)), Child::Token(token)) if !below.children.is_empty() => {
                    let message =
                        format!("the token {name:?} takes the place of a group of an earlier source");
                    diagnostics.warn(token.at, "token-over-group", message, "give one of them another name");
                    self.children.insert(name, Child::Token(token));
                }
                (Some(Child::Token(_)), Child::Group(above)) => {
                    let message =
                        format!("the group {name:?} takes the place of a token of an earlier source");
                    diagnostics.warn(above.at, "group-over-token", message, "give one of them another name");
                    self.children.insert(name, Child::Group(above));
                }
                (_, child) => {
                    self.children.insert(name, child);
                }
            }
        }
    }

    /// Says which tokens `over` has that are here already.
    pub(crate) fn warn_redefined(&self, over: &Self, path: &mut Vec<String>, diagnostics: &mut Diagnostics) {
        for (name, child) in &over.children {
            path.push(name.clone());
            match (self.children.get(name), child) {
                (Some(Child::Group(here)), Child::Group(there)) => {
                    here.warn_redefined(there, path, diagnostics);
                }
                (Some(Child::Token(here)), Child::Token(there)) => {
                    let (file, line, _) = diagnostics.place(here.at);
                    let message = format!("{} stands in {file}:{line} too; this one counts", path.join("."));
                    let fix = "give a theme's file to a mode, `[[tokens.modes]] sources`";
                    diagnostics.warn(there.at, "redefined", message, fix);
                }
                _ => {}
            }
            path.pop();
        }
    }

    /// The child at `path`.
    pub(crate) fn find(&self, path: &[String]) -> Option<&Child> {
        let (first, rest) = path.split_first()?;
        let child = self.children.get(first)?;
        match (child, rest) {
            (child, []) => Some(child),
            (Child::Group(group), rest) => group.find(rest),
            (Child::Token(_), _) => None,
        }
    }
}

/// Reads a file's tree.
pub(crate) fn read(root: &Node, diagnostics: &mut Diagnostics) -> Group {
    let dialect =
        if has_key(root, "$value") || !has_key(root, "value") { Dialect::Dtcg } else { Dialect::Plain };
    let mut reader = Reader { dialect, diagnostics };
    let Some(_) = root.object() else {
        let message = format!("a token file is an object, this is {}", root.describe());
        reader.diagnostics.error(root.at, "not-an-object", message, "");
        return Group::default();
    };
    if let Some(sets) = studio_sets(root) {
        // Tokens Studio's single file: its top-level keys are sets that are merged in order.
        let mut merged = Group { at: root.at, ..Group::default() };
        for set in sets {
            reader.diagnostics.add_root(set.at, dialect);
            let group = reader.group(set, 0);
            merged.merge(group, reader.diagnostics);
        }
        return merged;
    }
    reader.diagnostics.add_root(root.at, dialect);
    reader.group(root, 0)
}

/// Deepest nesting of groups.
const MAX_DEPTH: usize = 200;

/// Whether any object below has `key` and is a token by it.
fn has_key(node: &Node, key: &str) -> bool {
    match &node.kind {
        Kind::Object(members) => {
            members.get(key).is_some_and(|(_, v)| key.starts_with('$') || !is_group_like(v))
                || members.iter().any(|(k, (_, v))| k != "$extensions" && has_key(v, key))
        }
        _ => false,
    }
}

/// A group may be called `value`: then its members are objects with values of their own.
fn is_group_like(node: &Node) -> bool {
    node.object().is_some_and(|o| {
        o.values()
            .any(|(_, v)| v.object().is_some_and(|o| o.contains_key("value") || o.contains_key("$value")))
    })
}

fn studio_sets(root: &Node) -> Option<Vec<&Node>> {
    let order = root.get("$metadata")?.get("tokenSetOrder")?.array()?;
    Some(order.iter().filter_map(|name| root.get(name.string()?)).collect())
}

struct Reader<'d> {
    dialect: Dialect,
    diagnostics: &'d mut Diagnostics,
}

impl Reader<'_> {
    fn group(&mut self, node: &Node, depth: usize) -> Group {
        let mut group = Group { at: node.at, ..Group::default() };
        if depth > MAX_DEPTH {
            self.diagnostics.error(
                node.at,
                "too-deep",
                format!("groups are nested deeper than {MAX_DEPTH}"),
                "",
            );
            return group;
        }
        let Some(members) = node.object() else { return group };
        for (key, (key_at, value)) in members {
            match key.as_str() {
                "$type" => group.ty = self.text(key, value).map(|t| (value.at, t)),
                "$description" => group.description = self.text(key, value),
                "$deprecated" => group.deprecated = self.deprecated(value),
                "$extensions" => group.extensions = self.extensions(value),
                "$extends" => group.extends = self.text(key, value).map(|t| (value.at, t)),
                // A group with a reference is the same as one that extends its target (format module, groups).
                "$ref" => group.extends = self.text(key, value).map(|t| (value.at, t)),
                "$schema" | "$themes" | "$metadata" if depth == 0 => {}
                "$root" => self.child(&mut group, key, *key_at, value, depth),
                _ if key.starts_with('$') && self.dialect == Dialect::Dtcg => self.diagnostics.warn(
                    *key_at,
                    "unknown-property",
                    format!("{key} is not a property of a group"),
                    "names of tokens and groups do not begin with `$`",
                ),
                _ if self.dialect == Dialect::Plain
                    && value.object().is_none()
                    && matches!(key.as_str(), "comment" | "description" | "type" | "themeable") =>
                {
                    match key.as_str() {
                        "type" => group.ty = value.string().map(|t| (value.at, t.to_owned())),
                        "comment" | "description" => group.description = value.string().map(str::to_owned),
                        _ => {}
                    }
                }
                _ => self.child(&mut group, key, *key_at, value, depth),
            }
        }
        group
    }

    fn child(&mut self, group: &mut Group, name: &str, key_at: At, value: &Node, depth: usize) {
        let bad = name.contains(['{', '}']) || (self.dialect == Dialect::Dtcg && name.contains('.'));
        if bad || name.is_empty() {
            let message =
                format!("{name:?} is not a name: names have no `{{`, `}}` or `.` and are not empty");
            if self.dialect == Dialect::Dtcg && name.contains('.') && !name.contains(['{', '}']) {
                // Met in the wild, and harmless as long as nothing refers to it.
                self.diagnostics.warn(key_at, "dotted-name", message, "rename it: references split at dots");
            } else {
                self.diagnostics.error(key_at, "bad-name", message, "rename it");
                return;
            }
        }
        let Some(members) = value.object() else {
            let message = format!("{name:?} is {}, not a token or group", value.describe());
            self.diagnostics.error(value.at, "not-an-object", message, "wrap it: `{ \"$value\": … }`");
            return;
        };
        let key = if self.dialect == Dialect::Dtcg { "$value" } else { "value" };
        let has_value =
            members.get(key).is_some_and(|(_, v)| self.dialect == Dialect::Dtcg || !is_group_like(v));
        let has_ref = self.dialect == Dialect::Dtcg && members.contains_key("$ref") && only_own(members);
        if has_value || has_ref {
            let token = self.token(name, key_at, value, has_value);
            group.children.insert(name.to_owned(), Child::Token(Box::new(token)));
            return;
        }
        let mut below = self.group(value, depth + 1);
        below.at = key_at;
        if below.children.is_empty() && below.extends.is_none() && below.ty.is_some() {
            let message = format!("{name:?} has a type and no value");
            self.diagnostics.warn(key_at, "no-value", message, "add `$value`, or remove it");
        }
        group.children.insert(name.to_owned(), Child::Group(below));
    }

    fn token(&mut self, name: &str, key_at: At, node: &Node, has_value: bool) -> RawToken {
        let dtcg = self.dialect == Dialect::Dtcg;
        let empty = Node { at: node.at, kind: Kind::Null };
        let mut token = RawToken {
            at: key_at,
            value: empty,
            is_ref: !has_value,
            ty: None,
            description: None,
            deprecated: None,
            extensions: None,
            dialect: self.dialect,
        };
        let Some(members) = node.object() else { return token };
        for (key, (at, value)) in members {
            match (dtcg, key.as_str()) {
                (true, "$value") | (false, "value") => token.value = value.clone(),
                (true, "$ref") if has_value => self.diagnostics.error(
                    *at,
                    "value-and-ref",
                    format!("{name:?} has both $value and $ref"),
                    "keep one of them",
                ),
                // The same as a value that is nothing but a reference.
                (true, "$ref") => {
                    let members = Object::from_iter([("$ref".to_owned(), (*at, value.clone()))]);
                    token.value = Node { at: value.at, kind: Kind::Object(members) };
                }
                (true, "$type") | (false, "type" | "$type") => {
                    token.ty = self.text(key, value).map(|t| (value.at, t));
                }
                (true, "$description") => token.description = self.text(key, value),
                (false, "description" | "comment") => token.description = value.string().map(str::to_owned),
                (_, "$deprecated") => token.deprecated = self.deprecated(value),
                (false, "deprecated") => token.deprecated = self.deprecated(value),
                (false, "deprecated_comment") => {
                    token.deprecated = Some(Some(value.string().map(str::to_owned)));
                }
                (_, "$extensions") => token.extensions = self.extensions(value),
                (true, "$extends") => self.diagnostics.error(
                    *at,
                    "extends-on-token",
                    format!("{name:?} is a token; only groups extend"),
                    "use an alias: `\"$value\": \"{other.token}\"`",
                ),
                (true, _) if key.starts_with('$') => {
                    let message = format!("{key} is not a property of a token");
                    self.diagnostics.warn(*at, "unknown-property", message, "put it under $extensions");
                }
                (true, _) if value.object().is_none() => self.diagnostics.error(
                    *at,
                    "token-with-children",
                    format!("{key:?} is no property of a token, and {name:?} has a value: what it says is lost"),
                    "remove it, or put it into $value or under $extensions",
                ),
                (true, _) => self.diagnostics.error(
                    *at,
                    "token-with-children",
                    format!(
                        "{name:?} has a value and, in {key:?}, a child: it is a token or a group, not both"
                    ),
                    "move the value into a child called \"$root\"; what belongs to the value goes inside $value",
                ),
                (false, _) if value.get("value").is_some() => self.diagnostics.error(
                    *at,
                    "token-with-children",
                    format!("{name:?} has a value and, in {key:?}, a child: it is a token or a group, not both"),
                    "move the value into a child of its own",
                ),
                (false, _) => {}
            }
        }
        token
    }

    fn text(&mut self, key: &str, value: &Node) -> Option<String> {
        if value.string().is_none() {
            let message = format!("{key} is a string, this is {}", value.describe());
            self.diagnostics.error(value.at, "property-type", message, "");
        }
        value.string().map(str::to_owned)
    }

    fn deprecated(&mut self, value: &Node) -> Option<Deprecated> {
        match &value.kind {
            Kind::Bool(true) => Some(Some(None)),
            Kind::Bool(false) => Some(None),
            Kind::String(reason) => Some(Some(Some(reason.clone()))),
            _ => {
                let message = format!("$deprecated is a boolean or a reason, this is {}", value.describe());
                self.diagnostics.error(value.at, "property-type", message, "");
                None
            }
        }
    }

    fn extensions(&mut self, value: &Node) -> Option<Node> {
        if value.object().is_none() {
            let message = format!("$extensions is an object, this is {}", value.describe());
            self.diagnostics.error(value.at, "property-type", message, "");
            return None;
        }
        Some(value.clone())
    }
}

/// Whether every member is a property: with a child, `$ref` makes a group that extends.
fn only_own(members: &Object) -> bool {
    members.keys().all(|k| k.starts_with('$') && k != "$root")
}
