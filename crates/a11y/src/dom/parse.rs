//! html5ever's parser, writing into the arena.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, ns, parse_document};

use super::{Document, Element, Entry, Kind, NodeId, Space};

/// Deepest nesting that is kept: deeper elements become their ancestor's children, as in browsers.
const MAX_DEPTH: usize = 512;

pub(super) fn document(html: &str) -> Document {
    let options = ParseOpts::default();
    parse_document(Sink::new(), options).one(html)
}

struct Sink {
    entries: RefCell<Vec<Entry>>,
    /// html5ever asks for names of nodes by reference: they are kept as it gave them.
    names: RefCell<Vec<Option<QualName>>>,
    /// What templates hold, by the template's place.
    contents: RefCell<Vec<(NodeId, NodeId)>>,
    line: Cell<u64>,
    is_plain_html: Cell<bool>,
}

impl Sink {
    fn new() -> Self {
        let sink = Self {
            entries: RefCell::default(),
            names: RefCell::default(),
            contents: RefCell::default(),
            line: Cell::new(1),
            is_plain_html: Cell::new(false),
        };
        sink.push(Kind::Root, None);
        sink
    }

    fn push(&self, kind: Kind, name: Option<QualName>) -> NodeId {
        let mut entries = self.entries.borrow_mut();
        entries.push(Entry { kind, parent: None, children: Vec::new(), depth: 0, number: 1, is_alone: true });
        self.names.borrow_mut().push(name);
        let number = u32::try_from(entries.len()).ok().and_then(NonZeroU32::new);
        NodeId(number.unwrap_or(NonZeroU32::MAX))
    }

    fn with<T>(&self, id: NodeId, then: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        self.entries.borrow_mut().get_mut(id.index()).map(then)
    }

    fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.with(id, |entry| entry.parent).flatten()
    }

    fn detach(&self, id: NodeId) {
        if let Some(parent) = self.parent(id) {
            self.with(parent, |entry| entry.children.retain(|child| *child != id));
            self.with(id, |entry| entry.parent = None);
        }
    }

    /// Puts `what` among the children of `parent`, at `at` or at the end.
    fn insert(&self, parent: NodeId, at: Option<usize>, what: NodeOrText<NodeId>) {
        let depth = |id| self.with(id, |entry| entry.depth).unwrap_or(0);
        let is_deep = depth(parent) >= MAX_DEPTH;
        let parent = if is_deep { self.parent(parent).unwrap_or(parent) } else { parent };
        let deeper = depth(parent) + 1;
        let end = self.with(parent, |entry| entry.children.len()).unwrap_or(0);
        let at = at.unwrap_or(end).min(end);
        let id = match what {
            NodeOrText::AppendText(text) => {
                // Neighbouring texts are one.
                let before =
                    at.checked_sub(1).and_then(|n| self.with(parent, |e| e.children.get(n).copied()));
                if let Some(Some(before)) = before {
                    let joined = self.with(before, |entry| match &mut entry.kind {
                        Kind::Text(own) => {
                            own.push_str(&text);
                            true
                        }
                        Kind::Root | Kind::Element(_) => false,
                    });
                    if joined == Some(true) {
                        return;
                    }
                }
                self.push(Kind::Text(text.to_string()), None)
            }
            NodeOrText::AppendNode(id) => {
                self.detach(id);
                id
            }
        };
        self.with(id, |entry| {
            entry.parent = Some(parent);
            entry.depth = deeper;
        });
        self.with(parent, |entry| {
            let at = at.min(entry.children.len());
            entry.children.insert(at, id);
        });
    }
}

/// The name html5ever wants borrowed: cloned, since it lies in a cell.
#[derive(Debug)]
pub(super) struct Name(QualName);

