//! Resolver documents (resolver module): sets and modifiers, merged in order for a choice of contexts.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::compile::Loader;
use crate::diagnostic::{At, Diagnostics};
use crate::json::{self, Kind, Node, Object};
use crate::reference;
use crate::tree::{self, Group};

/// Whether `node` is a resolver document rather than a token file.
pub(crate) fn is_document(node: &Node) -> bool {
    node.get("resolutionOrder").is_some_and(|n| n.array().is_some())
}

/// Longest chain of references within a document.
const MAX_STEPS: usize = 50;

/// Largest number of files that one document may draw in.
const MAX_FILES: usize = 4_000;

/// Reads the tree that `document` gives for `inputs` (modifier to context).
pub(crate) fn tree(
    name: &str,
    document: &Node,
    inputs: &BTreeMap<String, String>,
    loader: &dyn Loader,
    diagnostics: &mut Diagnostics,
) -> Group {
    let here = Here { name: name.to_owned(), root: Rc::new(document.clone()) };
    let mut reader = Document { here, loader, diagnostics, open: Vec::new(), files: 0, checking: false };
    reader.check_root();
    let items = reader.order();
    reader.check_declared();
    reader.check_inputs(&items, inputs);
    if reader.diagnostics.has_errors() {
        return Group::default();
    }
    let mut merged = Group { at: document.at, ..Group::default() };
    for item in items {
        let sources = match item.kind {
            Item::Set => item.body.get("sources").cloned(),
            Item::Modifier => {
                let wanted = input(inputs, &item.name).map(|(_, v)| v.as_str());
                let default = item.body.get("default").and_then(Node::string);
                wanted.or(default).and_then(|context| context_of(&item.body, context)).cloned()
            }
        };
        let Some(sources) = sources else { continue };
        reader.sources(&sources, &mut merged);
    }
    merged
}

/// Names of modifiers and contexts are matched without regard to case (resolver module, inputs: SHOULD).
fn input<'i>(inputs: &'i BTreeMap<String, String>, name: &str) -> Option<(&'i String, &'i String)> {
    inputs.iter().find(|(k, _)| k.eq_ignore_ascii_case(name))
}

fn context_of<'n>(body: &'n Node, context: &str) -> Option<&'n Node> {
    body.get("contexts")?.object()?.iter().find(|(k, _)| k.eq_ignore_ascii_case(context)).map(|(_, (_, n))| n)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    Set,
    Modifier,
}

struct Ordered {
    name: String,
    kind: Item,
    body: Node,
    at: At,
    /// Written in the order itself.
    inline: bool,
}

/// The document that `#/…` is about: a file that is drawn in is about itself.
#[derive(Clone)]
struct Here {
    name: String,
    root: Rc<Node>,
}

struct Document<'a> {
    here: Here,
    loader: &'a dyn Loader,
    diagnostics: &'a mut Diagnostics,
    /// What is being drawn in, to find circles.
    open: Vec<(String, String)>,
    files: usize,
    /// Whether only the references are followed, of sets and contexts that nobody chose.
    checking: bool,
}

