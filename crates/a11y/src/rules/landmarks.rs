//! The large parts of a page.

use std::collections::{BTreeMap, BTreeSet};

use super::{Rule, Verdict, Verdicts};
use crate::catalogue::RoleKind;
use crate::dom::NodeId;
use crate::role::{facts, is_none};
use crate::scan::Scan;

pub(super) const RULES: &[Rule] = &[
    Rule::new("landmark-banner-is-top-level", |s, id| is_outer(s, id, "header", "banner"), top_level),
    Rule::new(
        "landmark-contentinfo-is-top-level",
        |s, id| is_outer(s, id, "footer", "contentinfo"),
        top_level,
    ),
    Rule::new("landmark-main-is-top-level", is_main, top_level),
    Rule::new("landmark-complementary-is-top-level", |s, id| is(s, id, "aside", "complementary"), top_level),
    Rule::of_all("landmark-no-duplicate-banner", |s, id| is(s, id, "header", "banner"), one_banner),
    Rule::of_all(
        "landmark-no-duplicate-contentinfo",
        |s, id| is(s, id, "footer", "contentinfo"),
        one_contentinfo,
    ),
    Rule::of_all("landmark-no-duplicate-main", is_main, one_main),
    Rule::new("landmark-one-main", |s, id| s.document.html() == Some(id), some_main),
    Rule::of_all("landmark-unique", is_landmark, unique),
    Rule::of_all("region", |s, id| s.document.html() == Some(id), region),
];

/// Whether it is a landmark by its name without a role, or by its role.
fn is(scan: &Scan<'_>, id: NodeId, name: &str, role: &str) -> bool {
    scan.attribute(id, "role").map_or(scan.name(id) == name, |own| own == role)
}

pub(super) fn is_main(scan: &Scan<'_>, id: NodeId) -> bool {
    is(scan, id, "main", "main")
}

/// Headers and footers of a part are no landmarks.
fn is_outer(scan: &Scan<'_>, id: NodeId, name: &str, role: &str) -> bool {
    let parts = ["article", "aside", "main", "nav", "section"];
    is(scan, id, name, role)
        && (scan.has(id, "role") || !scan.document.ancestors(id).any(|at| scan.is_one_of(at, &parts)))
}

fn top_level(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let own = scan.role(id);
    for above in scan.document.ancestors(id) {
        let role = match scan.explicit_role(above) {
            Some(role) => Some(role),
            None if scan.name(above) == "form" => None,
            None => scan.implicit_role(above),
        };
        let is_fine = own == Some("complementary") && role == Some("main");
        if facts(role).is_some_and(|facts| facts.kind == RoleKind::Landmark) && !is_fine {
            return Verdict::breaks(format!(
                "The landmark {} is inside another one, {}.",
                own.unwrap_or("here"),
                role.unwrap_or("")
            ));
        }
    }
    Verdict::Passes
}

/// Breaks the first of the elements, where several count.
fn only_one(verdicts: &mut Verdicts, counted: usize, what: &str) {
    if let Some((_, first)) = verdicts.first_mut().filter(|_| counted > 1) {
        *first =
            Verdict::breaks(format!("The page has {counted} {what} landmarks, of which this is the first."));
    }
}

fn one_banner(scan: &Scan<'_>, verdicts: &mut Verdicts) {
    let counted = verdicts.iter().filter(|(id, _)| scan.role(*id) == Some("banner")).count();
    only_one(verdicts, counted, "banner");
}

fn one_contentinfo(scan: &Scan<'_>, verdicts: &mut Verdicts) {
    let counted = verdicts.iter().filter(|(id, _)| scan.role(*id) == Some("contentinfo")).count();
    only_one(verdicts, counted, "contentinfo");
}

fn one_main(_: &Scan<'_>, verdicts: &mut Verdicts) {
    only_one(verdicts, verdicts.len(), "main");
}

fn some_main(scan: &Scan<'_>, _: NodeId) -> Verdict {
    let has_main = scan.elements.iter().any(|id| is_main(scan, *id) && scan.is_read(*id));
    Verdict::passes_if(has_main || scan.has_open_modal(), "The page has no main landmark.")
}

fn is_landmark(scan: &Scan<'_>, id: NodeId) -> bool {
    const ROLES: &[&str] =
        &["banner", "complementary", "contentinfo", "main", "navigation", "region", "search", "form"];
    let may_be = scan.is_one_of(id, &["form", "footer", "header", "aside", "main", "nav", "section"])
        || scan.attribute(id, "role").is_some_and(|role| ROLES.contains(&role));
    may_be && scan.role_kind(id) == Some(RoleKind::Landmark)
}

fn unique(scan: &Scan<'_>, verdicts: &mut Verdicts) {
    let mut groups: BTreeMap<(Option<&str>, String), Vec<usize>> = BTreeMap::new();
    for (at, (id, _)) in verdicts.iter().enumerate() {
        let name = scan.accessible_name(*id).to_lowercase();
        groups.entry((scan.role(*id), name)).or_default().push(at);
    }
    for ((role, name), places) in groups {
        let several = places.len() > 1;
        let Some((_, first)) = places.first().and_then(|at| verdicts.get_mut(*at)).filter(|_| several) else {
            continue;
        };
        let (role, count) = (role.unwrap_or(""), places.len());
        let how = if name.is_empty() { "no name".to_owned() } else { format!("the name \"{name}\"") };
        *first = Verdict::breaks(format!(
            "{count} landmarks with the role {role} have {how}: name them apart by aria-label or aria-labelledby."
        ));
    }
}

/// Whether what is in the element is found by landmarks, or needs none.
fn is_covered(scan: &Scan<'_>, id: NodeId) -> bool {
    let role = scan.role(id);
    let live = scan.attribute(id, "aria-live").map(|live| live.trim().to_lowercase());
    role.is_some_and(|role| matches!(role, "button" | "alert" | "log" | "status"))
        || live.is_some_and(|live| matches!(live.as_str(), "polite" | "assertive"))
        || facts(role).is_some_and(|facts| facts.kind == RoleKind::Landmark)
        || scan.is_one_of(id, &["dialog", "svg", "iframe", "frame"])
        || matches!(scan.attribute(id, "role"), Some("dialog" | "alertdialog"))
        || (scan.is_skip_link(id) && scan.skip_target(id).is_some())
        || !scan.is_read(id)
}

fn region(scan: &Scan<'_>, verdicts: &mut Verdicts) {
    let mut open: Vec<NodeId> = verdicts.drain(..).map(|(html, _)| html).collect();
    let (mut bare, mut holds_landmark) = (Vec::new(), BTreeSet::new());
    while let Some(id) = open.pop() {
        if is_covered(scan, id) {
            for at in scan.document.and_ancestors(id) {
                if !holds_landmark.insert(at) {
                    break;
                }
            }
            continue;
        }
        let is_empty = scan.role(id).is_some_and(is_none) && !scan.document.has_own_text(id);
        if scan.name(id) != "body" && scan.has_own_content(id, true) && !is_empty {
            bare.push(id);
            continue;
        }
        let children: Vec<NodeId> = scan.document.child_elements(id).collect();
        open.extend(children.into_iter().rev());
    }
    let mut told = BTreeSet::new();
    for id in bare {
        let highest = scan
            .document
            .and_ancestors(id)
            .take_while(|at| !scan.is_one_of(*at, &["body", "html"]) && !holds_landmark.contains(at))
            .last();
        let Some(highest) = highest.filter(|at| told.insert(*at)) else { continue };
        verdicts
            .push((highest, Verdict::breaks("The content is in no landmark, such as main, nav or header.")));
    }
}
