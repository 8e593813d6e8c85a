//! How far words are from each other.

/// How many letters must be added, left out or exchanged for others to make one word of the other, if that is at most
/// `most`. Time is the product of the lengths.
pub(crate) fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, of_a) in a.iter().enumerate() {
        // `corner` is what stood above and before, `left` what was written last.
        let (mut corner, mut left) = (i, i + 1);
        let mut least = left;
        let mut cells = row.iter_mut();
        if let Some(first) = cells.next() {
            *first = left;
        }
        for (of_b, cell) in b.iter().zip(cells) {
            let above = *cell;
            let changed = corner + usize::from(of_a != of_b);
            left = changed.min(above + 1).min(left + 1);
            corner = above;
            *cell = left;
            least = least.min(left);
        }
        if least > most {
            return None;
        }
    }
    row.last().copied().filter(|d| *d <= most)
}

/// The words that this one becomes when two neighbours are exchanged, each once.
pub(crate) fn exchanged(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut found = Vec::new();
    for i in 1..letters.len() {
        let mut other = letters.clone();
        other.swap(i - 1, i);
        let other: String = other.into_iter().collect();
        if other != word && !found.contains(&other) {
            found.push(other);
        }
    }
    found
}

/// As [`distance`], where neighbours exchanged count one.
pub(crate) fn typo_distance(a: &str, b: &str, most: usize) -> Option<usize> {
    if most > 0 && is_exchanged(a, b) {
        return Some(1);
    }
    distance(a, b, most)
}

fn is_exchanged(a: &str, b: &str) -> bool {
    if a.len() != b.len() || a == b {
        return false;
    }
    let mut different = a.chars().zip(b.chars()).enumerate().filter(|(_, (x, y))| x != y);
    let (Some((i, (x1, y1))), Some((j, (x2, y2))), None) =
        (different.next(), different.next(), different.next())
    else {
        return false;
    };
    j == i + 1 && x1 == y2 && x2 == y1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn distances_are_counted() {
        for (a, b, most, expected) in [
            ("token", "token", 2, Some(0)),
            ("token", "tokem", 1, Some(1)),
            ("token", "tokens", 1, Some(1)),
            ("token", "oken", 1, Some(1)),
            ("token", "tokne", 1, None),
            ("token", "tokne", 2, Some(2)),
            ("", "ab", 2, Some(2)),
            ("kitten", "sitting", 3, Some(3)),
            ("kitten", "sitting", 2, None),
        ] {
            assert_eq!(distance(a, b, most), expected, "{a} {b}");
        }
        assert_eq!(typo_distance("token", "tokne", 1), Some(1));
        assert_eq!(typo_distance("token", "tknoe", 1), None);
        assert_eq!(exchanged("aab"), ["aba"]);
    }

    proptest! {
        #[test]
        fn exchanging_is_what_is_exchanged(word in "[ab]{0,6}", other in "[ab]{0,6}") {
            prop_assert_eq!(exchanged(&word).contains(&other), is_exchanged(&word, &other));
        }

        #[test]
        fn distance_has_two_directions(a in "[abc]{0,7}", b in "[abc]{0,7}") {
            prop_assert_eq!(distance(&a, &b, 9), distance(&b, &a, 9));
            let (d, long) = (distance(&a, &b, 9), a.len().max(b.len()));
            prop_assert!(d.is_some_and(|d| d <= long && (d == 0) == (a == b)));
        }
    }
}
