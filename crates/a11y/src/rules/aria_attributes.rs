//! Which `aria-*` attributes an element may, must and must not have.

use super::{Rule, Verdict};
use crate::catalogue;
use crate::dom::NodeId;
use crate::role::facts;
use crate::scan::Scan;
use crate::text::clean;

pub(super) const RULES: &[Rule] = &[
    Rule::new("aria-valid-attr", has_aria, valid),
    Rule::new("aria-allowed-attr", has_aria, allowed),
    Rule::new("aria-conditional-attr", has_aria, conditional),
    Rule::new("aria-prohibited-attr", has_aria, prohibited),
    Rule::new("aria-required-attr", |s, id| s.has_filled(id, "role"), required),
    Rule::new("aria-braille-equivalent", is_brailled, braille),
    Rule::new("aria-roledescription", |s, id| s.has(id, "aria-roledescription"), described_role),
];

/// The element's `aria-*` attributes.
pub(super) fn aria<'d>(scan: &Scan<'d>, id: NodeId) -> impl Iterator<Item = (&'d str, &'d str)> {
    let attributes = scan.document.element(id).map_or(&[][..], |element| &element.attributes);
    let named = attributes.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    named.filter(|(name, _)| name.starts_with("aria-"))
}

pub(super) fn has_aria(scan: &Scan<'_>, id: NodeId) -> bool {
    aria(scan, id).next().is_some()
}

fn valid(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let unknown: Vec<&str> = aria(scan, id)
        .map(|(name, _)| name)
        .filter(|name| !catalogue::attributes().contains_key(*name))
        .collect();
    if unknown.is_empty() {
        return Verdict::Passes;
    }
    Verdict::breaks(format!("ARIA has no attribute {}.", unknown.join(", ")))
}

fn allowed(scan: &Scan<'_>, id: NodeId) -> Verdict {
    allowed_by_role(scan, id).and(allowed_by_element(scan, id)).and(outdated(scan, id))
}

fn allowed_by_role(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let role = scan.role(id);
    let facts = facts(role);
    let is_edited = scan.has(id, "contenteditable");
    let is_allowed = |name: &str, value: &str| {
        let Some(known) = catalogue::attributes().get(name) else { return true };
        let of_role = |facts: &catalogue::RoleFacts| {
            facts.allowed_attrs.iter().chain(&facts.required_attrs).any(|own| own == name)
        };
        let is_moot = (name == "aria-required" && value == "false")
            || (name == "aria-multiline" && value == "false" && is_edited);
        known.global || is_moot || facts.is_some_and(of_role)
    };
    let wrong: Vec<String> = aria(scan, id)
        .filter(|(name, value)| !is_allowed(name, value))
        .map(|(name, value)| format!("{name}=\"{value}\""))
        .collect();
    if wrong.is_empty() {
        return capitals(scan, id);
    }
    let whose =
        role.map_or_else(|| "an element without a role".to_owned(), |role| format!("the role {role}"));
    let why = format!("ARIA does not allow {} for {whose}.", wrong.join(", "));
    let is_unknown = role.is_none() && !scan.is_known_element(id) && !scan.is_focusable(id);
    if is_unknown { Verdict::unsure(why) } else { Verdict::breaks(why) }
}

/// Values that are understood in small letters only; where they are not, the default is taken.
fn capitals(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let mut verdict = Verdict::Passes;
    for (name, value) in aria(scan, id) {
        let Some(known) = catalogue::attributes().get(name) else { continue };
        let small = value.to_lowercase();
        if known.case_insensitive != Some(false) || small == value {
            continue;
        }
        let fallback = match name {
            "aria-current" | "aria-required" | "aria-readonly" => Some("true"),
            _ => known.default_value.as_deref(),
        };
        let why = format!(
            "The value of {name}=\"{value}\" is understood in small letters only: write \"{small}\"."
        );
        let is_same = fallback == Some(small.trim());
        verdict = verdict.and(if is_same { Verdict::unsure(why) } else { Verdict::breaks(why) });
    }
    verdict
}

