//! Headings, and ways past what repeats.

use super::landmarks::is_main;
use super::{Rule, Verdict, Verdicts};
use crate::dom::NodeId;
use crate::scan::Scan;

pub(super) const RULES: &[Rule] = &[
    Rule::of_all("heading-order", |s, id| may_be_heading(s, id) && s.role(id) == Some("heading"), order),
    Rule::new("page-has-heading-one", |s, id| s.document.html() == Some(id), first_level),
    Rule::new(
        "bypass",
        |s, id| s.document.html() == Some(id) && s.elements.iter().any(|at| is_link(s, *at)),
        bypass,
    ),
    Rule::new("skip-link", is_offered, skip),
];

fn native_level(scan: &Scan<'_>, id: NodeId) -> Option<i64> {
    match scan.name(id) {
        "h1" => Some(1),
        "h2" => Some(2),
        "h3" => Some(3),
        "h4" => Some(4),
        "h5" => Some(5),
        "h6" => Some(6),
        _ => None,
    }
}

fn may_be_heading(scan: &Scan<'_>, id: NodeId) -> bool {
    native_level(scan, id).is_some() || scan.is(id, "role", "heading")
}

fn level(scan: &Scan<'_>, id: NodeId) -> i64 {
    let said = scan.attribute(id, "aria-level").and_then(crate::text::leading_int).filter(|n| *n >= 1);
    said.or_else(|| native_level(scan, id)).unwrap_or(2)
}

fn order(scan: &Scan<'_>, verdicts: &mut Verdicts) {
    let mut before = None;
    for (id, verdict) in verdicts {
        let own = level(scan, *id);
        if let Some(before) = before.filter(|before| own - before > 1) {
            *verdict = Verdict::breaks(format!(
                "A heading of level {own} follows one of level {before}: a level is left out."
            ));
        }
        before = Some(own);
    }
}

fn first_level(scan: &Scan<'_>, _: NodeId) -> Verdict {
    let is_first = |id: NodeId| {
        let said = scan.attribute(id, "aria-level");
        match scan.attribute(id, "role") {
            None => {
                (scan.name(id) == "h1" && said.is_none())
                    || (native_level(scan, id).is_some() && said == Some("1"))
            }
            Some(role) => role == "heading" && said == Some("1"),
        }
    };
    let has_one = scan.elements.iter().any(|id| is_first(*id) && scan.is_read(*id));
    Verdict::passes_if(has_one || scan.has_open_modal(), "The page has no heading of level 1.")
}

fn is_link(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.name(id) == "a" && scan.has(id, "href")
}

fn bypass(scan: &Scan<'_>, _: NodeId) -> Verdict {
    let helps = |id: NodeId| {
        let leads_on = is_link(scan, id)
            && scan
                .attribute(id, "href")
                .and_then(|href| href.strip_prefix('#'))
                .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '!']));
        let is_heading = match scan.attribute(id, "role") {
            None => native_level(scan, id).is_some(),
            Some(role) => role == "heading",
        };
        let is_part = is_heading || is_main(scan, id) || scan.name(id) == "main";
        leads_on || (is_part && scan.is_read(id))
    };
    if scan.elements.iter().any(|id| helps(*id)) {
        return Verdict::Passes;
    }
    Verdict::unsure(
        "Nothing leads past what repeats on every page: no link within the page, no heading, no main landmark.",
    )
}

impl Scan<'_> {
    /// Whether the link leads to a place on this page.
    fn is_inner_link(&self, id: NodeId) -> bool {
        let href = self.attribute(id, "href").unwrap_or("");
        href.starts_with("/#")
            || href.strip_prefix('#').is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '!']))
    }

    /// Whether it is a link that comes before all that lead away from the page.
    pub(super) fn is_skip_link(&self, id: NodeId) -> bool {
        if self.name(id) != "a" || self.attribute(id, "href").is_none_or(str::is_empty) {
            return false;
        }
        let first = *self.first_outer_link.get_or_init(|| {
            let leads_away = |at: &&NodeId| {
                let href = self.attribute(**at, "href").filter(|_| self.name(**at) == "a");
                href.is_some_and(|href| !href.starts_with("javascript:")) && !self.is_inner_link(**at)
            };
            self.elements.iter().find(leads_away).map(|at| self.place(*at))
        });
        first.is_none_or(|first| self.place(id) < first)
    }

    /// What a link within the page leads to.
    pub(super) fn skip_target(&self, id: NodeId) -> Option<NodeId> {
        let (_, fragment) = self.attribute(id, "href")?.split_once('#')?;
        let fragment = decoded(fragment);
        if fragment.is_empty() {
            return None;
        }
        self.by_id(&fragment)
            .or_else(|| self.elements.iter().copied().find(|at| self.is(*at, "name", &fragment)))
    }
}

/// A fragment without its percent signs.
fn decoded(fragment: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), fragment.as_bytes());
    while let Some((first, others)) = rest.split_first() {
        let digits = others.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { others.get(2..).unwrap_or(&[]) } else { others };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What classes are called that keep a link off the screen until it has the focus. Whether they do is for style sheets to say,
/// and so nothing is said of other links, and nothing for sure of these.
const OFF_SCREEN: [&str; 4] = ["skip", "sr-only", "visually-hidden", "screen-reader"];

fn is_offered(scan: &Scan<'_>, id: NodeId) -> bool {
    let is_inner =
        scan.attribute(id, "href").is_some_and(|href| href.starts_with('#') || href.starts_with("/#"));
    let class = scan.attribute(id, "class").unwrap_or("").to_ascii_lowercase();
    scan.name(id) == "a"
        && is_inner
        && OFF_SCREEN.iter().any(|word| class.contains(word))
        && scan.is_skip_link(id)
}

fn skip(scan: &Scan<'_>, id: NodeId) -> Verdict {
    match scan.skip_target(id) {
        Some(target) if scan.is_read(target) => Verdict::Passes,
        Some(_) => Verdict::unsure("What the link leads to is hidden until then: see that it is shown."),
        None => Verdict::unsure("The link, if it is one past what repeats, leads to nothing on this page."),
    }
}
