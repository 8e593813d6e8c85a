//! Findings of several pages together, without those that are known, and whether they fail.

use std::collections::BTreeMap;

use a11y::{Finding, Findings, Node};
use contract::{Fault, RelPath};
use jiff::civil::Date;
use kit::ReadDesk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Grade;

/// Most elements that are shown of one issue.
const SHOWN: usize = 5;

/// Most characters of an element's markup.
const MAX_HTML: usize = 200;

/// Where an element is, in CSS pixels from the page's top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Place {
    /// From the left.
    pub(crate) x: f64,
    /// From the top.
    pub(crate) y: f64,
    /// How wide.
    pub(crate) width: f64,
    /// How high.
    pub(crate) height: f64,
}

/// An element.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Element {
    /// The page that it is on.
    pub(crate) page: String,
    /// Selectors: of each frame on the way, its own last; ` >>> ` leads into a shadow tree.
    pub(crate) target: Vec<String>,
    /// Its markup, cut.
    pub(crate) html: String,
    /// Its line in the file, in static mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u32>,
    /// Where it was drawn.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub(crate) area: Option<Place>,
    /// What is wrong with it.
    pub(crate) why: Vec<String>,
}

/// One rule that elements break.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Issue {
    /// The rule's id, axe-core's.
    pub(crate) id: String,
    /// How much it matters.
    pub(crate) impact: Grade,
    /// What the rule asks.
    pub(crate) description: String,
    /// A page about it.
    pub(crate) help_url: String,
    /// Criteria of WCAG; none for best practice.
    pub(crate) criteria: Vec<String>,
    /// How many elements break it.
    pub(crate) node_count: u64,
    /// The first of them.
    pub(crate) nodes: Vec<Element>,
}

/// One rule that could not be decided.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Doubt {
    /// The rule's id.
    pub(crate) id: String,
    /// How much it matters.
    pub(crate) impact: Grade,
    /// What the rule asks.
    pub(crate) description: String,
    /// How many elements somebody has to look at.
    pub(crate) node_count: u64,
    /// The first of them.
    pub(crate) nodes: Vec<Element>,
}

/// What a baseline did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Baselined {
    /// Elements that are known and not counted.
    pub(crate) suppressed: u64,
    /// Entries whose time is over: their elements count again.
    pub(crate) expired: u64,
    /// Entries for which nothing was found any more: they can go.
    pub(crate) gone: u64,
}

/// One finding that is known.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    page: String,
    target: String,
    #[serde(default)]
    expires: Option<Date>,
    /// For whoever reads the file.
    #[serde(default, rename = "reason")]
    _reason: Option<String>,
}

/// A file of findings that are known: `{ "version": 1, "entries": [ … ] }`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Baseline {
    version: u32,
    entries: Vec<Entry>,
}

impl Baseline {
    /// Reads one.
    pub(crate) fn read(path: &str, desk: &ReadDesk) -> Result<Self, Fault> {
        let file: RelPath = exec::view::path_argument(path)?;
        let text = desk.view().read_text(&file)?;
        let wrong = |why: String| {
            Fault::invalid(format!("baseline: {path}: {why}")).about(path).suggest(
                "It is `{\"version\": 1, \"entries\": [{\"rule\", \"page\", \"target\", \"expires\": \"2027-01-31\", \"reason\"}]}`.",
            )
        };
        let baseline: Self = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        if baseline.version != 1 {
            return Err(wrong(format!("version {} is not known", baseline.version)));
        }
        Ok(baseline)
    }
}

/// All that was found.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    issues: BTreeMap<String, (Finding, Vec<Element>)>,
    doubts: BTreeMap<String, (Finding, Vec<Element>)>,
}

/// How an element of a page is named in a baseline.
fn target(node: &Node) -> String {
    node.target.join(" | ")
}