fn allowed_by_element(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let Some(list) = scan.allowed_aria_attrs(id).filter(|_| scan.explicit_role(id).is_none()) else {
        return Verdict::Passes;
    };
    let wrong: Vec<&str> = aria(scan, id)
        .map(|(name, _)| name)
        .filter(|name| catalogue::attributes().get(*name).is_some_and(|known| known.global))
        .filter(|name| !list.iter().any(|allowed| allowed == name))
        .collect();
    if wrong.is_empty() {
        return Verdict::Passes;
    }
    Verdict::breaks(format!("A {} element may not carry {}.", scan.name(id), wrong.join(", ")))
}

fn outdated(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let old: Vec<&str> = aria(scan, id)
        .map(|(name, _)| name)
        .filter(|name| catalogue::attributes().get(*name).is_some_and(|known| known.deprecated))
        .collect();
    if old.is_empty() {
        return Verdict::Passes;
    }
    Verdict::unsure(format!(
        "{} is deprecated: assistive technologies do not support it any more.",
        old.join(", ")
    ))
}

fn conditional(scan: &Scan<'_>, id: NodeId) -> Verdict {
    match scan.role(id) {
        Some("row") => row(scan, id),
        Some("checkbox") if scan.name(id) == "input" && scan.input_type(id) == "checkbox" => {
            checked(scan, id, &|value| matches!(value, "true" | "mixed"), scan.has(id, "checked"))
        }
        Some("radio") if scan.name(id) == "input" && scan.input_type(id) == "radio" => {
            checked(scan, id, &|value| value == "true", is_chosen(scan, id))
        }
        _ => Verdict::Passes,
    }
}

fn row(scan: &Scan<'_>, id: NodeId) -> Verdict {
    const OF_TREES: [&str; 4] = ["aria-posinset", "aria-setsize", "aria-expanded", "aria-level"];
    let found: Vec<&str> = OF_TREES.into_iter().filter(|name| scan.has(id, name)).collect();
    if found.is_empty() {
        return Verdict::Passes;
    }
    let owner = scan.closest(id, |at| match scan.attribute(at, "role") {
        None => scan.name(at) == "table",
        Some(role) => role.split_ascii_whitespace().any(|r| matches!(r, "treegrid" | "table" | "grid")),
    });
    if owner.is_none_or(|owner| scan.role(owner) == Some("treegrid")) {
        return Verdict::Passes;
    }
    Verdict::breaks(format!(
        "{} says something of rows in a treegrid only, and this row is in another table.",
        found.join(", ")
    ))
}

/// Whether aria-checked says the same as the field does.
fn checked(scan: &Scan<'_>, id: NodeId, is_kept: &dyn Fn(&str) -> bool, is_checked: bool) -> Verdict {
    let said = scan.attribute(id, "aria-checked").map(str::to_lowercase).filter(|said| !said.is_empty());
    let Some(said) = said else { return Verdict::Passes };
    let said = if is_kept(&said) { said.as_str() } else { "false" };
    let is = if is_checked { "true" } else { "false" };
    Verdict::passes_if(said == is, "aria-checked says another state than the field itself has: leave it out.")
}

/// Whether a radio button is the chosen one when the page is loaded: the last of its group that says so.
fn is_chosen(scan: &Scan<'_>, id: NodeId) -> bool {
    let group = scan.attribute(id, "name").filter(|name| !name.is_empty());
    let form = |of| scan.closest_named(of, "form");
    if !scan.has(id, "checked") {
        return false;
    }
    let Some(group) = group else { return true };
    let own_form = form(id);
    let later = scan.elements.iter().skip(scan.place(id).saturating_add(1));
    scan.spend(scan.elements.len() / 64);
    !later.copied().any(|at| {
        scan.name(at) == "input"
            && scan.has(at, "checked")
            && scan.is(at, "name", group)
            && scan.input_type(at) == "radio"
            && form(at) == own_form
    })
}

