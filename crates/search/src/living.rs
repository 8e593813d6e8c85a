//! Which documents a library has now: those of its base that live, and what changed since.

use std::collections::BTreeMap;

use fst::{IntoStreamer as _, Streamer as _};

use crate::plan::LibraryView;

impl LibraryView<'_> {
    /// Whether it has a document of this id.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.delta.has(id) || self.columns.number(id).is_some_and(|number| !self.delta.is_dead(number))
    }

    /// How many documents each category has. Goes through a byte or two of every document.
    #[must_use]
    pub fn categories(&self) -> BTreeMap<String, u64> {
        let mut counts = vec![0u64; self.columns.categories().len()];
        for number in (0..self.columns.documents()).filter(|number| !self.delta.is_dead(*number)) {
            if let Some(count) = counts.get_mut(usize::from(self.columns.category(number))) {
                *count += 1;
            }
        }
        let of_base = self.columns.categories().iter().cloned().zip(counts);
        let mut all: BTreeMap<String, u64> = of_base.filter(|(_, count)| *count > 0).collect();
        for document in self.delta.each() {
            *all.entry(document.category.to_string()).or_default() += 1;
        }
        all
    }

    /// Whether a document here has the id of one over there. Goes through the ids of the smaller library.
    #[must_use]
    pub fn shares_with(&self, other: &Self) -> bool {
        let (few, many) = if self.documents() <= other.documents() { (self, other) } else { (other, self) };
        if few.delta.each().any(|document| many.has(document.id())) {
            return true;
        }
        let mut ids = few.columns.ids().into_stream();
        while let Some((id, number)) = ids.next() {
            let lives = u32::try_from(number).is_ok_and(|number| !few.delta.is_dead(number));
            if lives && std::str::from_utf8(id).is_ok_and(|id| many.has(id)) {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analyst, Document, Memory};

    fn analysed(id: &str) -> crate::Analysed {
        let (category, name) = id.split_once('/').unwrap();
        let document = Document {
            id,
            category,
            quality: None,
            executable: false,
            verified: false,
            name,
            title: name,
            tags: &[],
            description: "",
            headings: &[],
            code: "",
            body: "",
        };
        Analyst::new().analyse(&document)
    }

    #[test]
    fn what_is_dead_is_counted_nowhere_and_what_changed_once() {
        let mut one = Memory::build(["a/x", "a/y", "b/z"].map(analysed)).unwrap();
        let other = Memory::build(["a/y", "c/w"].map(analysed)).unwrap();
        let mut none = Memory::build(["b/q"].map(analysed)).unwrap();
        assert!(one.view().shares_with(&other.view()) && !one.view().shares_with(&none.view()));
        one.remove("a/y").unwrap();
        one.put(analysed("b/z")).unwrap();
        one.put(analysed("b/new")).unwrap();
        let expected = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]);
        assert_eq!(one.view().categories(), expected);
        assert!(one.view().has("b/new") && one.view().has("a/x") && !one.view().has("a/y"));
        assert!(!one.view().shares_with(&other.view()), "what is dead is shared with nobody");
        none.put(analysed("b/new")).unwrap();
        assert!(none.view().shares_with(&one.view()) && one.view().shares_with(&none.view()));
    }
}
