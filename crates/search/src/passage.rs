//! The part of a text that shows why it was found.

use std::collections::VecDeque;

use crate::query::Query;
use crate::words::{Splitter, Stems};

/// Longest passage, in characters.
pub const MAX_PASSAGE: usize = 160;

/// A piece of text between spaces, and the place of the first asked word that it has.
struct Piece<'t> {
    text: &'t str,
    characters: usize,
    word: Option<usize>,
}

/// The first part of a text, of at most [`MAX_PASSAGE`] characters, that has the most of the words that are asked for; on
/// words, with one space between them. `None` when it has none: what was found by a longer or misspelt word only has no
/// passage. Of the text [`crate::MAX_TEXT`] bytes are looked at; linear in those.
#[must_use]
pub fn passage(text: &str, query: &Query) -> Option<String> {
    let (mut splitter, stems) = (Splitter::default(), Stems::new());
    let taken = text.get(..text.floor_char_boundary(crate::MAX_TEXT)).unwrap_or(text);
    let mut counts = vec![0usize; query.words.len()];
    let mut window: VecDeque<Piece<'_>> = VecDeque::new();
    let (mut length, mut distinct) = (0, 0);
    let mut best: Option<(usize, String)> = None;
    for piece in taken.split_whitespace() {
        let mut word = None;
        splitter.split(piece, 0, true, |part| {
            let stem = stems.of(part.text);
            let is_asked =
                |asked: &crate::query::Asked| asked.stem == *stem || asked.wholes.iter().any(|w| *w == *stem);
            word = word.or_else(|| query.words.iter().position(is_asked));
        });
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
        }
    }
    best.map(|(_, passage)| passage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Filters, Mode};
    use proptest::prelude::*;

    fn of(text: &str, asked: &str) -> Option<String> {
        passage(text, &Query::parse(asked, Mode::Comprehensive, Filters::default()).unwrap())
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

    proptest! {
        #[test]
        fn passages_are_short(text in any::<String>(), word in "[a-c]{1,2}") {
            if let Some(found) = of(&format!("{text} a ab {text}"), &word) {
                prop_assert!(found.chars().count() <= MAX_PASSAGE);
            }
        }
    }
}
