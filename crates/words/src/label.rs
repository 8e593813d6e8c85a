//! What is no text and yet is asked for together with words: tags, the venture, whether something is archived. As terms
//! they are posting lists like any word, and filters cost what a word costs.

use crate::chars::spell_label;

/// Longest value of a label, in characters.
pub const MAX_LABEL: usize = 64;

/// The kind of label that `tag:x` in a question asks for.
pub const TAG: char = 't';

/// A label: a kind and a value, as one term that no text can hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label(String);

impl Label {
    /// A label of a kind (a lower-case letter of ASCII) with a value of at most [`MAX_LABEL`] characters, compared without
    /// case as words are; `None` for others. Different values, case apart, are different terms: what is neither letter nor
    /// digit is written as its number.
    #[must_use]
    pub fn new(kind: char, value: &str) -> Option<Self> {
        if !kind.is_ascii_lowercase() || value.chars().nth(MAX_LABEL).is_some() {
            return None;
        }
        let mut term = format!("__{kind}");
        for c in spell_label(value) {
            if c.is_alphanumeric() {
                term.push(c);
            } else {
                term.push_str(&format!("_{:x}_", u32::from(c)));
            }
        }
        (term.len() <= MAX_LABEL_TERM).then_some(Self(term))
    }

    /// As it stands in an index.
    pub fn term(&self) -> &str {
        &self.0
    }
}

/// Longest term of a label, in bytes; PostgreSQL allows 2,046.
const MAX_LABEL_TERM: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_told_apart_by_everything_but_case() {
        let term = |value| Label::new('t', value).unwrap().term().to_owned();
        assert_eq!(term("Auth"), "__tauth");
        assert_eq!(term("auth-api"), "__tauth_2d_api");
        assert_eq!(term("a b"), "__ta_20_b");
        assert_eq!(term("a_20_b"), "__ta_5f_20_5f_b");
        assert_eq!(term("Über"), term("über"));
        assert_ne!(term("über"), term("uber"));
        assert_eq!(Label::new('v', "").unwrap().term(), "__v");
        assert_eq!(Label::new('V', "x"), None);
        assert_eq!(Label::new('t', &"x".repeat(65)), None);
        assert!(Label::new('t', &"🙂".repeat(64)).is_some());
    }
}
