//! What a character is to a search, and how a word is spelled in the index: NFKC (UAX #15) and case folded; and once more
//! without accents.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Longest spelling, in bytes. With the mark of a second form before it a term has [`crate::MAX_TERM`].
pub(crate) const MAX_SPELLING: usize = 63;

/// How much of one word is looked at, in bytes: enough to fill a spelling whatever becomes of its characters.
const LOOKED_AT: usize = 1024;

/// What a character does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A letter or digit of a script that puts something between its words.
    Letter,
    /// One of a script that does not: Han, kana, Hangul, Thai and its neighbours.
    Unspaced,
    /// It belongs to the one before: accents, vowel signs, joiners, soft hyphens.
    Mark,
    /// It belongs to one of a script without spaces: the vowels and finals of decomposed Hangul, the voicing of half-width
    /// kana.
    Tail,
    /// Between words.
    Other,
}

pub(crate) fn class(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Class::Letter } else { Class::Other };
    }
    if is_combining_mark(c) || matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}') {
        Class::Mark
    } else if matches!(c, '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}' | '\u{ff9e}' | '\u{ff9f}') {
        Class::Tail
    } else if is_unspaced(c) {
        Class::Unspaced
    } else if c.is_alphanumeric() {
        Class::Letter
    } else {
        Class::Other
    }
}

/// Blocks of scripts that are written without spaces, and of Hangul, whose particles hang on the words (Unicode 17, Blocks).
fn is_unspaced(c: char) -> bool {
    let is_there = matches!(c,
        '\u{e00}'..='\u{eff}'          // Thai, Lao
        | '\u{1000}'..='\u{109f}'      // Myanmar
        | '\u{1100}'..='\u{115f}'      // Hangul's first letters
        | '\u{1780}'..='\u{17ff}'      // Khmer
        | '\u{2e80}'..='\u{2fdf}'      // radicals
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}' | '\u{303b}' | '\u{303c}'
        | '\u{3041}'..='\u{30ff}'      // kana
        | '\u{3105}'..='\u{318f}'      // bopomofo, Hangul alone
        | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}' | '\u{aa60}'..='\u{aa7f}'
        | '\u{ac00}'..='\u{d7af}'      // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ffdc}'      // half-width kana and Hangul
        | '\u{1aff0}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}');
    is_there && c.is_alphanumeric() && (c == '〇' || !c.is_numeric())
}

/// A word's spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// Without accents: what words are found by.
    pub(crate) plain: String,
    /// With them, where it has any.
    pub(crate) accented: Option<String>,
}

/// Spells a word. `None`: nothing of it can be in an index.
pub(crate) fn spell(word: &str) -> Option<Spelling> {
    let word = head(word, LOOKED_AT);
    if word.is_ascii() {
        let mut plain = head(word, MAX_SPELLING).to_ascii_lowercase();
        plain.retain(|c| c.is_ascii_alphanumeric());
        return (!plain.is_empty()).then_some(Spelling { plain, accented: None });
    }
    // Upper and lower again is what full case folding does (ß, ς, ﬁ), for all but a handful of letters.
    let folded: String = folded(word).collect();
    let is_kept = |c: &char| c.is_alphanumeric() || is_combining_mark(*c);
    let accented = filled(folded.chars().filter(is_kept));
    let plain = filled(folded.nfd().filter(|c| is_kept(c) && !is_accent(*c)).flat_map(without_stroke).nfc());
    match (plain.is_empty(), accented.is_empty()) {
        // A mark alone: it was attached to nothing.
        (true, true) => None,
        (true, false) => Some(Spelling { plain: accented, accented: None }),
        _ => Some(Spelling { accented: (accented != plain).then_some(accented), plain }),
    }
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc()
}

/// A value without case, nothing left out.
pub(crate) fn spell_label(value: &str) -> impl Iterator<Item = char> {
    folded(value)
}

/// As many characters as a spelling holds.
fn filled(chars: impl Iterator<Item = char>) -> String {
    let mut text = String::new();
    for c in chars {
        if text.len() + c.len_utf8() > MAX_SPELLING {
            break;
        }
        text.push(c);
    }
    text
}

/// Marks that people leave out when they search. Those of Indic scripts and kana are letters to their readers and stay.
fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}'   // Latin, Greek, Cyrillic
        | '\u{591}'..='\u{5c7}'                          // Hebrew points
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}')
}

/// Letters whose stroke or ligature has no decomposition, as keyboards without them write them.
fn without_stroke(c: char) -> impl Iterator<Item = char> {
    let (first, second) = match c {
        'ø' => ('o', None),
        'ł' => ('l', None),
        'đ' | 'ð' => ('d', None),
        'ħ' => ('h', None),
        'ŧ' => ('t', None),
        'ı' => ('i', None),
        'þ' => ('t', Some('h')),
        'æ' => ('a', Some('e')),
        'œ' => ('o', Some('e')),
        other => (other, None),
    };
    std::iter::once(first).chain(second)
}

/// The first `most` bytes, less where that would cut a character.
pub(crate) fn head(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(word: &str) -> (String, Option<String>) {
        let spelling = spell(word).unwrap();
        (spelling.plain, spelling.accented)
    }

    #[test]
    fn words_are_spelled_without_case_and_twice_with_accents() {
        for (word, plain, accented) in [
            ("README", "readme", None),
            ("Café", "cafe", Some("café")),
            ("cafe\u{301}", "cafe", Some("café")),
            ("STRASSE", "strasse", None),
            ("Straße", "strasse", None),
            ("ΣΊΣΥΦΟΣ", "σισυφοσ", Some("σίσυφοσ")),
            ("σίσυφος", "σισυφοσ", Some("σίσυφοσ")),
            ("ﬁle", "file", None),
            ("Ａｂｃ１", "abc1", None),
            ("Łódź", "lodz", Some("łódź")),
            ("smørrebrød", "smorrebrod", Some("smørrebrød")),
            ("İstanbul", "istanbul", Some("i̇stanbul")),
            ("ㅎ", "ᄒ", None),
            ("हिन्दी", "हिन्दी", None),
            ("שָׁלוֹם", "שלום", Some("שָׁלוֹם")),
            ("ガ", "ガ", None),
            ("ｶﾞ", "ガ", None),
            ("co\u{ad}op", "coop", None),
        ] {
            assert_eq!(spelled(word), (plain.to_owned(), accented.map(str::to_owned)), "{word}");
        }
        assert_eq!(spell(""), None);
        assert_eq!(spell("\u{200d}"), None);
    }

    #[test]
    fn a_spelling_ends_at_a_character() {
        let (plain, accented) = spelled(&"é".repeat(1000));
        assert_eq!((plain.len(), accented.map(|a| a.len())), (63, Some(62)));
    }

    #[test]
    fn scripts_without_spaces_are_known() {
        for c in "日ひカー한ไກက〇𠀀ｶ".chars() {
            assert_eq!(class(c), Class::Unspaced, "{c}");
        }
        for c in "aZ9éяשअ๑²".chars() {
            assert_eq!(class(c), Class::Letter, "{c}");
        }
        for c in "、。「・ _-'…".chars() {
            assert_eq!(class(c), Class::Other, "{c}");
        }
        assert_eq!([class('\u{ff9e}'), class('\u{1161}')], [Class::Tail, Class::Tail]);
        for c in ['\u{301}', '\u{3099}', '\u{e31}', '\u{200d}'] {
            assert_eq!(class(c), Class::Mark, "{c:?}");
        }
    }
}
