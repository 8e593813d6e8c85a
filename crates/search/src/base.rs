//! The base as it is read: its vocabulary, and what is known of each document.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use fst::automaton::Str;
use fst::raw::Fst;
use fst::{Automaton, IntoStreamer, Map, MapBuilder};

use crate::analysed::{Facts, Kind};
use crate::build::MAX_DOCUMENTS;
use crate::bytes::{Reader, place, put, put_bytes, small};
use crate::words::ANALYSIS;
use crate::{SearchError, one_off};

/// The terms of a base: each has a number, by kind and letters, and how many documents have it. Takes the memory of its
/// bytes, and four bytes a term.
pub struct Vocabulary {
    /// Of each kind its terms, by letters, each with its place in the kind.
    kinds: [Map<Vec<u8>>; 3],
    /// The number of each kind's first term.
    firsts: [u32; 3],
    counts: Vec<u32>,
}

/// Writes a vocabulary; terms come by kind, then by letters.
pub(crate) struct VocabularyWriter {
    kinds: [MapBuilder<Vec<u8>>; 3],
    numbers: [u64; 3],
    counts: Vec<u8>,
}

impl Default for VocabularyWriter {
    fn default() -> Self {
        Self { kinds: std::array::from_fn(|_| MapBuilder::memory()), numbers: [0; 3], counts: Vec::new() }
    }
}

impl VocabularyWriter {
    /// The next term, and how many documents have it.
    pub(crate) fn add(&mut self, kind: Kind, text: &[u8], documents: u32) -> Result<(), SearchError> {
        let at = usize::from(kind.byte());
        if let (Some(builder), Some(number)) = (self.kinds.get_mut(at), self.numbers.get_mut(at)) {
            builder.insert(text, *number).map_err(|_| SearchError::Corrupt("the order of terms"))?;
            *number += 1;
        }
        put(&mut self.counts, documents);
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Vec<u8>, SearchError> {
        let mut out = vec![ANALYSIS];
        for builder in self.kinds {
            put_bytes(&mut out, &builder.into_inner().map_err(|_| SearchError::TooMany("terms"))?);
        }
        out.extend(self.counts);
        Ok(out)
    }
}

fn version(reader: &mut Reader<'_>, what: &'static str) -> Result<(), SearchError> {
    match reader.byte() {
        Some(ANALYSIS) => Ok(()),
        Some(found) => Err(SearchError::Version { found, wanted: ANALYSIS }),
        None => Err(SearchError::Corrupt(what)),
    }
}

/// A map whose checksum is right: what it points to is what was written.
fn map(reader: &mut Reader<'_>) -> Option<Map<Vec<u8>>> {
    let map = Map::new(reader.bytes()?.to_vec()).ok()?;
    map.as_fst().verify().ok()?;
    Some(map)
}

impl Vocabulary {
    /// Without a term.
    pub fn empty() -> Self {
        Self { kinds: std::array::from_fn(|_| Map::default()), firsts: [0; 3], counts: Vec::new() }
    }

    /// From the bytes of [`crate::Encoded::vocabulary`]. Damaged bytes are refused, by their checksum.
    pub fn decode(bytes: &[u8]) -> Result<Self, SearchError> {
        const WHAT: &str = "the vocabulary";
        let mut reader = Reader::new(bytes);
        version(&mut reader, WHAT)?;
        let mut kind = || map(&mut reader).ok_or(SearchError::Corrupt(WHAT));
        let kinds = [kind()?, kind()?, kind()?];
        let (mut firsts, mut terms) = ([0u32; 3], 0u32);
        for (first, kind) in firsts.iter_mut().zip(&kinds) {
            *first = terms;
            terms = terms.checked_add(small(kind.len())).ok_or(SearchError::Corrupt(WHAT))?;
        }
        let mut counts = Vec::with_capacity(reader.left().min(place(terms)));
        while let Some(count) = reader.number() {
            counts.push(count);
        }
        let is_whole = counts.len() == place(terms) && reader.is_empty();
        is_whole.then_some(Self { kinds, firsts, counts }).ok_or(SearchError::Corrupt(WHAT))
    }

    /// How many terms.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    fn first(&self, kind: Kind) -> u32 {
        self.firsts.get(usize::from(kind.byte())).copied().unwrap_or(0)
    }

    pub(crate) fn map(&self, kind: Kind) -> &Map<Vec<u8>> {
        let [stems, exact, pairs] = &self.kinds;
        match kind {
            Kind::Stem => stems,
            Kind::Exact => exact,
            Kind::Pair => pairs,
        }
    }

    /// The number of a term.
    pub(crate) fn number(&self, kind: Kind, text: &str) -> Option<u32> {
        self.numbered(kind, self.map(kind).get(text)?)
    }

    /// The number of a term by its place in its kind.
    pub(crate) fn numbered(&self, kind: Kind, at: u64) -> Option<u32> {
        self.first(kind).checked_add(u32::try_from(at).ok()?)
    }

    /// How many documents of the base have it, dead ones included.
    pub fn count(&self, number: u32) -> u32 {
        self.counts.get(place(number)).copied().unwrap_or(0)
    }

