//! Texts into terms.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

use crate::chars::{head, spell};
use crate::split::{Group, groups, parts};

/// How much of a text is analysed, in bytes: 128 KiB. A tsvector of more distinct words than that can hold would be refused
/// by PostgreSQL, and both databases find the same.
pub const MAX_TEXT: usize = 128 * 1024;

/// Longest term, in bytes, the mark of its form included.
pub const MAX_TERM: usize = 64;

/// The mark before every term that is no word of the text as it stands. No spelling holds it.
pub const MARK: char = '_';

/// What a term is to the word that it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// The word itself, without case and accents; two characters of a script without spaces, or its last one.
    Word,
    /// The word with its accents.
    Accented,
    /// What English grammar leaves of it (Snowball's English stemmer).
    Stem,
    /// A part of it by capitals and digits (`auth` of useAuthToken).
    Part,
    /// Words joined by `_`, `-` or an apostrophe, as one.
    Whole,
}

/// A term and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    term: Box<str>,
    /// Where it stands in the text, in bytes, on character boundaries.
    pub at: Range<usize>,
    /// Number of its word in the text, from 1. Forms of a word share its number; phrases are words of consecutive numbers.
    pub position: u32,
    /// What it is to the word there.
    pub form: Form,
}

impl Token {
    /// As it stands in an index: letters and digits of any script and the marks on them, in lower case, at most
    /// [`MAX_TERM`] bytes; with [`MARK`] before it unless it is a [`Form::Word`].
    pub fn term(&self) -> &str {
        &self.term
    }
}

/// The terms of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    found: Vec<Token>,
    words: u32,
    analysed: usize,
    is_cut: bool,
}

impl Tokens {
    /// In the order of the text; a word before its forms.
    pub fn tokens(&self) -> &[Token] {
        &self.found
    }

    /// How many words there are: the greatest position.
    pub fn words(&self) -> u32 {
        self.words
    }

    /// How many bytes of the text were analysed.
    pub fn analysed(&self) -> usize {
        self.analysed
    }

    /// Whether the text was longer than [`MAX_TEXT`]: what is behind [`Tokens::analysed`] cannot be found, which the user
    /// is to be told.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// The terms of a text's first [`MAX_TEXT`] bytes. Time and memory are linear in those.
#[must_use]
pub fn analyze(text: &str) -> Tokens {
    let taken = taken(text);
    let mut analyst = Analyst::new();
    for group in groups(taken) {
        match group {
            Group::Joined(words) => analyst.joined(taken, &words),
            Group::Run(units) => analyst.run(taken, &units),
        }
    }
    let mut tokens = analyst.tokens;
    tokens.shrink_to_fit();
    Tokens { found: tokens, words: analyst.position, analysed: taken.len(), is_cut: taken.len() < text.len() }
}

/// What is analysed: cut after a space where there is one near, so that no half word is found.
fn taken(text: &str) -> &str {
    let most = head(text, MAX_TEXT);
    if most.len() == text.len() {
        return text;
    }
    let near = most.floor_char_boundary(most.len().saturating_sub(256));
    let space = most.get(near..).and_then(|tail| tail.rfind(char::is_whitespace));
    space.and_then(|at| most.get(..near + at)).unwrap_or(most)
}

/// A word of English or none at all: letters of ASCII alone, and long enough for a grammar.
pub(crate) fn stem(stemmer: &Stemmer, plain: &str) -> Option<String> {
    if plain.len() < 3 || !plain.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    let stem = stemmer.stem(plain);
    (!stem.is_empty() && stem != plain).then(|| stem.into_owned())
}

pub(crate) fn stemmer() -> Stemmer {
    Stemmer::create(Algorithm::English)
}

/// A term of a form.
pub(crate) fn marked(spelling: &str) -> String {
    format!("{MARK}{spelling}")
}

/// Several spellings as one, as long as a spelling may be.
pub(crate) fn joined<'s>(spellings: impl Iterator<Item = &'s str>) -> String {
    let mut whole = String::new();
    for spelling in spellings {
        whole.push_str(spelling);
        if whole.len() >= crate::chars::MAX_SPELLING {
            break;
        }
    }
    whole.truncate(whole.floor_char_boundary(crate::chars::MAX_SPELLING));
    whole
}

struct Analyst {
    stemmer: Stemmer,
    tokens: Vec<Token>,
    position: u32,
    /// Where the tokens of the present word begin: a form that is there already is not said again.
    word: usize,
}

