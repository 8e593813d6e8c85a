//! A library's index in the store, asked from where waiting is allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use contract::Fault;
use search::{Analysed, Blob, Columns, Delta, LibraryView, Need, SearchError, Vocabulary};
use serde::{Deserialize, Serialize};
use store_api::index::{
    Changes, Document, Facts, Head, Known, LISTED_AT_ONCE, MAX_AT_ONCE, Piece, Span, Term, Wanted, Whose,
};
use store_api::{Answer, Indexes, StoreError};
use tokio::runtime::Handle;

use super::item::Item;
use super::remembered::Remembered;

/// What wrote an index: another number is not read, and the index is made anew.
pub(super) const FORMAT: u32 = 1;
/// Bytes of lists that are kept in memory for questions to come.
const CACHED: usize = 16 * 1024 * 1024;
/// Documents of lists that are long together.
const LONG: u64 = 100_000;
/// In a large library, so many for each document: the lists of its commonest words.
const CACHED_PER_DOCUMENT: usize = 64;

/// Why an index did not answer.
#[derive(Debug)]
pub(crate) enum Unkept {
    /// Somebody else has changed it: what was known of it is to be read anew.
    Gone,
    /// Something else.
    Fault(Fault),
}

impl From<Fault> for Unkept {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<StoreError> for Unkept {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Stale { .. } => Self::Gone,
            other => Self::Fault(other.into()),
        }
    }
}

impl From<SearchError> for Unkept {
    fn from(error: SearchError) -> Self {
        Self::Fault(Fault::internal(error.to_string()))
    }
}

/// What is remembered of a library beside its index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Notes {
    /// What tells whether any file has come, gone or changed since.
    pub(super) census: String,
    pub(super) files: u64,
    /// What tells whether other patterns have become verified since.
    pub(super) verified: String,
    /// How much is wrong with files that make patterns.
    pub(super) wrong: u64,
    /// What is wrong with names and places.
    pub(super) names: Vec<library::Problem>,
}

/// An index as it was read.
pub(crate) struct Snapshot {
    pub(super) generation: i64,
    pub(super) epoch: i64,
    vocabulary: Arc<Vocabulary>,
    columns: Arc<Columns>,
    pub(super) delta: Delta,
    pub(super) notes: Notes,
}

impl Snapshot {
    /// As a question sees it.
    pub(crate) fn view(&self) -> LibraryView<'_> {
        LibraryView { vocabulary: &self.vocabulary, columns: &self.columns, delta: &self.delta }
    }

    /// Of a library that cannot be read: it has nothing, and one problem.
    pub(super) fn of_nothing(problems: Vec<library::Problem>) -> Self {
        Self {
            generation: -1,
            epoch: -1,
            vocabulary: Arc::new(Vocabulary::empty()),
            columns: Arc::new(Columns::empty()),
            delta: Delta::new(),
            notes: Notes { names: problems, ..Notes::default() },
        }
    }

    fn of(head: &Head) -> Option<Self> {
        if head.facts.format != FORMAT {
            return None;
        }
        let mut delta = Delta::new();
        for dead in &head.dead {
            delta.retire(dead.number, &dead.terms).ok()?;
        }
        for changed in &head.changed {
            delta.put(Analysed::decode(changed).ok()?);
        }
        Some(Self {
            generation: head.generation,
            epoch: head.epoch,
            vocabulary: Arc::new(Vocabulary::decode(&head.facts.vocabulary).ok()?),
            columns: Arc::new(Columns::decode(&head.facts.columns).ok()?),
            delta,
            notes: serde_json::from_str(&head.facts.notes).ok()?,
        })
    }

    /// The same after a change.
    pub(super) fn changed(&self, epoch: i64, delta: Delta, notes: Notes) -> Self {
        let (vocabulary, columns) = (Arc::clone(&self.vocabulary), Arc::clone(&self.columns));
        Self { generation: self.generation, epoch, vocabulary, columns, delta, notes }
    }
}

