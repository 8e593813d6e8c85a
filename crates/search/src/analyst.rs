//! Documents into what an index keeps of them.

#![allow(clippy::disallowed_types, reason = "words known already are looked up here, never gone through")]

use std::collections::{BTreeSet, HashMap};

use crate::analysed::{Analysed, Facts, Kind, MAX_ID, TermOf, What};
use crate::bytes::{place, put, small};
use crate::fields::{Field, Tuning};
use crate::hot::Hot;
use crate::places;
use crate::words::{Splitter, Stems};

/// How much of a field is indexed, in bytes: 128 KiB.
pub const MAX_TEXT: usize = 128 * 1024;

/// Words that are remembered before all are forgotten: about 100 MB at most, mostly far less.
const MOST_KNOWN: usize = 500_000;

/// A document as its owner has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Document<'d> {
    /// What it is known by, unique in its library, at most [`MAX_ID`] bytes (the rest is cut off). Not searched: its parts
    /// are name and category.
    pub id: &'d str,
    /// What it is filed under.
    pub category: &'d str,
    /// In tenths, 0 to 100; more is taken for 100.
    pub quality: Option<u8>,
    /// Whether it has code that can be run.
    pub executable: bool,
    /// Whether it was used often enough.
    pub verified: bool,
    /// The last part of its id.
    pub name: &'d str,
    /// Its first heading.
    pub title: &'d str,
    /// Words that it was given to be found by; no phrase goes over from one to the next.
    pub tags: &'d [&'d str],
    /// What it is, in a sentence or two.
    pub description: &'d str,
    /// The headings of its text; no phrase goes over from one to the next.
    pub headings: &'d [&'d str],
    /// Its code; of each identifier once is enough.
    pub code: &'d str,
    /// Its text.
    pub body: &'d str,
}

/// Analyses documents. Remembers the words that it met: use one for many documents. What it met does not change what it
/// gives.
pub struct Analyst {
    tuning: Tuning,
    stems: Stems,
    splitter: Splitter,
    known: Known,
    met: Vec<Met>,
}

/// A term that was met, where. Sorted, those of one term stand together, stems before words as they stand before pairs,
/// and fields and places are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Met {
    /// The kind, and the numbers of one or two words or stems below it.
    term: u64,
    field: u8,
    at: u32,
}

/// Where the kind is in [`Met::term`], and the first number.
const KIND: u32 = 62;
const FIRST: u32 = 31;

impl Met {
    fn new(kind: Kind, first: u32, second: u32, field: Field, at: u32) -> Self {
        let term = u64::from(kind.byte()) << KIND | u64::from(first) << FIRST | u64::from(second);
        Self { term, at, field: field.number() }
    }

    fn first(self) -> u32 {
        low(self.term >> FIRST)
    }

    fn second(self) -> u32 {
        low(self.term)
    }
}

/// The lower 31 bits.
fn low(of: u64) -> u32 {
    u32::try_from(of & ((1 << FIRST) - 1)).unwrap_or(0)
}

#[derive(Default)]
struct Known {
    /// Number of its stem and its own number.
    words: HashMap<Box<str>, (u32, u32)>,
    stems: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
    hot: Hot,
}

impl Known {
    fn add(&mut self, text: &str) -> u32 {
        let number = small(self.texts.len());
        self.texts.push(text.into());
        number
    }

    fn text(&self, number: u32) -> &str {
        self.texts.get(place(number)).map(|text| &**text).unwrap_or_default()
    }

    fn word(&mut self, stems: &Stems, word: &str) -> (u32, u32) {
        if let Some(found) = self.hot.get(word.as_bytes()) {
            return found;
        }
        let found = self.cold_word(stems, word);
        self.hot.keep(word.as_bytes(), found);
        found
    }

