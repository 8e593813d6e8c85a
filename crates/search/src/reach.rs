//! Words within a distance, as an automaton over a vocabulary: nothing is built beforehand, a state is a few numbers whose bits are
//! the letters of the word (Wu and Manber, "Fast Text Searching Allowing Errors", Communications of the ACM 35, 1992).

use fst::Automaton;

/// Greatest distance.
pub(crate) const MOST: usize = 2;

/// Letters of the longest word: one bit is for none of them.
const LONGEST: u32 = u64::BITS - 1;

/// Takes the words that [`crate::near::distance`] finds within `most`, which is at most [`MOST`]; none near a word of more
/// than [`LONGEST`] letters, which no vocabulary has.
pub(crate) struct Near {
    most: usize,
    /// The bit of the whole word; none of one that is too long.
    whole: Option<u64>,
    /// Of each letter, the bits of the beginnings that end with it.
    ascii: [u64; 128],
    others: Vec<(char, u64)>,
}

/// After some letters: which beginnings of the word they may be, with so many mistakes at most, and the letter that is not whole yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Met {
    /// By mistakes. The bit of a beginning is as high as it is long.
    beginnings: [u64; MOST + 1],
    /// Of the letter at hand, the bits so far, and how many bytes are still to come.
    letter: u32,
    bytes: u8,
}

impl Near {
    pub(crate) fn new(word: &str, most: usize) -> Self {
        let (mut ascii, mut others, mut last) = ([0; 128], Vec::<(char, u64)>::new(), 0);
        for (bit, letter) in (1..=LONGEST).zip(word.chars()) {
            last = bit;
            let at = 1 << bit;
            match ascii.get_mut(crate::bytes::place(u32::from(letter))) {
                Some(bits) => *bits |= at,
                None => match others.iter_mut().find(|(other, _)| *other == letter) {
                    Some((_, bits)) => *bits |= at,
                    None => others.push((letter, at)),
                },
            }
        }
        let is_whole = word.chars().nth(crate::bytes::place(LONGEST)).is_none();
        Self { most: most.min(MOST), whole: is_whole.then_some(1 << last), ascii, others }
    }

    fn ends(&self, letter: char) -> u64 {
        let bits = self.ascii.get(crate::bytes::place(u32::from(letter))).copied();
        bits.unwrap_or_else(|| {
            self.others.iter().find(|(other, _)| *other == letter).map_or(0, |(_, bits)| *bits)
        })
    }

    fn step(&self, met: &Met, letter: char) -> Option<Met> {
        let ends = self.ends(letter);
        let longest = self.whole?;
        let all = longest | (longest - 1);
        let mut beginnings = [0; MOST + 1];
        // With one mistake less: before this letter and after it.
        let (mut before, mut after) = (0, 0);
        for (mistakes, (now, then)) in met.beginnings.iter().zip(&mut beginnings).enumerate() {
            if mistakes > self.most {
                break;
            }
            // The letter is right, one too many, another one's, or one before it was left out.
            *then = ((now << 1 & ends) | before | before << 1 | after << 1) & all;
            (before, after) = (*now, *then);
        }
        (after != 0).then_some(Met { beginnings, letter: 0, bytes: 0 })
    }
}

impl Automaton for Near {
    /// Nothing where no word can be near any more.
    type State = Option<Met>;

    fn start(&self) -> Option<Met> {
        let longest = self.whole?;
        let all = longest | (longest - 1);
        let mut beginnings = [0; MOST + 1];
        for (mistakes, bits) in beginnings.iter_mut().enumerate().take(self.most + 1) {
            // As many letters may be left out.
            *bits = ((2 << mistakes) - 1) & all;
        }
        Some(Met { beginnings, letter: 0, bytes: 0 })
    }

    fn is_match(&self, state: &Option<Met>) -> bool {
        state.as_ref().zip(self.whole).is_some_and(|(met, whole)| {
            met.bytes == 0 && met.beginnings.get(self.most).is_some_and(|bits| bits & whole != 0)
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

    proptest! {
        #[test]
        fn it_takes_what_is_near(
            words in proptest::collection::btree_set("[abéж日]{0,6}", 0..60), word in "[abéж日]{0,6}", most in 0usize..=2,
        ) {
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

    #[test]
    fn nothing_is_near_a_word_that_is_too_long() {
        let long = "a".repeat(63);
        let set = Set::from_iter([&long, &format!("{long}a")]).unwrap();
        let count = |word: &str| set.search(Near::new(word, 1)).into_stream().into_strs().unwrap().len();
        assert_eq!((count(&long), count(&format!("{long}a"))), (2, 0));
    }
}
