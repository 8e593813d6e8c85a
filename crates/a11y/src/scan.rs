//! A document that is being looked at, with what many rules ask of it kept.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::dom::{Document, NodeId};
use crate::hidden::{self, Sight};
use crate::role::Roles;
use crate::table::Grid;

/// How many steps of following texts, references and spans one document may cost: several hundred for each element of a
/// large page, and a bound for those that are made to be slow.
const MAX_WORK: u32 = 4_000_000;

/// Elements by what they say, in the order of the document.
type Index<'d> = BTreeMap<&'d str, Vec<NodeId>>;

pub(crate) struct Scan<'d> {
    pub(crate) document: &'d Document,
    /// Every element, in the order of the document.
    pub(crate) elements: Vec<NodeId>,
    /// Each element's place among them, by node.
    order: Vec<usize>,
    ids: Index<'d>,
    labels: Index<'d>,
    owners: BTreeMap<String, NodeId>,
    /// The ids of what comboboxes say is theirs.
    popups: BTreeSet<String>,
    /// Whether a `summary` is somewhere in the element, by node.
    summarised: Vec<bool>,
    pub(crate) sights: Vec<Sight>,
    pub(crate) roles: Roles,
    pub(crate) grids: RefCell<BTreeMap<NodeId, Rc<Grid>>>,
    pub(crate) modal: OnceCell<bool>,
    /// The place of the first link that leads away from the page.
    pub(crate) first_outer_link: OnceCell<Option<usize>>,
    work: Cell<u32>,
}

impl<'d> Scan<'d> {
    pub(crate) fn new(document: &'d Document) -> Self {
        let elements = document.elements();
        let mut order = vec![usize::MAX; document.len()];
        let (mut ids, mut labels) = (Index::new(), Index::new());
        let (mut owners, mut popups) = (BTreeMap::new(), BTreeSet::new());
        let mut summarised = vec![false; document.len()];
        for (place, id) in elements.iter().enumerate() {
            if let Some(slot) = order.get_mut(id.index()) {
                *slot = place;
            }
            if let Some(own) = document.attribute(*id, "id").filter(|own| !own.is_empty()) {
                ids.entry(own).or_default().push(*id);
            }
            if let Some(of) = document.attribute(*id, "for").filter(|_| document.name(*id) == "label") {
                labels.entry(of).or_default().push(*id);
            }
            for owned in document.attribute(*id, "aria-owns").map(crate::text::tokens).unwrap_or_default() {
                owners.entry(owned).or_insert(*id);
            }
            let role = document.attribute(*id, "role").filter(|_| document.name(*id) != "select");
            if role.is_some_and(|role| role.split_ascii_whitespace().any(|token| token == "combobox")) {
                for attribute in ["aria-owns", "aria-controls"] {
                    popups.extend(
                        document.attribute(*id, attribute).map(crate::text::tokens).unwrap_or_default(),
                    );
                }
            }
            if document.name(*id) == "summary" {
                for at in document.ancestors(*id) {
                    match summarised.get_mut(at.index()) {
                        Some(slot) if !*slot => *slot = true,
                        _ => break,
                    }
                }
            }
        }
        let sights = hidden::sights(document, &elements);
        let roles = Roles::new(document.len());
        let grids = RefCell::default();
        let (modal, first_outer_link, work) = (OnceCell::new(), OnceCell::new(), Cell::new(0));
        Self {
            document,
            elements,
            order,
            ids,
            labels,
            owners,
            popups,
            summarised,
            sights,
            roles,
            grids,
            modal,
            first_outer_link,
            work,
        }
    }

