//! Roles that elements are given.

use super::{Rule, Verdict};
use crate::catalogue::{self, AllowedRoles, Any, RoleKind};
use crate::dom::NodeId;
use crate::role::facts;
use crate::scan::Scan;
use crate::text::tokens;

pub(super) const RULES: &[Rule] = &[
    Rule::new("aria-roles", |s, id| s.has_filled(id, "role"), roles),
    Rule::new("aria-deprecated-role", |s, id| s.has_filled(id, "role"), deprecated),
    Rule::new("aria-allowed-role", |s, id| !s.said_roles(id).is_empty(), allowed),
    Rule::new("presentation-role-conflict", is_decorative, conflict),
];

fn roles(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let said = tokens(scan.attribute(id, "role").unwrap_or(""));
    let known = |token: &str| catalogue::roles().get(token);
    if said.iter().all(|token| known(&token.to_lowercase()).is_none()) {
        return Verdict::breaks(format!("ARIA has no role \"{}\".", said.join(" ")));
    }
    let is_abstract = |token: &&String| known(token).is_some_and(|role| role.kind == RoleKind::Abstract);
    match said.iter().find(is_abstract) {
        Some(token) => {
            Verdict::breaks(format!("The role {token} stands for a class of roles: use one of them."))
        }
        None => Verdict::Passes,
    }
}

fn deprecated(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let said = scan.said_roles(id).into_iter().next();
    let role = if said.is_some_and(crate::role::is_none) { scan.role(id) } else { said };
    match (role, facts(role)) {
        (Some(role), Some(facts)) if facts.deprecated => {
            Verdict::breaks(format!("The role {role} is deprecated."))
        }
        _ => Verdict::Passes,
    }
}

/// Roles of publications that stand for a role of ARIA's, and are allowed only where that one is by nature.
const STANDS_FOR: &[(&str, &str)] = &[
    ("doc-backlink", "link"),
    ("doc-biblioentry", "listitem"),
    ("doc-biblioref", "link"),
    ("doc-cover", "img"),
    ("doc-endnote", "listitem"),
    ("doc-glossref", "link"),
    ("doc-noteref", "link"),
];

fn allowed(scan: &Scan<'_>, id: NodeId) -> Verdict {
    if !scan.is_known_element(id) {
        return Verdict::Passes;
    }
    let natural = match scan.name(id) {
        "header" => Some("banner"),
        "footer" => Some("contentinfo"),
        _ => scan.implicit_role(id),
    };
    let list = scan.allowed_roles(id);
    let is_allowed = |role: &str| {
        if natural == Some(role) {
            return true;
        }
        let stands_for = STANDS_FOR.iter().find(|(of, _)| *of == role).map(|(_, base)| *base);
        if stands_for.is_some_and(|base| natural != Some(base)) {
            return false;
        }
        match list {
            Some(AllowedRoles::All(any)) => *any == Any::Any,
            Some(AllowedRoles::These(roles)) => roles.iter().any(|own| own == role),
            None => false,
        }
    };
    let wrong: Vec<&str> = scan.said_roles(id).into_iter().filter(|role| !is_allowed(role)).collect();
    if wrong.is_empty() {
        return Verdict::Passes;
    }
    let why = format!("A {} element may not have the role {} here.", scan.name(id), wrong.join(", "));
    if scan.is_read(id) { Verdict::breaks(why) } else { Verdict::unsure(why) }
}

fn is_decorative(scan: &Scan<'_>, id: NodeId) -> bool {
    let says_so = matches!(scan.attribute(id, "role"), Some("none" | "presentation"))
        || (scan.name(id) == "img" && scan.is(id, "alt", ""));
    says_so && scan.implicit_role(id).or_else(|| scan.chromium_role(id)).is_some()
}

fn conflict(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let reason = match (scan.is_focusable(id), scan.has_global_aria(id)) {
        (false, false) => return Verdict::Passes,
        (true, false) => "it can be focused",
        (false, true) => "it has a global aria-* attribute",
        (true, true) => "it can be focused and has a global aria-* attribute",
    };
    Verdict::breaks(format!(
        "The element is marked as decoration and keeps its role all the same, since {reason}."
    ))
}
