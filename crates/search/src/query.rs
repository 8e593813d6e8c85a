//! What is asked.

use crate::SearchError;
use crate::words::{Splitter, Stems, is_stop};

/// Longest question, in characters.
pub const MAX_QUERY: usize = 256;

/// Most words of a question, those of phrases and those that exclude among them.
pub const MAX_WORDS: usize = 16;

/// How hard to look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// The last word may be unfinished; words that nothing has may be misspelt.
    #[default]
    Fast,
    /// Every word may be both; what stands close together counts more.
    Comprehensive,
}

/// Which documents are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// Those of this category.
    pub category: Option<String>,
    /// Those of at least this quality, in tenths; those without one are left out then.
    pub minimum_quality: Option<u8>,
    /// Those that are verified.
    pub verified_only: bool,
    /// Those that can be run.
    pub executable_only: bool,
}

/// A question, understood: words, `"phrases"`, `-excluded` words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub(crate) words: Vec<Asked>,
    /// Places in the question of neighbours: the stems of their pairs.
    pub(crate) pairs: Vec<(String, String)>,
    /// Stems that must stand one behind another.
    pub(crate) phrases: Vec<Vec<String>>,
    /// Stems that must not.
    pub(crate) excluded: Vec<Vec<String>>,
    ignored: Vec<String>,
    pub(crate) mode: Mode,
    pub(crate) filters: Filters,
}

/// A word that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Folded.
    pub(crate) text: String,
    pub(crate) stem: String,
    /// The stems of the identifiers that it is a part of, as one.
    pub(crate) wholes: Vec<String>,
    /// Whether it is in a phrase: taken as it is.
    pub(crate) is_quoted: bool,
    /// Whether it may be unfinished.
    pub(crate) is_last: bool,
}

/// What one piece of the question is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Plain,
    Phrase,
    Excluded,
}

/// The pieces of a question: what is between spaces, or between quotes.
fn pieces(text: &str) -> Vec<(Sort, &str)> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (is_excluded, behind) = match rest.strip_prefix('-') {
            Some(behind) => (true, behind),
            None => (false, rest),
        };
        let sort = |sort| if is_excluded { Sort::Excluded } else { sort };
        let after = if let Some(quoted) = behind.strip_prefix('"') {
            let (piece, after) = quoted.split_once('"').unwrap_or((quoted, ""));
            found.push((sort(Sort::Phrase), piece));
            after
        } else {
            let end = behind.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(behind.len());
            let (piece, after) = behind.split_at(end);
            found.push((sort(Sort::Plain), piece));
            after
        };
        rest = after.trim_start();
    }
    found
}

struct Parser {
    stems: Stems,
    splitter: Splitter,
    query: Query,
    /// Words that were taken, of [`MAX_WORDS`].
    taken: usize,
    /// The last plain word, if nothing came between.
    before: Option<String>,
    /// Stop words: taken back when there is nothing else.
    stopped: Vec<Asked>,
    /// How many pieces came before, and which is the last.
    piece: usize,
    last: usize,
}

impl Query {
    /// Understands what somebody typed. Any text is a question: what is no word is passed over, quotes that are not closed
    /// go to the end. [`SearchError::QueryTooLong`] beyond [`MAX_QUERY`] characters; what is behind [`MAX_WORDS`] words is
    /// in [`Query::ignored`].
    pub fn parse(text: &str, mode: Mode, filters: Filters) -> Result<Self, SearchError> {
        let characters = text.chars().take(MAX_QUERY * 8).count();
        if characters > MAX_QUERY {
            return Err(SearchError::QueryTooLong(characters));
        }
        let pieces = pieces(text);
        let query = Self {
            words: Vec::new(),
            pairs: Vec::new(),
            phrases: Vec::new(),
            excluded: Vec::new(),
            ignored: Vec::new(),
            mode,
            filters,
        };
        let mut parser = Parser {
            stems: Stems::new(),
            splitter: Splitter::default(),
            query,
            taken: 0,
            before: None,
            stopped: Vec::new(),
            piece: 0,
            last: pieces.len().saturating_sub(1),
        };
        for (i, (sort, piece)) in pieces.into_iter().enumerate() {
            parser.piece = i;
            parser.piece(sort, piece);
        }
        Ok(parser.finish())
    }

