//! Names of what is a control, a dialog or a meter by its role attribute alone.

use super::by::{By, COMMON, COMMON_OR_CONTENT, is_named};
use super::{Rule, Verdict};
use crate::dom::NodeId;
use crate::scan::Scan;
use crate::text::clean;

pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "aria-command-name",
        |s, id| is(s, id, &["link", "button", "menuitem"]),
        |s, id| needs(s, id, COMMON_OR_CONTENT),
    ),
    Rule::new("aria-tab-name", |s, id| is(s, id, &["tab"]), |s, id| needs(s, id, COMMON_OR_CONTENT)),
    Rule::new("aria-tooltip-name", |s, id| is(s, id, &["tooltip"]), |s, id| needs(s, id, COMMON_OR_CONTENT)),
    Rule::new(
        "aria-treeitem-name",
        |s, id| is(s, id, &["treeitem"]),
        |s, id| needs(s, id, COMMON_OR_CONTENT),
    ),
    Rule::new(
        "aria-toggle-field-name",
        |s, id| is(s, id, &["checkbox", "menuitemcheckbox", "menuitemradio", "radio", "switch", "option"]),
        |s, id| needs(s, id, COMMON_OR_CONTENT).and(unused_label(s, id)),
    ),
    Rule::new(
        "aria-input-field-name",
        |s, id| is(s, id, &["combobox", "listbox", "searchbox", "slider", "spinbutton", "textbox"]),
        |s, id| needs(s, id, COMMON).and(unused_label(s, id)),
    ),
    Rule::new("aria-meter-name", |s, id| is(s, id, &["meter"]), |s, id| needs(s, id, COMMON)),
    Rule::new("aria-progressbar-name", |s, id| is(s, id, &["progressbar"]), |s, id| needs(s, id, COMMON)),
    Rule::new(
        "aria-dialog-name",
        |s, id| is(s, id, &["dialog", "alertdialog"]),
        |s, id| needs(s, id, COMMON),
    ),
];

/// Whether it says that it has one of the roles, and does not come by a name of its own.
fn is(scan: &Scan<'_>, id: NodeId, roles: &[&str]) -> bool {
    let Some(role) = scan.attribute(id, "role").filter(|role| roles.contains(role)) else { return false };
    if !scan.naming_methods(id).is_empty() {
        return false;
    }
    match role {
        "combobox" => !scan
            .document
            .descendants(id)
            .into_iter()
            .any(|at| scan.name(at) == "input" && !scan.is(at, "type", "hidden")),
        "listbox" => !is_popup(scan, id),
        _ => true,
    }
}

/// Whether a list belongs to a combobox, which has the name.
fn is_popup(scan: &Scan<'_>, list: NodeId) -> bool {
    scan.document.ancestors(list).find_map(|at| scan.role(at)) == Some("combobox")
        || scan.attribute(list, "id").is_some_and(|own| scan.is_popup_of_combobox(own))
}

fn needs(scan: &Scan<'_>, id: NodeId, ways: &[By]) -> Verdict {
    if is_named(scan, id, ways) {
        return Verdict::Passes;
    }
    let role = scan.attribute(id, "role").unwrap_or("");
    let content =
        if ways.contains(&By::Content) { "no text that is read out, nor a name" } else { "no name" };
    Verdict::breaks(format!(
        "The element with the role {role} has {content} by aria-label, aria-labelledby or title."
    ))
}

/// Labels name native fields only: one around or for something else says a name that is not its own.
fn unused_label(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let label = scan.labels_text(id).to_lowercase();
    if label.is_empty() {
        return Verdict::Passes;
    }
    let name = clean(&scan.accessible_name(id)).to_lowercase();
    if !name.is_empty() && name.contains(&label) {
        return Verdict::Passes;
    }
    Verdict::unsure(
        "A label element does not name this field for every assistive technology: refer to it by aria-labelledby.",
    )
}