    fn cold_word(&mut self, stems: &Stems, word: &str) -> (u32, u32) {
        if let Some(found) = self.words.get(word) {
            return *found;
        }
        let stem = stems.of(word);
        let stem = match self.stems.get(&*stem) {
            Some(found) => *found,
            None => {
                let number = self.add(&stem);
                self.stems.insert((&*stem).into(), number);
                number
            }
        };
        let exact = self.add(word);
        self.words.insert(word.into(), (stem, exact));
        (stem, exact)
    }
}

impl Default for Analyst {
    fn default() -> Self {
        Self::new()
    }
}

impl Analyst {
    /// One with the numbers of §5.
    pub fn new() -> Self {
        Self::tuned(Tuning::DEFAULT)
    }

    /// One with other numbers. Their documents do not belong into one index with others.
    pub fn tuned(tuning: Tuning) -> Self {
        let (splitter, known) = (Splitter::default(), Known::default());
        Self { tuning, stems: Stems::new(), splitter, known, met: Vec::new() }
    }

    /// A document as an index keeps it. Of each field [`MAX_TEXT`] bytes are taken. Linear in the texts, but for sorting
    /// the words.
    pub fn analyse(&mut self, document: &Document<'_>) -> Analysed {
        if self.known.texts.len() > MOST_KNOWN {
            self.known = Known::default();
        }
        self.met.clear();
        let mut lengths = [0u32; 8];
        for field in Field::ALL {
            let length = match field {
                Field::Name => self.texts(field, &[document.name], true),
                Field::Category => self.texts(field, &[document.category], true),
                Field::Title => self.texts(field, &[document.title], false),
                Field::Tags => self.texts(field, document.tags, true),
                Field::Description => self.texts(field, &[document.description], false),
                Field::Headings => self.texts(field, document.headings, false),
                Field::Code => self.code(document.code),
                Field::Body => self.texts(field, &[document.body], false),
            };
            if let Some(of_field) = lengths.get_mut(usize::from(field.number())) {
                *of_field = length;
            }
        }
        let facts = Facts {
            quality: document.quality.map(|q| q.min(100)),
            executable: document.executable,
            verified: document.verified,
        };
        Analysed {
            id: head(document.id, MAX_ID).into(),
            name: head(document.name, MAX_ID).into(),
            category: head(document.category, MAX_ID).into(),
            facts,
            terms: self.terms(lengths),
        }
    }

    /// Meets the words of a field, and gives how many there are. Between two texts a number is left out.
    fn texts(&mut self, field: Field, texts: &[&str], joins: bool) -> u32 {
        let Self { stems, splitter, known, met, .. } = self;
        let (mut at, mut length, mut left) = (0, 0, MAX_TEXT);
        for text in texts {
            let taken = head(text, left);
            left = left.saturating_sub(taken.len().max(1));
            let mut before: Option<(u32, u32)> = None;
            let end = splitter.split(taken, at, joins, |piece| {
                let (stem, exact) = known.word(stems, piece.text);
                met.push(Met::new(Kind::Stem, stem, 0, field, piece.at));
                if field.is_short() {
                    met.push(Met::new(Kind::Exact, exact, 0, field, piece.at));
                    if piece.words == 1 {
                        if let Some((neighbour, place)) = before
                            && place + 1 == piece.at
                        {
                            met.push(Met::new(Kind::Pair, neighbour, stem, field, place));
                        }
                        before = Some((stem, piece.at));
                    }
                }
            });
            length += end.saturating_sub(at);
            at = if end > at { end.saturating_add(1) } else { at };
            if left == 0 {
                break;
            }
        }
        length
    }

    /// Meets the identifiers of code, each once; gives how many different words they are made of.
    fn code(&mut self, code: &str) -> u32 {
        let joint = |c: char| matches!(c, '-' | '_' | '.');
        let identifiers = head(code, MAX_TEXT).split(|c: char| !(c.is_alphanumeric() || joint(c)));
        let mut seen = BTreeSet::new();
        let new: Vec<&str> =
            identifiers.map(|i| i.trim_matches(joint)).filter(|i| !i.is_empty() && seen.insert(*i)).collect();
        let from = self.met.len();
        self.texts(Field::Code, &new, true);
        let met = self.met.get(from..).unwrap_or_default();
        small(met.iter().map(|m| m.term).collect::<BTreeSet<_>>().len())
    }

