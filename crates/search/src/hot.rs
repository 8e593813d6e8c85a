//! The words that are said most, close at hand: a small table before a large one, since a look into the large one waits
//! for memory several times.

/// Places of the table: it stays in the processor's cache.
const PLACES: usize = 8192;

/// Longer words are not kept here.
const LONGEST: usize = 23;

/// Remembers what was asked last at each place.
pub(crate) struct Hot {
    table: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    length: u8,
    word: [u8; LONGEST],
    numbers: (u32, u32),
}

impl Default for Hot {
    fn default() -> Self {
        Self { table: vec![Entry { length: u8::MAX, word: [0; LONGEST], numbers: (0, 0) }; PLACES] }
    }
}

impl Hot {
    fn at(word: &[u8]) -> usize {
        let half = |bytes: &[u8]| bytes.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let (first, last) =
            (word.get(..8).unwrap_or(word), word.get(word.len().saturating_sub(8)..).unwrap_or(word));
        let mixed = (half(first).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ half(last))
            .wrapping_mul(0xff51_afd7_ed55_8ccd);
        usize::try_from(mixed >> 51).unwrap_or(0)
    }

    /// What is known of a word, if it was kept and no other came into its place.
    pub(crate) fn get(&self, word: &[u8]) -> Option<(u32, u32)> {
        let entry = self.table.get(Self::at(word))?;
        let is_it = usize::from(entry.length) == word.len() && entry.word.get(..word.len()) == Some(word);
        is_it.then_some(entry.numbers)
    }

    /// Keeps a word, instead of whatever is in its place.
    pub(crate) fn keep(&mut self, word: &[u8], numbers: (u32, u32)) {
        let (Ok(length), Some(entry)) = (u8::try_from(word.len()), self.table.get_mut(Self::at(word))) else {
            return;
        };
        let Some(room) = entry.word.get_mut(..word.len()) else { return };
        room.copy_from_slice(word);
        (entry.length, entry.numbers) = (length, numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_given_is_what_was_kept_last(words in proptest::collection::vec("[abж]{0,26}", 1..80)) {
            let mut hot = Hot::default();
            for (number, word) in (0u32..).zip(&words) {
                if let Some((found, _)) = hot.get(word.as_bytes()) {
                    let last = words.iter().take(crate::bytes::place(number)).rposition(|w| w == word);
                    prop_assert_eq!(Some(crate::bytes::place(found)), last);
                }
                hot.keep(word.as_bytes(), (number, 0));
                prop_assert!(word.len() > LONGEST || hot.get(word.as_bytes()) == Some((number, 0)));
            }
        }
    }
}
