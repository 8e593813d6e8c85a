//! Building a base: analysed documents in the order of their ids, into what a store keeps.
//!
//! What was met is kept by term and written into segments of [`SEGMENT`] bytes, so that growing lists are never copied as
//! a whole; pairs, most of which are met once, are kept as they come and sorted at the end. The memory taken is what comes
//! out, the words, sixteen bytes for each pair of a document, and one segment.

#![allow(
    clippy::disallowed_types,
    reason = "terms are looked up here, never gone through: they are sorted at the end"
)]

use std::collections::HashMap;

use crate::SearchError;
use crate::analysed::{Analysed, Kind, What, pair_key};
use crate::base::{ColumnsWriter, VocabularyWriter};
use crate::bytes::{Reader, place, put, put_bytes, small};
use crate::hot::Hot;
use crate::postings::{Posting, Writer, put_ascending};

/// When lists are written into a segment.
const SEGMENT: usize = 96 * 1024 * 1024;

/// Most documents of a base: the numbers above belong to its delta.
pub const MAX_DOCUMENTS: u32 = 1 << 30;

/// Takes documents in the order of their ids.
#[derive(Default)]
pub struct Builder {
    stems: HashMap<Box<[u8]>, u32>,
    exact: HashMap<Box<[u8]>, u32>,
    hot_stems: Hot,
    hot_exact: Hot,
    lists: Vec<List>,
    pairs: Vec<PairOf>,
    segments: Vec<Segment>,
    /// Bytes in `lists`.
    size: usize,
    columns: ColumnsWriter,
    /// Per document of this segment, the numbers of its terms.
    documents: Vec<u8>,
    /// Of the document at hand, the numbers of its terms; stems come first.
    terms: Vec<u32>,
}

#[derive(Debug, Default)]
struct List {
    /// One more than the last document in `bytes`.
    next: u32,
    df: u32,
    bytes: Vec<u8>,
}

/// Two stems that stand together in a document. In this order they are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PairOf {
    first: u32,
    second: u32,
    document: u32,
    impact: u8,
    fields: u8,
}

impl PairOf {
    fn is_of(&self, other: &Self) -> bool {
        (self.first, self.second) == (other.first, other.second)
    }
}

/// Lists one behind another.
#[derive(Debug, Default)]
struct Segment {
    /// Number of the term and where its list ends, by number.
    ends: Vec<(u32, usize)>,
    lists: Vec<u8>,
    documents: Vec<u8>,
}

impl Segment {
    fn list(&self, number: u32) -> Option<&[u8]> {
        let at = self.ends.binary_search_by_key(&number, |(n, _)| *n).ok()?;
        let from = at.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |(_, end)| *end);
        self.lists.get(from..self.ends.get(at)?.1)
    }
}