    /// The numbers of a kind's terms that begin so: they stand in a row.
    fn beginning(&self, kind: Kind, with: &str) -> Range<u32> {
        use fst::Streamer as _;
        let map = self.map(kind);
        let from = |key: &[u8]| {
            let at = map.range().ge(key).into_stream().next().map_or(map.len() as u64, |(_, at)| at);
            self.numbered(kind, at).unwrap_or(u32::MAX)
        };
        // No text has a byte that could not be one more.
        let mut behind = with.as_bytes().to_vec();
        match behind.last_mut() {
            Some(last) => *last = last.saturating_add(1),
            None => return self.first(kind)..self.first(kind).saturating_add(small(map.len())),
        }
        from(with.as_bytes())..from(&behind)
    }

    /// Calls with the terms of a kind that begin so: with all of them, or of more than `most` with those that most documents have,
    /// by letters where as many do. `documents` says how many of a number. Says whether it was all.
    pub(crate) fn commonest(
        &self,
        kind: Kind,
        with: &str,
        most: usize,
        documents: impl Fn(u32) -> u32,
        mut on: impl FnMut(&str, u32),
    ) -> bool {
        let numbers = self.beginning(kind, with);
        if numbers.len() <= most {
            let taken = Str::new(with).starts_with();
            self.each(kind, taken, |text, number| on(text, documents(number)));
            return true;
        }
        let mut best = BinaryHeap::with_capacity(most);
        for number in numbers {
            let ranked = Reverse((documents(number), Reverse(number)));
            if best.len() < most {
                best.push(ranked);
            } else if best.peek().is_some_and(|least| ranked < *least) {
                best.pop();
                best.push(ranked);
            }
        }
        let (fst, first) = (self.map(kind).as_fst(), self.first(kind));
        for Reverse((documents, Reverse(number))) in best {
            if let Some(text) = key_of(fst, number.saturating_sub(first)) {
                on(&text, documents);
            }
        }
        false
    }

    /// Calls with every term of a kind that is one letter off, by letters.
    pub(crate) fn one_off(&self, kind: Kind, word: &str, keeps_first: bool, mut on: impl FnMut(&str, u32)) {
        one_off::each(self.map(kind).as_fst(), word, keeps_first, |text, at| {
            if let Some(number) = self.numbered(kind, at) {
                on(text, number);
            }
        });
    }

    /// Calls with every term of a kind that an automaton takes, by letters.
    pub(crate) fn each(&self, kind: Kind, taken: impl Automaton, mut on: impl FnMut(&str, u32)) {
        use fst::Streamer as _;
        let mut stream = self.map(kind).search(taken).into_stream();
        while let Some((key, at)) = stream.next() {
            if let (Ok(text), Some(number)) = (std::str::from_utf8(key), self.numbered(kind, at)) {
                on(text, number);
            }
        }
    }
}

/// What is known of each document of a base besides its words: category, quality, flags; ids and names with their order.
/// Takes the memory of its bytes, about 20 a document.
pub struct Columns {
    documents: u32,
    categories: Vec<String>,
    /// Two bytes a document.
    category: Vec<u8>,
    /// A byte a document each.
    quality: Vec<u8>,
    flags: Vec<u8>,
    /// Four bytes a document: the place of its name among all names.
    name: Vec<u8>,
    ids: Map<Vec<u8>>,
    names: Map<Vec<u8>>,
}

/// Writes columns.
#[derive(Default)]
pub(crate) struct ColumnsWriter {
    last: Option<String>,
    categories: BTreeMap<String, u16>,
    category: Vec<u16>,
    facts: Vec<[u8; 2]>,
    /// Of each name how often it was met, and of each document which name.
    names: BTreeMap<String, u32>,
    name: Vec<u32>,
    ids: Option<MapBuilder<Vec<u8>>>,
}

impl ColumnsWriter {
    pub(crate) fn add(
        &mut self,
        id: &str,
        name: &str,
        category: &str,
        facts: Facts,
    ) -> Result<u32, SearchError> {
        let number = small(self.facts.len());
        if number >= MAX_DOCUMENTS {
            return Err(SearchError::TooMany("documents"));
        }
        if self.last.as_deref().is_some_and(|last| last >= id) {
            return Err(SearchError::Order(id.to_owned()));
        }
        let code = match self.categories.get(category) {
            Some(code) => *code,
            None => {
                let code = u16::try_from(self.categories.len())
                    .ok()
                    .filter(|code| *code < u16::MAX)
                    .ok_or(SearchError::TooMany("categories"))?;
                self.categories.insert(category.to_owned(), code);
                code
            }
        };
        self.ids
            .get_or_insert_with(MapBuilder::memory)
            .insert(id, u64::from(number))
            .map_err(|_| SearchError::Order(id.to_owned()))?;
        let new = small(self.names.len());
        let of_name = match self.names.get(name) {
            Some(found) => *found,
            None => {
                self.names.insert(name.to_owned(), new);
                new
            }
        };
        self.name.push(of_name);
        self.category.push(code);
        self.facts.push(facts.bytes());
        self.last = Some(id.to_owned());
        Ok(number)
    }

