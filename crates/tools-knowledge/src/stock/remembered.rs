//! Patterns that were told of: who finds one loads it next, and runs it then.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::item::Item;

/// Those of so many files are remembered at least, and of twice as many at most: a few MiB.
const LATEST: usize = 4_096;
/// Of more files than that none is remembered.
const LARGE: usize = 32;

/// Patterns of one state of a library, the latest that were asked for.
#[derive(Default)]
pub(super) struct Remembered(Mutex<Ages>);

#[derive(Default)]
struct Ages {
    /// Of which generation and epoch.
    state: (i64, i64),
    young: BTreeMap<String, Arc<Item>>,
    /// Files of what is young.
    files: usize,
    /// What was young before there were so many: let go of when there are so many again.
    old: BTreeMap<String, Arc<Item>>,
}

impl Ages {
    fn get(&mut self, id: &str) -> Option<Arc<Item>> {
        if let Some(item) = self.young.get(id) {
            return Some(Arc::clone(item));
        }
        let (id, item) = self.old.remove_entry(id)?;
        self.put(id, Arc::clone(&item));
        Some(item)
    }

    fn put(&mut self, id: String, item: Arc<Item>) {
        let files = item.stamps.len().max(1);
        if files > LARGE {
            return;
        }
        if self.files >= LATEST {
            self.old = std::mem::take(&mut self.young);
            self.files = 0;
        }
        if self.young.insert(id, item).is_none() {
            self.files += files;
        }
    }
}

impl Remembered {
    /// Those of these ids that a library has in this state, in order of `ids`. What is not remembered is asked for at once; what that does
    /// not give is not there.
    pub(super) fn of<E>(
        &self,
        state: (i64, i64),
        ids: &[String],
        ask: impl FnOnce(&[String]) -> Result<Vec<Item>, E>,
    ) -> Result<Vec<Arc<Item>>, E> {
        let (mut found, missing) = {
            let mut ages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if ages.state != state {
                *ages = Ages { state, ..Ages::default() };
            }
            let found: Vec<Option<Arc<Item>>> = ids.iter().map(|id| ages.get(id)).collect();
            let is_missing = |(id, item): (&String, &Option<_>)| item.is_none().then(|| id.clone());
            let missing: Vec<String> = ids.iter().zip(&found).filter_map(is_missing).collect();
            (found, missing)
        };
        if !missing.is_empty() {
            let asked: BTreeMap<String, Arc<Item>> =
                ask(&missing)?.into_iter().map(|item| (item.id.short().to_owned(), Arc::new(item))).collect();
            for (id, item) in ids.iter().zip(&mut found) {
                if item.is_none() {
                    *item = asked.get(id).cloned();
                }
            }
            let mut ages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if ages.state == state {
                for (id, item) in asked {
                    ages.put(id, item);
                }
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Nothing: the same state may be another one from here on.
    pub(super) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Ages::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::RelPath;
    use exec::census::Stamp;
    use library::PatternId;
    use library::pattern::survey;

    fn item(id: &str) -> Item {
        Item {
            id: PatternId::new(id).unwrap(),
            description: String::new(),
            quality: None,
            executable: None,
            stated: 0,
            verified: false,
            base: None,
            found: survey([format!("{id}.md").as_str()]).found.remove(0),
            stamps: vec![(
                RelPath::new(&format!("{id}.md")).unwrap(),
                Stamp { len: 0, modified: 0, changed: 0, inode: 1 },
            )],
            texts: String::new(),
        }
    }

    /// Asks for these, and says which were not remembered.
    fn asked(known: &Remembered, state: (i64, i64), ids: &[&str]) -> (Vec<String>, Vec<String>) {
        let (ids, mut missing) = (ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>(), Vec::new());
        let there = |some: &[String]| {
            missing = some.to_vec();
            Ok::<_, ()>(some.iter().filter(|id| !id.ends_with("none")).map(|id| item(id)).rev().collect())
        };
        let found = known.of(state, &ids, there).unwrap();
        (found.iter().map(|item| item.id.short().to_owned()).collect(), missing)
    }

    #[test]
    fn what_was_found_is_not_asked_for_again_in_the_same_state() {
        let known = Remembered::default();
        let (found, missing) = asked(&known, (1, 1), &["a/one", "a/none", "a/two"]);
        assert_eq!((found, missing.len()), (vec!["a/one".to_owned(), "a/two".to_owned()], 3));
        let (found, missing) = asked(&known, (1, 1), &["a/two", "a/three", "a/one", "a/none"]);
        assert_eq!((found.len(), missing), (3, vec!["a/three".to_owned(), "a/none".to_owned()]));
        assert_eq!(asked(&known, (1, 2), &["a/one"]).1, ["a/one"], "an epoch later it may be another");
        known.clear();
        assert_eq!(asked(&known, (1, 2), &["a/one"]).1, ["a/one"]);
    }

    #[test]
    fn what_has_very_many_files_is_not_remembered() {
        let known = Remembered::default();
        let ids = ["a/large".to_owned()];
        let mut asks = 0;
        for _ in 0..2 {
            let large = |_: &[String]| {
                asks += 1;
                let mut large = item("a/large");
                large.stamps = vec![large.stamps.remove(0); LARGE + 1];
                Ok::<_, ()>(vec![large])
            };
            assert_eq!(known.of((1, 1), &ids, large).unwrap().len(), 1);
        }
        assert_eq!(asks, 2);
    }

    #[test]
    fn the_latest_are_remembered_and_no_more_than_twice_as_many() {
        let known = Remembered::default();
        for i in 0..3 * LATEST {
            asked(&known, (1, 1), &[&format!("a/p{i}"), "a/always"]);
        }
        assert!(asked(&known, (1, 1), &["a/always", &format!("a/p{}", 3 * LATEST - 1)]).1.is_empty());
        assert_eq!(asked(&known, (1, 1), &["a/p0"]).1, ["a/p0"]);
        let ages = known.0.lock().unwrap();
        assert!(ages.young.len() + ages.old.len() <= 2 * LATEST);
    }
}
