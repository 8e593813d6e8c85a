//! What looking through a library came to.

use std::collections::BTreeMap;

/// By category.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report(BTreeMap<String, Counts>);

/// What became of patterns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) indexed: u64,
    pub(crate) skipped: u64,
    pub(crate) failed: u64,
    pub(crate) removed: u64,
}

impl Report {
    /// What became of patterns of a category.
    pub(super) fn of(&mut self, category: &str) -> &mut Counts {
        self.0.entry(category.to_owned()).or_default()
    }

    /// All of it, or of one category.
    pub(crate) fn sum(&self, only: Option<&str>) -> Counts {
        let of_it = self.0.iter().filter(|(category, _)| only.is_none_or(|only| only == *category));
        of_it.fold(Counts::default(), |sum, (_, counts)| sum.and(*counts))
    }
}

impl Counts {
    /// Both together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            indexed: self.indexed + other.indexed,
            skipped: self.skipped + other.skipped,
            failed: self.failed + other.failed,
            removed: self.removed + other.removed,
        }
    }
}
