//! What is put into an index, for both databases alike: what one finds the other finds.
//!
//! A text's first [`MAX_POSITIONS`] words keep their places, and of each word the first [`MAX_PLACES`]: phrases are found
//! there. Further words are found by themselves.

use std::collections::{BTreeMap, BTreeSet};

use crate::analyze::{Form, Token, Tokens};
use crate::label::Label;

/// How a table of FTS5 must be declared for terms to stay as they are: letters beyond ASCII and [`crate::MARK`] are parts of
/// words, and nothing is folded again that Unicode has learnt since (`unicode61` knows version 6.1, and takes vowel signs
/// for spaces).
pub const FTS5_TOKENIZE: &str = "ascii tokenchars '_'";

/// How many words of a text have places.
pub const MAX_POSITIONS: u32 = 12_288;

/// How many places of one word of a text are kept.
pub const MAX_PLACES: u16 = 192;

/// Longest literal of a tsvector, in bytes, and the most that PostgreSQL holds in one.
pub const MAX_TSVECTOR: usize = 1_048_575;

/// The last position that PostgreSQL knows: what is there is next to nothing.
const LAST: u32 = 16_383;

/// How many positions of one lexeme PostgreSQL keeps.
const PLACES: usize = 255;

/// How much a field counts in PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "PostgreSQL's names")]
pub enum Weight {
    A,
    B,
    C,
    D,
}

/// A literal of a tsvector.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tsvector {
    /// To be bound as text and cast. Lexemes are quoted, sorted and named once.
    pub literal: String,
    /// Terms that there was no room for, of those after the labels and in order of fields: they cannot be found.
    pub left_out: usize,
}

/// A text for a column of FTS5: terms with spaces between, in a table that is declared with [`FTS5_TOKENIZE`].
#[must_use]
pub fn fts5_text(tokens: &Tokens) -> String {
    let mut text = String::new();
    let mut add = |term: &str| {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(term);
    };
    let (mut tail, mut forms) = (Vec::new(), Vec::new());
    let mut is_gap = false;
    for (token, place) in placed(tokens) {
        match (token.form, place) {
            (Form::Word, Place::Here) => {
                is_gap = false;
                add(token.term());
            }
            (Form::Word, place) => {
                if !is_gap {
                    add(GAP);
                }
                is_gap = true;
                if place == Place::Behind {
                    tail.push(token.term());
                }
            }
            (_, Place::Nowhere) => {}
            (_, _) => forms.push(token.term()),
        }
    }
    for term in tail {
        add(GAP);
        add(term);
    }
    forms.into_iter().for_each(add);
    text
}

/// A text for the column of labels.
#[must_use]
pub fn fts5_labels(labels: &[Label]) -> String {
    // No phrase is ever asked for here, so nothing stands between.
    labels.iter().map(Label::term).collect::<Vec<_>>().join(" ")
}

/// A literal of a tsvector: labels, then fields in order of what is to be kept when there is no room.
#[must_use]
pub fn tsvector_literal(fields: &[(Weight, &Tokens)], labels: &[Label]) -> Tsvector {
    let mut lexemes: BTreeMap<&str, Vec<(u32, Weight)>> = BTreeMap::new();
    let mut size = 0;
    for label in labels {
        size += cost(label.term());
        lexemes.insert(label.term(), Vec::new());
    }
    let mut left_out = BTreeSet::new();
    let mut base = 0;
    for (weight, tokens) in fields {
        for is_form in [false, true] {
            for (token, place) in placed(tokens).filter(|(t, _)| (t.form != Form::Word) == is_form) {
                let at = match place {
                    // The one before the last stays empty too.
                    Place::Here if base + token.position + 1 < LAST => base + token.position,
                    Place::Here => LAST,
                    Place::Behind => LAST,
                    Place::Nowhere => continue,
                };
                let known = lexemes.get(token.term());
                let is_full = known
                    .is_some_and(|places| places.len() >= PLACES || places.last().is_some_and(|p| p.0 == at));
                let more = if known.is_some() { PLACE } else { cost(token.term()) + PLACE };
                if is_full {
                    continue;
                }
                if size + more > MAX_TSVECTOR {
                    if known.is_none() {
                        left_out.insert(token.term());
                    }
                    continue;
                }
                size += more;
                lexemes.entry(token.term()).or_default().push((at, *weight));
            }
        }
        // One position between two fields stays empty, so that no phrase goes from one into the next.
        base = (base + tokens.words().min(MAX_POSITIONS) + 1).min(LAST);
    }
    Tsvector { literal: literal(&lexemes), left_out: left_out.len() }
}

