//! The document as a whole: its title, its languages, what its `meta` elements do.

use super::{Rule, Verdict};
use crate::catalogue;
use crate::dom::{NodeId, Space};
use crate::scan::Scan;
use crate::text::{is_blank, leading_float, trim};

pub(super) const RULES: &[Rule] = &[
    Rule::new("document-title", is_top, title),
    Rule::new("html-has-lang", is_top, has_language),
    Rule::new(
        "html-lang-valid",
        |s, id| is_top(s, id) && LANGUAGES.iter().any(|name| is_said(s, id, name)),
        language,
    ),
    Rule::new("html-xml-lang-mismatch", has_two_languages, mismatch),
    Rule::new("valid-lang", is_in_language, language),
    Rule::new("meta-refresh", is_refresh, refresh),
    Rule::new("meta-refresh-no-exceptions", is_refresh, late_refresh),
    Rule::new("meta-viewport", is_viewport, zoom),
    Rule::new("meta-viewport-large", is_viewport, large_zoom),
];

const LANGUAGES: [&str; 2] = ["lang", "xml:lang"];
/// Twenty hours in seconds: who takes longer to read may be asked to begin again.
const LONG: f64 = 72_000.0;

fn is_top(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.document.html() == Some(id)
}

fn is_said(scan: &Scan<'_>, id: NodeId, name: &str) -> bool {
    scan.attribute(id, name).is_some_and(|value| !value.is_empty())
}

fn title(scan: &Scan<'_>, html: NodeId) -> Verdict {
    let document = scan.document;
    let title = document.descendants(html).into_iter().find(|id| {
        document.element(*id).is_some_and(|element| element.name == "title" && element.space == Space::Html)
    });
    Verdict::passes_if(
        title.is_some_and(|title| document.has_own_text(title)),
        "The document has no title with text in it.",
    )
}

fn has_language(scan: &Scan<'_>, id: NodeId) -> Verdict {
    if scan.has_filled(id, "lang") {
        return Verdict::Passes;
    }
    Verdict::breaks(if scan.has_filled(id, "xml:lang") {
        "The html element says its language in xml:lang, which HTML does not read: say it in lang."
    } else {
        "The html element does not say its language in lang."
    })
}

/// The language that a value begins with.
fn base(value: &str) -> String {
    trim(value).split('-').next().unwrap_or("").to_lowercase()
}

fn language(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let is_wrong = |value: &str| {
        let base = base(value);
        let is_only_blank = !value.is_empty() && is_blank(value);
        is_only_blank || !(base.is_empty() || catalogue::is_language(&base))
    };
    let said = LANGUAGES.into_iter().filter_map(|name| Some((name, scan.attribute(id, name)?)));
    let wrong: Vec<String> = said
        .filter(|(_, value)| is_wrong(value))
        .map(|(name, value)| format!("{name}=\"{value}\""))
        .collect();
    if wrong.is_empty() {
        return Verdict::Passes;
    }
    Verdict::breaks(format!("{} begins with no registered language.", wrong.join(", ")))
}

fn has_two_languages(scan: &Scan<'_>, id: NodeId) -> bool {
    let is_known = |name| scan.attribute(id, name).is_some_and(|value| catalogue::is_language(&base(value)));
    is_top(scan, id) && LANGUAGES.into_iter().all(is_known)
}

fn mismatch(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let [one, two] = LANGUAGES.map(|name| base(scan.attribute(id, name).unwrap_or("")));
    Verdict::passes_if(one == two, "lang and xml:lang of the html element name different languages.")
}

/// Whether a part says its language, and something in it is in that language.
fn is_in_language(scan: &Scan<'_>, id: NodeId) -> bool {
    let is_part = scan.name(id) != "html" && LANGUAGES.iter().any(|name| scan.has(id, name));
    if !is_part {
        return false;
    }
    let mut open = vec![id];
    while let Some(at) = open.pop() {
        if !scan.spend(1) {
            break;
        }
        if scan.has_readable_text(at) {
            return true;
        }
        if scan.is_seen_element(at) {
            if !scan.accessible_name(at).is_empty() {
                return true;
            }
            continue;
        }
        let children = scan.document.child_elements(at);
        open.extend(children.filter(|child| !is_said(scan, *child, "lang") && !scan.is_hidden(*child)));
    }
    false
}

fn is_refresh(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.name(id) == "meta" && scan.is(id, "http-equiv", "refresh") && scan.has(id, "content")
}

/// After how many seconds the page is left.
fn delay(scan: &Scan<'_>, id: NodeId) -> Option<f64> {
    let content = trim(scan.attribute(id, "content")?);
    let first = content.split(|c: char| matches!(c, ';' | ',') || crate::text::is_space(c)).next()?;
    let is_number = !first.is_empty() && first.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    leading_float(first).filter(|_| is_number)
}

fn refresh(scan: &Scan<'_>, id: NodeId) -> Verdict {
    Verdict::passes_if(
        delay(scan, id).is_none_or(|delay| delay <= 0.0 || delay > LONG),
        "The page is left or loaded anew after some time, whether it has been read or not.",
    )
}

fn late_refresh(scan: &Scan<'_>, id: NodeId) -> Verdict {
    Verdict::passes_if(
        delay(scan, id).is_none_or(|delay| delay <= LONG),
        "The page is left or loaded anew after some time, long as it is.",
    )
}

fn is_viewport(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.name(id) == "meta" && scan.is(id, "name", "viewport")
}

/// What a viewport's content says of a key; the last time counts.
fn said(scan: &Scan<'_>, id: NodeId, key: &str) -> Option<String> {
    let content = scan.attribute(id, "content").unwrap_or("").to_lowercase();
    let items = content.split([';', ',']).filter_map(|item| item.split_once('='));
    items.rev().find(|(own, _)| trim(own) == key).map(|(_, value)| trim(value).to_owned())
}

fn is_device(value: &str) -> bool {
    matches!(value, "device-width" | "device-height")
}

fn zoom(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let scalable = said(scan, id, "user-scalable").filter(|value| match leading_float(value) {
        Some(number) => number > -1.0 && number < 1.0,
        None => value != "yes" && !is_device(value),
    });
    if let Some(value) = scalable {
        return Verdict::breaks(format!("user-scalable={value} keeps people from zooming."));
    }
    let largest = said(scan, id, "maximum-scale").filter(|value| match leading_float(value) {
        Some(number) => (0.0..2.0).contains(&number),
        None => !is_device(value),
    });
    match largest {
        Some(value) => Verdict::breaks(format!("maximum-scale={value} keeps people from zooming to 200 %.")),
        None => Verdict::Passes,
    }
}

fn large_zoom(scan: &Scan<'_>, id: NodeId) -> Verdict {
    let largest = said(scan, id, "maximum-scale").and_then(|value| leading_float(&value));
    Verdict::passes_if(
        !largest.is_some_and(|number| (2.0..5.0).contains(&number)),
        "maximum-scale keeps people from zooming to 500 %.",
    )
}
