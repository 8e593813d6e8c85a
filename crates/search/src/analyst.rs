//! Documents into what an index keeps of them.

#![allow(clippy::disallowed_types, reason = "words known already are looked up here, never gone through")]

use std::collections::{BTreeSet, HashMap};

use crate::analysed::{Analysed, Facts, Kind, MAX_ID, TermOf};
use crate::fields::{Field, Tuning};
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

/// A term that was met, where. Sorted, those of one term stand together, and fields and places are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Met {
    term: u32,
    field: u8,
    at: u32,
}

#[derive(Default)]
struct Known {
    /// Number of its stem and its own number.
    words: HashMap<Box<str>, (u32, u32)>,
    stems: HashMap<Box<str>, u32>,
    pairs: HashMap<(u32, u32), u32>,
    keys: Vec<Box<[u8]>>,
}

impl Known {
    fn add(&mut self, key: Vec<u8>) -> u32 {
        let number = crate::bytes::small(self.keys.len());
        self.keys.push(key.into());
        number
    }

    fn word(&mut self, stems: &Stems, word: &str) -> (u32, u32) {
        if let Some(found) = self.words.get(word) {
            return *found;
        }
        let stem = stems.of(word);
        let stem = match self.stems.get(&*stem) {
            Some(found) => *found,
            None => {
                let number = self.add(Kind::Stem.key(&stem));
                self.stems.insert((&*stem).into(), number);
                number
            }
        };
        let exact = self.add(Kind::Exact.key(word));
        self.words.insert(word.into(), (stem, exact));
        (stem, exact)
    }

    fn pair(&mut self, first: u32, second: u32) -> u32 {
        if let Some(found) = self.pairs.get(&(first, second)) {
            return *found;
        }
        let text = |number: u32| {
            self.keys.get(crate::bytes::place(number)).and_then(|key| key.get(1..)).unwrap_or_default()
        };
        let mut key = vec![Kind::Pair.byte()];
        key.extend_from_slice(text(first));
        key.push(b' ');
        key.extend_from_slice(text(second));
        let number = self.add(key);
        self.pairs.insert((first, second), number);
        number
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
        if self.known.keys.len() > MOST_KNOWN {
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
        let number = field.number();
        let (mut at, mut length, mut left) = (0, 0, MAX_TEXT);
        for text in texts {
            let taken = head(text, left);
            left = left.saturating_sub(taken.len().max(1));
            let mut before: Option<(u32, u32)> = None;
            let end = splitter.split(taken, at, joins, |piece| {
                let (stem, exact) = known.word(stems, piece.text);
                met.push(Met { term: stem, field: number, at: piece.at });
                if field.is_short() {
                    met.push(Met { term: exact, field: number, at: piece.at });
                    if piece.words == 1 {
                        if let Some((neighbour, place)) = before
                            && place + 1 == piece.at
                        {
                            let pair = known.pair(neighbour, stem);
                            met.push(Met { term: pair, field: number, at: place });
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
        crate::bytes::small(met.iter().map(|m| m.term).collect::<BTreeSet<_>>().len())
    }

    /// The terms that were met, by where each was met first.
    fn terms(&mut self, lengths: [u32; 8]) -> Box<[u8]> {
        self.met.sort_unstable();
        self.met.dedup();
        let mut groups: Vec<&[Met]> = self.met.chunk_by(|a, b| a.term == b.term).collect();
        let key = |group: &[Met]| -> &[u8] {
            let number = group.first().map(|m| crate::bytes::place(m.term));
            number.and_then(|n| self.known.keys.get(n)).map(|k| &**k).unwrap_or_default()
        };
        groups.sort_unstable_by(|a, b| {
            let first = |g: &[Met]| g.first().map(|m| (m.field, m.at));
            first(a).cmp(&first(b)).then_with(|| key(a).cmp(key(b)))
        });
        let (mut out, mut encoded, mut numbers) =
            (Vec::with_capacity(groups.len() * 20), Vec::new(), Vec::new());
        for group in groups {
            let key = key(group);
            let has_places = key.first() == Some(&Kind::Stem.byte());
            let (mut occurrences, mut fields) = (0.0, 0u8);
            encoded.clear();
            for of_field in group.chunk_by(|a, b| a.field == b.field) {
                let Some(field) = of_field.first().and_then(|m| Field::ALL.get(usize::from(m.field))) else {
                    continue;
                };
                let times = if *field == Field::Code { 1 } else { crate::bytes::small(of_field.len()) };
                let length = lengths.get(usize::from(field.number())).copied().unwrap_or(0);
                occurrences += self.tuning.occurrences(*field, times, length);
                fields |= field.bit();
                if has_places {
                    numbers.clear();
                    numbers.extend(of_field.iter().map(|m| m.at));
                    places::write(&mut encoded, &numbers);
                }
            }
            TermOf { key, impact: self.tuning.impact(occurrences), fields, places: &encoded }.write(&mut out);
        }
        out.into()
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