fn prohibited(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let said = scan.said_roles(id).into_iter().find(|role| !role.starts_with("doc-"));
    let banned: Vec<&str> = match facts(said) {
        Some(facts) => facts.prohibited_attrs.iter().map(String::as_str).collect(),
        None if scan.is_custom_element(id) || scan.name(id) == "applet" || is_in_widget(scan, id) => {
            Vec::new()
        }
        None if scan.is_naming_prohibited(id) || !scan.is_known_element(id) => {
            vec!["aria-label", "aria-labelledby"]
        }
        None => Vec::new(),
    };
    let found: Vec<&str> = banned.into_iter().filter(|name| scan.has_filled(id, name)).collect();
    if found.is_empty() {
        return Verdict::Passes;
    }
    let what = said.map_or_else(
        || format!("a {} element without a role", scan.name(id)),
        |role| format!("the role {role}"),
    );
    let why = format!("{} is not to be used with {what}.", found.join(", "));
    if found.contains(&"aria-labelledby") && found.iter().all(|name| name.starts_with("aria-label")) {
        let targets = scan.referenced(id, "aria-labelledby");
        let has_label = found.contains(&"aria-label");
        let all_read = !targets.is_empty() && targets.iter().all(|target| scan.is_read(*target));
        let has_text = || !scan.labelledby_text(id).is_empty();
        // Where the name is on the page anyway, little is lost.
        if (targets.is_empty() && !has_label) || (all_read && (!has_label || has_text())) {
            return Verdict::unsure(why);
        }
    }
    if scan.any_text_inside(id).is_empty() { Verdict::breaks(why) } else { Verdict::unsure(why) }
}

fn is_in_widget(scan: &Scan<'_>, id: NodeId) -> bool {
    let role = scan
        .document
        .and_ancestors(id)
        .find_map(|at| scan.role_or_chromium(at).filter(|role| !crate::role::is_none(role)));
    facts(role).is_some_and(|facts| facts.kind == catalogue::RoleKind::Widget)
}

fn required(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let role = scan.explicit_role(id);
    let Some(facts) = facts(role) else { return Verdict::Passes };
    let is_spared = match role {
        Some("separator") => !scan.is_focusable(id),
        Some("combobox") => scan.is(id, "aria-expanded", "false"),
        Some("slider") => scan.has_filled(id, "aria-valuetext"),
        _ => false,
    };
    let missing: Vec<&str> = facts
        .required_attrs
        .iter()
        .map(String::as_str)
        .filter(|name| {
            scan.attribute(id, name).is_none_or(str::is_empty) && !scan.has_implicit_attr(id, name)
        })
        .collect();
    if is_spared || missing.is_empty() {
        return Verdict::Passes;
    }
    Verdict::breaks(format!("The role {} needs {}.", role.unwrap_or(""), missing.join(", ")))
}

fn is_brailled(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.has(id, "aria-braillelabel") || scan.has(id, "aria-brailleroledescription")
}

fn braille(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let mut verdict = Verdict::Passes;
    if scan.has_filled(id, "aria-braillelabel") && clean(&scan.accessible_name(id)).is_empty() {
        verdict =
            Verdict::unsure("aria-braillelabel is there without a name for those who do not read braille.");
    }
    let is_described = scan.has_filled(id, "aria-roledescription");
    if scan.has_filled(id, "aria-brailleroledescription") && !is_described {
        let why = "aria-brailleroledescription is there without an aria-roledescription for those who do not read braille.";
        verdict = verdict.and(Verdict::unsure(why));
    }
    verdict
}

fn described_role(scan: &Scan<'_>, id: NodeId) -> Verdict {
    const SUPPORTED: &[&str] =
        &["button", "img", "image", "checkbox", "radio", "combobox", "menuitemcheckbox", "menuitemradio"];
    match scan.role_kept(id) {
        Some(role) if SUPPORTED.contains(&role) => Verdict::Passes,
        Some(_) => Verdict::unsure("See whether assistive technologies say this aria-roledescription."),
        None => Verdict::breaks("aria-roledescription describes the role of an element that has none."),
    }
}
