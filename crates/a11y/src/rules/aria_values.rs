//! Whether the values of `aria-*` attributes say something.

use super::aria_attributes::{aria, has_aria};
use super::{Rule, Verdict};
use crate::catalogue::{self, AttributeFacts, ValueKind};
use crate::dom::NodeId;
use crate::scan::Scan;
use crate::text::{is_blank, tokens};

pub(super) const RULES: &[Rule] = &[Rule::new("aria-valid-attr-value", has_aria, values)];

fn values(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let mut verdict = level(scan, id).and(error_message(scan, id));
    for (name, value) in aria(scan, id) {
        let Some(known) = catalogue::attributes().get(name).filter(|_| name != "aria-errormessage") else {
            continue;
        };
        if !is_valid(scan, known, value) {
            verdict = verdict.and(invalid(scan, id, (name, value), known.kind));
        }
    }
    verdict
}

fn is_valid(scan: &Scan<'_>, known: &AttributeFacts, value: &str) -> bool {
    if known.allow_empty && is_blank(value) {
        return true;
    }
    let is_listed = |token: &str| known.values.iter().any(|own| own == token);
    match known.kind {
        ValueKind::Boolean => matches!(value.to_lowercase().as_str(), "true" | "false"),
        ValueKind::Nmtoken => is_listed(&value.to_lowercase()),
        ValueKind::Nmtokens => {
            let parts = tokens(value);
            !parts.is_empty() && parts.iter().all(|token| is_listed(token))
        }
        ValueKind::String => true,
        ValueKind::Int => int(value).is_some_and(|n| known.min_value.is_none_or(|least| n >= least)),
        ValueKind::Decimal => is_decimal(value),
        ValueKind::Idref => scan.by_id(value).is_some(),
        ValueKind::Idrefs => tokens(value).iter().any(|token| scan.by_id(token).is_some()),
    }
}

/// A whole number and nothing else; what is too long for one is large.
fn int(value: &str) -> Option<i64> {
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let large = if value.starts_with('-') { i64::MIN } else { i64::MAX };
    is_number.then(|| value.parse().unwrap_or(large))
}

fn is_decimal(value: &str) -> bool {
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && digits.bytes().filter(|b| *b == b'.').count() <= 1
        && digits.bytes().any(|b| b.is_ascii_digit())
}

fn invalid(scan: &Scan<'_>, id: NodeId, (name, value): (&str, &str), kind: ValueKind) -> Verdict {
    let is = |attribute: &str, words: &[&str]| {
        scan.attribute(id, attribute).is_some_and(|v| words.contains(&v.trim().to_lowercase().as_str()))
    };
    let is_reference = matches!(kind, ValueKind::Idref | ValueKind::Idrefs);
    let why = if is_reference {
        format!("{name}=\"{value}\" refers to no element of the document.")
    } else {
        format!("{name}=\"{value}\" is no value that this attribute may have.")
    };
    match name {
        // What is opened by it may be put into the page only then.
        "aria-controls" if scan.has(id, "aria-haspopup") && !is("aria-haspopup", &["false"]) => {
            Verdict::unsure(why)
        }
        "aria-controls" if is("aria-expanded", &["false"]) || is("aria-selected", &["false"]) => {
            Verdict::Passes
        }
        "aria-owns" if is("aria-expanded", &["false"]) => Verdict::Passes,
        "aria-current" | "aria-labelledby" | "aria-describedby" => Verdict::unsure(why),
        _ if value.is_empty() => Verdict::unsure(format!("{name} is empty, and so it says nothing.")),
        _ => Verdict::breaks(why),
    }
}

fn level(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let is_deep = scan.attribute(id, "aria-level").and_then(crate::text::leading_int).is_some_and(|n| n > 6);
    if is_deep {
        return Verdict::unsure("Not every assistive technology knows levels deeper than 6.");
    }
    Verdict::Passes
}

fn error_message(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let invalid = scan.attribute(id, "aria-invalid").map(|v| v.trim().to_lowercase());
    let Some(value) = scan.attribute(id, "aria-errormessage").filter(|value| !is_blank(value)) else {
        return Verdict::Passes;
    };
    if invalid.is_none_or(|invalid| invalid == "false") {
        return Verdict::Passes;
    }
    let named = tokens(value);
    let [own] = named.as_slice() else {
        return Verdict::breaks(
            "aria-errormessage refers to several elements, of which one alone is supported.",
        );
    };
    let Some(message) = scan.by_id(own) else {
        return Verdict::unsure(format!(
            "aria-errormessage=\"{value}\" refers to no element of the document."
        ));
    };
    if !scan.is_read(message) {
        return Verdict::breaks(
            "The message that aria-errormessage refers to is hidden from assistive technologies.",
        );
    }
    let is_live = scan
        .attribute(message, "aria-live")
        .is_some_and(|live| matches!(live.trim().to_lowercase().as_str(), "polite" | "assertive"));
    let is_told =
        scan.is(message, "role", "alert") || is_live || scan.named_ids(id, "aria-describedby").contains(own);
    Verdict::passes_if(
        is_told,
        "Nothing announces the message that aria-errormessage refers to: give it role=\"alert\" or aria-live, or name it in aria-describedby too.",
    )
}