impl Builder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next document; its number is how many were added before. [`SearchError::Order`] when its id is not behind
    /// the last one's, [`SearchError::TooMany`] beyond [`MAX_DOCUMENTS`] documents or 65,535 categories.
    pub fn add(&mut self, document: &Analysed) -> Result<u32, SearchError> {
        let number = self.columns.add(&document.id, &document.name, &document.category, document.facts)?;
        self.terms.clear();
        for term in document.terms() {
            let (known, hot, text, has_places) = match term.what {
                What::Stem(text) => (&mut self.stems, &mut self.hot_stems, text, true),
                What::Exact(text) => (&mut self.exact, &mut self.hot_exact, text, false),
                What::Pair(first, second) => {
                    if let (Some(first), Some(second)) =
                        (self.terms.get(place(first)), self.terms.get(place(second)))
                    {
                        let (first, second) = (*first, *second);
                        let (impact, fields) = (term.impact, term.fields);
                        self.pairs.push(PairOf { first, second, document: number, impact, fields });
                    }
                    continue;
                }
            };
            let of_term = match hot.get(text) {
                Some((found, _)) => found,
                None => {
                    let found = known.get(text).copied().unwrap_or_else(|| {
                        let new = small(self.lists.len());
                        known.insert(text.into(), new);
                        self.lists.push(List::default());
                        new
                    });
                    hot.keep(text, (found, 0));
                    found
                }
            };
            self.terms.push(of_term);
            let Some(list) = self.lists.get_mut(place(of_term)) else { continue };
            let before = list.bytes.len();
            put(&mut list.bytes, number.saturating_sub(list.next));
            list.bytes.extend([term.impact, term.fields]);
            if has_places {
                put_bytes(&mut list.bytes, term.places);
            }
            list.next = number + 1;
            list.df += 1;
            self.size += list.bytes.len() - before;
        }
        self.terms.sort_unstable();
        put_ascending(&mut self.documents, &self.terms);
        if self.size + self.documents.len() > SEGMENT {
            self.end_segment();
        }
        Ok(number)
    }

    fn end_segment(&mut self) {
        let mut segment = Segment {
            ends: Vec::new(),
            lists: Vec::with_capacity(self.size),
            documents: std::mem::take(&mut self.documents),
        };
        for (number, list) in (0..).zip(&mut self.lists) {
            if !list.bytes.is_empty() {
                segment.lists.extend_from_slice(&list.bytes);
                segment.ends.push((number, segment.lists.len()));
                list.bytes = Vec::new();
                list.next = 0;
            }
        }
        segment.documents.shrink_to_fit();
        self.size = 0;
        self.segments.push(segment);
    }

    /// What a store keeps.
    pub fn finish(mut self) -> Result<Encoded, SearchError> {
        self.end_segment();
        let sorted = |known: HashMap<Box<[u8]>, u32>| {
            let mut words: Vec<(Box<[u8]>, u32)> = known.into_iter().collect();
            words.sort_unstable();
            words
        };
        let (stems, exact) = (sorted(self.stems), sorted(self.exact));
        let mut ranks = vec![0u32; self.lists.len()];
        for (rank, (_, number)) in (0..).zip(stems.iter().chain(&exact)) {
            if let Some(of_number) = ranks.get_mut(place(*number)) {
                *of_number = rank;
            }
        }
        let rank = |number: u32| ranks.get(place(number)).copied().unwrap_or(0);
        for pair in &mut self.pairs {
            (pair.first, pair.second) = (rank(pair.first), rank(pair.second));
        }
        self.pairs.sort_unstable();
        let mut vocabulary = VocabularyWriter::default();
        for (kind, words) in [(Kind::Stem, &stems), (Kind::Exact, &exact)] {
            for (text, number) in words {
                vocabulary.add(kind, text, self.lists.get(place(*number)).map_or(0, |list| list.df))?;
            }
        }
        let mut key = Vec::new();
        let text = |rank: u32| stems.get(place(rank)).map(|(text, _)| &**text).unwrap_or_default();
        for pair in self.pairs.chunk_by(PairOf::is_of) {
            if let Some(first) = pair.first() {
                key.clear();
                // A space comes before every letter: pairs are sorted by letters, too.
                pair_key(&mut key, text(first.first), text(first.second));
                vocabulary.add(Kind::Pair, key.get(1..).unwrap_or_default(), small(pair.len()))?;
            }
        }
        let words =
            stems.iter().map(|(_, n)| (*n, true)).chain(exact.iter().map(|(_, n)| (*n, false))).collect();
        let (documents, columns) = self.columns.finish()?;
        let (vocabulary, pairs, segments) = (vocabulary.finish()?, self.pairs, self.segments);
        Ok(Encoded { vocabulary, columns, documents, words, pairs, ranks, segments })
    }
}

/// A base, ready to be stored: [`Encoded::vocabulary`] and [`Encoded::columns`] whole, [`Encoded::terms`] and
/// [`Encoded::document_terms`] one by one.
pub struct Encoded {
    vocabulary: Vec<u8>,
    columns: Vec<u8>,
    documents: u32,
    /// By the numbers of the vocabulary: the number when building, and whether it has places.
    words: Vec<(u32, bool)>,
    /// The rest of the vocabulary.
    pairs: Vec<PairOf>,
    /// The number of the vocabulary by the number when building.
    ranks: Vec<u32>,
    segments: Vec<Segment>,
}

/// What is stored of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermBlobs {
    /// Its number in the vocabulary: they come in order, from 0, without a gap.
    pub term: u32,
    /// How many documents have it. The vocabulary says it too.
    pub documents: u32,
    /// The documents. Needed by every question that has the term.
    pub postings: Vec<u8>,
    /// Where in them; empty for terms that phrases do not ask for. Needed where [`crate::Need::positions`] says so.
    pub positions: Vec<u8>,
}