/// What is kept of an index: a snapshot, nothing, or what no longer can be read.
pub(super) enum There {
    Nothing,
    /// Of this epoch, and in another format or damaged.
    Unreadable(i64),
    Index(Arc<Snapshot>),
}

/// The keeper of one library's index.
pub(super) struct Keeper {
    indexes: Arc<dyn Indexes>,
    whose: Whose,
    /// Terms that were asked for: of one generation.
    cached: Mutex<Cached>,
    items: Remembered,
}

#[derive(Default)]
struct Cached {
    generation: i64,
    bytes: usize,
    /// How many questions there were.
    questions: u64,
    terms: BTreeMap<u32, Kept>,
}

struct Kept {
    term: Arc<Term>,
    has_positions: bool,
    /// The last question that needed it.
    question: u64,
}

impl Kept {
    fn bytes(&self) -> usize {
        self.term.postings.len() + self.term.positions.len() + size_of::<Self>() + size_of::<Term>()
    }
}

impl Cached {
    fn keep(&mut self, term: Arc<Term>, has_positions: bool, question: u64) {
        let kept = match self.terms.get_mut(&term.number) {
            // Another question was faster, and needed more of it.
            Some(there) if there.has_positions && !has_positions => {
                there.question = question.max(there.question);
                return;
            }
            Some(there) => Kept { term, has_positions, question: question.max(there.question) },
            None => Kept { term, has_positions, question },
        };
        self.bytes += kept.bytes();
        let before = self.terms.insert(kept.term.number, kept);
        self.bytes -= before.map_or(0, |before| before.bytes());
    }

    /// Lets go of what was not needed for longest, until half of the room is free.
    fn trim(&mut self, most: usize) {
        if self.bytes <= most {
            return;
        }
        let mut by_age: Vec<(u64, u32)> =
            self.terms.iter().map(|(number, kept)| (kept.question, *number)).collect();
        by_age.sort_unstable();
        for (_, number) in by_age {
            if self.bytes <= most / 2 {
                return;
            }
            self.bytes -= self.terms.remove(&number).map_or(0, |kept| kept.bytes());
        }
    }
}

/// What each of two connections reads, about as much: the second one nothing where that is little.
fn shared(mut wanted: Vec<Wanted>, documents: impl Fn(&Wanted) -> u32) -> (Vec<Wanted>, Vec<Wanted>) {
    if wanted.iter().map(|term| u64::from(documents(term))).sum::<u64>() < LONG {
        return (wanted, Vec::new());
    }
    wanted.sort_by_key(|term| std::cmp::Reverse(documents(term)));
    let (first, second): (Vec<_>, Vec<_>) = wanted.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
    let terms = |some: Vec<(usize, Wanted)>| some.into_iter().map(|(_, term)| term).collect();
    (terms(first), terms(second))
}

/// Waits for an answer. Only where blocking is allowed, in a process that has a runtime.
fn wait<T>(answer: Answer<T>) -> Result<T, Unkept> {
    let runtime = Handle::try_current().map_err(|error| Fault::internal(error.to_string()))?;
    runtime.block_on(answer).map_err(Unkept::from)
}

impl Keeper {
    pub(super) fn new(indexes: Arc<dyn Indexes>, whose: Whose) -> Self {
        Self { indexes, whose, cached: Mutex::default(), items: Remembered::default() }
    }

    pub(super) fn epoch(&self) -> Result<Option<i64>, Unkept> {
        wait(self.indexes.epoch(self.whose.clone()))
    }

    pub(super) fn there(&self) -> Result<There, Unkept> {
        // What was kept of lists may be of a file that is no more: in another one the same numbers are other words.
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = Cached::default();
        self.items.clear();
        let Some(head) = wait(self.indexes.head(self.whose.clone()))? else { return Ok(There::Nothing) };
        Ok(Snapshot::of(&head).map(Arc::new).map_or(There::Unreadable(head.epoch), There::Index))
    }

