//! A document as an index takes it: its terms with what each counts, in bytes.

use crate::bytes::{Reader, put, put_bytes, small};
use crate::words::ANALYSIS;
use crate::{SearchError, words};

/// Longest id, name and category, in bytes. Ids of the library have 160 at most.
pub const MAX_ID: usize = 512;

/// Most bytes of an analysed document: what its texts' limits allow is far below.
pub const MAX_ANALYSED: usize = 64 * 1024 * 1024;

/// Longest term: a pair of the longest words.
const MAX_TERM: usize = 2 * 4 * words::MAX_WORD + 1;

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

    pub(crate) fn of(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
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
    /// Of each term: its key behind its length, impact, fields, and of stems the places behind their length.
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

/// One term of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermOf<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) impact: u8,
    pub(crate) fields: u8,
    pub(crate) places: &'a [u8],
}

impl TermOf<'_> {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.key);
        out.extend([self.impact, self.fields]);
        put_bytes(out, self.places);
    }
}

/// Reads terms; ends where something is wrong.
pub(crate) struct Terms<'a>(Reader<'a>);

impl<'a> Iterator for Terms<'a> {
    type Item = TermOf<'a>;

    fn next(&mut self) -> Option<TermOf<'a>> {
        let (key, impact, fields) = (self.0.bytes()?, self.0.byte()?, self.0.byte()?);
        Some(TermOf { key, impact, fields, places: self.0.bytes()? })
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
        Terms(Reader::new(&self.terms))
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

/// Whether every term is one, and none is there twice.
fn is_well_formed(terms: &[u8]) -> bool {
    let mut reader = Terms(Reader::new(terms));
    let mut keys = Vec::new();
    let mut read = 0;
    for term in reader.by_ref() {
        let Some((kind, text)) = term.key.split_first() else { return false };
        let Some(kind) = Kind::of(*kind) else { return false };
        let is_text = !text.is_empty() && text.len() <= MAX_TERM && std::str::from_utf8(text).is_ok();
        let places_fit = match kind {
            Kind::Stem => crate::places::are_well_formed(term.fields, term.places),
            Kind::Exact | Kind::Pair => term.places.is_empty(),
        };
        if !is_text || term.impact == 0 || term.fields == 0 || !places_fit {
            return false;
        }
        read += size_of(&term);
        keys.push(term.key);
    }
    keys.sort_unstable();
    read == terms.len() && keys.windows(2).all(|two| two.first() != two.get(1))
}

fn size_of(term: &TermOf<'_>) -> usize {
    let length = |bytes: &[u8]| {
        let mut out = Vec::with_capacity(5);
        put(&mut out, small(bytes.len()));
        out.len() + bytes.len()
    };
    length(term.key) + 2 + length(term.places)
}
