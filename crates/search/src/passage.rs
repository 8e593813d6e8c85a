//! The parts of texts that show why they were found.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::query::{Asked, Query};
use crate::words::{Splitter, Stems, may_be_of, may_be_within};

/// Longest passage, in characters.
pub const MAX_PASSAGE: usize = 160;

/// Different pieces of texts that are remembered, and the longest of them in bytes: at most 1 MiB.
const MAX_KNOWN: (usize, usize) = (8_192, 64);

/// A piece of a text between spaces that has a word which is asked for.
struct Mark {
    piece: Range<usize>,
    word: usize,
}

/// Which words of a question: it has at most [`crate::MAX_WORDS`].
type Words = u32;

/// Shows why texts were found by a question. It remembers the pieces that it has taken apart: texts of one library say
/// the same words over and over.
pub struct Passages<'q> {
    query: &'q Query,
    splitter: Splitter,
    stems: Stems,
    beginnings: Beginnings,
    known: BTreeMap<Box<str>, Option<usize>>,
}

impl<'q> Passages<'q> {
    /// Of what is asked for.
    #[must_use]
    pub fn new(query: &'q Query) -> Self {
        let beginnings = Beginnings::of(query.words.iter().flat_map(stems));
        let (splitter, known) = (Splitter::default(), BTreeMap::new());
        Self { query, splitter, stems: Stems::new(), beginnings, known }
    }

    /// The first part of a text, of at most [`MAX_PASSAGE`] characters, that has the most of the words that are asked for;
    /// on words, with one space between them. `None` when it has none: what was found by a longer or misspelt word only
    /// has no passage. Of the text [`crate::MAX_TEXT`] bytes are looked at; linear in those.
    pub fn of(&mut self, text: &str) -> Option<String> {
        let taken = text.get(..text.floor_char_boundary(crate::MAX_TEXT)).unwrap_or(text);
        let marks = self.marks(taken);
        let all = distinct(&marks, 0);
        let mut best: Option<(u32, Range<usize>)> = None;
        for (at, last) in marks.iter().enumerate() {
            let most = best.as_ref().map_or(0, |(most, _)| *most);
            if most == all {
                break;
            }
            // So many pieces of a letter and a space.
            let behind = marks.get(at.saturating_sub(MAX_PASSAGE / 2)..=at).unwrap_or_default();
            if distinct(behind, 0) <= most {
                continue;
            }
            let Some(start) = start_of(taken, last.piece.end) else { continue };
            let distinct = distinct(behind, start);
            if distinct > most {
                best = Some((distinct, start..last.piece.end));
            }
        }
        let words: Vec<&str> = taken.get(best?.1)?.split_whitespace().collect();
        Some(words.join(" "))
    }

    /// The pieces that have a word, in order.
    fn marks(&mut self, text: &str) -> Vec<Mark> {
        let (mut marks, mut from) = (Vec::new(), 0);
        while let Some(at) = self.beginnings.next(text.as_bytes(), from) {
            let (Some(before), Some(behind)) = (text.get(..at), text.get(at..)) else { break };
            let Some(c) = behind.chars().next() else { break };
            if c.is_whitespace() {
                from = at + c.len_utf8();
                continue;
            }
            let start = before.len()
                - before.chars().rev().take_while(|c| !c.is_whitespace()).map(char::len_utf8).sum::<usize>();
            let end = behind.find(char::is_whitespace).map_or(text.len(), |length| at + length);
            if let Some(word) = text.get(start..end).and_then(|piece| self.word(piece)) {
                marks.push(Mark { piece: start..end, word });
            }
            from = end;
        }
        marks
    }

