//! What `a11y_scan` and `visual_diff` are made of.
//!
//! - [`place`]: what a caller may name as a page.
//! - [`engine`]: axe-core, where it comes from and how it is asked, frame by frame.
//! - [`browse`]: pages in a browser, one after another.
//! - [`look`]: what axe-core finds on them.
//! - [`drive`]: opening pages and acting on them in a browser.
//! - [`seen`]: what was looked at, and its report.
//! - [`outcome`]: findings of several pages together, held to a baseline and a threshold.

pub(crate) mod browse;
pub(crate) mod drive;
pub(crate) mod engine;
pub(crate) mod look;
pub(crate) mod outcome;
pub(crate) mod place;
pub(crate) mod seen;

use std::collections::BTreeMap;

use a11y::Impact;
use kit::Section;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Grade {
    /// A nuisance.
    Minor,
    /// Some get stuck for a while.
    Moderate,
    /// Some do not get through.
    Serious,
    /// Some cannot use it at all.
    Critical,
}

impl From<Impact> for Grade {
    fn from(impact: Impact) -> Self {
        match impact {
            Impact::Minor => Self::Minor,
            Impact::Moderate => Self::Moderate,
            Impact::Serious => Self::Serious,
            Impact::Critical => Self::Critical,
        }
    }
}

/// `[a11y]` in `gatewright.toml`: what scans ask where a call does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct A11ySection {
    /// Only rules with one of these tags, axe-core's, such as `wcag2aa`; none: all that are on by default.
    pub(crate) tags: Vec<String>,
    /// Rules that are asked, or not, whatever their tags.
    pub(crate) rules: BTreeMap<String, bool>,
    /// The least impact that fails a scan.
    pub(crate) threshold: Option<Grade>,
    /// A file with findings that are known.
    pub(crate) baseline: Option<String>,
}

impl Section for A11ySection {
    const NAME: &'static str = "a11y";
}

/// Which rules are asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    pub(crate) tags: Vec<String>,
    pub(crate) rules: BTreeMap<String, bool>,
}

impl Rules {
    /// Whether a rule is asked: by its name, else by its tags, else where it is on by default.
    pub(crate) fn asks(&self, id: &str, tags: &[String], by_default: bool) -> bool {
        match self.rules.get(id) {
            Some(asked) => *asked,
            None if self.tags.is_empty() => by_default,
            None => tags.iter().any(|tag| self.tags.contains(tag)) && !tags.iter().any(|t| t == "deprecated"),
        }
    }
}
