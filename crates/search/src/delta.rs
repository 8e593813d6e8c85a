//! The delta: documents changed since the base was built, in memory, and which documents of the base are dead.

use std::collections::BTreeMap;

use crate::SearchError;
use crate::analysed::{Analysed, Kind, MAX_ANALYSED};
use crate::base::Columns;
use crate::bytes::{Reader, place, put, put_bytes, small};
use crate::postings::{Posting, Writer, put_ascending, read_ascending};
use crate::words::ANALYSIS;

/// Most bytes of an encoded delta.
pub const MAX_DELTA: usize = 1024 * 1024 * 1024;

/// What changed since a base was built. A base with its delta answers as a base built anew would: documents are counted
/// without the dead ones, and so are the documents of every term.
#[derive(Debug, Clone, Default)]
pub struct Delta {
    /// By slot; a slot is taken again when its document has gone.
    slots: Vec<Option<Analysed>>,
    free: Vec<u32>,
    by_id: BTreeMap<Box<str>, u32>,
    /// By key, then by slot.
    terms: BTreeMap<Box<[u8]>, BTreeMap<u32, Entry>>,
    /// Numbers of the base, with the numbers of their terms.
    dead: BTreeMap<u32, Vec<u32>>,
    /// The same as bits.
    dead_bits: Vec<u64>,
    /// How many dead documents have a term of the base.
    lost: BTreeMap<u32, u32>,
}

#[derive(Debug, Clone)]
struct Entry {
    impact: u8,
    fields: u8,
    places: Box<[u8]>,
}

impl Delta {
    /// Nothing changed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many documents are in it.
    pub fn documents(&self) -> u32 {
        small(self.by_id.len())
    }

    /// How many documents of the base are dead.
    pub fn dead(&self) -> u32 {
        small(self.dead.len())
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty() && self.dead.is_empty()
    }

    /// Whether the base is to be built anew: the delta is larger than 2,000 documents and the twentieth part of the base.
    pub fn is_full(&self, columns: &Columns) -> bool {
        self.documents().max(self.dead()) > (columns.documents() / 20).max(2_000)
    }

