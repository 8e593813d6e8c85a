//! Patterns that were told of: who finds one loads it next, and runs it then.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::item::Item;

/// Those of so many bytes are remembered at least, and of twice as many at most.
const LATEST: usize = 4 * 1024 * 1024;
/// What takes more bytes than that is not remembered.
const LARGE: usize = 32 * 1024;

/// Patterns of one state of a library, the latest that were asked for.
#[derive(Default)]
pub(super) struct Remembered(Mutex<Ages>);

#[derive(Default)]
struct Ages {
    /// Of which generation and epoch.
    state: (i64, i64),
    young: BTreeMap<String, Arc<Item>>,
    /// What is young takes so many.
    bytes: usize,
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
        let bytes = id.len() + item.bytes();
        if bytes > LARGE {
            return;
        }
        if self.bytes >= LATEST {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        if self.young.insert(id, item).is_none() {
            self.bytes += bytes;
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
    fn what_is_very_long_is_not_remembered() {
        let known = Remembered::default();
        let ids = ["a/large".to_owned()];
        let mut asks = 0;
        for _ in 0..2 {
            let large = |_: &[String]| {
                asks += 1;
                let item = item("a/large");
                let stamps = vec![item.stamps[0].clone(); LARGE / size_of::<Stamp>()];
                Ok::<_, ()>(vec![Item { stamps, ..item }])
            };
            assert_eq!(known.of((1, 1), &ids, large).unwrap().len(), 1);
        }
        assert_eq!(asks, 2);
    }

    #[test]
    fn the_latest_are_remembered_and_no_more_than_twice_as_many() {
        let known = Remembered::default();
        let many = 3 * LATEST / item("a/p00000").bytes();
        for i in 0..many {
            asked(&known, (1, 1), &[&format!("a/p{i}"), "a/always"]);
        }
        assert!(asked(&known, (1, 1), &["a/always", &format!("a/p{}", many - 1)]).1.is_empty());
        assert_eq!(asked(&known, (1, 1), &["a/p0"]).1, ["a/p0"]);
        let ages = known.0.lock().unwrap();
        let all = ages.young.iter().chain(&ages.old).map(|(id, item)| id.len() + item.bytes());
        assert!(all.sum::<usize>() <= 2 * (LATEST + LARGE));
    }
}
