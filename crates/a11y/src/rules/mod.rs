//! The rules that markup alone decides, as functions over a document. Each file has the rules of one kind; [`ALL`] names them.

mod aria_attributes;
mod aria_names;
mod aria_roles;
mod aria_structure;
mod aria_values;
mod by;
mod document;
mod forms;
mod headings;
mod landmarks;
mod links;
mod lists;
mod media;
mod misc;
mod names;
mod tables;

use crate::catalogue;
use crate::dom::{Document, NodeId};
use crate::finding::{Finding, Findings, Node, criteria};
use crate::scan::Scan;

/// Most characters of an element's markup that are shown.
const MAX_HTML: usize = 300;

/// What a rule says of one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The element keeps it.
    Passes,
    /// Somebody has to look; what at.
    Unsure(Vec<String>),
    /// The element breaks it; how.
    Breaks(Vec<String>),
}

impl Verdict {
    fn unsure(why: impl Into<String>) -> Self {
        Self::Unsure(vec![why.into()])
    }

    fn breaks(why: impl Into<String>) -> Self {
        Self::Breaks(vec![why.into()])
    }

    /// Broken, unless this holds.
    fn passes_if(holds: bool, why: &str) -> Self {
        if holds { Self::Passes } else { Self::breaks(why) }
    }

    /// The worse of what two parts of a rule say.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Breaks(mut one), Self::Breaks(two)) => {
                one.extend(two);
                Self::Breaks(one)
            }
            (Self::Breaks(one), _) | (_, Self::Breaks(one)) => Self::Breaks(one),
            (Self::Unsure(mut one), Self::Unsure(two)) => {
                one.extend(two);
                Self::Unsure(one)
            }
            (Self::Unsure(one), Self::Passes) | (Self::Passes, Self::Unsure(one)) => Self::Unsure(one),
            (Self::Passes, Self::Passes) => Self::Passes,
        }
    }
}

/// What a rule says of all its elements.
type Verdicts = Vec<(NodeId, Verdict)>;

/// One rule.
pub(crate) struct Rule {
    /// Its id, axe-core's.
    pub(crate) id: &'static str,
    /// Whether it has something to say of an element; asked of those that are not hidden, unless the catalogue says that it
    /// is asked of all.
    pub(crate) applies: fn(&Scan<'_>, NodeId) -> bool,
    /// What it says of one of the elements to which it applies.
    pub(crate) judge: fn(&Scan<'_>, NodeId) -> Verdict,
    /// What it says of all of them together, where that is more than each alone.
    pub(crate) together: Option<fn(&Scan<'_>, &mut Verdicts)>,
}

impl Rule {
    /// A rule that looks at each element alone.
    const fn new(
        id: &'static str,
        applies: fn(&Scan<'_>, NodeId) -> bool,
        judge: fn(&Scan<'_>, NodeId) -> Verdict,
    ) -> Self {
        Self { id, applies, judge, together: None }
    }

    /// A rule that looks at all elements together.
    const fn of_all(
        id: &'static str,
        applies: fn(&Scan<'_>, NodeId) -> bool,
        together: fn(&Scan<'_>, &mut Verdicts),
    ) -> Self {
        Self { id, applies, judge: |_, _| Verdict::Passes, together: Some(together) }
    }
}

/// Every rule.
const ALL: &[&[Rule]] = &[
    names::RULES,
    forms::RULES,
    aria_names::RULES,
    aria_attributes::RULES,
    aria_values::RULES,
    aria_roles::RULES,
    aria_structure::RULES,
    lists::RULES,
    tables::RULES,
    landmarks::RULES,
    headings::RULES,
    document::RULES,
    media::RULES,
    links::RULES,
    misc::RULES,
];

/// Which of axe-core's rules are not decided by [`check`] and are on by default.
#[must_use]
pub fn undecided() -> Vec<&'static str> {
    let is_here = |id: &str| ALL.iter().copied().flatten().any(|rule| rule.id == id);
    let rules = catalogue::rules().iter();
    rules.filter(|(id, facts)| facts.on_by_default && !is_here(id)).map(|(id, _)| id.as_str()).collect()
}

/// Looks at a document's markup. `is_asked` says of a rule, by its id, its tags and whether it is on by default, if it is to
/// be asked.
#[must_use]
pub fn check(html: &str, is_asked: &dyn Fn(&str, &[String], bool) -> bool) -> Findings {
    let document = Document::parse(html);
    let scan = Scan::new(&document);
    let mut found = Findings::default();
    for rule in ALL.iter().copied().flatten() {
        let Some(facts) = catalogue::rules().get(rule.id) else { continue };
        if !is_asked(rule.id, &facts.tags, facts.on_by_default) {
            continue;
        }
        let verdicts = ask(&scan, rule, facts.exclude_hidden);
        let of = |nodes: Vec<Node>| Finding {
            rule: rule.id.to_owned(),
            impact: facts.impact,
            help: facts.help.clone(),
            help_url: format!(
                "https://dequeuniversity.com/rules/axe/{}/{}?application=axeAPI",
                catalogue::VERSION,
                rule.id
            ),
            criteria: criteria(&facts.tags),
            tags: facts.tags.clone(),
            nodes,
        };
        let (mut broken, mut unsure) = (Vec::new(), Vec::new());
        for (id, verdict) in verdicts {
            match verdict {
                Verdict::Passes => {}
                Verdict::Unsure(why) => unsure.push(node(&document, id, why)),
                Verdict::Breaks(why) => broken.push(node(&document, id, why)),
            }
        }
        for (nodes, list) in [(broken, &mut found.violations), (unsure, &mut found.incomplete)] {
            if !nodes.is_empty() {
                list.push(of(nodes));
            }
        }
    }
    found
}

/// What a rule says of every element to which it applies.
fn ask(scan: &Scan<'_>, rule: &Rule, exclude_hidden: bool) -> Verdicts {
    let mut verdicts = Verdicts::new();
    for id in &scan.elements {
        if (exclude_hidden && !scan.is_read(*id)) || !(rule.applies)(scan, *id) {
            continue;
        }
        let verdict = (rule.judge)(scan, *id);
        if scan.is_spent() {
            break;
        }
        verdicts.push((*id, verdict));
    }
    if let Some(together) = rule.together.filter(|_| !scan.is_spent()) {
        together(scan, &mut verdicts);
    }
    if let Some(top) = scan.document.html().filter(|_| scan.is_spent()) {
        verdicts.push((top, Verdict::unsure("The document is too entangled to look at all of it.")));
    }
    verdicts
}

fn node(document: &Document, id: NodeId, why: Vec<String>) -> Node {
    Node {
        target: vec![document.path(id)],
        html: document.tag(id, MAX_HTML),
        line: document.element(id).map(|element| element.line).filter(|line| *line > 0),
        area: None,
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_known_and_there_once() {
        let mut ids: Vec<&str> = ALL.iter().copied().flatten().map(|rule| rule.id).collect();
        assert!(ids.iter().all(|id| catalogue::rules().contains_key(*id)));
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
        assert_eq!(all, 96);
    }
}
