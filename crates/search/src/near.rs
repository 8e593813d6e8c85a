//! How far words are from each other.

/// How many letters must be added, left out or exchanged for others to make one word of the other, if that is at most
/// `most`. Time is the product of the lengths, without what both begin and end with.
pub(crate) fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
    if a.is_ascii() && b.is_ascii() {
        return between(a.as_bytes(), b.as_bytes(), most);
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    between(&a, &b, most)
}

/// The same of letters, whatever they are.
fn between<T: Copy + PartialEq>(mut a: &[T], mut b: &[T], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    while let ([x, rest_of_a @ ..], [y, rest_of_b @ ..]) = (a, b)
        && x == y
    {
        (a, b) = (rest_of_a, rest_of_b);
    }
    while let ([rest_of_a @ .., x], [rest_of_b @ .., y]) = (a, b)
        && x == y
    {
        (a, b) = (rest_of_a, rest_of_b);
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

    /// As Wagner and Fischer count, without any short cut.
    fn counted(a: &str, b: &str) -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                rows[i][j] = match (i, j) {
                    (0, _) => j,
                    (_, 0) => i,
                    _ => {
                        let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                        changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
                    }
                };
            }
        }
        rows[a.len()][b.len()]
    }

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
        fn distance_is_what_is_counted(a in "[abcé]{0,7}", b in "[abcé]{0,7}", most in 0usize..9) {
            let expected = Some(counted(&a, &b)).filter(|d| *d <= most);
            prop_assert_eq!(distance(&a, &b, most), expected);
        }

        #[test]
        fn distance_has_two_directions(a in "[abc]{0,7}", b in "[abc]{0,7}") {
            prop_assert_eq!(distance(&a, &b, 9), distance(&b, &a, 9));
            let (d, long) = (distance(&a, &b, 9), a.len().max(b.len()));
            prop_assert!(d.is_some_and(|d| d <= long && (d == 0) == (a == b)));
        }
    }
}
