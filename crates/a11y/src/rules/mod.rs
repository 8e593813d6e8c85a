//! The rules that markup alone decides, as functions over a document. Each file has the rules of one kind; [`ALL`] names them.

mod document;

use crate::catalogue;
use crate::dom::{Document, NodeId};
use crate::finding::{Finding, Findings, Node, criteria};

/// Most characters of an element's markup that are shown.
const MAX_HTML: usize = 300;

/// What a rule says of one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The element keeps it.
    Passes,
    /// Somebody has to look; what at.
    Unsure(String),
    /// The element breaks it; how.
    Breaks(String),
}

/// A document that is being looked at.
pub(crate) struct Scan<'d> {
    pub(crate) document: &'d Document,
}

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
    pub(crate) together: Option<fn(&Scan<'_>, &mut Vec<(NodeId, Verdict)>)>,
}

/// Every rule.
const ALL: &[&[Rule]] = &[document::RULES];

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
    let scan = Scan { document: &document };
    let elements = document.elements();
    let mut found = Findings::default();
    for rule in ALL.iter().copied().flatten() {
        let Some(facts) = catalogue::rules().get(rule.id) else { continue };
        if !is_asked(rule.id, &facts.tags, facts.on_by_default) {
            continue;
        }
        let mut verdicts: Vec<(NodeId, Verdict)> = elements
            .iter()
            .filter(|id| (rule.applies)(&scan, **id))
            .map(|id| (*id, (rule.judge)(&scan, *id)))
            .collect();
        if let Some(together) = rule.together {
            together(&scan, &mut verdicts);
        }
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

fn node(document: &Document, id: NodeId, why: String) -> Node {
    Node {
        target: vec![document.path(id)],
        html: document.tag(id, MAX_HTML),
        line: document.element(id).map(|element| element.line).filter(|line| *line > 0),
        area: None,
        why: vec![why],
    }
}
