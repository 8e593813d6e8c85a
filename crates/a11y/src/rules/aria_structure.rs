//! What roles have to hold, to be in, and must not hold.

use std::collections::BTreeSet;

use super::{Rule, Verdict};
use crate::catalogue::RoleKind;
use crate::dom::NodeId;
use crate::role::facts;
use crate::scan::Scan;
use crate::text::is_blank;

pub(super) const RULES: &[Rule] = &[
    Rule::new("aria-required-children", |s, id| s.has(id, "role"), children),
    Rule::new("aria-required-parent", |s, id| s.has(id, "role"), parent),
    Rule::new("aria-hidden-body", |s, id| s.name(id) == "body", hidden_body),
    Rule::new("aria-hidden-focus", is_hidden_part, hidden_focus),
    Rule::new("aria-text", |s, id| s.is(id, "role", "text"), text),
    Rule::new("nested-interactive", is_opaque, nested),
    Rule::new("focus-order-semantics", is_made_focusable, focus_role),
];

/// Roles that may be empty while what they hold is loaded.
const MAY_BE_EMPTY: &[&str] = &[
    "doc-bibliography",
    "doc-endnotes",
    "grid",
    "list",
    "listbox",
    "menu",
    "menubar",
    "table",
    "tablist",
    "tree",
    "treegrid",
    "rowgroup",
];

fn children(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let Some(role) = scan.explicit_role_of(id) else { return Verdict::Passes };
    let required: &[String] = facts(Some(role)).map_or(&[], |facts| &facts.required_owned);
    if required.is_empty() {
        return Verdict::Passes;
    }
    let is_required = |role: &str| required.iter().any(|own| own == role);
    let mut open = scan.owned(id);
    open.reverse();
    let (mut wrong, mut found, mut has_content) = (Vec::new(), false, false);
    let mut seen = BTreeSet::new();
    while let Some(at) = open.pop() {
        if !seen.insert(at) || !scan.spend(1) {
            continue;
        }
        if let Some(text) = scan.document.text(at) {
            has_content = has_content || !is_blank(text);
            continue;
        }
        if !scan.is_read(at) {
            continue;
        }
        let own = scan.role_kept(at);
        let is_group = own.is_some_and(|own| matches!(own, "group" | "rowgroup") && is_required(own));
        if is_group || (own.is_none() && !scan.has_global_aria(at) && !scan.is_focusable(at)) {
            open.extend(scan.owned(at).into_iter().rev());
            continue;
        }
        has_content = has_content || scan.has_content(at, false);
        found = found || own.is_some_and(is_required);
        let fits = own.is_some_and(|own| {
            is_required(own)
                || facts(Some(own)).is_some_and(|facts| facts.required_context.iter().any(|c| c == role))
        });
        if !fits && wrong.len() < 8 {
            let shown =
                own.map_or_else(|| scan.name(at).to_owned(), |own| format!("{}[role={own}]", scan.name(at)));
            wrong.push(shown);
        }
    }
    let needed = required.join(", ");
    if !wrong.is_empty() {
        wrong.dedup();
        return Verdict::breaks(format!(
            "The role {role} may hold {needed} only, and here it holds {}.",
            wrong.join(", ")
        ));
    }
    if found || scan.is(id, "aria-busy", "true") {
        return Verdict::Passes;
    }
    let why = format!("The role {role} has to hold one of {needed}, and it holds none.");
    if MAY_BE_EMPTY.contains(&role) && !has_content { Verdict::unsure(why) } else { Verdict::breaks(why) }
}

fn parent(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let Some(role) = scan.explicit_role(id) else { return Verdict::Passes };
    let context: Vec<&str> = facts(Some(role))
        .map(|facts| facts.required_context.iter().map(String::as_str).collect())
        .unwrap_or_default();
    if context.is_empty() {
        return Verdict::Passes;
    }
    let takes_group = context.contains(&"group");
    let mut wanted = context.clone();
    if is_in(scan, scan.document.parent(id), role, takes_group, &mut wanted) {
        return Verdict::Passes;
    }
    let owners: Vec<NodeId> = scan
        .document
        .and_ancestors(id)
        .filter_map(|at| scan.attribute(at, "id").and_then(|own| scan.owner(own)))
        .collect();
    for owner in owners {
        if is_in(scan, Some(owner), role, takes_group, &mut wanted.clone()) {
            return Verdict::Passes;
        }
    }
    Verdict::breaks(format!(
        "The role {role} has to be in an element with the role {}.",
        context.join(" or ")
    ))
}

