//! Words within a distance, as an automaton over a vocabulary: nothing is built beforehand, a state is the band of the
//! table of distances that can still be small enough.

use fst::Automaton;

/// Greatest distance.
pub(crate) const MOST: usize = 2;

/// Cells of the band: as many before the diagonal as behind it.
const BAND: usize = 2 * MOST + 1;

/// Takes the words that [`crate::near::distance`] finds within `most`, which is at most [`MOST`].
pub(crate) struct Near {
    word: Vec<char>,
    most: u8,
}

/// After so many letters: the distances to the beginnings of the word around that length, and the letter that is not
/// whole yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Band {
    letters: usize,
    cells: [u8; BAND],
    /// Of the letter at hand, the bits so far, and how many bytes are still to come.
    letter: u32,
    bytes: u8,
}

impl Near {
    pub(crate) fn new(word: &str, most: usize) -> Self {
        let most = u8::try_from(most.min(MOST)).unwrap_or(0);
        Self { word: word.chars().collect(), most }
    }

    fn step(&self, band: &Band, letter: char) -> Band {
        let far = self.most + 1;
        let mut cells = [far; BAND];
        let mut left = far;
        for (t, cell) in cells.iter_mut().enumerate() {
            // The beginning of the word that this cell is for has `length` letters.
            let Some(length) = (band.letters + 1 + t).checked_sub(MOST).filter(|l| *l <= self.word.len())
            else {
                continue;
            };
            let above = band.cells.get(t + 1).copied().unwrap_or(far);
            let mut best = (above + 1).min(left + 1);
            if let Some(before) = length.checked_sub(1).and_then(|l| self.word.get(l)) {
                let corner = band.cells.get(t).copied().unwrap_or(far);
                best = best.min(corner + u8::from(*before != letter));
            }
            left = best.min(far);
            *cell = left;
        }
        Band { letters: band.letters + 1, cells, letter: 0, bytes: 0 }
    }
}

impl Automaton for Near {
    type State = Option<Band>;

    fn start(&self) -> Option<Band> {
        let far = self.most + 1;
        let mut cells = [far; BAND];
        for (length, cell) in (0..far).zip(cells.iter_mut().skip(MOST)) {
            if usize::from(length) <= self.word.len() {
                *cell = length;
            }
        }
        Some(Band { letters: 0, cells, letter: 0, bytes: 0 })
    }

    fn is_match(&self, state: &Option<Band>) -> bool {
        state.as_ref().is_some_and(|band| {
            let cell = (self.word.len() + MOST).checked_sub(band.letters).and_then(|t| band.cells.get(t));
            band.bytes == 0 && cell.is_some_and(|cell| *cell <= self.most)
        })
    }

    fn can_match(&self, state: &Option<Band>) -> bool {
        state.as_ref().is_some_and(|band| band.cells.iter().any(|cell| *cell <= self.most))
    }

    fn accept(&self, state: &Option<Band>, byte: u8) -> Option<Band> {
        let band = state.as_ref()?;
        if byte < 0x80 {
            return Some(self.step(band, char::from(byte)));
        }
        let (letter, bytes) = match byte {
            0x80..=0xbf => (band.letter << 6 | u32::from(byte & 0x3f), band.bytes.checked_sub(1)?),
            0xc0..=0xdf => (u32::from(byte & 0x1f), 1),
            0xe0..=0xef => (u32::from(byte & 0x0f), 2),
            _ => (u32::from(byte & 0x07), 3),
        };
        if bytes == 0 {
            return Some(self.step(band, char::from_u32(letter)?));
        }
        Some(Band { letter, bytes, ..*band })
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
}
