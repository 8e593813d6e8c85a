//! A whole index in memory, which answers at once: for libraries of up to about 50,000 documents, and for tests. The same
//! code answers as for a stored one.

use crate::SearchError;
use crate::analysed::Analysed;
use crate::base::{Columns, Vocabulary};
use crate::build::{Encoded, build};
use crate::bytes::place;
use crate::delta::Delta;
use crate::plan::{LibraryView, Plan};
use crate::query::Query;
use crate::score::{Answer, Order, answer};
use crate::tier::Blob;

/// Postings and positions of a term.
type Stored = (Box<[u8]>, Box<[u8]>);

/// An index in memory.
pub struct Memory {
    vocabulary: Vocabulary,
    columns: Columns,
    blobs: Vec<Stored>,
    /// By document, as [`Delta::retire`] takes them.
    document_terms: Vec<Box<[u8]>>,
    delta: Delta,
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// Without a document.
    pub fn new() -> Self {
        Self {
            vocabulary: Vocabulary::empty(),
            columns: Columns::empty(),
            blobs: Vec::new(),
            document_terms: Vec::new(),
            delta: Delta::new(),
        }
    }

    /// Of documents in any order; of those with one id the last counts.
    pub fn build(documents: impl IntoIterator<Item = Analysed>) -> Result<Self, SearchError> {
        let mut sorted: Vec<Analysed> = documents.into_iter().collect();
        sorted.reverse();
        sorted.sort_by(|a, b| a.id.cmp(&b.id));
        sorted.dedup_by(|a, b| a.id == b.id);
        Self::of(&build(sorted)?)
    }

    /// Of a base that was built.
    pub fn of(encoded: &Encoded) -> Result<Self, SearchError> {
        Ok(Self {
            vocabulary: Vocabulary::decode(encoded.vocabulary())?,
            columns: Columns::decode(encoded.columns())?,
            blobs: encoded.terms().map(|t| (t.postings.into(), t.positions.into())).collect(),
            document_terms: encoded.document_terms().map(Into::into).collect(),
            delta: Delta::new(),
        })
    }

    /// How many documents it has.
    pub fn documents(&self) -> u32 {
        self.view().documents()
    }

    /// About how many bytes its lists take.
    pub fn size(&self) -> usize {
        let blobs = self.blobs.iter().map(|(p, at)| p.len() + at.len() + 32).sum::<usize>();
        blobs + self.document_terms.iter().map(|terms| terms.len() + 16).sum::<usize>()
    }

    /// Takes a document, instead of the one of the same id.
    pub fn put(&mut self, document: Analysed) -> Result<(), SearchError> {
        self.retire(document.id())?;
        self.delta.put(document);
        Ok(())
    }

    /// Lets go of a document, and says whether there was one of this id.
    pub fn remove(&mut self, id: &str) -> Result<bool, SearchError> {
        let was_changed = self.delta.remove(id);
        Ok(self.retire(id)? || was_changed)
    }

    fn retire(&mut self, id: &str) -> Result<bool, SearchError> {
        let Some(number) = self.columns.number(id).filter(|n| !self.delta.is_dead(*n)) else {
            return Ok(false);
        };
        let terms = self.document_terms.get(place(number)).map(|terms| &**terms).unwrap_or_default();
        self.delta.retire(number, terms)?;
        Ok(true)
    }

    /// Whether it has a document of this id.
    pub fn has(&self, id: &str) -> bool {
        self.delta.has(id) || self.columns.number(id).is_some_and(|number| !self.delta.is_dead(number))
    }

    /// What changed since it was built.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// As a question sees it.
    pub fn view(&self) -> LibraryView<'_> {
        LibraryView { vocabulary: &self.vocabulary, columns: &self.columns, delta: &self.delta }
    }

    /// The blobs that a plan needs of this library, which is number `library` of it.
    pub fn blobs(&self, plan: &Plan, library: usize) -> Vec<Blob<'_>> {
        let blob = |need: crate::Need| {
            let (postings, positions) = self.blobs.get(place(need.term))?;
            Some(Blob { term: need.term, postings, positions })
        };
        plan.needs(library).into_iter().filter_map(blob).collect()
    }

    /// The best documents for a question, or, by [`Order::Quality`], all that have one of its words.
    pub fn search(&self, query: &Query, order: Order, limit: usize) -> Result<Answer, SearchError> {
        Self::search_all(&[self], query, order, limit)
    }

    /// The same in several libraries, as if they were one.
    pub fn search_all(
        libraries: &[&Self],
        query: &Query,
        order: Order,
        limit: usize,
    ) -> Result<Answer, SearchError> {
        let views: Vec<LibraryView<'_>> = libraries.iter().map(|library| library.view()).collect();
        let answered = |plan: &Plan| {
            let blobs: Vec<Vec<Blob<'_>>> =
                libraries.iter().enumerate().map(|(at, library)| library.blobs(plan, at)).collect();
            answer(&views, plan, &blobs, order, limit)
        };
        let plan = Plan::new(query, &views);
        match answered(&plan)? {
            none if none.total == 0 && plan.is_cut() => answered(&Plan::thorough(query, &views)),
            found => Ok(found),
        }
    }

    /// Ids that this unknown one may be meant for: see [`crate::nearest`].
    pub fn nearest(&self, id: &str, most: usize) -> Vec<String> {
        crate::nearest(&[self.view()], id, most).into_iter().map(|(_, id)| id).collect()
    }
}