impl TermBlobs {
    fn new(term: u32, writer: Writer) -> Self {
        let (documents, postings, positions) = writer.finish();
        Self { term, documents, postings, positions }
    }
}

impl Encoded {
    /// Bytes for [`crate::Vocabulary::decode`].
    pub fn vocabulary(&self) -> &[u8] {
        &self.vocabulary
    }

    /// Bytes for [`crate::Columns::decode`].
    pub fn columns(&self) -> &[u8] {
        &self.columns
    }

    /// How many documents.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Every term, one at a time, in the order of their numbers.
    pub fn terms(&self) -> impl Iterator<Item = TermBlobs> + '_ {
        let words = self.words.iter().map(|(number, has_places)| {
            let mut writer = Writer::default();
            for list in self.segments.iter().filter_map(|segment| segment.list(*number)) {
                copy(list, *has_places, &mut writer);
            }
            writer
        });
        let pairs = self.pairs.chunk_by(PairOf::is_of).map(|pairs| {
            let mut writer = Writer::default();
            for PairOf { document, impact, fields, .. } in pairs.iter().copied() {
                writer.add(Posting { document, impact, fields }, &[], false);
            }
            writer
        });
        (0..).zip(words.chain(pairs)).map(|(term, writer)| TermBlobs::new(term, writer))
    }

    /// Of every document, in the order of their numbers, the numbers of its terms as [`crate::Delta::retire`] takes them
    /// when the document changes or goes.
    pub fn document_terms(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        let (ends, pairs) = self.pairs_by_document();
        let mut number = 0usize;
        let words = self.segments.iter().flat_map(|segment| {
            let mut reader = Reader::new(&segment.documents);
            std::iter::from_fn(move || {
                if reader.is_empty() { None } else { crate::postings::read_ascending(&mut reader, u32::MAX) }
            })
        });
        words.map(move |numbers| {
            let rank = |number: u32| self.ranks.get(place(number)).copied();
            let mut ranks: Vec<u32> = numbers.into_iter().filter_map(rank).collect();
            ranks.sort_unstable();
            let from = number.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
            let to = ends.get(number).copied().unwrap_or(from);
            ranks.extend_from_slice(pairs.get(from..to).unwrap_or_default());
            number += 1;
            let mut out = Vec::with_capacity(ranks.len() * 2);
            put_ascending(&mut out, &ranks);
            out
        })
    }

    /// Where each document's pairs end, and the numbers of all pairs by document.
    fn pairs_by_document(&self) -> (Vec<usize>, Vec<u32>) {
        let mut ends = vec![0usize; place(self.documents)];
        for pair in &self.pairs {
            if let Some(count) = ends.get_mut(place(pair.document)) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            // First where they begin; every pair that is written moves it.
            (*end, sum) = (sum, sum + *end);
        }
        let mut by_document = vec![0u32; self.pairs.len()];
        for (number, pairs) in (small(self.words.len())..).zip(self.pairs.chunk_by(PairOf::is_of)) {
            for pair in pairs {
                let Some(end) = ends.get_mut(place(pair.document)) else { continue };
                if let Some(of_document) = by_document.get_mut(*end) {
                    *of_document = number;
                }
                *end += 1;
            }
        }
        (ends, by_document)
    }
}

/// From the list of a segment into postings.
fn copy(list: &[u8], has_places: bool, writer: &mut Writer) {
    let mut reader = Reader::new(list);
    let mut next = 0u32;
    while let (Some(distance), Some(impact), Some(fields)) = (reader.number(), reader.byte(), reader.byte()) {
        let places = if has_places { reader.bytes().unwrap_or_default() } else { &[] };
        let document = next + distance;
        writer.add(Posting { document, impact, fields }, places, has_places);
        next = document + 1;
    }
}

/// Builds a base from documents in the order of their ids.
pub fn build(documents: impl IntoIterator<Item = Analysed>) -> Result<Encoded, SearchError> {
    let mut builder = Builder::new();
    for document in documents {
        builder.add(&document)?;
    }
    builder.finish()
}