impl html5ever::interface::ElemName for Name {
    fn ns(&self) -> &html5ever::Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &html5ever::LocalName {
        &self.0.local
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Document;
    type ElemName<'a> = Name;

    fn finish(self) -> Document {
        let mut entries = self.entries.into_inner();
        for at in 0..entries.len() {
            // Numbered once: to count siblings for every path would be quadratic.
            let children = entries.get(at).map(|entry| entry.children.clone()).unwrap_or_default();
            let is_element = |id: &NodeId| {
                entries.get(id.index()).is_some_and(|entry| matches!(entry.kind, Kind::Element(_)))
            };
            let elements: Vec<NodeId> = children.into_iter().filter(is_element).collect();
            for (before, id) in elements.iter().enumerate() {
                if let Some(entry) = entries.get_mut(id.index()) {
                    (entry.number, entry.is_alone) = (before + 1, elements.len() == 1);
                }
            }
        }
        Document { entries, is_plain_html: self.is_plain_html.get() }
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        NodeId(NonZeroU32::MIN)
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name {
        let names = self.names.borrow();
        let name = names.get(target.index()).cloned().flatten();
        Name(name.unwrap_or_else(|| QualName::new(None, ns!(), "".into())))
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> NodeId {
        let ExpandedName { ns, local } = name.expanded();
        let space = if *ns == ns!(html) {
            Space::Html
        } else if *ns == ns!(svg) {
            Space::Svg
        } else if *ns == ns!(mathml) {
            Space::Math
        } else {
            Space::Other
        };
        let qualified = |name: &QualName| match &name.prefix {
            Some(prefix) if !prefix.is_empty() => format!("{prefix}:{}", name.local),
            _ => name.local.to_string(),
        };
        let element = Element {
            name: local.to_string(),
            space,
            attributes: attrs.iter().map(|a| (qualified(&a.name), a.value.to_string())).collect(),
            line: u32::try_from(self.line.get()).unwrap_or(u32::MAX),
        };
        self.push(Kind::Element(element), Some(name))
    }

    fn create_comment(&self, _: StrTendril) -> NodeId {
        self.push(Kind::Text(String::new()), None)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> NodeId {
        self.push(Kind::Text(String::new()), None)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.insert(*parent, None, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        if self.parent(*element).is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        self.is_plain_html.set(&*name == "html" && public.is_empty() && system.is_empty());
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        let known = self.contents.borrow().iter().find(|(of, _)| of == target).map(|(_, held)| *held);
        known.unwrap_or_else(|| {
            // A root of its own: what is in it is not in the document.
            let held = self.push(Kind::Root, None);
            self.contents.borrow_mut().push((*target, held));
            held
        })
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, new: NodeOrText<NodeId>) {
        let Some(parent) = self.parent(*sibling) else { return };
        if let NodeOrText::AppendNode(id) = &new {
            self.detach(*id);
        }
        let at =
            self.with(parent, |entry| entry.children.iter().position(|child| child == sibling)).flatten();
        self.insert(parent, at, new);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attrs: Vec<Attribute>) {
        self.with(*target, |entry| {
            if let Kind::Element(element) = &mut entry.kind {
                for attribute in attrs {
                    let name = attribute.name.local.to_string();
                    if !element.attributes.iter().any(|(own, _)| *own == name) {
                        element.attributes.push((name, attribute.value.to_string()));
                    }
                }
            }
        });
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        let children = self.with(*node, |entry| std::mem::take(&mut entry.children)).unwrap_or_default();
        for child in &children {
            self.with(*child, |entry| entry.parent = Some(*new_parent));
        }
        self.with(*new_parent, |entry| entry.children.extend(children));
    }

    fn set_current_line(&self, line: u64) {
        self.line.set(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(html: &str) -> Vec<String> {
        let document = Document::parse(html);
        document.elements().into_iter().map(|id| document.path(id)).collect()
    }

    #[test]
    fn markup_is_read_as_browsers_read_it() {
        assert_eq!(
            outline("<p>a<p>b<table><b>x<tr><td>c"),
            [
                "html",
                "html > head",
                "html > body",
                "html > body > p:nth-child(1)",
                "html > body > p:nth-child(2)",
                "html > body > p:nth-child(2) > b:nth-child(1)",
                "html > body > p:nth-child(2) > table:nth-child(2)",
                "html > body > p:nth-child(2) > table:nth-child(2) > tbody",
                "html > body > p:nth-child(2) > table:nth-child(2) > tbody > tr",
                "html > body > p:nth-child(2) > table:nth-child(2) > tbody > tr > td",
            ]
        );
        let document = Document::parse(
            "<!doctype html>\n<title>t</title>\n\n<svg xlink:href='#a'><title>s</title></svg><template><p></template>",
        );
        let named = |name: &str| {
            document.elements().into_iter().filter(|id| document.name(*id) == name).collect::<Vec<_>>()
        };
        assert_eq!(document.element(named("svg")[0]).unwrap().line, 4);
        assert_eq!(document.attribute(named("svg")[0], "xlink:href"), Some("#a"));
        assert_eq!(document.element(named("title")[1]).unwrap().space, Space::Svg);
        assert!(named("p").is_empty(), "what a template holds is not in the document");
        assert_eq!(document.tag(named("svg")[0], 300), "<svg xlink:href=\"#a\">");
    }

    #[test]
    fn nothing_nests_deeper_than_can_be_walked() {
        let document = Document::parse(&"<div>".repeat(3_000));
        let deepest = document.elements().into_iter().map(|id| document.ancestors(id).count()).max();
        assert!(deepest.is_some_and(|depth| depth <= MAX_DEPTH + 1), "{deepest:?}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_document(html in "(<[a-z]{1,8}( [a-z]{1,4}=\"[^\"]{0,4}\")?>|</[a-z]{1,8}>|\\PC{0,6}){0,40}") {
            let document = Document::parse(&html);
            for id in document.elements() {
                proptest::prop_assert!(document.ancestors(id).last().is_none_or(|top| Some(top) == document.html()));
            }
        }
    }
}
