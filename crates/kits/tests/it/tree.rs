//! Documents as html5ever reads them: elements, texts and comments, in a tree that is compared.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, parse_document};

pub(crate) struct Node {
    /// `None`: the document, a text, a comment or a document type.
    name: Option<QualName>,
    attributes: RefCell<Vec<(String, String)>>,
    /// A text, or what stands for a comment and a document type.
    text: RefCell<String>,
    children: RefCell<Vec<Handle>>,
    parent: RefCell<Option<Handle>>,
}

pub(crate) type Handle = Rc<Node>;

fn node(name: Option<QualName>, text: &str) -> Handle {
    Rc::new(Node {
        name,
        attributes: RefCell::default(),
        text: RefCell::new(text.to_owned()),
        children: RefCell::default(),
        parent: RefCell::default(),
    })
}

impl Node {
    pub(crate) fn tag(&self) -> Option<&str> {
        self.name.as_ref().map(|n| &*n.local)
    }

    pub(crate) fn attributes(&self) -> Vec<(String, String)> {
        self.attributes.borrow().clone()
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.attributes.borrow().iter().find(|(n, _)| n == name).map(|(_, v)| v.clone())
    }

    pub(crate) fn children(&self) -> Vec<Handle> {
        self.children.borrow().clone()
    }

    /// All elements below, in the order of the document.
    pub(crate) fn elements(&self) -> Vec<Handle> {
        let mut out = Vec::new();
        for child in self.children.borrow().iter() {
            if child.name.is_some() {
                out.push(Rc::clone(child));
            }
            out.extend(child.elements());
        }
        out
    }

    pub(crate) fn named(&self, tag: &str) -> Vec<Handle> {
        self.elements().into_iter().filter(|e| e.tag() == Some(tag)).collect()
    }

    /// All text below.
    pub(crate) fn text(&self) -> String {
        let own = if self.name.is_none() { self.text.borrow().clone() } else { String::new() };
        own + &self.children.borrow().iter().map(|c| c.text()).collect::<String>()
    }

    /// The tree as text, to be compared.
    pub(crate) fn outline(&self) -> String {
        let inner: String = self.children.borrow().iter().map(|c| c.outline()).collect();
        match self.tag() {
            Some(tag) => format!("<{tag} {:?}>{inner}</>", self.attributes.borrow()),
            None => format!("{:?}{inner}", self.text.borrow()),
        }
    }

    pub(crate) fn remove_first_child(&self) {
        self.children.borrow_mut().remove(0);
    }
}

pub(crate) fn parse(html: &[u8]) -> Handle {
    let root = node(None, "");
    parse_document(Sink { root }, ParseOpts::default()).one(&*String::from_utf8_lossy(html))
}

struct Sink {
    root: Handle,
}

fn detach(child: &Handle) {
    if let Some(parent) = child.parent.borrow_mut().take() {
        parent.children.borrow_mut().retain(|c| !Rc::ptr_eq(c, child));
    }
}

fn insert(parent: &Handle, at: usize, what: NodeOrText<Handle>) {
    let new = match what {
        NodeOrText::AppendText(text) => {
            let before = at.checked_sub(1).map(|n| Rc::clone(&parent.children.borrow()[n]));
            if let Some(before) = before.filter(|b| b.name.is_none() && !b.text.borrow().starts_with("<!")) {
                before.text.borrow_mut().push_str(&text);
                return;
            }
            node(None, &text)
        }
        NodeOrText::AppendNode(node) => {
            detach(&node);
            node
        }
    };
    *new.parent.borrow_mut() = Some(Rc::clone(parent));
    let at = at.min(parent.children.borrow().len());
    parent.children.borrow_mut().insert(at, new);
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Handle;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Handle {
        self.root
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Rc::clone(&self.root)
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        target.name.as_ref().unwrap().expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Handle {
        let element = node(Some(name), "");
        self.add_attrs_if_missing(&element, attributes);
        element
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        node(None, &format!("<!{text}"))
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        node(None, &format!("<!{target} {data}"))
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let end = parent.children.borrow().len();
        insert(parent, end, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        if element.parent.borrow().is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        let kind = node(None, &format!("<!doctype {name} {public} {system}"));
        self.append(&self.root, NodeOrText::AppendNode(kind));
    }

    fn get_template_contents(&self, target: &Handle) -> Handle {
        Rc::clone(target)
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        Rc::ptr_eq(x, y)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        *self.root.text.borrow_mut() = format!("{mode:?}");
    }

    fn append_before_sibling(&self, sibling: &Handle, new: NodeOrText<Handle>) {
        let parent = sibling.parent.borrow().clone().unwrap();
        if let NodeOrText::AppendNode(new) = &new {
            detach(new);
        }
        let at = parent.children.borrow().iter().position(|c| Rc::ptr_eq(c, sibling)).unwrap();
        insert(&parent, at, new);
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        let mut own = target.attributes.borrow_mut();
        for attribute in attributes {
            let name = attribute.name.local.to_string();
            if !own.iter().any(|(n, _)| *n == name) {
                own.push((name, attribute.value.to_string()));
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        detach(target);
    }

    fn reparent_children(&self, from: &Handle, to: &Handle) {
        for child in from.children() {
            self.append(to, NodeOrText::AppendNode(child));
        }
    }
}
