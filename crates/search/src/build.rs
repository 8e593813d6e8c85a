//! Building a base: analysed documents in the order of their ids, into what a store keeps.
//!
//! What was met is kept by term and written into segments of [`SEGMENT`] bytes, so that growing lists are never copied as
//! a whole: the memory taken is what comes out, the keys of the terms, and one segment.

#![allow(
    clippy::disallowed_types,
    reason = "terms are looked up here, never gone through: they are sorted at the end"
)]

use std::collections::HashMap;

use crate::SearchError;
use crate::analysed::{Analysed, Kind};
use crate::base::ColumnsWriter;
use crate::bytes::{Reader, place, put, put_bytes, small};
use crate::postings::{Posting, Writer, put_ascending};

/// When lists are written into a segment.
const SEGMENT: usize = 96 * 1024 * 1024;

/// Most documents of a base: the numbers above belong to its delta.
pub const MAX_DOCUMENTS: u32 = 1 << 30;

/// Takes documents in the order of their ids.
#[derive(Default)]
pub struct Builder {
    numbers: HashMap<Box<[u8]>, u32>,
    lists: Vec<List>,
    segments: Vec<Segment>,
    /// Bytes in `lists`.
    size: usize,
    columns: ColumnsWriter,
    /// Per document of this segment, the numbers of its terms.
    documents: Vec<u8>,
    terms: Vec<u32>,
}

#[derive(Debug, Default)]
struct List {
    df: u32,
    /// One more than the last document in `bytes`.
    next: u32,
    bytes: Vec<u8>,
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
            let of_term = match self.numbers.get(term.key) {
                Some(found) => *found,
                None => {
                    let new = small(self.lists.len());
                    self.numbers.insert(term.key.into(), new);
                    self.lists.push(List::default());
                    new
                }
            };
            let Some(list) = self.lists.get_mut(place(of_term)) else { continue };
            let before = list.bytes.len();
            put(&mut list.bytes, number.saturating_sub(list.next));
            list.bytes.extend([term.impact, term.fields]);
            if term.key.first() == Some(&Kind::Stem.byte()) {
                put_bytes(&mut list.bytes, term.places);
            }
            list.next = number + 1;
            list.df += 1;
            self.size += list.bytes.len() - before;
            self.terms.push(of_term);
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
        let mut keys: Vec<(Box<[u8]>, u32)> = self.numbers.into_iter().collect();
        keys.sort_unstable();
        let df = |number: u32| self.lists.get(place(number)).map_or(0, |list| list.df);
        let vocabulary =
            crate::base::write_vocabulary(keys.iter().map(|(key, number)| (&**key, df(*number))))?;
        let mut ranks = vec![0u32; self.lists.len()];
        for (rank, (_, number)) in (0..).zip(&keys) {
            if let Some(of_number) = ranks.get_mut(place(*number)) {
                *of_number = rank;
            }
        }
        let terms =
            keys.into_iter().map(|(key, number)| (number, key.first() == Some(&Kind::Stem.byte()))).collect();
        let (documents, columns) = self.columns.finish()?;
        Ok(Encoded { vocabulary, columns, documents, terms, ranks, segments: self.segments })
    }
}

/// A base, ready to be stored: [`Encoded::vocabulary`] and [`Encoded::columns`] whole, [`Encoded::terms`] and
/// [`Encoded::document_terms`] one by one.
pub struct Encoded {
    vocabulary: Vec<u8>,
    columns: Vec<u8>,
    documents: u32,
    /// By the numbers of the vocabulary: the number when building, and whether it has places.
    terms: Vec<(u32, bool)>,
    /// The number of the vocabulary by that.
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
        (0..).zip(&self.terms).map(|(term, (number, has_places))| {
            let mut writer = Writer::default();
            for list in self.segments.iter().filter_map(|segment| segment.list(*number)) {
                copy(list, *has_places, &mut writer);
            }
            let (documents, postings, positions) = writer.finish();
            TermBlobs { term, documents, postings, positions }
        })
    }

    /// Of every document, in the order of their numbers, the numbers of its terms as [`crate::Delta::retire`] takes them
    /// when the document changes or goes.
    pub fn document_terms(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.segments.iter().flat_map(move |segment| {
            let mut reader = Reader::new(&segment.documents);
            std::iter::from_fn(move || {
                if reader.is_empty() {
                    return None;
                }
                let numbers = crate::postings::read_ascending(&mut reader, u32::MAX)?;
                let rank = |number: u32| self.ranks.get(place(number)).copied();
                let mut ranks: Vec<u32> = numbers.into_iter().filter_map(rank).collect();
                ranks.sort_unstable();
                let mut out = Vec::with_capacity(ranks.len() * 2);
                put_ascending(&mut out, &ranks);
                Some(out)
            })
        })
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
