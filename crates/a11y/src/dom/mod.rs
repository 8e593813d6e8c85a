//! A document as the HTML standard parses it (with scripting on, so that `noscript` holds text), in an arena that knows the
//! line of every element.

mod parse;

use std::num::NonZeroU32;

use crate::text::is_blank;

/// A node's place in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(NonZeroU32);

impl NodeId {
    /// Its place in lists that have an entry per node.
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Which vocabulary an element is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Html,
    Svg,
    Math,
    Other,
}

/// An element.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    /// Its local name; of HTML elements in lower case.
    pub(crate) name: String,
    pub(crate) space: Space,
    /// Its attributes by their qualified names, in the order of the source.
    pub(crate) attributes: Vec<(String, String)>,
    /// The line on which its start tag ends; 0 where the parser made it up.
    pub(crate) line: u32,
}

/// What a node is. Comments and the like are not kept.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// The document itself, or what a template holds.
    Root,
    Element(Element),
    Text(String),
}

#[derive(Debug, Clone)]
struct Entry {
    kind: Kind,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
    /// How many elements it was put into.
    depth: usize,
    /// Its number among the elements beside it, from 1; of elements only.
    number: usize,
    /// Whether no element is beside it.
    is_alone: bool,
}

/// The document node.
const ROOT: NodeId = NodeId(NonZeroU32::MIN);

/// A parsed document.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    entries: Vec<Entry>,
    is_plain_html: bool,
}

impl Document {
    /// Parses a whole document: as in a browser, nothing is an error.
    pub(crate) fn parse(html: &str) -> Self {
        parse::document(html)
    }

    fn entry(&self, id: NodeId) -> Option<&Entry> {
        self.entries.get(id.index())
    }

    /// How many nodes there are: one more than the largest [`NodeId::index`].
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether its doctype is `<!doctype html>` and nothing more.
    pub(crate) fn is_plain_html(&self) -> bool {
        self.is_plain_html
    }

    /// The `html` element.
    pub(crate) fn html(&self) -> Option<NodeId> {
        self.children(ROOT).iter().copied().find(|id| self.element(*id).is_some())
    }

    pub(crate) fn element(&self, id: NodeId) -> Option<&Element> {
        match &self.entry(id)?.kind {
            Kind::Element(element) => Some(element),
            Kind::Root | Kind::Text(_) => None,
        }
    }

    pub(crate) fn text(&self, id: NodeId) -> Option<&str> {
        match &self.entry(id)?.kind {
            Kind::Text(text) => Some(text),
            Kind::Root | Kind::Element(_) => None,
        }
    }

    pub(crate) fn children(&self, id: NodeId) -> &[NodeId] {
        self.entry(id).map_or(&[], |entry| &entry.children)
    }

    /// The element that a node is in; none for the topmost one.
    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.entry(id)?.parent.filter(|parent| self.element(*parent).is_some())
    }

    /// The element's own name, empty for what is no element.
    pub(crate) fn name(&self, id: NodeId) -> &str {
        self.element(id).map_or("", |element| &element.name)
    }

    /// An attribute's value as it stands.
    pub(crate) fn attribute(&self, id: NodeId, name: &str) -> Option<&str> {
        let attributes = &self.element(id)?.attributes;
        attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn has(&self, id: NodeId, name: &str) -> bool {
        self.attribute(id, name).is_some()
    }

    /// The elements directly in a node.
    pub(crate) fn child_elements(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        self.children(id).iter().copied().filter(|child| self.element(*child).is_some())
    }

    /// Whether a text that is not blank is directly in the element.
    pub(crate) fn has_own_text(&self, id: NodeId) -> bool {
        self.children(id).iter().any(|child| self.text(*child).is_some_and(|text| !is_blank(text)))
    }

    /// The elements that a node is in, the nearest first.
    pub(crate) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(self.parent(id), |id| self.parent(*id))
    }

    /// The element itself and those that it is in.
    pub(crate) fn and_ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::once(id).chain(self.ancestors(id))
    }

    /// Every element below a node, in the order of the document.
    pub(crate) fn descendants(&self, id: NodeId) -> Vec<NodeId> {
        let (mut found, mut open) = (Vec::new(), self.children(id).to_vec());
        open.reverse();
        while let Some(next) = open.pop() {
            if self.element(next).is_some() {
                found.push(next);
                open.extend(self.children(next).iter().rev());
            }
        }
        found
    }

    /// Every element, in the order of the document.
    pub(crate) fn elements(&self) -> Vec<NodeId> {
        self.descendants(ROOT)
    }

    /// A selector that leads to the element from the top: names, and numbers where there are several.
    pub(crate) fn path(&self, id: NodeId) -> String {
        let mut parts = Vec::new();
        for at in self.and_ancestors(id) {
            let (name, Some(entry)) = (self.name(at), self.entry(at)) else { break };
            let alone = entry.is_alone || matches!(name, "html" | "head" | "body");
            parts.push(if alone { name.to_owned() } else { format!("{name}:nth-child({})", entry.number) });
        }
        parts.reverse();
        parts.join(" > ")
    }

    /// The element's start tag as it could be written, cut to `most` characters.
    pub(crate) fn tag(&self, id: NodeId, most: usize) -> String {
        let Some(element) = self.element(id) else { return String::new() };
        let mut out = format!("<{}", element.name);
        for (name, value) in &element.attributes {
            let value = value.replace('&', "&amp;").replace('"', "&quot;");
            out.push_str(&format!(" {name}=\"{value}\""));
        }
        out.push('>');
        if out.chars().count() > most {
            out = out.chars().take(most.saturating_sub(1)).chain(['…']).collect();
        }
        out
    }
}
