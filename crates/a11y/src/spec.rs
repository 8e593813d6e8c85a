//! What is known of an element by its name and its attributes.

use crate::catalogue::{self, AllowedRoles, AttributeIs, Condition, ElementPart, Naming, Presence};
use crate::dom::NodeId;
use crate::hidden::first_summary;
use crate::scan::Scan;

impl Scan<'_> {
    /// Whether anything is known of elements of its name.
    pub(crate) fn is_known_element(&self, id: NodeId) -> bool {
        catalogue::element(self.name(id)).is_some()
    }

    /// What holds of it: the last variant that applies and says it, what the element says itself, what holds otherwise.
    fn said<T>(&self, id: NodeId, get: impl Fn(&'static ElementPart) -> Option<T>) -> Option<T> {
        let facts = catalogue::element(self.name(id))?;
        // Conditions are looked at only where it matters: one of them asks for the element's name.
        let variants = facts.variants.iter().rev();
        variants
            .filter_map(|variant| get(&variant.part).map(|said| (variant, said)))
            .find(|(variant, _)| self.meets(id, &variant.when))
            .map(|(_, said)| said)
            .or_else(|| get(&facts.own))
            .or_else(|| get(&facts.default))
    }

    pub(crate) fn allowed_roles(&self, id: NodeId) -> Option<&'static AllowedRoles> {
        self.said(id, |part| part.allowed_roles.as_ref())
    }

    /// Whether what it holds is shown only where it cannot be itself.
    pub(crate) fn is_embedded(&self, id: NodeId) -> bool {
        if self.name(id) == "img" {
            // What it owns by reference is read all the same.
            return false;
        }
        let types = self.said(id, |part| part.content_types.as_deref());
        types.is_some_and(|types| types.iter().any(|kind| kind == "embedded"))
    }

    pub(crate) fn naming_methods(&self, id: NodeId) -> &'static [Naming] {
        self.said(id, |part| part.naming_methods.as_deref()).unwrap_or(&[])
    }

    pub(crate) fn is_naming_prohibited(&self, id: NodeId) -> bool {
        self.said(id, |part| part.naming_prohibited).unwrap_or(false)
    }

    /// The only `aria-*` attributes that it may carry, where there is such a list.
    pub(crate) fn allowed_aria_attrs(&self, id: NodeId) -> Option<&'static [String]> {
        self.said(id, |part| part.allowed_aria_attrs.as_deref())
    }

    /// Whether it says by itself what an attribute would say.
    pub(crate) fn has_implicit_attr(&self, id: NodeId, name: &str) -> bool {
        self.said(id, |part| part.implicit_attrs.as_ref()).is_some_and(|attrs| attrs.contains_key(name))
    }

    pub(crate) fn chromium_role(&self, id: NodeId) -> Option<&'static str> {
        self.said(id, |part| part.chromium_role.as_deref())
    }

    fn meets(&self, id: NodeId, when: &Condition) -> bool {
        let attribute_is = |(name, is): (&String, &AttributeIs)| {
            let value = self.attribute(id, name);
            match is {
                AttributeIs::Said(Presence::Present) => value.is_some(),
                AttributeIs::Said(Presence::Absent) => value.is_none(),
                AttributeIs::Said(Presence::Filled) => value.is_some_and(|v| !v.is_empty()),
                AttributeIs::OneOf(values) => values.iter().any(|v| v == value.unwrap_or("absent")),
            }
        };
        when.has_attr.as_deref().is_none_or(|name| self.has(id, name))
            && when
                .has_child
                .as_deref()
                .is_none_or(|name| self.document.child_elements(id).any(|c| self.name(c) == name))
            && (when.input_type.is_empty() || when.input_type.iter().any(|kind| kind == self.input_type(id)))
            && when.attributes.iter().all(attribute_is)
            && (when.any_of.is_empty() || when.any_of.iter().any(|one| self.meets(id, one)))
            && (!when.has_accessible_name || !self.accessible_name(id).is_empty())
            && (!when.first_summary_of_details || self.is_summary_of_details(id))
    }

    /// Whether it is what a `details` shows when it is closed.
    pub(crate) fn is_summary_of_details(&self, id: NodeId) -> bool {
        self.document
            .parent(id)
            .is_some_and(|p| self.name(p) == "details" && first_summary(self.document, p) == Some(id))
    }
}
