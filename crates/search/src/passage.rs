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
    known: HashMap<Box<str>, Option<usize>>,
}

impl<'q> Passages<'q> {
    /// Of what is asked for.
    #[must_use]
    pub fn new(query: &'q Query) -> Self {
        Self { query, splitter: Splitter::default(), stems: Stems::new(), known: HashMap::new() }
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
        if let Some(word) = self.known.get(piece) {
            return *word;
        }
        let mut word = None;
        self.splitter.split(piece, 0, true, |part| {
            if word.is_some() {
                return;
            }
            // Grammar takes time, and most words begin as none that is asked for.
            let stems = |asked: &'q Asked| asked.wholes.iter().chain([&asked.stem]);
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
        let many: String = (0..MAX_KNOWN.0 + 9).map(|i| format!("w{i} ")).collect();
        assert_eq!(passages.of(&many), None);
        assert_eq!(passages.known.len(), MAX_KNOWN.0);
        assert_eq!(passages.of("backoffs"), Some("backoffs".to_owned()));
    }

    proptest! {
        #[test]
        fn passages_are_short(text in any::<String>(), word in "[a-c]{1,2}") {
            if let Some(found) = of(&format!("{text} a ab {text}"), &word) {
                prop_assert!(found.chars().count() <= MAX_PASSAGE);
            }
        }
    }
}
