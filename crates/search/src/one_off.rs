//! Words one letter off, straight from a vocabulary: along the word, with one mistake made at every place of it. An automaton
//! ([`crate::reach`]) tries all that a place goes on with, also behind the mistake, where only one thing can be right.

use fst::raw::{Fst, Node, Output};

/// Calls with every other word of a map, by letters, that becomes `word` when one letter is added, left out or exchanged for another.
/// With `keeps_first` the first letter is not touched.
pub(crate) fn each(fst: &Fst<Vec<u8>>, word: &str, keeps_first: bool, mut on: impl FnMut(&str, u64)) {
    let mut walk = Walk { fst, found: Vec::new() };
    let mut key = Vec::with_capacity(word.len() + 4);
    let (mut node, mut output) = (fst.root(), Output::zero());
    for (at, letter) in word.char_indices() {
        let rest = word.get(at..).unwrap_or_default();
        let behind = rest.get(letter.len_utf8()..).unwrap_or_default();
        if at > 0 || !keeps_first {
            walk.follow((&node, output), &mut key, behind.as_bytes());
            walk.letters((&node, output), &mut key, 0, &mut |walk, place, key| {
                walk.follow(place, key, rest.as_bytes());
                walk.follow(place, key, behind.as_bytes());
            });
        }
        let right = rest.as_bytes().get(..letter.len_utf8()).unwrap_or_default();
        match go(fst, &node, output, right) {
            Some(next) => (node, output) = next,
            // No word begins like that: a mistake behind it is not the only one.
            None => return walk.tell(word, &mut on),
        }
        key.extend_from_slice(right);
    }
    walk.letters((&node, output), &mut key, 0, &mut |walk, place, key| walk.follow(place, key, &[]));
    walk.tell(word, &mut on);
}

/// A place in the map, and what the way there sums to.
type Place<'p, 'f> = (&'p Node<'f>, Output);

/// Follows these bytes.
fn go<'f>(
    fst: &'f Fst<Vec<u8>>,
    from: &Node<'f>,
    mut output: Output,
    bytes: &[u8],
) -> Option<(Node<'f>, Output)> {
    let mut node = *from;
    for byte in bytes {
        let taken = node.transition(node.find_input(*byte)?);
        output = output.cat(taken.out);
        node = fst.node(taken.addr);
    }
    Some((node, output))
}

struct Walk<'f> {
    fst: &'f Fst<Vec<u8>>,
    /// The same word may be found by several mistakes.
    found: Vec<(Vec<u8>, u64)>,
}

impl<'f> Walk<'f> {
    /// Keeps the word that goes on like that, if there is one.
    fn follow(&mut self, (node, output): Place<'_, 'f>, key: &mut Vec<u8>, rest: &[u8]) {
        let Some((node, output)) = go(self.fst, node, output, rest) else { return };
        if node.is_final() {
            let word = [key.as_slice(), rest].concat();
            self.found.push((word, output.cat(node.final_output()).value()));
        }
    }

    /// Calls behind every letter that may come next; of one that is begun, `left` bytes are still to come.
    fn letters(
        &mut self,
        (node, output): Place<'_, 'f>,
        key: &mut Vec<u8>,
        left: u8,
        on: &mut dyn FnMut(&mut Self, Place<'_, 'f>, &mut Vec<u8>),
    ) {
        for taken in node.transitions() {
            let left = match (left, taken.inp) {
                (0, 0..0x80) => 0,
                (0, 0xc0..0xe0) => 1,
                (0, 0xe0..0xf0) => 2,
                (0, 0xf0..) => 3,
                (left @ 1.., 0x80..0xc0) => left - 1,
                // Keys are text.
                _ => continue,
            };
            let (next, output) = (self.fst.node(taken.addr), output.cat(taken.out));
            key.push(taken.inp);
            if left == 0 {
                on(self, (&next, output), key);
            } else {
                self.letters((&next, output), key, left, on);
            }
            key.pop();
        }
    }

    fn tell(mut self, word: &str, on: &mut impl FnMut(&str, u64)) {
        self.found.sort_unstable();
        self.found.dedup();
        for (key, at) in &self.found {
            if let Ok(text) = std::str::from_utf8(key)
                && text != word
            {
                on(text, *at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::distance;
    use fst::Map;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_is_one_letter_off(
            words in proptest::collection::btree_set("[abéèж日𝔸𝔹]{0,6}", 0..60),
            word in "[abéж日𝔸]{0,6}",
            keeps_first in any::<bool>(),
        ) {
            let map = Map::from_iter(words.iter().zip(0u64..)).unwrap();
            let mut found = Vec::new();
            each(map.as_fst(), &word, keeps_first, |text, at| found.push((text.to_owned(), at)));
            let is_one = |other: &String| {
                let begins_alike = other.chars().next() == word.chars().next();
                distance(&word, other, 1) == Some(1) && (!keeps_first || word.is_empty() || begins_alike)
            };
            let near: Vec<(String, u64)> = words.into_iter().zip(0u64..).filter(|(other, _)| is_one(other)).collect();
            prop_assert_eq!(found, near);
        }
    }
}
