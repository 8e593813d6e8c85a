//! The ways in which elements are named, as rules ask for them.

use super::Verdict;
use crate::catalogue;
use crate::dom::NodeId;
use crate::role::is_none;
use crate::scan::Scan;
use crate::text::{clean, is_blank};

/// One way to name an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// By what it holds.
    Content,
    AriaLabel,
    Labelledby,
    /// By an attribute of its own.
    Attribute(&'static str),
    /// By a label that it is in.
    LabelAround,
    /// By a label that refers to it.
    LabelFor,
    /// It needs no name, since it has given its role away.
    NoRole,
}

/// What most elements may be named by.
pub(super) const COMMON: &[By] = &[By::AriaLabel, By::Labelledby, By::Attribute("title")];
pub(super) const COMMON_OR_CONTENT: &[By] =
    &[By::Content, By::AriaLabel, By::Labelledby, By::Attribute("title")];

/// Whether one of the ways names the element.
pub(super) fn is_named(scan: &Scan<'_>, id: NodeId, ways: &[By]) -> bool {
    ways.iter().any(|way| match way {
        By::Content => !scan.text_inside(id).is_empty(),
        By::AriaLabel => scan.has_filled(id, "aria-label"),
        By::Labelledby => scan.has(id, "aria-labelledby") && !scan.labelledby_text(id).is_empty(),
        By::Attribute(name) => scan.attribute(id, name).is_some_and(|value| !is_blank(value)),
        By::LabelAround => {
            scan.closest_named(id, "label").is_some_and(|label| !scan.text_of_label(label, id).is_empty())
        }
        By::LabelFor => scan
            .labels_for(id)
            .iter()
            .any(|label| !scan.is_shown(*label) || !scan.text_of_label(*label, id).is_empty()),
        By::NoRole => {
            let is_titled_frame = scan.is_one_of(id, &["iframe", "frame"])
                && scan.explicit_role(id).is_some_and(is_none)
                && scan.has(id, "title");
            scan.is_presentational(id) && !is_titled_frame
        }
    })
}

/// Broken where none of the ways names the element.
pub(super) fn needs(scan: &Scan<'_>, id: NodeId, ways: &[By], why: &str) -> Verdict {
    Verdict::passes_if(is_named(scan, id, ways), why)
}

/// Whether the element needs a name: it does not where it took a role that needs none, and is not focusable. Roles of drawings
/// are the matter of a rule of their own.
pub(super) fn must_be_named(scan: &Scan<'_>, id: NodeId) -> bool {
    let facts = scan.explicit_role(id).filter(|role| !is_none(role)).and_then(catalogue::role);
    facts.is_none_or(|(role, facts)| facts.accessible_name_required && !role.starts_with("graphics-"))
        || scan.is_focusable(id)
}

/// A label that refers to the field is hidden, and nothing else names it.
pub(super) fn hidden_label(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let is_hidden = scan.labels_for(id).first().is_some_and(|label| !scan.is_read(*label));
    Verdict::passes_if(
        !is_hidden || !clean(&scan.accessible_name(id)).is_empty(),
        "The label that refers to the field is hidden from assistive technologies.",
    )
}
