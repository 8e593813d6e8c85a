//! The parts of texts that show why they were found.

use std::collections::{HashMap, VecDeque};

use crate::query::{Asked, Query};
use crate::words::{Splitter, Stems, may_be_of};

/// Longest passage, in characters.
pub const MAX_PASSAGE: usize = 160;

/// Different pieces of texts that are remembered, and the longest of them in bytes: at most 1 MiB.
const MAX_KNOWN: (usize, usize) = (8_192, 64);

/// A piece of text between spaces, and the place of the first asked word that it has.
struct Piece<'t> {
    text: &'t str,
    characters: usize,
    word: Option<usize>,
}

/// Shows why texts were found by a question. It remembers the pieces that it has taken apart: texts of one library say
/// the same words over and over.
pub struct Passages<'q> {
    query: &'q Query,
    splitter: Splitter,
    stems: Stems,
    beginnings: Beginnings,
    known: HashMap<Box<str>, Option<usize>>,
}

impl<'q> Passages<'q> {
    /// Of what is asked for.
    #[must_use]
    pub fn new(query: &'q Query) -> Self {
        let beginnings = Beginnings::of(query.words.iter().flat_map(stems));
        let (splitter, known) = (Splitter::default(), HashMap::new());
        Self { query, splitter, stems: Stems::new(), beginnings, known }
    }

    /// The first part of a text, of at most [`MAX_PASSAGE`] characters, that has the most of the words that are asked for;
    /// on words, with one space between them. `None` when it has none: what was found by a longer or misspelt word only
    /// has no passage. Of the text [`crate::MAX_TEXT`] bytes are looked at; linear in those.
    pub fn of(&mut self, text: &str) -> Option<String> {
        let taken = text.get(..text.floor_char_boundary(crate::MAX_TEXT)).unwrap_or(text);
        let mut counts = vec![0usize; self.query.words.len()];
        let mut window: VecDeque<Piece<'_>> = VecDeque::new();
        let (mut length, mut distinct) = (0, 0);
        let mut best: Option<(usize, String)> = None;
        for piece in taken.split_whitespace() {
            let word = self.word(piece);
            let characters = piece.chars().count() + 1;
            length += characters;
            window.push_back(Piece { text: piece, characters, word });
            if let Some(count) = word.and_then(|word| counts.get_mut(word)) {
                distinct += usize::from(*count == 0);
                *count += 1;
            }
            while length > MAX_PASSAGE + 1 {
                let Some(first) = window.pop_front() else { break };
                length -= first.characters;
                if let Some(count) = first.word.and_then(|word| counts.get_mut(word)) {
                    *count -= 1;
                    distinct -= usize::from(*count == 0);
                }
            }
            if distinct > best.as_ref().map_or(0, |(most, _)| *most) {
                let words: Vec<&str> = window.iter().map(|piece| piece.text).collect();
                best = Some((distinct, words.join(" ")));
                if distinct == counts.len() {
                    break;
                }
            }
        }
        best.map(|(_, passage)| passage)
    }

    /// The first word that is asked for of those that a piece has.
    fn word(&mut self, piece: &str) -> Option<usize> {
        if !self.beginnings.may_be_in(piece) {
            return None;
        }
        if let Some(word) = self.known.get(piece) {
            return *word;
        }
        let mut word = None;
        self.splitter.split(piece, 0, true, |part| {
            if word.is_some() {
                return;
            }
            if self.query.words.iter().flat_map(stems).any(|stem| may_be_of(stem, part.text)) {
                let stem = self.stems.of(part.text);
                word = self.query.words.iter().position(|asked| stems(asked).any(|asked| *asked == *stem));
            }
        });
        if piece.len() <= MAX_KNOWN.1 && self.known.len() < MAX_KNOWN.0 {
            self.known.insert(piece.into(), word);
        }
        word
    }
}

/// What a piece may have of a word that is asked for.
fn stems(asked: &Asked) -> impl Iterator<Item = &String> {
    asked.wholes.iter().chain([&asked.stem])
}

/// How words may begin that are asked for. Most pieces have no such beginning: they are not taken apart.
struct Beginnings {
    /// First letters with the second ones; 0 where there is none.
    of: Vec<(u8, u8)>,
    /// The first ones alone.
    firsts: [bool; 256],
    /// Whether something begins otherwise than by letters of ASCII.
    are_others: bool,
}