    /// Whether no word is asked for: then every document is as good as another.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Words that were passed over: those that every text has, and those behind the sixteenth.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// The words that are asked for, folded.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|asked| asked.text.as_str())
    }

    /// How hard it looks.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Which documents it looks at.
    pub fn filters(&self) -> &Filters {
        &self.filters
    }
}

impl Parser {
    fn piece(&mut self, sort: Sort, text: &str) {
        let (mut words, mut wholes) = (Vec::new(), Vec::new());
        self.splitter.split(text, 0, true, |piece| {
            if piece.words == 1 {
                words.push((piece.at, piece.text.to_owned()));
            } else {
                wholes.push((piece.at..piece.at.saturating_add(piece.words), piece.text.to_owned()));
            }
        });
        if sort != Sort::Plain {
            self.before = None;
            self.together(sort, &words);
            return;
        }
        let end = words.len().saturating_sub(1);
        for (i, (at, word)) in words.into_iter().enumerate() {
            let of = wholes.iter().filter(|(range, _)| range.contains(&at));
            let wholes = of.map(|(_, whole)| self.stems.of(whole).into_owned()).collect();
            let stem = self.stems.of(&word).into_owned();
            let is_last = self.piece == self.last && i == end;
            self.plain(Asked { text: word, stem, wholes, is_quoted: false, is_last });
        }
    }

    fn plain(&mut self, asked: Asked) {
        let neighbour = self.before.replace(asked.stem.clone());
        if is_stop(&asked.text) && asked.wholes.is_empty() {
            self.stopped.push(asked);
            return;
        }
        let stem = asked.stem.clone();
        if !self.take(asked) {
            self.before = None;
            return;
        }
        let Some(neighbour) = neighbour else { return };
        let is_asked = |s: &String| self.query.words.iter().any(|w| w.stem == *s);
        let pair = (neighbour, stem);
        if is_asked(&pair.0) && pair.0 != pair.1 && !self.query.pairs.contains(&pair) {
            self.query.pairs.push(pair);
        }
    }

    /// Takes a word unless it was taken before; false when there are too many.
    fn take(&mut self, asked: Asked) -> bool {
        if let Some(known) = self.query.words.iter_mut().find(|w| w.stem == asked.stem) {
            known.is_last |= asked.is_last;
            known.is_quoted |= asked.is_quoted;
            for whole in asked.wholes {
                if !known.wholes.contains(&whole) {
                    known.wholes.push(whole);
                }
            }
            return true;
        }
        if self.taken >= MAX_WORDS {
            self.query.ignored.push(asked.text);
            return false;
        }
        self.taken += 1;
        self.query.words.push(asked);
        true
    }

    /// A phrase, or what is excluded: as it stands.
    fn together(&mut self, sort: Sort, words: &[(u32, String)]) {
        if words.is_empty() {
            return;
        }
        if self.taken + words.len() > MAX_WORDS {
            self.query.ignored.extend(words.iter().map(|(_, word)| word.clone()));
            return;
        }
        let stem = |word: &str| self.stems.of(word).into_owned();
        let stems: Vec<String> = words.iter().map(|(_, word)| stem(word)).collect();
        if sort == Sort::Excluded {
            self.taken += stems.len();
            self.query.excluded.push(stems);
            return;
        }
        let says_nothing = words.iter().all(|(_, word)| is_stop(word));
        for ((_, word), stem) in words.iter().zip(&stems) {
            if !is_stop(word) || says_nothing {
                let asked = Asked {
                    text: word.clone(),
                    stem: stem.clone(),
                    wholes: Vec::new(),
                    is_quoted: true,
                    is_last: false,
                };
                self.take(asked);
            } else {
                self.taken += 1;
            }
        }
        for (first, second) in stems.iter().zip(stems.iter().skip(1)) {
            let pair = (first.clone(), second.clone());
            if !self.query.pairs.contains(&pair) {
                self.query.pairs.push(pair);
            }
        }
        self.query.phrases.push(stems);
    }

    fn finish(mut self) -> Query {
        if self.query.words.is_empty() {
            for asked in std::mem::take(&mut self.stopped) {
                self.take(asked);
            }
        } else {
            self.query.ignored.extend(self.stopped.into_iter().map(|asked| asked.text));
        }
        self.query
    }
}