    /// Takes a document, instead of the one of the same id that it has. One of the same id in the base is to be retired
    /// by [`Delta::retire`].
    pub fn put(&mut self, document: Analysed) {
        self.remove(&document.id);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            small(self.slots.len() - 1)
        });
        document.each_key(|key, term| {
            let entry = Entry { impact: term.impact, fields: term.fields, places: term.places.into() };
            match self.terms.get_mut(key) {
                Some(list) => {
                    list.insert(slot, entry);
                }
                None => {
                    self.terms.insert(key.into(), BTreeMap::from([(slot, entry)]));
                }
            }
        });
        self.by_id.insert(document.id.clone(), slot);
        if let Some(of_slot) = self.slots.get_mut(place(slot)) {
            *of_slot = Some(document);
        }
    }

    /// Lets go of a document that it has, and says whether it had it. One of the base is retired.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(slot) = self.by_id.remove(id) else { return false };
        let Some(document) = self.slots.get_mut(place(slot)).and_then(Option::take) else { return false };
        document.each_key(|key, _| {
            if let Some(list) = self.terms.get_mut(key) {
                list.remove(&slot);
                if list.is_empty() {
                    self.terms.remove(key);
                }
            }
        });
        self.free.push(slot);
        true
    }

    /// Whether it has a document of this id.
    pub fn has(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Counts a document of the base as gone. `terms` is what [`crate::Encoded::document_terms`] gave for it. Nothing
    /// happens when it is dead already.
    pub fn retire(&mut self, number: u32, terms: &[u8]) -> Result<(), SearchError> {
        const WHAT: SearchError = SearchError::Corrupt("the terms of a document");
        if self.is_dead(number) {
            return Ok(());
        }
        if number >= crate::MAX_DOCUMENTS {
            return Err(WHAT);
        }
        let mut reader = Reader::new(terms);
        let terms = read_ascending(&mut reader, u32::MAX).filter(|_| reader.is_empty()).ok_or(WHAT)?;
        for term in &terms {
            *self.lost.entry(*term).or_default() += 1;
        }
        let word = place(number / 64);
        if self.dead_bits.len() <= word {
            self.dead_bits.resize(word + 1, 0);
        }
        if let Some(bits) = self.dead_bits.get_mut(word) {
            *bits |= 1 << (number % 64);
        }
        self.dead.insert(number, terms);
        Ok(())
    }

    /// Whether a document of the base is dead.
    #[inline]
    pub fn is_dead(&self, number: u32) -> bool {
        self.dead_bits.get(place(number / 64)).is_some_and(|bits| bits >> (number % 64) & 1 == 1)
    }

    /// How many dead documents have a term of the base.
    pub(crate) fn lost(&self, term: u32) -> u32 {
        self.lost.get(&term).copied().unwrap_or(0)
    }

    /// How many of its documents have a term.
    pub(crate) fn count(&self, kind: Kind, text: &str) -> u32 {
        if self.terms.is_empty() {
            return 0;
        }
        self.terms.get(&*kind.key(text)).map_or(0, |list| small(list.len()))
    }

    /// Its terms of a kind that begin so, by letters, and how many documents have each.
    pub(crate) fn beginning<'d>(&'d self, kind: Kind, with: &str) -> impl Iterator<Item = (&'d str, u32)> {
        let from = kind.key(with).into_boxed_slice();
        let prefix = from.clone();
        self.terms
            .range(from..)
            .take_while(move |(key, _)| key.starts_with(&prefix))
            .filter_map(|(key, list)| Some((std::str::from_utf8(key.get(1..)?).ok()?, small(list.len()))))
    }

    /// A term of its documents as it would be stored, documents by slot.
    pub(crate) fn blobs(&self, kind: Kind, text: &str) -> Option<(Vec<u8>, Vec<u8>)> {
        let list = self.terms.get(&*kind.key(text))?;
        let mut writer = Writer::default();
        for (slot, entry) in list {
            let posting = Posting { document: *slot, impact: entry.impact, fields: entry.fields };
            writer.add(posting, &entry.places, kind == Kind::Stem);
        }
        let (_, postings, positions) = writer.finish();
        Some((postings, positions))
    }

    pub(crate) fn slots(&self) -> u32 {
        small(self.slots.len())
    }

    pub(crate) fn slot(&self, slot: u32) -> Option<&Analysed> {
        self.slots.get(place(slot))?.as_ref()
    }

    /// Its documents, by id.
    pub fn each(&self) -> impl Iterator<Item = &Analysed> {
        self.by_id.values().filter_map(|slot| self.slot(*slot))
    }

    /// As bytes: it is small, and written whole.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![ANALYSIS];
        put(&mut out, self.dead());
        for (number, terms) in &self.dead {
            put(&mut out, *number);
            put_ascending(&mut out, terms);
        }
        put(&mut out, self.documents());
        for document in self.each() {
            put_bytes(&mut out, &document.encode());
        }
        out
    }

    /// From bytes of [`Delta::encode`], checked.
    pub fn decode(bytes: &[u8]) -> Result<Self, SearchError> {
        const WHAT: &str = "the delta";
        const DAMAGED: SearchError = SearchError::Corrupt(WHAT);
        if bytes.len() > MAX_DELTA {
            return Err(SearchError::TooLarge { what: WHAT, most: MAX_DELTA });
        }
        let mut reader = Reader::new(bytes);
        match reader.byte() {
            Some(ANALYSIS) => {}
            Some(found) => return Err(SearchError::Version { found, wanted: ANALYSIS }),
            None => return Err(DAMAGED),
        }
        let mut delta = Self::default();
        let dead = reader.number().ok_or(DAMAGED)?;
        // The bits are as many as the largest number: that is bounded, and by the base that it belongs to.
        for _ in 0..dead {
            let number = reader.number().ok_or(DAMAGED)?;
            let terms = read_ascending(&mut reader, u32::MAX).ok_or(DAMAGED)?;
            let mut again = Vec::new();
            put_ascending(&mut again, &terms);
            delta.retire(number, &again)?;
        }
        let documents = reader.number().ok_or(DAMAGED)?;
        for _ in 0..documents {
            delta.put(Analysed::decode(reader.bytes().filter(|b| b.len() <= MAX_ANALYSED).ok_or(DAMAGED)?)?);
        }
        reader.is_empty().then_some(delta).ok_or(DAMAGED)
    }
}
