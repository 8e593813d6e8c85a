//! What is found.

use serde::{Deserialize, Serialize};

/// How much a finding matters to those whom it concerns, as axe-core grades it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Impact {
    /// A nuisance.
    Minor,
    /// Some get stuck for a while.
    Moderate,
    /// Some do not get through.
    Serious,
    /// Some cannot use it at all.
    Critical,
}

impl Impact {
    /// The word for it, axe-core's.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Moderate => "moderate",
            Self::Serious => "serious",
            Self::Critical => "critical",
        }
    }
}

/// Where something is on the page, in CSS pixels from its top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the members of a DOMRect")]
pub struct Box {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// One element that a finding is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// A selector for each frame on the way, the element's own last; within a shadow tree, those of its hosts joined by
    /// ` >>> `.
    pub target: Vec<String>,
    /// Its markup, cut.
    pub html: String,
    /// Its line in the source, from 1, where that is known.
    pub line: Option<u32>,
    /// Where it is on the page, where it was drawn.
    pub area: Option<Box>,
    /// What is wrong with it, one sentence each.
    pub why: Vec<String>,
}

/// One rule, and the elements that do not keep it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's id, axe-core's.
    pub rule: String,
    /// How much it matters.
    pub impact: Impact,
    /// What the rule asks.
    pub help: String,
    /// A page about it.
    pub help_url: String,
    /// The criteria of WCAG that it belongs to, such as `1.4.3`; none for what is best practice.
    pub criteria: Vec<String>,
    /// Its tags, axe-core's.
    pub tags: Vec<String>,
    /// The elements, in the order of the document.
    pub nodes: Vec<Node>,
}

/// All that was found on one page.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Findings {
    /// What is wrong.
    pub violations: Vec<Finding>,
    /// What somebody has to look at: it could not be decided.
    pub incomplete: Vec<Finding>,
}

/// The criteria that tags name: `wcag143` is 1.4.3, `wcag1412` is 1.4.12. Those of levels (`wcag2aa`) name none.
#[must_use]
pub fn criteria(tags: &[String]) -> Vec<String> {
    let mut found: Vec<String> = tags
        .iter()
        .filter_map(|tag| {
            let digits = tag.strip_prefix("wcag")?;
            let is_criterion = (3..=4).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
            is_criterion.then(|| format!("{}.{}.{}", &digits[..1], &digits[1..2], &digits[2..]))
        })
        .collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_name_criteria_and_levels_do_not() {
        let tags = ["cat.color", "wcag2aa", "wcag143", "wcag1412", "wcag21a", "best-practice", "wcag22aa"];
        assert_eq!(criteria(&tags.map(str::to_owned)), ["1.4.3", "1.4.12"]);
    }
}
