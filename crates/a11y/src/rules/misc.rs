//! What belongs to no part of a page in particular: ids, keys, spacing, what is hidden.

use std::collections::{BTreeMap, BTreeSet};

use super::aria_attributes::aria;
use super::{Rule, Verdict, Verdicts};
use crate::catalogue::{self, ValueKind};
use crate::dom::NodeId;
use crate::scan::Scan;
use crate::style;
use crate::text::{clean, leading_float, tokens};

pub(super) const RULES: &[Rule] = &[
    Rule::new("tabindex", |s, id| s.has(id, "tabindex"), tabindex),
    Rule::of_all("accesskeys", has_key, keys),
    Rule::of_all("duplicate-id-aria", has_id, |s, v| duplicates(s, v, Ids::Referenced)),
    Rule::of_all("duplicate-id-active", has_id, |s, v| duplicates(s, v, Ids::Active)),
    Rule::of_all("duplicate-id", has_id, |s, v| duplicates(s, v, Ids::Others)),
    Rule::of_all("frame-title-unique", has_frame_title, frame_titles),
    Rule::new("hidden-content", |s, id| !s.is_one_of(id, NO_CONTENT), hidden_content),
    Rule::new("avoid-inline-spacing", |s, id| s.has(id, "style"), spacing),
];

const NO_CONTENT: &[&str] = &["script", "head", "title", "noscript", "style", "template"];

fn tabindex(scan: &Scan<'_>, id: NodeId) -> Verdict {
    Verdict::passes_if(
        scan.tabindex(id).is_none_or(|n| n <= 0),
        "A tabindex above 0 takes the element out of the order of the page: use 0, and put it where it belongs.",
    )
}

fn has_key(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.attribute(id, "accesskey").is_some_and(|key| !key.is_empty()) && !scan.is_hidden(id)
}

/// Where each value is.
fn places(verdicts: &Verdicts, value: impl Fn(NodeId) -> String) -> BTreeMap<String, Vec<usize>> {
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, (id, _)) in verdicts.iter().enumerate() {
        found.entry(value(*id)).or_default().push(at);
    }
    found.retain(|_, places| places.len() > 1);
    found
}

fn keys(scan: &Scan<'_>, verdicts: &mut Verdicts) {
    for (key, places) in places(verdicts, |id| scan.attribute(id, "accesskey").unwrap_or("").to_uppercase()) {
        if let Some((_, first)) = places.first().and_then(|at| verdicts.get_mut(*at)) {
            *first = Verdict::breaks(format!("{} elements have the access key {key}.", places.len()));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    /// Those by which labels and ARIA refer to elements.
    Referenced,
    /// Those of elements of which one can be focused.
    Active,
    Others,
}

fn has_id(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.attribute(id, "id").is_some_and(|own| scan.all_by_id(own).len() > 1)
}

fn duplicates(scan: &Scan<'_>, verdicts: &mut Verdicts, which: Ids) {
    if verdicts.is_empty() {
        return;
    }
    let mut referenced = BTreeSet::new();
    for id in &scan.elements {
        for (name, value) in aria(scan, *id) {
            match catalogue::attributes().get(name).map(|known| known.kind) {
                Some(ValueKind::Idref) => referenced.extend([value.to_owned()]),
                Some(ValueKind::Idrefs) => referenced.extend(tokens(value)),
                _ => {}
            }
        }
    }
    for (own, places) in places(verdicts, |id| scan.attribute(id, "id").unwrap_or("").to_owned()) {
        let holders = scan.all_by_id(&own);
        let kind = if referenced.contains(&own) || scan.is_labelled(&own) {
            Ids::Referenced
        } else if holders.iter().any(|holder| scan.is_focusable(*holder)) {
            Ids::Active
        } else {
            Ids::Others
        };
        let Some((_, first)) = places.first().and_then(|at| verdicts.get_mut(*at)).filter(|_| kind == which)
        else {
            continue;
        };
        let why =
            format!("{} elements have the id {own}, of which only the first is found by it.", holders.len());
        *first = if which == Ids::Referenced { Verdict::unsure(why) } else { Verdict::breaks(why) };
    }
}

fn has_frame_title(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.is_one_of(id, &["frame", "iframe"]) && scan.has_filled(id, "title")
}

fn frame_titles(scan: &Scan<'_>, verdicts: &mut Verdicts) {
    let title = |id| clean(scan.attribute(id, "title").unwrap_or("")).to_lowercase();
    for (title, places) in places(verdicts, title) {
        for at in &places {
            if let Some((_, verdict)) = verdicts.get_mut(*at) {
                *verdict = Verdict::unsure(format!("{} frames have the title \"{title}\".", places.len()));
            }
        }
    }
}

fn hidden_content(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let is_above_invisible = || scan.document.parent(id).is_some_and(|parent| scan.is_invisible(parent));
    let is_hidden = scan.is_undisplayed(id) || (scan.is_invisible(id) && !is_above_invisible());
    if is_hidden && scan.has_content(id, true) {
        return Verdict::unsure("What is hidden here was not looked at: show it, and look again.");
    }
    Verdict::Passes
}

/// The spacings that people have to be able to enlarge, and the least that an author may insist on.
const SPACINGS: [(&str, f64); 3] = [("letter-spacing", 0.12), ("word-spacing", 0.16), ("line-height", 1.5)];

fn spacing(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let declared = style::declarations(scan.attribute(id, "style").unwrap_or(""));
    let insisted = |property: &str| {
        let found = declared.iter().rev().find(|(name, _, important)| name == property && *important);
        found.map(|(_, value, _)| value.as_str())
    };
    let text = scan.visible_text(id, false);
    let size = declared.iter().rev().find(|(name, ..)| name == "font-size");
    let size =
        size.and_then(|(_, value, _)| value.strip_suffix("px")).and_then(|n| n.trim().parse::<f64>().ok());
    let mut verdict = Verdict::Passes;
    for (property, least) in SPACINGS {
        let Some(value) = insisted(property) else { continue };
        let is_line = property == "line-height";
        let is_inherited = matches!(value, "inherit" | "unset" | "revert" | "revert-layer");
        // A line's height matters where there are several, and one word is in one.
        if is_inherited || text.is_empty() || (is_line && !text.contains(char::is_whitespace)) {
            continue;
        }
        let in_ems = ems(value, is_line, size);
        if in_ems.is_some_and(|ems| ems >= least) {
            continue;
        }
        let why = format!(
            "{property} is !important here, and less than {least} of the letters' size: people cannot enlarge it."
        );
        let is_sure = in_ems.is_some() && !is_line && scan.document.has_own_text(id);
        verdict = verdict.and(if is_sure { Verdict::breaks(why) } else { Verdict::unsure(why) });
    }
    verdict
}

/// A length in sizes of the letters that it is set for; nothing where markup does not say how large they are.
fn ems(value: &str, is_line: bool, size: Option<f64>) -> Option<f64> {
    if value == "normal" || value == "initial" {
        return Some(if is_line { 1.0 } else { 0.0 });
    }
    let number = leading_float(value)?;
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    match unit {
        "em" => Some(number),
        "px" => size.filter(|size| *size > 0.0).map(|size| number / size),
        "" if is_line || number == 0.0 => Some(number),
        "%" if is_line => Some(number / 100.0),
        _ => None,
    }
}