    /// The terms that a plan needs, from memory as far as they are there. [`Unkept::Gone`] where the generation is no more.
    pub(super) fn terms(&self, of: &Snapshot, needs: &[Need]) -> Result<Vec<Arc<Term>>, Unkept> {
        let mut found: BTreeMap<u32, Arc<Term>> = BTreeMap::new();
        let (question, missing) = {
            let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
            if cached.generation != of.generation {
                *cached = Cached { generation: of.generation, ..Cached::default() };
            }
            cached.questions += 1;
            let question = cached.questions;
            let mut missing = Vec::new();
            for need in needs {
                match cached.terms.get_mut(&need.term) {
                    Some(kept) if kept.has_positions || !need.positions => {
                        kept.question = question;
                        found.insert(need.term, Arc::clone(&kept.term));
                    }
                    _ => missing.push(Wanted { number: need.term, positions: need.positions }),
                }
            }
            (question, missing)
        };
        if !missing.is_empty() {
            let with: BTreeSet<u32> =
                missing.iter().filter(|term| term.positions).map(|term| term.number).collect();
            let terms: Vec<Arc<Term>> = self.read(of, missing)?.into_iter().map(Arc::new).collect();
            let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
            for term in terms {
                if cached.generation == of.generation {
                    cached.keep(Arc::clone(&term), with.contains(&term.number), question);
                }
                found.insert(term.number, term);
            }
            let documents = usize::try_from(of.columns.documents()).unwrap_or(0);
            cached.trim(CACHED.max(documents.saturating_mul(CACHED_PER_DOCUMENT)));
        }
        let all = needs.iter().map(|need| found.get(&need.term).cloned());
        all.collect::<Option<Vec<_>>>().ok_or(Unkept::Gone)
    }

    /// Reads terms: long lists by two connections, each of which has a thread of its own.
    fn read(&self, of: &Snapshot, wanted: Vec<Wanted>) -> Result<Vec<Term>, Unkept> {
        let (first, second) = shared(wanted, |term| of.vocabulary.count(term.number));
        let first = self.indexes.terms(of.generation, first);
        if second.is_empty() {
            return wait(first);
        }
        let second = self.indexes.terms(of.generation, second);
        wait(Box::pin(async {
            let (mut all, second) = tokio::try_join!(first, second)?;
            all.extend(second);
            Ok(all)
        }))
    }

    /// The terms of documents of the generation: all that are asked for.
    pub(super) fn spans(&self, generation: i64, numbers: &[u32]) -> Result<Vec<Span>, Unkept> {
        let mut all = Vec::with_capacity(numbers.len());
        for some in numbers.chunks(MAX_AT_ONCE) {
            all.extend(wait(self.indexes.spans(generation, some.to_vec()))?);
        }
        if all.len() == numbers.len() { Ok(all) } else { Err(Unkept::Gone) }
    }

    /// Patterns by their ids, from memory as far as they are there: those that there are, in order.
    pub(super) fn items(&self, of: &Snapshot, ids: &[String]) -> Result<Vec<Arc<Item>>, Unkept> {
        self.items.of((of.generation, of.epoch), ids, |ids| {
            Ok(self.documents(of.generation, ids)?.iter().filter_map(Item::of).collect())
        })
    }

    /// Documents by their ids: those that are there.
    pub(super) fn documents(&self, generation: i64, ids: &[String]) -> Result<Vec<Document>, Unkept> {
        let mut all = Vec::with_capacity(ids.len());
        for some in ids.chunks(MAX_AT_ONCE) {
            all.extend(wait(self.indexes.documents(generation, some.to_vec()))?);
        }
        Ok(all)
    }

    /// Calls with what is known of every document.
    pub(super) fn each_known(&self, generation: i64, mut on: impl FnMut(Known)) -> Result<(), Unkept> {
        let mut after: Option<String> = None;
        loop {
            let page = wait(self.indexes.known(generation, after.clone()))?;
            let is_last = page.len() < LISTED_AT_ONCE;
            if is_last && let Some(before) = &after {
                // Each page is an answer of its own: a generation that was let go of between them looks as if it ended.
                let still = wait(self.indexes.documents(generation, vec![before.clone()]))?;
                if still.is_empty() {
                    return Err(Unkept::Gone);
                }
            }
            after = page.last().map(|last| last.id.clone());
            page.into_iter().for_each(&mut on);
            if is_last {
                return Ok(());
            }
        }
    }