fn literal(lexemes: &BTreeMap<&str, Vec<(u32, Weight)>>) -> String {
    let mut text = String::new();
    for (term, places) in lexemes {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&quoted(term));
        for (i, (at, weight)) in places.iter().enumerate() {
            text.push(if i == 0 { ':' } else { ',' });
            text.push_str(&at.to_string());
            text.push_str(match weight {
                Weight::A => "A",
                Weight::B => "B",
                Weight::C => "C",
                Weight::D => "",
            });
        }
    }
    text
}

/// In quotes, as a tsvector and a tsquery have it (PostgreSQL 15, §8.11): `'` and `\` doubled. Terms hold neither.
pub(crate) fn quoted(term: &str) -> String {
    format!("'{}'", term.replace('\\', "\\\\").replace('\'', "''"))
}

/// What a lexeme costs, in the literal (two quotes, a space, its length; doubled characters are not in terms) and in the
/// row, where it is shorter: no quotes, but its count and an even length.
fn cost(term: &str) -> usize {
    term.len() + 4
}

/// What a position costs at most in the literal: a comma, five digits, a weight; two bytes in the row.
const PLACE: usize = 7;

/// What stands where a word was that has no place. No question asks for it.
const GAP: &str = "_";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Where it is.
    Here,
    /// After all that have places, next to nothing.
    Behind,
    /// It was said before.
    Nowhere,
}

/// Every term with its place.
fn placed(tokens: &Tokens) -> impl Iterator<Item = (&Token, Place)> {
    let mut counts: BTreeMap<&str, u16> = BTreeMap::new();
    tokens.tokens().iter().map(move |token| {
        let count = counts.entry(token.term()).or_default();
        let is_first = *count == 0;
        *count = count.saturating_add(1);
        let place = match (token.position <= MAX_POSITIONS, *count <= MAX_PLACES) {
            (true, true) => Place::Here,
            _ if is_first => Place::Behind,
            _ => Place::Nowhere,
        };
        (token, place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::analyze;

    #[test]
    fn words_come_first_and_their_forms_behind() {
        assert_eq!(
            fts5_text(&analyze("Running useAuth tests")),
            "running useauth tests _run _use _auth _test"
        );
        assert_eq!(fts5_text(&analyze("")), "");
        let labels = [Label::new('t', "a b").unwrap(), Label::new('v', "acme").unwrap()];
        assert_eq!(fts5_labels(&labels), "__ta_20_b __vacme");
    }

    #[test]
    fn fields_of_a_tsvector_are_apart() {
        let (title, body) = (analyze("Running"), analyze("it's running"));
        let made =
            tsvector_literal(&[(Weight::A, &title), (Weight::D, &body)], &[Label::new('v', "x").unwrap()]);
        assert_eq!(made.literal, "'__vx' '_it':4 '_its':4 '_run':1A,5 'it':3 'running':1A,5 's':4");
        assert_eq!(made.left_out, 0);
    }

    #[test]
    fn a_word_said_again_and_again_has_so_many_places() {
        let tokens = analyze(&"same ".repeat(20_000));
        assert_eq!(fts5_text(&tokens).matches("same").count(), usize::from(MAX_PLACES));
        assert!(fts5_text(&tokens).ends_with("same _"));
        let literal = tsvector_literal(&[(Weight::D, &tokens), (Weight::A, &tokens)], &[]).literal;
        assert_eq!(literal.matches(',').count() + 1, PLACES);
    }

    #[test]
    fn words_behind_the_last_place_are_found_but_next_to_nothing() {
        let words: Vec<String> = (0..MAX_POSITIONS).map(|n| format!("w{n}x")).collect();
        let tokens = analyze(&format!("{} omega psi omega", words.join(" ")));
        assert!(!tokens.is_cut());
        assert!(
            fts5_text(&tokens).contains("w12287x _ _ omega _ psi _"),
            "one gap for all, then each by itself"
        );
        let literal = tsvector_literal(&[(Weight::D, &tokens)], &[]).literal;
        assert!(literal.contains("'omega':16383 ") && literal.contains("'psi':16383 "));
        assert!(literal.contains("'w12287x':12288 "));
    }

    #[test]
    fn a_tsvector_stays_within_its_size_and_says_what_it_left_out() {
        let texts: Vec<Tokens> = (0..8_u32)
            .map(|n| (0..13_000).map(|i| format!("é{n}w{i:x}")).collect::<Vec<_>>())
            .map(|words| analyze(&words.join(" ")))
            .collect();
        let fields: Vec<_> = texts.iter().map(|t| (Weight::A, t)).collect();
        let made = tsvector_literal(&fields, &[Label::new('v', "x").unwrap()]);
        assert!(
            made.literal.len() <= MAX_TSVECTOR && made.literal.len() > MAX_TSVECTOR * 3 / 4,
            "{}",
            made.literal.len()
        );
        assert!(made.left_out > 0 && made.literal.contains("'__vx' "));
        assert_eq!(tsvector_literal(&fields[..1], &[]).left_out, 0);
    }
}