    /// Whether there is work left to do another step.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.work.set(self.work.get().saturating_add(steps));
        !self.is_spent()
    }

    /// Whether the document has cost too much: what is said of it from then on is not to be trusted.
    pub(crate) fn is_spent(&self) -> bool {
        self.work.get() >= MAX_WORK
    }

    pub(crate) fn name(&self, id: NodeId) -> &'d str {
        self.document.name(id)
    }

    pub(crate) fn attribute(&self, id: NodeId, name: &str) -> Option<&'d str> {
        self.document.attribute(id, name)
    }

    pub(crate) fn has(&self, id: NodeId, name: &str) -> bool {
        self.document.has(id, name)
    }

    /// Whether an attribute is there with exactly this value.
    pub(crate) fn is(&self, id: NodeId, name: &str, value: &str) -> bool {
        self.attribute(id, name) == Some(value)
    }

    /// Whether the element has one of these names.
    pub(crate) fn is_one_of(&self, id: NodeId, names: &[&str]) -> bool {
        names.contains(&self.name(id))
    }

    /// Its place in the order of the document.
    pub(crate) fn place(&self, id: NodeId) -> usize {
        self.order.get(id.index()).copied().unwrap_or(usize::MAX)
    }

    /// The first element with this id.
    pub(crate) fn by_id(&self, id: &str) -> Option<NodeId> {
        self.all_by_id(id).first().copied()
    }

    pub(crate) fn all_by_id(&self, id: &str) -> &[NodeId] {
        self.ids.get(id).map_or(&[], Vec::as_slice)
    }

    /// The labels that name the element by its id.
    pub(crate) fn labels_for(&self, id: NodeId) -> &[NodeId] {
        let own = self.attribute(id, "id").filter(|own| !own.is_empty());
        own.and_then(|own| self.labels.get(own)).map_or(&[], Vec::as_slice)
    }

    /// Whether some label names this id.
    pub(crate) fn is_labelled(&self, id: &str) -> bool {
        self.labels.contains_key(id)
    }

    /// The first element that claims an id as its own by aria-owns.
    pub(crate) fn owner(&self, id: &str) -> Option<NodeId> {
        self.owners.get(id).copied()
    }

    /// Whether a combobox says that what has this id is its own.
    pub(crate) fn is_popup_of_combobox(&self, id: &str) -> bool {
        self.popups.contains(id)
    }

    /// Whether a `summary` is somewhere in the element.
    pub(crate) fn holds_summary(&self, id: NodeId) -> bool {
        self.summarised.get(id.index()).copied().unwrap_or(false)
    }

    /// The elements that an attribute names, those that exist.
    pub(crate) fn referenced(&self, id: NodeId, attribute: &str) -> Vec<NodeId> {
        let value = self.attribute(id, attribute).unwrap_or("");
        crate::text::tokens(value).iter().filter_map(|token| self.by_id(token)).collect()
    }

    /// The element itself or the nearest that it is in, for which this holds.
    pub(crate) fn closest(&self, id: NodeId, holds: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        self.document.and_ancestors(id).find(|at| holds(*at))
    }

    /// The nearest element of a name.
    pub(crate) fn closest_named(&self, id: NodeId, name: &str) -> Option<NodeId> {
        self.closest(id, |at| self.name(at) == name)
    }

    /// The element's children, those that it owns at the end.
    pub(crate) fn owned(&self, id: NodeId) -> Vec<NodeId> {
        let mut children = self.document.children(id).to_vec();
        if self.has(id, "aria-owns") {
            for owned in self.referenced(id, "aria-owns") {
                children.retain(|child| *child != owned);
                children.push(owned);
            }
        }
        children
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements with `data-t`, and what axe-core says of each: role, name, whether it is focusable, in the Tab order and read,
    /// and its text that is read.
    type Probe = (Option<String>, String, bool, bool, bool, String);

    #[derive(serde::Deserialize)]
    struct Case {
        html: String,
        expected: Vec<Probe>,
    }

    #[test]
    fn roles_names_and_focus_are_those_of_axe_core() {
        let cases: Vec<Case> = serde_json::from_str(include_str!("../tests/data/probes.json")).unwrap();
        let mut wrong = Vec::new();
        for case in &cases {
            let html = format!(
                "<!DOCTYPE html><html lang=en><head><title>F</title></head><body><main><h1>F</h1>{}</main></body></html>",
                case.html
            );
            let document = Document::parse(&html);
            let scan = Scan::new(&document);
            let probed = scan.elements.iter().filter(|id| scan.has(**id, "data-t"));
            for (id, expected) in probed.zip(&case.expected) {
                let found: Probe = (
                    scan.role(*id).map(str::to_owned),
                    scan.accessible_name(*id),
                    scan.is_focusable(*id),
                    scan.is_in_tab_order(*id),
                    scan.is_read(*id),
                    scan.visible_text(*id, true),
                );
                if found != *expected {
                    wrong.push(format!(
                        "{}\n  expected {expected:?}\n  found    {found:?}",
                        document.tag(*id, 80)
                    ));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