    pub(super) fn wrong(&self, generation: i64, most: u32) -> Result<Vec<Document>, Unkept> {
        wait(self.indexes.wrong(generation, most))
    }

    pub(super) fn begin(&self) -> Result<i64, Unkept> {
        wait(self.indexes.begin())
    }

    pub(super) fn put(&self, generation: i64, piece: Piece) -> Result<(), Unkept> {
        wait(self.indexes.put(generation, piece))
    }

    pub(super) fn finish(&self, expected: Option<i64>, generation: i64, facts: Facts) -> Result<i64, Unkept> {
        wait(self.indexes.finish(self.whose.clone(), expected, generation, facts))
    }

    pub(super) fn forget(&self) -> Result<(), Unkept> {
        wait(self.indexes.forget(self.whose.clone()))
    }

    pub(super) fn change(&self, expected: i64, changes: Changes) -> Result<i64, Unkept> {
        wait(self.indexes.change(self.whose.clone(), expected, changes))
    }
}

/// Terms as a question takes them.
pub(super) fn blobs(terms: &[Arc<Term>]) -> Vec<Blob<'_>> {
    terms
        .iter()
        .map(|term| Blob { term: term.number, postings: &term.postings, positions: &term.positions })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_shared_out_and_short_ones_are_not() {
        let shares = |counts: &[u32]| -> [Vec<u32>; 2] {
            let all = (0..).zip(counts).map(|(number, _)| Wanted { number, positions: false }).collect();
            let count = |term: &Wanted| counts[usize::try_from(term.number).unwrap()];
            let (first, second) = shared(all, count);
            [first, second].map(|some| some.iter().map(|term| term.number).collect())
        };
        assert_eq!(shares(&[10, 99_989]), [vec![0, 1], vec![]]);
        assert_eq!(shares(&[10, 99_990]), [vec![1], vec![0]]);
        assert_eq!(shares(&[200_000]), [vec![0], vec![]]);
        assert_eq!(shares(&[5, 70_000, 60_000, 7]), [vec![1, 3], vec![2, 0]]);
    }

    #[test]
    fn a_list_with_its_places_is_not_taken_back_by_one_without() {
        let mut cached = Cached { questions: 2, ..Cached::default() };
        let term = |positions| Arc::new(Term { number: 1, postings: vec![0; 10], positions });
        cached.keep(term(vec![0; 30]), true, 2);
        let bytes = cached.bytes;
        cached.keep(term(Vec::new()), false, 1);
        let kept = &cached.terms[&1];
        assert_eq!((cached.bytes, kept.has_positions, kept.question), (bytes, true, 2));
    }

    #[test]
    fn what_was_not_needed_for_longest_is_let_go_of_until_half_is_free() {
        let mut cached = Cached::default();
        let term = |number| Term { number, postings: vec![0; 1_000], positions: Vec::new() };
        for number in 0..8 {
            cached.questions += 1;
            cached.keep(Arc::new(term(number)), false, cached.questions);
        }
        let one = cached.bytes / 8;
        // The first one is needed again, and comes with its places.
        cached.questions += 1;
        cached.keep(Arc::new(Term { positions: vec![0; 10], ..term(0) }), true, cached.questions);
        assert_eq!(cached.bytes, 8 * one + 10, "it is counted once");
        cached.trim(cached.bytes);
        assert_eq!(cached.terms.len(), 8, "there is room");
        cached.trim(6 * one);
        assert_eq!(cached.terms.keys().copied().collect::<Vec<_>>(), [0, 7]);
        assert_eq!(cached.bytes, cached.terms.values().map(Kept::bytes).sum::<usize>());
    }
}
