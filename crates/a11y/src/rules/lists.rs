//! Lists and what is in them.

use super::{Rule, Verdict};
use crate::dom::NodeId;
use crate::role::is_none;
use crate::scan::Scan;
use crate::text::is_blank;

pub(super) const RULES: &[Rule] = &[
    Rule::new("list", |s, id| s.is_one_of(id, &["ul", "ol"]) && has_no_role(s, id), list),
    Rule::new("listitem", |s, id| s.name(id) == "li" && has_no_role(s, id), item),
    Rule::new("definition-list", |s, id| s.name(id) == "dl" && has_no_role(s, id), definitions),
    Rule::new("dlitem", |s, id| s.is_one_of(id, &["dt", "dd"]) && has_no_role(s, id), definition),
];

fn has_no_role(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.attribute(id, "role").is_none_or(str::is_empty)
}

/// What is in a list and is none of its items, by name or role; `within` stands before it.
fn strangers(scan: &Scan<'_>, list: NodeId, names: &[&str], roles: &[&str], within: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for child in scan.document.children(list) {
        let stranger = match scan.document.text(*child) {
            Some(text) if is_blank(text) => continue,
            Some(_) => format!("{within}text"),
            // Groups are opened even where they are hidden: axe-core does so.
            None if opens(scan, *child, names, within) => {
                found.extend(strangers(scan, *child, names, roles, "div > "));
                continue;
            }
            None if !scan.is_read(*child) => continue,
            None => match scan.explicit_role(*child) {
                Some(role) if roles.contains(&role) => continue,
                Some(role) => format!("{within}[role={role}]"),
                None if names.contains(&scan.name(*child)) => continue,
                None => format!("{within}{}", scan.name(*child)),
            },
        };
        if found.len() < 8 && !found.contains(&stranger) {
            found.push(stranger);
        }
    }
    found.dedup();
    found
}

/// Whether it is a div that groups what is in a dl.
fn opens(scan: &Scan<'_>, child: NodeId, names: &[&str], within: &str) -> bool {
    names.contains(&"dt")
        && within.is_empty()
        && scan.name(child) == "div"
        && scan.explicit_role(child).is_none()
}

fn list(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let found = strangers(scan, id, &["li"], &["listitem"], "");
    if found.is_empty() {
        return Verdict::Passes;
    }
    Verdict::breaks(format!("The list may hold li elements only, and here it holds {}.", found.join(", ")))
}

fn item(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let role = scan.document.parent(id).and_then(|parent| scan.role(parent));
    Verdict::passes_if(
        role.is_some_and(|role| role == "list" || is_none(role)),
        "The list item is in no ul, ol or menu, nor directly in an element with the role list.",
    )
}

fn definitions(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let found = strangers(scan, id, &["dt", "dd"], &["definition", "term", "listitem"], "");
    let mut verdict = Verdict::Passes;
    if !found.is_empty() {
        let why =
            format!("The dl may hold groups of dt and dd only, and here it holds {}.", found.join(", "));
        verdict = Verdict::breaks(why);
    }
    let (mut has_term, mut has_any, mut has_pair) = (false, false, false);
    for child in scan.document.child_elements(id) {
        let (is_term, is_definition) = (scan.name(child) == "dt", scan.name(child) == "dd");
        has_pair = has_pair || (has_term && is_definition);
        has_term = has_term || is_term;
        has_any = has_any || is_term || is_definition;
    }
    if has_any && !has_pair {
        verdict = verdict.and(Verdict::breaks("No dd follows a dt in the dl."));
    }
    verdict
}

fn definition(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let mut parent = scan.document.parent(id);
    if let Some(div) =
        parent.filter(|at| scan.name(*at) == "div" && scan.explicit_role(*at).is_none_or(is_none))
    {
        parent = scan.document.parent(div);
    }
    let is_in_list = parent.is_some_and(|list| {
        scan.name(list) == "dl" && scan.explicit_role(list).is_none_or(|role| is_none(role) || role == "list")
    });
    Verdict::passes_if(is_in_list, "The dt or dd is not in a dl, nor in a div directly in one.")
}