    /// The terms that were met: of each kind by where each was met first.
    fn terms(&mut self, lengths: [u32; 8]) -> Box<[u8]> {
        self.met.sort_unstable();
        self.met.dedup();
        let where_first = |m: &Met| (m.term >> KIND) << 40 | u64::from(m.field) << 32 | u64::from(m.at);
        let by_term = self.met.chunk_by(|a, b| a.term == b.term);
        let mut groups: Vec<(u64, &[Met])> =
            by_term.map(|group| (group.first().map_or(0, where_first), group)).collect();
        let term = |group: &[Met]| group.first().copied();
        let text = |group: &[Met]| term(group).map_or("", |m| self.known.text(m.first()));
        groups.sort_unstable_by(|(first, a), (other, b)| {
            // An identifier as one, and its first part.
            first.cmp(other).then_with(|| text(a).cmp(text(b)))
        });
        let kind = |(first, _): &(u64, &[Met])| first >> 40;
        let mut stems: Vec<(u32, u32)> = Vec::new();
        let (mut out, mut encoded) = (Vec::with_capacity(groups.len() * 14), Vec::new());
        for of_kind in Kind::ALL {
            let from = groups.partition_point(|group| kind(group) < u64::from(of_kind.byte()));
            let to = groups.partition_point(|group| kind(group) <= u64::from(of_kind.byte()));
            put(&mut out, small(to - from));
            for (_, group) in groups.get(from..to).unwrap_or_default() {
                let Some(met) = term(group) else { continue };
                let (impact, fields) = self.weigh(group, lengths);
                let at = |stem: u32| {
                    let found = stems.binary_search_by_key(&stem, |(number, _)| *number).ok();
                    found.and_then(|i| stems.get(i)).map_or(0, |(_, at)| *at)
                };
                let what = match of_kind {
                    Kind::Stem => What::Stem(text(group).as_bytes()),
                    Kind::Exact => What::Exact(text(group).as_bytes()),
                    Kind::Pair => What::Pair(at(met.first()), at(met.second())),
                };
                encoded.clear();
                if of_kind == Kind::Stem {
                    stems.push((met.first(), small(stems.len())));
                    write_places(group, fields, &mut encoded);
                }
                TermOf { what, impact, fields, places: &encoded }.write(&mut out);
            }
            if of_kind == Kind::Stem {
                stems.sort_unstable();
            }
        }
        out.into()
    }

    /// What a term counts, and its fields.
    fn weigh(&self, group: &[Met], lengths: [u32; 8]) -> (u8, u8) {
        let (mut occurrences, mut fields) = (0.0, 0u8);
        for (field, length) in Field::ALL.into_iter().zip(lengths) {
            let times = group.iter().filter(|m| m.field == field.number()).count();
            if times > 0 {
                let times = if field == Field::Code { 1 } else { small(times) };
                occurrences += self.tuning.occurrences(field, times, length);
                fields |= field.bit();
            }
        }
        (self.tuning.impact(occurrences), fields)
    }
}

/// Places of every field, in order.
fn write_places(group: &[Met], fields: u8, out: &mut Vec<u8>) {
    let mut places = Vec::with_capacity(group.len());
    for field in Field::of(fields) {
        places.clear();
        places.extend(group.iter().filter(|m| m.field == field.number()).map(|m| m.at));
        places::write(out, &places);
    }
}

/// The first bytes of a text, on a character.
fn head(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// A document as an index keeps it: for one alone. For many, keep an [`Analyst`].
#[must_use]
pub fn analyse(document: &Document<'_>) -> Analysed {
    Analyst::new().analyse(document)
}