impl Beginnings {
    fn of<'s>(stems: impl Iterator<Item = &'s String>) -> Self {
        let mut all = Self { of: Vec::new(), firsts: [false; 256], are_others: false };
        for stem in stems {
            match *stem.as_bytes() {
                [first, second, ..] if first.is_ascii() && second.is_ascii() => all.add(first, second),
                // Alone it may be a word, or the first letter of a longer one.
                [first] if first.is_ascii() => all.add(first, 0),
                _ => all.are_others = true,
            }
        }
        all
    }

    fn add(&mut self, first: u8, second: u8) {
        if let Some(is) = self.firsts.get_mut(usize::from(first)) {
            *is = true;
        }
        self.of.push((first, second));
    }

    /// Whether one may be in a piece; always, where that has other letters than those of ASCII.
    fn may_be_in(&self, piece: &str) -> bool {
        if self.are_others || !piece.is_ascii() {
            return true;
        }
        let behind = piece.bytes().skip(1).chain([b' ']);
        piece.bytes().zip(behind).any(|(first, second)| {
            let (first, second) = (first.to_ascii_lowercase(), second.to_ascii_lowercase());
            let is_first = self.firsts.get(usize::from(first)).copied().unwrap_or(true);
            // Parts of a whole are joined where something stood between them, and `dying` is `die`.
            is_first
                && self.of.iter().any(|(of, then)| {
                    *of == first
                        && (*then == second
                            || *then == 0
                            || !second.is_ascii_alphanumeric()
                            || (second == b'y' && *then == b'i'))
                })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Filters, Mode};
    use proptest::prelude::*;

    fn of(text: &str, asked: &str) -> Option<String> {
        let query = Query::parse(asked, Mode::Comprehensive, Filters::default()).unwrap();
        Passages::new(&query).of(text)
    }

    #[test]
    fn passages_show_the_most_words() {
        let filler = "lorem ipsum dolor ".repeat(20);
        let text = format!("Retry once. {filler} Retries with\n  a growing backoff. {filler}");
        let found = of(&text, "retry backoff").unwrap();
        assert!(found.ends_with("Retries with a growing backoff."), "{found}");
        assert!(found.chars().count() <= MAX_PASSAGE);
        assert_eq!(of(&text, "useRetry").as_deref(), Some("Retry"));
        assert_eq!(of(&text, "nothing"), None);
        assert_eq!(of("call useAuthToken()", "auth").as_deref(), Some("call useAuthToken()"));
    }

    /// Whatever came before: what is remembered of other texts changes nothing.
    #[test]
    fn passages_do_not_depend_on_other_texts() {
        let query = Query::parse("retry backoff", Mode::Comprehensive, Filters::default()).unwrap();
        let mut passages = Passages::new(&query);
        let texts = [
            "Retries with backoff",
            "a long-backoff for it",
            "nothing",
            "retryBackoff: Retries with backoff",
        ];
        for text in texts.iter().chain(&texts) {
            assert_eq!(passages.of(text), Passages::new(&query).of(text), "{text}");
        }
        let many: String = (0..MAX_KNOWN.0 + 9).map(|i| format!("re{i} ")).collect();
        assert_eq!(passages.of(&many), None);
        assert_eq!(passages.known.len(), MAX_KNOWN.0);
        assert_eq!(passages.of("backoffs"), Some("backoffs".to_owned()));
    }

    proptest! {
        #[test]
        fn no_piece_with_a_word_that_is_asked_for_is_passed_over(
            piece in "[a-dyéA-D0-2._-]{1,9}|(dy|ly|ty)ing|[a-c]-[a-c]{1,3}|[A-C]?[a-c]{1,4}(ing|ed|ies|ly)?",
            asked in "[a-dy]{1,4}|[a-c]{1,2}[A-C][a-c]{1,2}|die|lie|é[a-c]?",
        ) {
            let query = Query::parse(&asked, Mode::Comprehensive, Filters::default()).unwrap();
            let (mut passages, stemmer) = (Passages::new(&query), Stems::new());
            let mut has = false;
            Splitter::default().split(&piece, 0, true, |part| {
                let stem = stemmer.of(part.text);
                has |= query.words.iter().flat_map(stems).any(|asked| *asked == *stem);
            });
            prop_assert_eq!(passages.word(&piece).is_some(), has);
        }

        #[test]
        fn passages_are_short(text in any::<String>(), word in "[a-c]{1,2}") {
            if let Some(found) = of(&format!("{text} a ab {text}"), &word) {
                prop_assert!(found.chars().count() <= MAX_PASSAGE);
            }
        }
    }
}