impl Document<'_> {
    fn error(&mut self, at: At, code: &'static str, message: impl Into<String>, fix: impl Into<String>) {
        self.diagnostics.error(at, code, message, fix);
    }

    fn check_root(&mut self) {
        let root = Rc::clone(&self.here.root);
        match root.get("version").map(|v| (v.at, v.string().map(str::to_owned))) {
            Some((_, Some(v))) if v == "2025.10" => {}
            Some((at, _)) => {
                self.error(at, "resolver-version", "the version is not \"2025.10\"", "write \"2025.10\"");
            }
            None => self.error(
                root.at,
                "resolver-version",
                "the version is missing",
                "add `\"version\": \"2025.10\"`",
            ),
        }
        let known = [
            "version",
            "resolutionOrder",
            "name",
            "description",
            "$schema",
            "sets",
            "modifiers",
            "$defs",
            "$extensions",
        ];
        let unknown: Vec<(At, String)> = root
            .object()
            .into_iter()
            .flatten()
            .filter(|(k, _)| !known.contains(&k.as_str()))
            .map(|(k, (at, _))| (*at, k.clone()))
            .collect();
        for (at, key) in unknown {
            self.error(
                at,
                "resolver-property",
                format!("{key:?} is not a property of a resolver document"),
                "",
            );
        }
    }

    fn order(&mut self) -> Vec<Ordered> {
        let root = Rc::clone(&self.here.root);
        let items = root.get("resolutionOrder").and_then(Node::array).unwrap_or_default();
        if items.is_empty() {
            self.error(root.at, "resolver-order", "resolutionOrder is empty", "list the sets and modifiers");
        }
        let mut out: Vec<Ordered> = Vec::new();
        for item in items {
            let Some(ordered) = self.item(item) else { continue };
            let inline = item.get("$ref").is_none();
            // Names are unique over everything in the order (resolver module, resolution order), whatever its kind.
            if out.iter().any(|o| o.name == ordered.name && (inline || o.inline)) {
                self.error(
                    item.at,
                    "resolver-duplicate",
                    format!("{:?} stands in the order twice", ordered.name),
                    "",
                );
            }
            out.push(ordered);
        }
        out
    }

    fn item(&mut self, item: &Node) -> Option<Ordered> {
        if item.get("$ref").is_some() {
            let (segments, body) = self.reference(item)?;
            let kind = match segments.first().map(String::as_str) {
                Some("sets") => Item::Set,
                Some("modifiers") => Item::Modifier,
                _ => {
                    self.error(
                        item.at,
                        "resolver-reference",
                        "the order holds only sets and modifiers",
                        "refer to `#/sets/…`",
                    );
                    return None;
                }
            };
            let name = segments.get(1).cloned().unwrap_or_default();
            return self.checked(Ordered { name, kind, body, at: item.at, inline: false });
        }
        let text = |key: &str| item.get(key).and_then(Node::string).map(str::to_owned);
        let (Some(name), Some(kind)) = (text("name"), text("type")) else {
            self.error(item.at, "resolver-inline", "an inline set or modifier has a name and a type", "");
            return None;
        };
        let kind = match kind.as_str() {
            "set" => Item::Set,
            "modifier" => Item::Modifier,
            other => {
                self.error(item.at, "resolver-inline", format!("{other:?} is neither set nor modifier"), "");
                return None;
            }
        };
        self.checked(Ordered { name, kind, body: item.clone(), at: item.at, inline: true })
    }

    fn checked(&mut self, item: Ordered) -> Option<Ordered> {
        match item.kind {
            Item::Set => {
                if item.body.get("sources").and_then(Node::array).is_none() {
                    self.error(
                        item.at,
                        "resolver-set",
                        format!("the set {:?} has no sources", item.name),
                        "",
                    );
                    return None;
                }
            }
            Item::Modifier => {
                let contexts = item.body.get("contexts").and_then(Node::object).map(Object::len);
                match contexts {
                    None | Some(0) => {
                        let message = format!("the modifier {:?} has no contexts", item.name);
                        self.error(item.at, "resolver-contexts", message, "");
                        return None;
                    }
                    Some(1) => {
                        let message = format!("the modifier {:?} has one context only", item.name);
                        self.diagnostics.warn(item.at, "resolver-contexts", message, "make it a set");
                    }
                    Some(_) => {}
                }
                if let Some(default) = item.body.get("default")
                    && default.string().and_then(|d| context_of(&item.body, d)).is_none()
                {
                    let message = format!("the default of {:?} is none of its contexts", item.name);
                    self.error(default.at, "resolver-default", message, "");
                    return None;
                }
            }
        }
        Some(item)
    }

    /// What is declared is right, whether or not it is in the order, and whatever context is chosen.
    fn check_declared(&mut self) {
        let root = Rc::clone(&self.here.root);
        for (key, kind) in [("sets", Item::Set), ("modifiers", Item::Modifier)] {
            for (name, (at, body)) in root.get(key).and_then(Node::object).into_iter().flatten() {
                let body = if body.get("$ref").is_some() {
                    let Some((_, body)) = self.reference(body) else { continue };
                    body
                } else {
                    body.clone()
                };
                let declared = Ordered { name: name.clone(), kind, body, at: *at, inline: false };
                let Some(declared) = self.checked(declared) else { continue };
                let lists: Vec<Node> = match kind {
                    Item::Set => declared.body.get("sources").cloned().into_iter().collect(),
                    Item::Modifier => {
                        let contexts = declared.body.get("contexts").and_then(Node::object);
                        contexts.into_iter().flatten().map(|(_, (_, list))| list.clone()).collect()
                    }
                };
                self.checking = true;
                for list in &lists {
                    self.sources(list, &mut Group::default());
                }
                self.checking = false;
            }
        }
    }

    fn check_inputs(&mut self, items: &[Ordered], inputs: &BTreeMap<String, String>) {
        let modifiers: Vec<&Ordered> = items.iter().filter(|i| i.kind == Item::Modifier).collect();
        for name in inputs.keys() {
            if !modifiers.iter().any(|m| m.name.eq_ignore_ascii_case(name)) {
                self.error(
                    self.here.root.at,
                    "resolver-input",
                    format!("there is no modifier {name:?}"),
                    "check `contexts`",
                );
            }
        }
        for modifier in modifiers {
            match input(inputs, &modifier.name) {
                Some((_, context)) if context_of(&modifier.body, context).is_none() => {
                    let message = format!("{:?} has no context {context:?}", modifier.name);
                    self.error(modifier.at, "resolver-input", message, "check `contexts`");
                }
                Some(_) => {}
                None if modifier.body.get("default").is_none() => {
                    let message = format!("{:?} has no default and no context was chosen", modifier.name);
                    self.error(modifier.at, "resolver-input", message, "set `contexts` under [tokens]");
                }
                None => {}
            }
        }
    }

    fn sources(&mut self, sources: &Node, merged: &mut Group) {
        for source in sources.array().unwrap_or_default() {
            self.source(source, merged);
        }
    }

    fn source(&mut self, source: &Node, merged: &mut Group) {
        let Some(target) = source.get("$ref") else {
            if self.checking {
                return;
            }
            let group = tree::read(source, self.diagnostics);
            merged.merge(group, self.diagnostics);
            return;
        };
        let at = target.at;
        let Some(text) = target.string().map(str::to_owned) else {
            return self.error(at, "resolver-reference", "$ref is a string", "");
        };
        let key = (self.here.name.clone(), text.clone());
        if self.open.contains(&key) {
            return self.error(at, "resolver-cycle", format!("{text:?} draws itself in"), "");
        }
        self.files += 1;
        if self.files > MAX_FILES {
            return self.error(at, "resolver-files", format!("more than {MAX_FILES} sources"), "");
        }
        self.open.push(key);
        self.drawn(source, at, &text, merged);
        self.open.pop();
    }

    fn drawn(&mut self, source: &Node, at: At, text: &str, merged: &mut Group) {
        if text.starts_with('#') {
            let Some((segments, body)) = self.reference(source) else { return };
            return match segments.first().map(String::as_str) {
                Some("modifiers" | "resolutionOrder") => {
                    self.error(
                        at,
                        "resolver-reference",
                        format!("{text:?} cannot be a source"),
                        "refer to a set or a file",
                    );
                }
                Some("sets") if body.get("sources").is_some() => {
                    if let Some(sources) = body.get("sources").cloned() {
                        self.sources(&sources, merged);
                    }
                }
                _ if self.checking => {}
                _ => {
                    let group = tree::read(&body, self.diagnostics);
                    merged.merge(group, self.diagnostics);
                }
            };
        }
        let (file, fragment) = text.split_once('#').map_or((text, None), |(file, rest)| (file, Some(rest)));
        let (node, name) = match self.loader.relative(&self.here.name, file) {
            Ok((name, loaded)) => match json::parse(&name, &loaded, self.diagnostics) {
                Some(node) => (node, name),
                None => return,
            },
            Err(why) => return self.error(at, "resolver-file", format!("{file}: {why}"), "check the path"),
        };
        let part = match fragment {
            None => Some(&node),
            Some(fragment) => {
                let segments = reference::pointer(&format!("#/{}", fragment.trim_start_matches('/')))
                    .unwrap_or_default();
                segments.iter().try_fold(&node, |n, s| n.get(s))
            }
        };
        let Some(part) = part else {
            return self.error(at, "resolver-reference", format!("{text:?} leads nowhere in {name}"), "");
        };
        let part = overridden(part, source);
        if let Some(sources) = part.get("sources").filter(|s| s.array().is_some()).cloned() {
            let there = Here { name, root: Rc::new(node) };
            let here = std::mem::replace(&mut self.here, there);
            self.sources(&sources, merged);
            self.here = here;
            return;
        }
        if self.checking {
            return;
        }
        let group = tree::read(&part, self.diagnostics);
        merged.merge(group, self.diagnostics);
    }

    /// What a same-document `$ref` leads to, with the members beside it laid over. A set or modifier may itself be such
    /// a reference; the segments are those of the first.
    fn reference(&mut self, node: &Node) -> Option<(Vec<String>, Node)> {
        let (segments, mut body) = self.step(node)?;
        let mut left = MAX_STEPS;
        while body.get("$ref").and_then(Node::string).is_some_and(|text| text.starts_with('#')) {
            left -= 1;
            if left == 0 {
                self.error(
                    node.at,
                    "resolver-cycle",
                    "the references lead in a circle",
                    "give one of them sources",
                );
                return None;
            }
            body = self.step(&body)?.1;
        }
        Some((segments, body))
    }

    fn step(&mut self, node: &Node) -> Option<(Vec<String>, Node)> {
        let target = node.get("$ref")?;
        let text = target.string().unwrap_or_default();
        let segments = match reference::pointer(text) {
            Ok(segments) => segments,
            Err(why) => {
                self.error(target.at, "resolver-reference", format!("{text:?}: {why}"), "");
                return None;
            }
        };
        let root = Rc::clone(&self.here.root);
        let found = segments.iter().try_fold(&*root, |n, segment| match &n.kind {
            Kind::Object(_) => n.get(segment),
            Kind::Array(items) => segment.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => None,
        });
        match found {
            Some(found) => Some((segments, overridden(found, node))),
            None => {
                self.error(target.at, "resolver-reference", format!("{text:?} leads nowhere"), "");
                None
            }
        }
    }
}

/// `base` with the members that stand beside `$ref` in `over` laid over it, shallowly.
fn overridden(base: &Node, over: &Node) -> Node {
    let mut out = base.clone();
    if let (Kind::Object(members), Some(over)) = (&mut out.kind, over.object()) {
        for (key, value) in over.iter().filter(|(k, _)| *k != "$ref") {
            members.insert(key.clone(), value.clone());
        }
    }
    out
}
