//! npm's order: by extension, then by name, then by path, each as ICU compares texts in English (`npm-packing.md` §1.6).
//!
//! ICU's order of ASCII is here, and that of Latin letters with accents. Of other letters only the order within the same alphabet is
//! likely to be ICU's; a listing says when one occurs.

use std::cmp::Ordering;

use super::Listed;

/// Whether an order is npm's for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// It is.
    Exact,
    /// Names have letters whose place in ICU's order is not known here; everything else is in its place.
    Approximate,
}

/// Printable ASCII and white space that are no letters or digits, as ICU orders them.
const SIGNS: &str = "\t\n\u{b}\u{c}\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Accents, as ICU orders those that Latin letters have.
const ACCENTS: [char; 12] = [
    '\u{301}', '\u{300}', '\u{306}', '\u{302}', '\u{30c}', '\u{30a}', '\u{308}', '\u{30b}', '\u{303}',
    '\u{307}', '\u{328}', '\u{304}',
];

/// Letters with one accent, up to U+017F: the accent, and the letters in pairs of the accented and the plain one.
const ACCENTED: [(char, &str); 12] = [
    ('\u{301}', "áaéeíióoúuýyćcńnśsźzĺlŕr"),
    ('\u{300}', "àaèeìiòoùu"),
    ('\u{306}', "ăaĕeğgĭiŏoŭu"),
    ('\u{302}', "âaêeîiôoûuĉcĝgĥhĵjŝsŵwŷy"),
    ('\u{30c}', "čcďděeňnřršsťtžzľl"),
    ('\u{30a}', "åaůu"),
    ('\u{308}', "äaëeïiöoüuÿy"),
    ('\u{30b}', "őoűu"),
    ('\u{303}', "ãañnõoĩiũu"),
    ('\u{307}', "ċcėeġgżz"),
    ('\u{328}', "ąaęeįiųu"),
    ('\u{304}', "āaēeīiōoūu"),
];

/// What a text is compared by: its letters, then its accents, then its capitals.
struct Key {
    primary: Vec<u32>,
    secondary: Vec<u8>,
    tertiary: Vec<u8>,
    exact: bool,
}

impl Key {
    fn of(text: &str) -> Self {
        let mut key = Self { primary: Vec::new(), secondary: Vec::new(), tertiary: Vec::new(), exact: true };
        for letter in text.chars() {
            key.add(letter);
        }
        key
    }

    fn add(&mut self, letter: char) {
        if letter.is_control() && !SIGNS.contains(letter) {
            // ICU passes over control characters. Those past ASCII are not looked up.
            self.exact &= letter.is_ascii();
            return;
        }
        if let Some(accent) = ACCENTS.iter().position(|accent| *accent == letter) {
            self.accent(accent);
            return;
        }
        let small = lower(letter);
        let capital = u8::from(small != letter);
        let accented = ACCENTED.iter().find_map(|(accent, pairs)| {
            let mut pairs = pairs.chars();
            while let (Some(with), Some(without)) = (pairs.next(), pairs.next()) {
                if with == small {
                    return Some((*accent, without));
                }
            }
            None
        });
        let plain = accented.map_or(small, |(_, plain)| plain);
        self.primary.push(Self::weight(plain));
        self.secondary.push(0);
        self.tertiary.push(capital);
        if let Some(accent) =
            accented.and_then(|(accent, _)| ACCENTS.iter().position(|known| *known == accent))
        {
            self.accent(accent);
        }
        self.exact &= plain.is_ascii();
    }

    fn accent(&mut self, place: usize) {
        self.secondary.push(u8::try_from(place).unwrap_or(u8::MAX).saturating_add(1));
        self.tertiary.push(0);
    }

    fn weight(letter: char) -> u32 {
        let sign = SIGNS.chars().position(|sign| sign == letter).and_then(|place| u32::try_from(place).ok());
        match (sign, letter) {
            (Some(place), _) => place,
            (None, '0'..='9' | 'a'..='z') => 0x100 + u32::from(letter),
            // Signs come before digits, alphabets after letters.
            (None, letter) if letter.is_alphanumeric() => 0x1000 + u32::from(letter),
            (None, _) => 0x80,
        }
    }
}

fn lower(letter: char) -> char {
    let mut lower = letter.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => letter,
    }
}

/// Two texts as `localeCompare(…, "en")` compares them.
pub fn compare(one: &str, other: &str) -> Ordering {
    cmp(&Key::of(one), &Key::of(other))
}

fn cmp(one: &Key, other: &Key) -> Ordering {
    one.primary
        .cmp(&other.primary)
        .then_with(|| one.secondary.cmp(&other.secondary))
        .then_with(|| one.tertiary.cmp(&other.tertiary))
}

/// Sorts files as npm does.
pub(super) fn sort(files: &mut Vec<Listed>) -> Precision {
    let keys = |file: &Listed| {
        let path = file.printed();
        let base = path.rsplit('/').next().unwrap_or_default();
        let extension = extension(base).to_lowercase();
        [Key::of(&extension), Key::of(&base.to_lowercase()), Key::of(&path)]
    };
    let mut keyed: Vec<([Key; 3], Listed)> = files.drain(..).map(|file| (keys(&file), file)).collect();
    let exact = keyed.iter().all(|(keys, _)| keys.iter().all(|key| key.exact));
    keyed.sort_by(|(one, a), (other, b)| {
        let by_key = one.iter().zip(other).map(|(one, other)| cmp(one, other)).find(|order| order.is_ne());
        by_key.unwrap_or_else(|| a.path.cmp(&b.path))
    });
    files.extend(keyed.into_iter().map(|(_, file)| file));
    if exact { Precision::Exact } else { Precision::Approximate }
}

/// What stands from the last dot on; nothing when that is the first character.
fn extension(base: &str) -> &str {
    base.rfind('.').filter(|at| *at > 0 && base != "..").and_then(|at| base.get(at..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_as_in_icu() {
        let sorted = [
            " ", "_", "-", ".", "@", "/", "~", "$", "0", "10", "9", "a", "A", "á", "à", "aa", "b", "é",
            "résumé", "resumf", "Z", "zz",
        ];
        for pair in sorted.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(compare("a\u{1}", "a"), Ordering::Equal);
        assert_eq!(compare("é", "e\u{301}"), Ordering::Equal);
        assert_eq!(compare("eÉ", "Eé"), Ordering::Less);
    }

    #[test]
    fn extensions_are_those_of_node() {
        for (base, expected) in
            [("a.js", ".js"), (".babelrc", ""), ("a.", "."), ("a.d.ts", ".ts"), ("a", ""), ("..a", ".a")]
        {
            assert_eq!(extension(base), expected, "{base}");
        }
    }
}