/// Whether what is above has one of the roles; groups are gone through where they may stand between.
fn is_in<'r>(
    scan: &Scan<'_>,
    from: Option<NodeId>,
    role: &'r str,
    takes_group: bool,
    wanted: &mut Vec<&'r str>,
) -> bool {
    let mut at = from;
    while let Some(above) = at {
        match scan.role_kept(above) {
            None => {}
            Some("group") if takes_group => {
                wanted.retain(|own| *own != "group");
                if matches!(role, "listitem" | "treeitem") && !wanted.contains(&role) {
                    wanted.push(role);
                }
            }
            Some(own) => return wanted.contains(&own),
        }
        at = scan.document.parent(above);
    }
    false
}

fn hidden_body(scan: &Scan<'_>, id: NodeId) -> Verdict {
    Verdict::passes_if(
        !scan.is_aria_hidden(id),
        "aria-hidden on the body hides the whole page from assistive technologies.",
    )
}

fn is_hidden_part(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.is(id, "aria-hidden", "true") && !scan.document.ancestors(id).any(|at| scan.is_aria_hidden(at))
}

fn hidden_focus(scan: &Scan<'_>, id: NodeId) -> Verdict {
    const DISABLEABLE: &[&str] = &["button", "fieldset", "input", "select", "textarea"];
    let mut inside = scan.document.descendants(id);
    inside.insert(0, id);
    inside.retain(|at| scan.is_in_tab_order(*at));
    if inside.is_empty() {
        return Verdict::Passes;
    }
    if scan.has_open_modal() {
        return Verdict::unsure(
            "The Tab key gets into a part with aria-hidden, unless the open dialog keeps it.",
        );
    }
    let (fields, others): (Vec<NodeId>, Vec<NodeId>) =
        inside.into_iter().partition(|at| scan.is_one_of(*at, DISABLEABLE));
    let mut verdict = Verdict::Passes;
    for (list, what) in [
        (
            fields,
            "A field in a part with aria-hidden can be reached by the Tab key: disable it, or take aria-hidden away.",
        ),
        (
            others,
            "The Tab key gets into a part with aria-hidden: give what it gets to tabindex=\"-1\", or take aria-hidden away.",
        ),
    ] {
        if list.is_empty() {
            continue;
        }
        // Scripts that take the focus on elsewhere are used for traps.
        let is_trap = list.iter().all(|at| scan.has(*at, "onfocus"));
        verdict = verdict.and(if is_trap { Verdict::unsure(what) } else { Verdict::breaks(what) });
    }
    verdict
}

fn is_opaque(scan: &Scan<'_>, id: NodeId) -> bool {
    facts(scan.role(id)).is_some_and(|facts| facts.children_presentational)
}

fn inner_control(scan: &Scan<'_>, id: NodeId) -> bool {
    let inside = scan.document.descendants(id);
    inside.into_iter().any(|at| scan.spend(1) && scan.is_widget(at) && scan.is_focusable(at))
}

fn text(scan: &Scan<'_>, id: NodeId) -> Verdict {
    Verdict::passes_if(
        !inner_control(scan, id),
        "The element is read as one text, and it holds a control that can be focused.",
    )
}

fn nested(scan: &Scan<'_>, id: NodeId) -> Verdict {
    Verdict::passes_if(
        !inner_control(scan, id),
        "The control holds another one that can be focused: assistive technologies do not tell it apart.",
    )
}

fn is_made_focusable(scan: &Scan<'_>, id: NodeId) -> bool {
    let is_kind = scan.is_one_of(id, &["div", "h1", "h2", "h3", "h4", "h5", "h6", "p", "span"])
        || scan.is(id, "role", "heading");
    is_kind
        && scan.tabindex(id).is_some_and(|n| n >= 0)
        && scan.is_focusable(id)
        && !scan.is_natively_focusable(id)
}

fn focus_role(scan: &Scan<'_>, id: NodeId) -> Verdict {
    const SCROLLED: &[&str] = &[
        "alert",
        "alertdialog",
        "application",
        "article",
        "complementary",
        "contentinfo",
        "dialog",
        "form",
        "log",
        "main",
        "navigation",
        "region",
        "status",
        "tabpanel",
        "tooltip",
    ];
    let role = scan.explicit_role(id);
    let kind = facts(role).map(|facts| facts.kind);
    Verdict::passes_if(
        matches!(kind, Some(RoleKind::Widget | RoleKind::Composite))
            || role.is_some_and(|role| SCROLLED.contains(&role))
            || scan.is_one_of(id, &["article", "aside", "nav", "section"]),
        "The Tab key gets to the element, and its role does not say that there is something to do.",
    )
}