    /// How many documents, and the bytes.
    pub(crate) fn finish(self) -> Result<(u32, Vec<u8>), SearchError> {
        const MANY: SearchError = SearchError::TooMany("documents");
        let documents = small(self.facts.len());
        let mut out = vec![ANALYSIS];
        put(&mut out, documents);
        put(&mut out, small(self.categories.len()));
        let mut categories: Vec<(&String, &u16)> = self.categories.iter().collect();
        categories.sort_by_key(|(_, code)| **code);
        for (category, _) in categories {
            put_bytes(&mut out, category.as_bytes());
        }
        out.extend(self.category.iter().flat_map(|code| code.to_le_bytes()));
        out.extend(self.facts.iter().map(|[quality, _]| *quality));
        out.extend(self.facts.iter().map(|[_, flags]| *flags));
        let mut places = vec![0u32; self.names.len()];
        let mut names = MapBuilder::memory();
        for (at, (name, number)) in (0u32..).zip(&self.names) {
            if let Some(place) = places.get_mut(place(*number)) {
                *place = at;
            }
            names.insert(name, u64::from(at)).map_err(|_| MANY)?;
        }
        let of_name = |number: &u32| places.get(place(*number)).copied().unwrap_or(0);
        out.extend(self.name.iter().flat_map(|number| of_name(number).to_le_bytes()));
        let ids = self.ids.unwrap_or_else(MapBuilder::memory);
        put_bytes(&mut out, &ids.into_inner().map_err(|_| MANY)?);
        put_bytes(&mut out, &names.into_inner().map_err(|_| MANY)?);
        Ok((documents, out))
    }
}

impl Columns {
    /// Of no document.
    pub fn empty() -> Self {
        Self {
            documents: 0,
            categories: Vec::new(),
            category: Vec::new(),
            quality: Vec::new(),
            flags: Vec::new(),
            name: Vec::new(),
            ids: Map::default(),
            names: Map::default(),
        }
    }

    /// From the bytes of [`crate::Encoded::columns`], checked.
    pub fn decode(bytes: &[u8]) -> Result<Self, SearchError> {
        const WHAT: &str = "the columns of documents";
        let mut reader = Reader::new(bytes);
        version(&mut reader, WHAT)?;
        Self::read(&mut reader).filter(Self::is_sound).ok_or(SearchError::Corrupt(WHAT))
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let documents = reader.number().filter(|n| *n <= MAX_DOCUMENTS)?;
        let many = place(documents);
        let count = reader.number().filter(|n| u16::try_from(*n).is_ok())?;
        let mut categories = Vec::new();
        for _ in 0..count {
            categories.push(reader.text()?.to_owned());
        }
        let category = reader.take(many.checked_mul(2)?)?.to_vec();
        let quality = reader.take(many)?.to_vec();
        let flags = reader.take(many)?.to_vec();
        let name = reader.take(many.checked_mul(4)?)?.to_vec();
        let (ids, names) = (map(reader)?, map(reader)?);
        reader.is_empty().then_some(Self {
            documents,
            categories,
            category,
            quality,
            flags,
            name,
            ids,
            names,
        })
    }

    fn is_sound(&self) -> bool {
        self.ids.len() == place(self.documents)
            && self.names.len() <= self.ids.len()
            && self.quality.iter().zip(&self.flags).all(|(q, f)| Facts::of(*q, *f).is_some())
    }

    /// How many documents, dead ones included.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// The number of a document.
    pub fn number(&self, id: &str) -> Option<u32> {
        self.ids.get(id).and_then(|n| n.try_into().ok()).filter(|n| *n < self.documents)
    }

    /// The id of a document.
    pub fn id(&self, number: u32) -> Option<String> {
        key_of(self.ids.as_fst(), number)
    }

    /// The categories of its documents.
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    pub(crate) fn ids(&self) -> &Map<Vec<u8>> {
        &self.ids
    }

    pub(crate) fn names(&self) -> &Map<Vec<u8>> {
        &self.names
    }

    pub(crate) fn name_of(&self, number: u32) -> Option<String> {
        key_of(self.names.as_fst(), self.name_place(number))
    }

    /// Where its name is among all names.
    pub(crate) fn name_place(&self, number: u32) -> u32 {
        let at = place(number).saturating_mul(4);
        let bytes = self.name.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes)
    }

    pub(crate) fn category(&self, number: u32) -> u16 {
        let at = place(number).saturating_mul(2);
        let bytes = self.category.get(at..at + 2).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(u16::MAX, u16::from_le_bytes)
    }

    pub(crate) fn facts(&self, number: u32) -> Facts {
        let quality = self.quality.get(place(number)).copied().unwrap_or(u8::MAX);
        let flags = self.flags.get(place(number)).copied().unwrap_or(0);
        Facts::of(quality, flags).unwrap_or_default()
    }
}

/// The key of a place: places ascend with the keys.
fn key_of(fst: &Fst<Vec<u8>>, at: u32) -> Option<String> {
    String::from_utf8(fst.get_key(u64::from(at))?).ok()
}
