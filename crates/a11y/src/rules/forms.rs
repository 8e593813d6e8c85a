//! Fields of forms: their labels, what they let browsers fill in.

use super::by::{By, hidden_label, needs};
use super::{Rule, Verdict};
use crate::catalogue::{self, RoleKind};
use crate::dom::NodeId;
use crate::role::facts;
use crate::scan::Scan;
use crate::text::trim;

pub(super) const RULES: &[Rule] = &[
    Rule::new("label", |s, id| s.is_one_of(id, &["input", "textarea"]) && is_labelled_kind(s, id), label),
    Rule::new("select-name", |s, id| s.name(id) == "select", select),
    Rule::new("form-field-multiple-labels", is_field, several_labels),
    Rule::new("label-title-only", is_field, title_only),
    Rule::new("autocomplete-valid", is_completed, autocomplete),
];

/// Whether it is a field that wants a label: those that are buttons say themselves what they are.
fn is_labelled_kind(scan: &Scan<'_>, id: NodeId) -> bool {
    let kind = scan.attribute(id, "type").unwrap_or("").to_lowercase();
    scan.name(id) != "input" || !matches!(kind.as_str(), "hidden" | "image" | "button" | "submit" | "reset")
}

fn is_field(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.is_one_of(id, &["input", "select", "textarea"]) && is_labelled_kind(scan, id)
}

fn label(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let ways: &[By] = &[
        By::LabelAround,
        By::LabelFor,
        By::AriaLabel,
        By::Labelledby,
        By::Attribute("title"),
        By::Attribute("placeholder"),
        By::NoRole,
    ];
    needs(
        scan,
        id,
        ways,
        "The field has no label with text, nor a name by aria-label, aria-labelledby, title or placeholder.",
    )
    .and(hidden_label(scan, id))
}

fn select(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let ways: &[By] =
        &[By::LabelAround, By::LabelFor, By::AriaLabel, By::Labelledby, By::Attribute("title"), By::NoRole];
    needs(
        scan,
        id,
        ways,
        "The select has no label with text, nor a name by aria-label, aria-labelledby or title.",
    )
    .and(hidden_label(scan, id))
}

fn several_labels(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let mut labels: Vec<NodeId> =
        scan.labels_for(id).iter().copied().filter(|label| !scan.is_hidden(*label)).collect();
    for around in scan.document.and_ancestors(id).filter(|at| scan.name(*at) == "label") {
        if !labels.contains(&around) {
            labels.push(around);
        }
    }
    if labels.len() <= 1 {
        return Verdict::Passes;
    }
    let read: Vec<NodeId> = labels.into_iter().filter(|label| scan.is_read(*label)).collect();
    let is_told = match read.as_slice() {
        [only] => scan.referenced(id, "aria-labelledby").contains(only),
        _ => false,
    };
    if is_told {
        return Verdict::Passes;
    }
    Verdict::unsure("The field has several labels, of which some assistive technologies read only the first.")
}

fn title_only(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let is_described = scan.attribute(id, "aria-describedby").is_some_and(|value| !value.is_empty());
    let has_only_title = !scan.title_text(id).is_empty() || is_described;
    if !has_only_title || scan.label_shown(id).is_some() {
        return Verdict::Passes;
    }
    Verdict::breaks(
        "The field is labelled by a title or a description alone: give it a label that everybody sees.",
    )
}

fn is_completed(scan: &Scan<'_>, id: NodeId) -> bool {
    let is_filled =
        scan.is_one_of(id, &["textarea", "input", "select"]) && scan.has_filled(id, "autocomplete");
    if !is_filled
        || scan.has(id, "readonly")
        || scan.is(id, "aria-readonly", "true")
        || scan.has(id, "disabled")
        || scan.is(id, "aria-disabled", "true")
    {
        return false;
    }
    if scan.name(id) == "input" && matches!(scan.input_type(id), "submit" | "reset" | "button" | "hidden") {
        return false;
    }
    // Out of the Tab order and with another role it is no field that somebody fills in.
    let is_out = scan.tabindex(id).is_some_and(|n| n < 0) && scan.has(id, "role");
    !is_out || facts(scan.explicit_role(id)).is_some_and(|facts| facts.kind == RoleKind::Widget)
}

fn autocomplete(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let value = trim(scan.attribute(id, "autocomplete").unwrap_or("")).to_lowercase();
    let terms = catalogue::autocomplete();
    if terms.state_terms.contains(&value) {
        return Verdict::Passes;
    }
    let broken = || {
        Verdict::breaks(format!(
            "The autocomplete value \"{value}\" is no term of the HTML standard, or not one alone."
        ))
    };
    let mut rest: Vec<&str> = value.split(crate::text::is_space).filter(|token| !token.is_empty()).collect();
    if rest.last() == Some(&"webauthn") {
        rest.pop();
    }
    let mut rest = rest.as_slice();
    let mut skip = |is_skipped: &dyn Fn(&str) -> bool| match rest {
        [first, others @ ..] if is_skipped(first) => {
            rest = others;
            true
        }
        _ => false,
    };
    skip(&|token| token.len() > "section-".len() && token.starts_with("section-"));
    skip(&|token| terms.locations.contains(token));
    let is_qualified = skip(&|token| terms.qualifiers.contains(token));
    let [term] = rest else { return broken() };
    if terms.free_terms.contains(*term) {
        return Verdict::unsure(format!(
            "The autocomplete value \"{value}\" is no term of the HTML standard, and in use: see whether it does what is meant."
        ));
    }
    let is_known =
        terms.qualified_terms.contains(*term) || (!is_qualified && terms.standalone_terms.contains(*term));
    if is_known { Verdict::Passes } else { broken() }
}
