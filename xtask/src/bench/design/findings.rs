//! What was found on a page, by us and by axe-core itself, in one form.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::session::Session;
use crate::sh::Done;

/// Most pages of one list of issues: a page has no more rules than axe-core.
const MAX_PARTS: usize = 50;

/// How often something was found.
type Counted = BTreeMap<(Kind, String), u64>;

/// Whether it is wrong, or somebody has to look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Violation,
    Incomplete,
}

/// The findings of a page: of violations rule, impact and element, of what is incomplete rule and element.
#[derive(Debug, Default)]
pub(super) struct Findings(Counted);

/// A finding that only one side has.
pub(super) struct Difference {
    pub(super) kind: Kind,
    /// Whether it is ours that has it.
    pub(super) ours: bool,
    pub(super) what: String,
}

impl Findings {
    fn add(&mut self, kind: Kind, rule: &str, impact: &str, target: &str) {
        let what = match kind {
            Kind::Violation => format!("{rule} ({impact}) {target}"),
            Kind::Incomplete => format!("{rule} {target}"),
        };
        *self.0.entry((kind, what)).or_default() += 1;
    }

    pub(super) fn count(&self, kind: Kind) -> u64 {
        self.0.iter().filter(|((of, _), _)| *of == kind).map(|(_, count)| count).sum()
    }

    /// How many both have.
    pub(super) fn shared(&self, other: &Self, kind: Kind) -> u64 {
        let own = self.0.iter().filter(|((of, _), _)| *of == kind);
        own.map(|(what, count)| *count.min(other.0.get(what).unwrap_or(&0))).sum()
    }

    /// What ours has and theirs has not, and the other way round.
    pub(super) fn differences(ours: &Self, theirs: &Self) -> Vec<Difference> {
        let only = |these: &Self, others: &Self, ours: bool| -> Vec<Difference> {
            let more = these.0.iter().flat_map(|(key, count)| {
                let over = count.saturating_sub(*others.0.get(key).unwrap_or(&0));
                (0..over).map(move |_| Difference { kind: key.0, ours, what: key.1.clone() })
            });
            more.collect()
        };
        let mut all = only(ours, theirs, true);
        all.extend(only(theirs, ours, false));
        all
    }

    /// What the reference script said.
    pub(super) fn of_reference(answer: &Value) -> Self {
        let mut findings = Self::default();
        for (kind, field) in [(Kind::Violation, "violations"), (Kind::Incomplete, "incomplete")] {
            for row in answer[field].as_array().into_iter().flatten() {
                let part = |n: usize| row[n].as_str().unwrap_or("none");
                findings.add(kind, part(0), part(1), part(2));
            }
        }
        findings
    }

    /// Scans a page by itself: elements are those of the report, which has all of them, impacts those of the issues.
    pub(super) fn of_scan(session: &mut Session, arguments: &Value) -> Done<Self> {
        let (answer, impacts) = scanned(session, arguments)?;
        let wrong = |why: &str| format!("a11y_scan {arguments}: {why}: {answer}");
        if answer["mode"] != "browser" {
            return Err(wrong("the page was not looked at in a browser"));
        }
        if let Some(error) = answer["pages"][0]["error"].as_str() {
            return Err(wrong(error));
        }
        let report = answer["report"].as_str().ok_or_else(|| wrong("it has no report"))?;
        let sarif: Value = serde_json::from_str(&session.resource(&format!("{report}/report.sarif"))?)
            .map_err(|e| wrong(&e.to_string()))?;
        let mut findings = Self::default();
        for result in sarif["runs"][0]["results"].as_array().into_iter().flatten() {
            let rule = result["ruleId"].as_str().unwrap_or_default();
            let place = &result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
            let kind = if result["kind"] == "fail" { Kind::Violation } else { Kind::Incomplete };
            let impact = impacts.get(rule).map_or("not said", String::as_str);
            findings.add(kind, rule, impact, place.as_str().unwrap_or_default());
        }
        Ok(findings)
    }
}

/// Scans, and follows the list of issues to its end.
fn scanned(session: &mut Session, arguments: &Value) -> Done<(Value, BTreeMap<String, String>)> {
    let mut impacts = BTreeMap::new();
    let mut answer = session.call("a11y_scan", arguments.clone())?;
    let first = answer.clone();
    for _ in 0..MAX_PARTS {
        for issue in answer["issues"].as_array().into_iter().flatten() {
            let text = |field: &str| issue[field].as_str().unwrap_or_default().to_owned();
            impacts.insert(text("id"), text("impact"));
        }
        let Some(cursor) = answer["truncated"]["next"].as_str() else { break };
        let mut on = arguments.clone();
        on["cursor"] = cursor.into();
        answer = session.call("a11y_scan", on)?;
    }
    Ok((first, impacts))
}
