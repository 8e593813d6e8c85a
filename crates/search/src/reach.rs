//! Words within a distance, as an automaton over a vocabulary: nothing is built beforehand, a state is a few bits (Wu and Manber,
//! "Fast Text Searching Allowing Errors", Communications of the ACM 35, 1992), of which only those are kept that can still count.

use fst::Automaton;

/// Greatest distance.
pub(crate) const MOST: usize = 2;

/// Beginnings of the word that as many letters may be: of that length, and of lengths at most so far from it.
const BAND: usize = 2 * MOST + 1;

/// Takes the words that [`crate::near::distance`] finds within `most`, which is at most [`MOST`].
pub(crate) struct Near {
    most: usize,
    word: Vec<char>,
}

/// After so many letters: which beginnings of the word they may be, with so many mistakes at most, and the letter that is not whole yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Met {
    letters: usize,
    /// By mistakes. The lowest bit is the beginning that is [`MOST`] letters shorter, each next one has a letter more.
    beginnings: [u8; MOST + 1],
    /// Of the letter at hand, the bits so far, and how many bytes are still to come.
    letter: u32,
    bytes: u8,
}

impl Near {
    pub(crate) fn new(word: &str, most: usize) -> Self {
        Self { most: most.min(MOST), word: word.chars().collect() }
    }

    /// The beginnings that there are around that many letters, and those of them that end with `letter`.
    fn around(&self, letters: usize, letter: char) -> (u8, u8) {
        let (mut there, mut end) = (0, 0);
        for bit in 0..BAND {
            let Some(length) = (letters + bit).checked_sub(MOST).filter(|length| *length <= self.word.len())
            else {
                continue;
            };
            there |= 1 << bit;
            let last = length.checked_sub(1).and_then(|last| self.word.get(last));
            end |= u8::from(last == Some(&letter)) << bit;
        }
        (there, end)
    }

    fn step(&self, met: &Met, letter: char) -> Option<Met> {
        let letters = met.letters + 1;
        let (there, end) = self.around(letters, letter);
        let mut beginnings = [0; MOST + 1];
        // With one mistake less: before this letter and after it.
        let (mut before, mut after) = (0u8, 0u8);
        for (now, then) in met.beginnings.iter().zip(&mut beginnings).take(self.most + 1) {
            // The letter is right, another one's, one too many, or one before it was left out. A beginning that is one letter
            // longer has the same bit as before, since so has this word.
            *then = ((now & end) | before | before >> 1 | after << 1) & there;
            (before, after) = (*now, *then);
        }
        (after != 0).then_some(Met { letters, beginnings, letter: 0, bytes: 0 })
    }
}

impl Automaton for Near {
    /// Nothing where no word can be near any more.
    type State = Option<Met>;

    fn start(&self) -> Option<Met> {
        let mut beginnings = [0; MOST + 1];
        for (mistakes, bits) in beginnings.iter_mut().enumerate().take(self.most + 1) {
            // As many letters may be left out.
            let longest = mistakes.min(self.word.len());
            *bits = ((2 << longest) - 1) << MOST;
        }
        Some(Met { letters: 0, beginnings, letter: 0, bytes: 0 })
    }

    fn is_match(&self, state: &Option<Met>) -> bool {
        state.as_ref().is_some_and(|met| {
            let whole = (self.word.len() + MOST).checked_sub(met.letters).filter(|bit| *bit < BAND);
            let bits = met.beginnings.get(self.most).copied().unwrap_or(0);
            met.bytes == 0 && whole.is_some_and(|bit| bits >> bit & 1 == 1)
        })
    }

    fn can_match(&self, state: &Option<Met>) -> bool {
        state.is_some()
    }

    fn accept(&self, state: &Option<Met>, byte: u8) -> Option<Met> {
        let met = state.as_ref()?;
        if byte < 0x80 {
            return self.step(met, char::from(byte));
        }
        let (letter, bytes) = match byte {
            0x80..=0xbf => (met.letter << 6 | u32::from(byte & 0x3f), met.bytes.checked_sub(1)?),
            0xc0..=0xdf => (u32::from(byte & 0x1f), 1),
            0xe0..=0xef => (u32::from(byte & 0x0f), 2),
            _ => (u32::from(byte & 0x07), 3),
        };
        if bytes == 0 {
            return self.step(met, char::from_u32(letter)?);
        }
        Some(Met { letter, bytes, ..*met })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::distance;
    use fst::{IntoStreamer as _, Set, Streamer as _};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_takes_what_is_near(
            words in proptest::collection::btree_set("[abéж日]{0,6}", 0..60),
            word in "[abéж日]{0,6}",
            most in 0usize..=2,
            before in proptest::sample::select(vec![0, 1, 30, 62, 63, 64, 200]),
        ) {
            let before = "ab".repeat(before);
            let (words, word) = (words.iter().map(|w| format!("{before}{w}")).collect::<BTreeSet<_>>(), format!("{before}{word}"));
            let set = Set::from_iter(&words).unwrap();
            let mut stream = set.search(Near::new(&word, most)).into_stream();
            let mut found = Vec::new();
            while let Some(key) = stream.next() {
                found.push(String::from_utf8(key.to_vec()).unwrap());
            }
            let near: Vec<String> = words.into_iter().filter(|w| distance(&word, w, most).is_some()).collect();
            prop_assert_eq!(found, near);
        }
    }
}
