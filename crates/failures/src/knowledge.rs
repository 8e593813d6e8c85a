//! What an analyzer knows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    analyzer::Analyzer,
    pattern::{Category, Language, Severity},
};

/// The patterns in figures, and each by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KnowledgeBase {
    /// How many patterns these are.
    pub total: usize,
    /// How many of them come from the configuration.
    pub own: usize,
    /// How many of each category; every category is named.
    pub by_category: BTreeMap<Category, usize>,
    /// How many of each severity; every severity is named.
    pub by_severity: BTreeMap<Severity, usize>,
    /// How many for each language; a pattern of several counts for each.
    pub by_language: BTreeMap<Language, usize>,
    /// How many for any language.
    pub any_language: usize,
    /// The patterns, by id.
    pub patterns: Vec<Known>,
}

/// A pattern that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Known {
    /// Its id.
    pub id: String,
    /// Its category.
    pub category: Category,
    /// Its severity.
    pub severity: Severity,
    /// Its languages; none means any.
    pub languages: Vec<Language>,
    /// What it is called.
    pub title: String,
    /// Whether it comes from the configuration.
    pub own: bool,
}

impl Analyzer {
    /// What is known, of all categories or of one.
    #[must_use]
    pub fn knowledge(&self, category: Option<Category>) -> KnowledgeBase {
        let mut patterns: Vec<Known> = self
            .rules()
            .iter()
            .filter(|rule| category.is_none_or(|category| rule.spec.category == category))
            .map(|rule| Known {
                id: rule.spec.id.clone(),
                category: rule.spec.category,
                severity: rule.spec.severity,
                languages: rule.spec.languages.clone(),
                title: rule.spec.title.clone(),
                own: rule.own,
            })
            .collect();
        patterns.sort_by(|a, b| a.id.cmp(&b.id));
        let count = |wanted: &dyn Fn(&Known) -> bool| patterns.iter().filter(|known| wanted(known)).count();
        KnowledgeBase {
            total: patterns.len(),
            own: count(&|known| known.own),
            by_category: Category::ALL.iter().map(|&c| (c, count(&|known| known.category == c))).collect(),
            by_severity: Severity::ALL.iter().map(|&s| (s, count(&|known| known.severity == s))).collect(),
            by_language: Language::ALL
                .iter()
                .map(|&l| (l, count(&|known| known.languages.contains(&l))))
                .collect(),
            any_language: count(&|known| known.languages.is_empty()),
            patterns,
        }
    }
}
