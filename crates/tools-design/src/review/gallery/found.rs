//! What is wrong with examples, and whether it was so before.

use std::collections::BTreeMap;

use a11y::Findings;
use kits::Finding;

/// Most elements that a finding names.
const ELEMENTS: usize = 10;

/// What was found of an example, in all its colour schemes.
#[derive(Default)]
pub(super) struct Found {
    now: Option<BTreeMap<String, Finding>>,
    before: Option<BTreeMap<String, Finding>>,
    /// How many things could not be decided.
    pub(super) undecided: u64,
}

impl Found {
    /// Adds what was found now.
    pub(super) fn now(&mut self, found: &Findings) {
        self.undecided = self.undecided.max(found.incomplete.len() as u64);
        gather(found, self.now.get_or_insert_default());
    }

    /// Adds what the base had.
    pub(super) fn before(&mut self, found: &Findings) {
        gather(found, self.before.get_or_insert_default());
    }

    /// The findings, each with whether the base had it; `None` where nobody looked.
    pub(super) fn into_findings(self) -> Option<Vec<Finding>> {
        let older = self.before;
        let aged = |mut finding: Finding| {
            finding.is_old = older.as_ref().map(|older| {
                let all = |old: &Finding| finding.elements.iter().all(|e| old.elements.contains(e));
                older.get(&finding.rule).is_some_and(all)
            });
            finding.elements.truncate(ELEMENTS);
            finding
        };
        self.now.map(|now| now.into_values().map(aged).collect())
    }
}

/// Adds what was found, by rule.
fn gather(found: &Findings, to: &mut BTreeMap<String, Finding>) {
    for finding in &found.violations {
        let entry = to.entry(finding.rule.clone()).or_insert_with(|| Finding {
            rule: finding.rule.clone(),
            impact: finding.impact.word().to_owned(),
            help: finding.help.clone(),
            help_url: finding.help_url.clone(),
            ..Finding::default()
        });
        for node in &finding.nodes {
            let selector = node.target.join(" ");
            if !entry.elements.contains(&selector) {
                entry.elements.push(selector);
            }
        }
    }
}
