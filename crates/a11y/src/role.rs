//! Which role an element has.

use std::cell::Cell;

use crate::catalogue::{self, RoleFacts, RoleKind};
use crate::dom::NodeId;
use crate::scan::Scan;
use crate::table::Scope;
use crate::text::{is_blank, tokens, trim};

/// The roles that were asked for, by node.
pub(crate) struct Roles(Vec<Cell<Known>>);

#[derive(Clone, Copy)]
enum Known {
    Not,
    /// It is being found out: a section whose name is its own content asks for itself.
    Open,
    Is(Option<&'static str>),
}

impl Roles {
    pub(crate) fn new(len: usize) -> Self {
        Self(vec![Cell::new(Known::Not); len])
    }
}

const SECTIONING: &[(&str, &str)] =
    &[("article", "article"), ("aside", "complementary"), ("nav", "navigation"), ("section", "region")];

/// For elements of tables and lists, the parents that take their role away together with their own.
const INHERITS: &[(&str, &[&str])] = &[
    ("td", &["tr"]),
    ("th", &["tr"]),
    ("tr", &["thead", "tbody", "tfoot", "table"]),
    ("thead", &["table"]),
    ("tbody", &["table"]),
    ("tfoot", &["table"]),
    ("li", &["ol", "ul"]),
    ("dt", &["dl", "div"]),
    ("dd", &["dl", "div"]),
];

pub(crate) fn is_none(role: &str) -> bool {
    matches!(role, "none" | "presentation")
}

/// What is known of a role.
pub(crate) fn facts(role: Option<&str>) -> Option<&'static RoleFacts> {
    catalogue::roles().get(role?)
}