impl Outcome {
    /// Takes in what was found on a page; says how many issues there are on it.
    pub(crate) fn add(&mut self, page: &str, findings: Findings, known: &mut Known<'_>) -> u64 {
        let mut count = 0;
        for finding in findings.violations {
            let nodes: Vec<Element> = finding
                .nodes
                .iter()
                .filter(|node| !known.has(&finding.rule, page, &target(node)))
                .map(|node| element(page, node))
                .collect();
            if !nodes.is_empty() {
                count += 1;
                let rule = finding.rule.clone();
                let impact = finding.impact;
                let entry = self.issues.entry(rule).or_insert_with(|| (without_nodes(finding), Vec::new()));
                // As grave as on the page where it is gravest.
                entry.0.impact = entry.0.impact.max(impact);
                entry.1.extend(nodes);
            }
        }
        for finding in findings.incomplete {
            let nodes: Vec<Element> = finding.nodes.iter().map(|node| element(page, node)).collect();
            let rule = finding.rule.clone();
            self.doubts.entry(rule).or_insert_with(|| (without_nodes(finding), Vec::new())).1.extend(nodes);
        }
        count
    }

    /// The issues, the gravest first.
    pub(crate) fn issues(&self) -> Vec<Issue> {
        let mut issues: Vec<Issue> = self
            .issues
            .values()
            .map(|(finding, nodes)| Issue {
                id: finding.rule.clone(),
                impact: finding.impact.into(),
                description: finding.help.clone(),
                help_url: finding.help_url.clone(),
                criteria: finding.criteria.clone(),
                node_count: nodes.len() as u64,
                nodes: nodes.iter().take(SHOWN).cloned().collect(),
            })
            .collect();
        issues.sort_by(|a, b| (b.impact, b.node_count, &a.id).cmp(&(a.impact, a.node_count, &b.id)));
        issues
    }

    /// What could not be decided, the gravest first.
    pub(crate) fn doubts(&self) -> Vec<Doubt> {
        let mut doubts: Vec<Doubt> = self
            .doubts
            .values()
            .map(|(finding, nodes)| Doubt {
                id: finding.rule.clone(),
                impact: finding.impact.into(),
                description: finding.help.clone(),
                node_count: nodes.len() as u64,
                nodes: nodes.iter().take(2).cloned().collect(),
            })
            .collect();
        doubts.sort_by(|a, b| (b.impact, b.node_count, &a.id).cmp(&(a.impact, a.node_count, &b.id)));
        doubts
    }
}

fn without_nodes(finding: Finding) -> Finding {
    Finding { nodes: Vec::new(), ..finding }
}

fn element(page: &str, node: &Node) -> Element {
    let cut = node.html.chars().count() > MAX_HTML;
    let html: String = node.html.chars().take(MAX_HTML).chain(cut.then_some('…')).collect();
    Element {
        page: page.to_owned(),
        target: node.target.clone(),
        html,
        line: node.line,
        area: node.area.map(|b| Place { x: b.x, y: b.y, width: b.width, height: b.height }),
        why: node.why.clone(),
    }
}

/// A baseline in use.
#[derive(Debug)]
pub(crate) struct Known<'b> {
    baseline: Option<&'b Baseline>,
    today: Date,
    used: Vec<bool>,
    suppressed: u64,
}

impl<'b> Known<'b> {
    /// Entries hold up to and with the day on which they expire.
    pub(crate) fn new(baseline: Option<&'b Baseline>, today: Date) -> Self {
        let used = vec![false; baseline.map_or(0, |b| b.entries.len())];
        Self { baseline, today, used, suppressed: 0 }
    }

    fn has(&mut self, rule: &str, page: &str, target: &str) -> bool {
        let mut has = false;
        let entries = self.baseline.map_or(&[][..], |b| &b.entries);
        for (entry, used) in entries.iter().zip(&mut self.used) {
            if entry.rule == rule && entry.page == page && entry.target == target {
                *used = true;
                has |= entry.expires.is_none_or(|day| self.today <= day);
            }
        }
        self.suppressed += u64::from(has);
        has
    }

    /// What it did.
    pub(crate) fn told(self) -> Option<Baselined> {
        let entries = &self.baseline?.entries;
        let today = self.today;
        let count = |is: &dyn Fn(&Entry, bool) -> bool| {
            entries.iter().zip(&self.used).filter(|(entry, used)| is(entry, **used)).count() as u64
        };
        Some(Baselined {
            suppressed: self.suppressed,
            expired: count(&|entry, used| used && entry.expires.is_some_and(|day| today > day)),
            gone: count(&|_, used| !used),
        })
    }
}