impl Analyst {
    fn new() -> Self {
        Self { stemmer: stemmer(), tokens: Vec::new(), position: 0, word: 0 }
    }

    fn word(&mut self, plain: &str, at: Range<usize>) {
        self.position = self.position.saturating_add(1);
        self.word = self.tokens.len();
        self.tokens.push(Token { term: plain.into(), at, position: self.position, form: Form::Word });
    }

    fn form(&mut self, form: Form, spelling: &str, at: Range<usize>) {
        let term = marked(spelling);
        let is_there = self.tokens.iter().skip(self.word).any(|t| *t.term == *term);
        if !is_there {
            self.tokens.push(Token { term: term.into(), at, position: self.position, form });
        }
    }

    fn stem(&mut self, plain: &str, at: Range<usize>) {
        if let Some(stem) = stem(&self.stemmer, plain) {
            self.form(Form::Stem, &stem, at);
        }
    }

    fn joined(&mut self, text: &str, words: &[Range<usize>]) {
        let mut spellings = Vec::new();
        for at in words {
            let word = text.get(at.clone()).unwrap_or_default();
            let Some(spelling) = spell(word) else { continue };
            self.word(&spelling.plain, at.clone());
            if let Some(accented) = &spelling.accented {
                self.form(Form::Accented, accented, at.clone());
            }
            self.stem(&spelling.plain, at.clone());
            for part in parts(word) {
                let here = at.start + part.start..at.start + part.end;
                if let Some(part) = word.get(part).and_then(spell) {
                    self.form(Form::Part, &part.plain, here.clone());
                    self.stem(&part.plain, here);
                }
            }
            if words.len() > 1 && spellings.len() < MOST_JOINED {
                spellings.push(spelling.plain);
            }
        }
        if let (2.., Some(first), Some(last)) = (spellings.len(), words.first(), words.last()) {
            let whole = joined(spellings.iter().map(String::as_str));
            self.form(Form::Whole, &whole, first.start..last.end);
            self.stem(&whole, first.start..last.end);
        }
    }

    fn run(&mut self, text: &str, units: &[Range<usize>]) {
        for (i, unit) in units.iter().enumerate() {
            let end = units.get(i + 1).map_or(unit.end, |next| next.end);
            if let Some(spelling) = text.get(unit.start..end).and_then(spell) {
                self.word(&spelling.plain, unit.start..end);
            }
        }
    }
}

/// More words than this fill a spelling.
const MOST_JOINED: usize = crate::chars::MAX_SPELLING;

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        analyze(text).tokens().iter().map(|t| t.term().to_owned()).collect()
    }

    #[test]
    fn words_and_their_forms_are_terms() {
        for (text, expected) in [
            ("Running tests", "running _run tests _test"),
            ("useAuthTokens", "useauthtokens _useauthtoken _use _auth _tokens _token"),
            ("kebab-cased", "kebab cased _case _kebabcased _kebabcas"),
            ("snake_cat", "snake cat _snakecat"),
            ("utf8", "utf8 _utf _8"),
            ("OAuth2", "oauth2 _o _auth _2 _oauth"),
            ("Café", "cafe _café"),
            ("user's", "user s _users _user"),
            ("日本語", "日本 本語 語"),
            ("a", "a"),
            ("… -- !", ""),
        ] {
            assert_eq!(terms(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn forms_stand_where_their_word_does() {
        let tokens = analyze("the useAuthToken hook");
        let auth = tokens.tokens().iter().find(|t| t.term() == "_auth").unwrap();
        assert_eq!((auth.at.clone(), auth.position, auth.form), (7..11, 2, Form::Part));
        assert_eq!((tokens.words(), tokens.analysed(), tokens.is_cut()), (3, 21, false));
    }

    #[test]
    fn long_texts_are_cut_at_a_space_and_say_so() {
        let text = "word ".repeat(MAX_TEXT);
        let tokens = analyze(&text);
        assert!(tokens.is_cut() && tokens.analysed() <= MAX_TEXT && tokens.analysed() > MAX_TEXT - 8);
        assert!(tokens.tokens().iter().all(|t| t.term() == "word"));
        let one = analyze(&"x".repeat(MAX_TEXT + 1));
        assert_eq!((one.words(), one.analysed(), one.is_cut()), (1, MAX_TEXT, true));
        assert!(!analyze(&"x".repeat(MAX_TEXT)).is_cut());
        assert_eq!(analyze(&"é".repeat(MAX_TEXT)).analysed(), MAX_TEXT);
    }
}