impl Scan<'_> {
    /// The role that the element says it has: the attribute's whole value, if it is a role of ARIA's own.
    pub(crate) fn explicit_role(&self, id: NodeId) -> Option<&'static str> {
        self.explicit_role_of(id).filter(|role| !role.starts_with("doc-"))
    }

    /// Those of publications as well.
    pub(crate) fn explicit_role_of(&self, id: NodeId) -> Option<&'static str> {
        let said = trim(self.attribute(id, "role")?).to_lowercase();
        catalogue::role(&said).map(|(name, _)| name)
    }

    /// The roles among the attribute's tokens, in their order.
    pub(crate) fn said_roles(&self, id: NodeId) -> Vec<&'static str> {
        let said = tokens(&self.attribute(id, "role").unwrap_or("").to_lowercase());
        said.iter().filter_map(|token| catalogue::role(token)).map(|(name, _)| name).collect()
    }

    pub(crate) fn is_custom_element(&self, id: NodeId) -> bool {
        self.name(id).contains('-')
    }

    /// Whether it carries an `aria-*` attribute that every element may have, whatever it says.
    pub(crate) fn has_global_aria(&self, id: NodeId) -> bool {
        self.document.element(id).is_some_and(|element| {
            element.attributes.iter().any(|(name, _)| {
                name.starts_with("aria-")
                    && catalogue::attributes().get(name).is_some_and(|facts| facts.global)
            })
        })
    }

    /// Whether it says that it has no role, and does something by which it has one.
    fn is_conflicted(&self, id: NodeId) -> bool {
        self.has_global_aria(id) || self.is_focusable(id)
    }

    /// The role that it has.
    pub(crate) fn role(&self, id: NodeId) -> Option<&'static str> {
        let slot = self.roles.0.get(id.index())?;
        match slot.get() {
            Known::Is(role) => return role,
            Known::Open => return None,
            Known::Not => slot.set(Known::Open),
        }
        let role = self.find_role(id);
        slot.set(Known::Is(role));
        role
    }

    fn find_role(&self, id: NodeId) -> Option<&'static str> {
        match self.explicit_role(id) {
            Some(role) if !is_none(role) => Some(role),
            Some(role) if !self.is_conflicted(id) => Some(role),
            Some(_) if self.is_custom_element(id) => None,
            Some(_) => self.implicit_role(id),
            None => {
                let own = self.implicit_role(id)?;
                Some(self.inherited_none(id).unwrap_or(own))
            }
        }
    }

    /// What an element of a table or list has from one that gave its role away.
    fn inherited_none(&self, id: NodeId) -> Option<&'static str> {
        let mut at = id;
        // A cell, its row, its group, its table.
        for _ in 0..8 {
            let (_, parents) = INHERITS.iter().find(|(name, _)| *name == self.name(at))?;
            let parent = self.document.parent(at)?;
            if !parents.contains(&self.name(parent)) {
                return None;
            }
            match self.explicit_role(parent) {
                Some(role) if is_none(role) && !self.is_conflicted(parent) => return Some(role),
                Some(_) => return None,
                None if self.name(parent) == "div" => {
                    let list = self.document.parent(parent).filter(|list| self.name(*list) == "dl")?;
                    let role = self.explicit_role(list)?;
                    return (is_none(role) && !self.is_conflicted(list)).then_some(role);
                }
                None => at = parent,
            }
        }
        None
    }

    /// Its role, none where it gave it away.
    pub(crate) fn role_kept(&self, id: NodeId) -> Option<&'static str> {
        self.role(id).filter(|role| !is_none(role))
    }

    /// Its role, and where it has none, what Chromium takes it for.
    pub(crate) fn role_or_chromium(&self, id: NodeId) -> Option<&'static str> {
        if self.explicit_role(id).is_some() {
            return self.role(id);
        }
        self.role(id).or_else(|| self.chromium_role(id))
    }

    pub(crate) fn is_presentational(&self, id: NodeId) -> bool {
        self.role(id).is_some_and(is_none)
    }

    pub(crate) fn role_kind(&self, id: NodeId) -> Option<RoleKind> {
        facts(self.role(id)).map(|facts| facts.kind)
    }

    pub(crate) fn is_widget(&self, id: NodeId) -> bool {
        self.role_kind(id) == Some(RoleKind::Widget)
    }

    pub(crate) fn has_role(&self, id: NodeId, roles: &[&str]) -> bool {
        self.role(id).is_some_and(|role| roles.contains(&role))
    }

    fn is_sectioning(&self, id: NodeId) -> bool {
        SECTIONING.iter().any(|(name, role)| {
            (self.name(id) == *name && !self.has(id, "role")) || self.is(id, "role", role)
        })
    }

    /// The role that it has by its nature.
    pub(crate) fn implicit_role(&self, id: NodeId) -> Option<&'static str> {
        let facts = catalogue::element(self.name(id))?;
        if let Some(role) = facts.implicit_role.as_deref() {
            return Some(role);
        }
        match self.name(id) {
            "a" | "area" => self.has(id, "href").then_some("link"),
            "aside" => {
                let is_part = self.document.ancestors(id).any(|at| self.is_sectioning(at));
                let is_named = || self.has_aria_name(id) || self.has_filled(id, "title");
                (!is_part || is_named()).then_some("complementary")
            }
            name @ ("header" | "footer") => {
                let is_part = self.document.and_ancestors(id).any(|at| {
                    self.is_sectioning(at)
                        || (self.name(at) == "main" && !self.has(at, "role"))
                        || self.is(at, "role", "main")
                });
                let role = if name == "header" { "banner" } else { "contentinfo" };
                (!is_part).then_some(role)
            }
            "form" => self.has_aria_name(id).then_some("form"),
            "section" => self.has_aria_name(id).then_some("region"),
            "img" => {
                let is_empty = self.is(id, "alt", "") && !self.is_conflicted(id);
                Some(if is_empty { "presentation" } else { "img" })
            }
            "input" => Some(self.input_role(id)),
            "select" => {
                let rows = self.attribute(id, "size").and_then(crate::text::leading_int).unwrap_or(0);
                Some(if self.has(id, "multiple") || rows > 1 { "listbox" } else { "combobox" })
            }
            "td" => {
                let table = self.closest_named(id, "table");
                let role = table.and_then(|table| self.explicit_role(table));
                Some(if matches!(role, Some("grid" | "treegrid")) { "gridcell" } else { "cell" })
            }
            "th" => Some(match self.scope(id) {
                Scope::Column | Scope::Auto => "columnheader",
                Scope::Row | Scope::None => "rowheader",
            }),
            _ => None,
        }
    }

    fn input_role(&self, id: NodeId) -> &'static str {
        let has_list = || {
            let list = self.attribute(id, "list").and_then(|list| self.by_id(list));
            list.is_some_and(|list| self.name(list) == "datalist")
        };
        match self.input_type(id) {
            "checkbox" => "checkbox",
            "number" => "spinbutton",
            "radio" => "radio",
            "range" => "slider",
            "button" | "image" | "reset" | "submit" => "button",
            "search" if !has_list() => "searchbox",
            "search" => "combobox",
            "text" | "tel" | "url" | "email" if has_list() => "combobox",
            _ => "textbox",
        }
    }

    /// Whether an attribute is there with more than blanks in it.
    pub(crate) fn has_filled(&self, id: NodeId, name: &str) -> bool {
        self.attribute(id, name).is_some_and(|value| !is_blank(value))
    }
}