    /// The first word that is asked for of those that a piece has.
    fn word(&mut self, piece: &str) -> Option<usize> {
        if let Some(word) = self.known.get(piece) {
            return *word;
        }
        // What stands between others is taken apart for itself, as far as it is needed.
        let mut groups = piece.split(|c| !may_be_within(c));
        let word = groups.find_map(|group| {
            self.beginnings.next(group.as_bytes(), 0)?;
            let mut word = None;
            self.splitter.split(group, 0, true, |part| {
                if word.is_some() {
                    return;
                }
                if self.query.words.iter().flat_map(stems).any(|stem| may_be_of(stem, part.text)) {
                    let stem = self.stems.of(part.text);
                    word =
                        self.query.words.iter().position(|asked| stems(asked).any(|asked| *asked == *stem));
                }
            });
            word
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
    /// The first three letters of each; 0 where there is none, or where it may be another one.
    of: Vec<[u8; 3]>,
    /// The first ones alone, in both cases, and every byte of other letters.
    firsts: [bool; 256],
    /// Whether something begins otherwise than by letters of ASCII.
    are_others: bool,
}

impl Beginnings {
    fn of<'s>(stems: impl Iterator<Item = &'s String>) -> Self {
        let mut all =
            Self { of: Vec::new(), firsts: std::array::from_fn(|byte| byte >= 0x80), are_others: false };
        for stem in stems {
            match *stem.as_bytes() {
                // Grammar makes `use` of `using`.
                [first, second, b'e'] if first.is_ascii() && second.is_ascii() => all.add([first, second, 0]),
                [first, second, third, ..] if first.is_ascii() && second.is_ascii() => {
                    all.add([first, second, if third.is_ascii() { third } else { 0 }]);
                }
                [first, second] if first.is_ascii() && second.is_ascii() => all.add([first, second, 0]),
                // Alone it may be a word, or the first letter of a longer one.
                [first] if first.is_ascii() => all.add([first, 0, 0]),
                _ => all.are_others = true,
            }
        }
        all
    }

    fn add(&mut self, letters: [u8; 3]) {
        let [first, ..] = letters;
        for letter in [first, first.to_ascii_uppercase()] {
            if let Some(is) = self.firsts.get_mut(usize::from(letter)) {
                *is = true;
            }
        }
        self.of.push(letters);
    }

    /// The next place from `from` on where one may be: also wherever there are other letters than those of ASCII.
    fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        if self.are_others {
            return rest.first().map(|_| from);
        }
        let found = rest.iter().enumerate().position(|(at, first)| {
            let is_first = self.firsts.get(usize::from(*first)).copied().unwrap_or(true);
            is_first && (!first.is_ascii() || self.begins(text, from + at))
        });
        found.map(|at| from + at)
    }

    fn begins(&self, text: &[u8], at: usize) -> bool {
        let letter = |at: Option<usize>| {
            let byte = at.and_then(|at| text.get(at)).copied();
            byte.filter(u8::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase())
        };
        let (first, second) = (letter(Some(at)), letter(at.checked_add(1)));
        let third = letter(at.checked_add(2));
        // Parts of a whole are joined where something stands between them.
        let is_alone = || second.is_none() && letter(at.checked_sub(1)).is_none();
        // Grammar makes `die` of `dying`, and `sky` of `skies`.
        let is_like = |here: u8, then: u8| {
            then == 0 || here == then || matches!((here, then), (b'y', b'i') | (b'i', b'y'))
        };
        self.of.iter().any(|[of, then, last]| {
            let goes_on = || {
                second.is_some_and(|second| is_like(second, *then))
                    && third.is_none_or(|third| is_like(third, *last))
            };
            first == Some(*of) && (*then == 0 || goes_on() || is_alone())
        })
    }
}

/// How many different words the marks have that begin at `from` or later.
fn distinct(marks: &[Mark], from: usize) -> u32 {
    let near = marks.iter().rev().take_while(|mark| mark.piece.start >= from);
    near.fold(0 as Words, |words, mark| words | 1 << mark.word).count_ones()
}

/// Where the longest passage begins that ends at `end`, with one space between its pieces; none where the last piece is longer.
fn start_of(text: &str, end: usize) -> Option<usize> {
    let (mut room, mut start) = (MAX_PASSAGE + 1, None);
    for piece in text.get(..end)?.split_whitespace().rev() {
        let Some(left) = room.checked_sub(piece.chars().count() + 1) else { break };
        // Pieces are parts of the text.
        start = Some(piece.as_ptr().addr() - text.as_ptr().addr());
        room = left;
    }
    start
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
        let many: Vec<String> = (0..MAX_KNOWN.0 + 9).map(|i| format!("ret{i}")).collect();
        assert_eq!(passages.of(&many.join(" ")), None);
        assert_eq!(passages.known.len(), MAX_KNOWN.0);
        assert_eq!(passages.of("backoffs"), Some("backoffs".to_owned()));
    }

