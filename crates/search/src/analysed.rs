//! A document as an index takes it: its terms with what each counts, in bytes.

use crate::bytes::{Reader, place, put, put_bytes};
use crate::words::ANALYSIS;
use crate::{SearchError, words};

/// Longest id, name and category, in bytes. Ids of the library have 160 at most.
pub const MAX_ID: usize = 512;

/// Most bytes of an analysed document: what its texts' limits allow is far below.
pub const MAX_ANALYSED: usize = 64 * 1024 * 1024;

/// Longest word or stem, in bytes.
const MAX_TERM: usize = 4 * words::MAX_WORD;

/// What a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// What grammar leaves of a word, or of an identifier as one.
    Stem,
    /// A word as it stands, folded; of short fields.
    Exact,
    /// The stems of two neighbours, with a space between them; of short fields.
    Pair,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Stem, Self::Exact, Self::Pair];

    pub(crate) const fn byte(self) -> u8 {
        match self {
            Self::Stem => 0,
            Self::Exact => 1,
            Self::Pair => 2,
        }
    }

    /// The key of a term of this kind: sorted by kind, then by letters.
    pub(crate) fn key(self, text: &str) -> Vec<u8> {
        let mut key = Vec::with_capacity(text.len() + 1);
        key.push(self.byte());
        key.extend_from_slice(text.as_bytes());
        key
    }
}

/// What an index keeps of a document. Made by [`crate::Analyst`]; as bytes by [`Analysed::encode`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysed {
    pub(crate) id: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) category: Box<str>,
    pub(crate) facts: Facts,
    /// As [`Terms`] reads them.
    pub(crate) terms: Box<[u8]>,
}

/// What is asked of documents besides their words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// In tenths.
    pub(crate) quality: Option<u8>,
    pub(crate) executable: bool,
    pub(crate) verified: bool,
}

/// How no quality is written.
const NONE: u8 = 255;

impl Facts {
    pub(crate) fn bytes(self) -> [u8; 2] {
        [self.quality.unwrap_or(NONE), u8::from(self.executable) | u8::from(self.verified) << 1]
    }

    pub(crate) fn of(quality: u8, flags: u8) -> Option<Self> {
        let quality = match quality {
            NONE => None,
            0..=100 => Some(quality),
            _ => return None,
        };
        (flags < 4).then_some(Self { quality, executable: flags & 1 != 0, verified: flags & 2 != 0 })
    }
}

/// What a term of a document is. Pairs are of two of its stems, by their places among those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What<'a> {
    Stem(&'a [u8]),
    Exact(&'a [u8]),
    Pair(u32, u32),
}

/// One term of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermOf<'a> {
    pub(crate) what: What<'a>,
    pub(crate) impact: u8,
    pub(crate) fields: u8,
    pub(crate) places: &'a [u8],
}

impl TermOf<'_> {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self.what {
            What::Stem(text) | What::Exact(text) => put_bytes(out, text),
            What::Pair(first, second) => {
                put(out, first);
                put(out, second);
            }
        }
        out.extend([self.impact, self.fields]);
        if let What::Stem(_) = self.what {
            put_bytes(out, self.places);
        }
    }
}

/// Reads terms: stems behind their number, words as they stand, pairs. Ends where something is wrong.
#[derive(Clone)]
pub(crate) struct Terms<'a> {
    reader: Reader<'a>,
    /// Which kind comes next, and how many of it are left.
    kind: usize,
    left: u32,
}

impl<'a> Terms<'a> {
    fn new(terms: &'a [u8]) -> Self {
        let mut reader = Reader::new(terms);
        let left = reader.number().unwrap_or(0);
        Self { reader, kind: 0, left }
    }

    /// Whether everything was read.
    fn is_whole(&self) -> bool {
        self.left == 0 && self.kind + 1 == Kind::ALL.len() && self.reader.is_empty()
    }
}

impl<'a> Iterator for Terms<'a> {
    type Item = TermOf<'a>;

    fn next(&mut self) -> Option<TermOf<'a>> {
        while self.left == 0 {
            if self.kind + 1 == Kind::ALL.len() {
                return None;
            }
            self.left = self.reader.number()?;
            self.kind += 1;
        }
        let reader = &mut self.reader;
        let what = match Kind::ALL.get(self.kind)? {
            Kind::Stem => What::Stem(reader.bytes()?),
            Kind::Exact => What::Exact(reader.bytes()?),
            Kind::Pair => What::Pair(reader.number()?, reader.number()?),
        };
        let (impact, fields) = (reader.byte()?, reader.byte()?);
        let places = if let What::Stem(_) = what { reader.bytes()? } else { &[] };
        self.left -= 1;
        Some(TermOf { what, impact, fields, places })
    }
}

