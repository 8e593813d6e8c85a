//! What is known of rules, roles, attributes, elements and languages: facts of ARIA 1.2, HTML-AAM and the IANA Language Subtag
//! Registry in the state that axe-core 4.14 goes by, as data (`data/`).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::finding::Impact;

/// One rule of axe-core's.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleFacts {
    pub(crate) impact: Impact,
    pub(crate) tags: Vec<String>,
    /// Whether it is asked where nobody chooses: enabled, and neither experimental nor deprecated.
    pub(crate) on_by_default: bool,
    /// Whether elements that no assistive technology sees are left out.
    #[serde(default = "yes")]
    pub(crate) exclude_hidden: bool,
    /// What it asks, in our words.
    pub(crate) help: String,
}

const fn yes() -> bool {
    true
}

/// The version of axe-core whose rules these are, as its pages about rules are numbered.
pub(crate) const VERSION: &str = "4.14";

/// Every rule by id.
pub(crate) fn rules() -> &'static BTreeMap<String, RuleFacts> {
    static RULES: OnceLock<BTreeMap<String, RuleFacts>> = OnceLock::new();
    RULES.get_or_init(|| serde_json::from_str(include_str!("../data/rules.json")).unwrap_or_default())
}