    #[test]
    fn every_word_of_a_stem_is_found_by_every_other() {
        let mut by_stem = BTreeMap::<&str, Vec<&str>>::new();
        for line in include_str!("../tests/it/stems.txt").lines() {
            let (word, stem) = line.split_once(' ').unwrap();
            by_stem.entry(stem).or_default().push(word);
        }
        assert!(by_stem.values().any(|words| words.len() > 9));
        for words in by_stem.values() {
            for (asked, word) in words.iter().flat_map(|asked| words.iter().map(move |word| (asked, word))) {
                assert_eq!(of(word, asked).as_deref(), Some(*word), "{asked}");
            }
        }
        for (asked, word) in [("use", "using"), ("die", "dying"), ("sky", "skies"), ("owe", "owed")] {
            assert_eq!(of(word, asked).as_deref(), Some(word), "{asked}");
        }
    }

    /// The same piece by piece, without any short cut.
    fn plain(text: &str, query: &Query) -> Option<String> {
        let mut passages = Passages::new(query);
        let pieces: Vec<(&str, Option<usize>)> =
            text.split_whitespace().map(|piece| (piece, passages.word(piece))).collect();
        let mut best: Option<(usize, String)> = None;
        for end in 1..=pieces.len() {
            let fits = |from: &usize| {
                let piece = |(piece, _): &(&str, _)| piece.chars().count() + 1;
                pieces[*from..end].iter().map(piece).sum::<usize>() <= MAX_PASSAGE + 1
            };
            let Some(from) = (0..end).find(fits) else { continue };
            let words: std::collections::BTreeSet<usize> =
                pieces[from..end].iter().filter_map(|(_, word)| *word).collect();
            if words.len() > best.as_ref().map_or(0, |(most, _)| *most) {
                let text: Vec<&str> = pieces[from..end].iter().map(|(piece, _)| *piece).collect();
                best = Some((words.len(), text.join(" ")));
            }
        }
        best.map(|(_, passage)| passage)
    }

    proptest! {
        #[test]
        fn the_passage_is_the_first_with_the_most_words(
            pieces in proptest::collection::vec(
                "[ \t\u{a0}\n]{1,3}([a-d]{1,3}|[a-d]{2}ing|é[a-d]|x{5,30}|x{150,170}|[A-C][a-c]{2}-[a-c]{2}|\u{2003})",
                0..60,
            ),
            asked in "[a-c]{2}( [a-d]{2,3}){0,3}( é?[a-d]{1,2})?",
        ) {
            let text = pieces.concat();
            let query = Query::parse(&asked, Mode::Comprehensive, Filters::default()).unwrap();
            prop_assert_eq!(Passages::new(&query).of(&text), plain(&text, &query));
        }

        #[test]
        fn no_piece_with_a_word_that_is_asked_for_is_passed_over(
            piece in "[a-dyéA-D0-2._/\u{301}-]{1,9}|(dy|ly|ty)ing|[a-c]-[a-c]{1,3}|[A-C]?[a-dy]{1,4}(ing|ed|e|es|ies|ly)?",
            asked in proptest::collection::vec("[a-dy]{1,4}|[a-c]{1,2}[A-C][a-c]{1,2}|[a-dy]{1,3}(e|ed|ies|ing)?|die|lie|é[a-c]?", 1..4),
        ) {
            let query = Query::parse(&asked.join(" "), Mode::Comprehensive, Filters::default()).unwrap();
            let (mut passages, stemmer) = (Passages::new(&query), Stems::new());
            let mut first = None;
            Splitter::default().split(&piece, 0, true, |part| {
                let stem = stemmer.of(part.text);
                let word = || query.words.iter().position(|asked| stems(asked).any(|asked| *asked == *stem));
                first = first.or_else(word);
            });
            let marks: Vec<usize> = passages.marks(&piece).into_iter().map(|mark| mark.word).collect();
            prop_assert_eq!(marks, first.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn passages_are_short(text in any::<String>(), word in "[a-c]{1,2}") {
            if let Some(found) = of(&format!("{text} a ab {text}"), &word) {
                prop_assert!(found.chars().count() <= MAX_PASSAGE);
            }
        }
    }
}