impl Analysed {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it is filed under.
    pub fn category(&self) -> &str {
        &self.category
    }

    /// How many bytes [`Analysed::encode`] gives, about.
    pub fn size(&self) -> usize {
        self.id.len() + self.name.len() + self.category.len() + self.terms.len() + 16
    }

    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms::new(&self.terms)
    }

    /// Calls with every term and its key.
    pub(crate) fn each_key(&self, mut on: impl FnMut(&[u8], TermOf<'_>)) {
        let (mut stems, mut key) = (Vec::new(), Vec::new());
        for term in self.terms() {
            key.clear();
            match term.what {
                What::Stem(text) => {
                    stems.push(text);
                    key.push(Kind::Stem.byte());
                    key.extend_from_slice(text);
                }
                What::Exact(text) => {
                    key.push(Kind::Exact.byte());
                    key.extend_from_slice(text);
                }
                What::Pair(first, second) => {
                    let stem = |at: u32| stems.get(place(at)).copied().unwrap_or_default();
                    pair_key(&mut key, stem(first), stem(second));
                }
            }
            on(&key, term);
        }
    }

    /// As bytes, which begin with the number of the analysis. The same document gives the same bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.size());
        out.push(ANALYSIS);
        for text in [&self.id, &self.name, &self.category] {
            put_bytes(&mut out, text.as_bytes());
        }
        out.extend(self.facts.bytes());
        out.extend_from_slice(&self.terms);
        out
    }

    /// From bytes of [`Analysed::encode`], every one of which is checked. [`SearchError::Version`] when another analysis
    /// wrote them (analyse the document again), [`SearchError::Corrupt`] when they are something else.
    pub fn decode(bytes: &[u8]) -> Result<Self, SearchError> {
        const WHAT: SearchError = SearchError::Corrupt("an analysed document");
        if bytes.len() > MAX_ANALYSED {
            return Err(SearchError::TooLarge { what: "an analysed document", most: MAX_ANALYSED });
        }
        let mut reader = Reader::new(bytes);
        match reader.byte() {
            Some(ANALYSIS) => {}
            Some(found) => return Err(SearchError::Version { found, wanted: ANALYSIS }),
            None => return Err(WHAT),
        }
        let mut text = || -> Option<Box<str>> { reader.text().filter(|t| t.len() <= MAX_ID).map(Into::into) };
        let (Some(id), Some(name), Some(category)) = (text(), text(), text()) else { return Err(WHAT) };
        let (Some(quality), Some(flags)) = (reader.byte(), reader.byte()) else { return Err(WHAT) };
        let facts = Facts::of(quality, flags).ok_or(WHAT)?;
        let terms = reader.take(reader.left()).unwrap_or_default();
        is_well_formed(terms).then_some(()).ok_or(WHAT)?;
        Ok(Self { id, name, category, facts, terms: terms.into() })
    }
}

/// Writes the key of a pair.
pub(crate) fn pair_key(key: &mut Vec<u8>, first: &[u8], second: &[u8]) {
    key.push(Kind::Pair.byte());
    key.extend_from_slice(first);
    key.push(b' ');
    key.extend_from_slice(second);
}

/// Whether every term is one, and none is there twice.
fn is_well_formed(terms: &[u8]) -> bool {
    let mut reader = Terms::new(terms);
    let (mut texts, mut pairs, mut stems) = (Vec::new(), Vec::new(), 0u32);
    let is_word = |text: &[u8]| {
        !text.is_empty()
            && text.len() <= MAX_TERM
            && std::str::from_utf8(text).is_ok_and(|t| t.chars().all(char::is_alphanumeric))
    };
    for term in reader.by_ref() {
        let is_term = match term.what {
            What::Stem(text) => {
                texts.push((Kind::Stem, text));
                stems += 1;
                is_word(text) && crate::places::are_well_formed(term.fields, term.places)
            }
            What::Exact(text) => {
                texts.push((Kind::Exact, text));
                is_word(text)
            }
            What::Pair(first, second) => {
                pairs.push((first, second));
                first < stems && second < stems
            }
        };
        if !is_term || term.impact == 0 || term.fields == 0 {
            return false;
        }
    }
    texts.sort_unstable();
    pairs.sort_unstable();
    reader.is_whole()
        && texts.windows(2).all(|two| two.first() != two.get(1))
        && pairs.windows(2).all(|two| two.first() != two.get(1))
}
