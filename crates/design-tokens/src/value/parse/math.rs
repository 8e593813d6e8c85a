//! Mathematics in values of older dialects (`{base} * 1.5`, `(8px + 4px) / 2`), worked out.
//!
//! Sums and differences have spaces around their sign, as in CSS's `calc()`: `4px -2px` is two lengths. What cannot be
//! worked out (units that differ, functions, keywords) is no mathematics here and stays text.

use super::Context;
use super::scalar::unit;
use crate::json::Node;
use crate::reference::{self, Piece};
use crate::value::Value;

/// Deepest nesting of parentheses.
const MAX_DEPTH: usize = 50;

/// A number with its unit; the empty unit is a plain number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quantity {
    pub(super) value: f64,
    pub(super) unit: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Word {
    Quantity(Quantity),
    /// `+` or `-`, and whether spaces stand around it.
    Sign(char, bool),
    Times,
    Over,
    Open,
    Close,
}

/// Works `node` out. `Some(None)`: it is no mathematics. `None`: a reference in it failed, and was reported.
#[expect(clippy::option_option, reason = "no mathematics, or mathematics that failed")]
pub(super) fn mathematics(node: &Node, cx: &mut dyn Context) -> Option<Option<Quantity>> {
    let Some(source) = node.string().filter(|s| s.contains(['+', '-', '*', '/', '('])) else {
        return Some(None);
    };
    let pieces = reference::template(source).unwrap_or_else(|| vec![Piece::Text(source.to_owned())]);
    let mut words = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                if !split(&text, &mut words) {
                    return Some(None);
                }
            }
            Piece::Reference(path) => {
                let (_, _, value) = cx.token(node.at, &path)?;
                match value {
                    Value::Dimension(d) => {
                        words.push(Word::Quantity(Quantity { value: d.value, unit: d.unit }));
                    }
                    Value::Number(value) => words.push(Word::Quantity(Quantity { value, unit: "" })),
                    _ => return Some(None),
                }
            }
        }
    }
    let mut reader = Reader { words: &words, depth: 0 };
    let result = reader.sum().filter(|q| q.value.is_finite());
    Some(result.filter(|_| reader.words.is_empty()))
}

/// Splits text into words; false when something in it is none.
fn split(text: &str, words: &mut Vec<Word>) -> bool {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start();
        let spaced = trimmed.len() < rest.len();
        let Some(first) = trimmed.chars().next() else { return true };
        let after = &trimmed[first.len_utf8()..];
        let word = match first {
            '*' => Word::Times,
            '/' => Word::Over,
            '(' => Word::Open,
            ')' => Word::Close,
            '+' | '-' => Word::Sign(first, spaced && after.starts_with(char::is_whitespace)),
            '0'..='9' | '.' => {
                let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
                let tail = &trimmed[end..];
                let unit_end =
                    tail.find(|c: char| !c.is_ascii_alphabetic() && c != '%').unwrap_or(tail.len());
                let (Ok(value), name) = (trimmed[..end].parse(), &tail[..unit_end]) else { return false };
                let unit = if name.is_empty() { Some("") } else { unit(name) };
                let Some(unit) = unit else { return false };
                words.push(Word::Quantity(Quantity { value, unit }));
                rest = &tail[unit_end..];
                continue;
            }
            _ => return false,
        };
        words.push(word);
        rest = after;
    }
}

struct Reader<'w> {
    words: &'w [Word],
    depth: usize,
}

impl Reader<'_> {
    fn sum(&mut self) -> Option<Quantity> {
        let mut left = self.product()?;
        while let Some(Word::Sign(sign, true)) = self.words.first().copied() {
            self.words = &self.words[1..];
            let right = self.product()?;
            let factor = if sign == '-' { -1.0 } else { 1.0 };
            left = left.plus(Quantity { value: right.value * factor, ..right })?;
        }
        Some(left)
    }

    fn product(&mut self) -> Option<Quantity> {
        let mut left = self.one()?;
        while let Some(word @ (Word::Times | Word::Over)) = self.words.first().copied() {
            self.words = &self.words[1..];
            let right = self.one()?;
            left = if word == Word::Times { left.times(right)? } else { left.over(right)? };
        }
        Some(left)
    }

    fn one(&mut self) -> Option<Quantity> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        match *first {
            Word::Quantity(quantity) => Some(quantity),
            Word::Sign(sign, _) => {
                self.deeper()?;
                let quantity = self.one()?;
                self.depth -= 1;
                let factor = if sign == '-' { -1.0 } else { 1.0 };
                Some(Quantity { value: quantity.value * factor, ..quantity })
            }
            Word::Open => {
                self.deeper()?;
                let inner = self.sum()?;
                self.depth -= 1;
                let (close, rest) = self.words.split_first()?;
                self.words = rest;
                (*close == Word::Close).then_some(inner)
            }
            Word::Times | Word::Over | Word::Close => None,
        }
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }
}

impl Quantity {
    /// A plain number takes the other's unit, as in Tokens Studio.
    fn plus(self, other: Self) -> Option<Self> {
        let unit = match (self.unit, other.unit) {
            (a, b) if a == b => a,
            ("", unit) | (unit, "") => unit,
            _ => return None,
        };
        Some(Self { value: self.value + other.value, unit })
    }

    fn times(self, other: Self) -> Option<Self> {
        let (("", unit) | (unit, "")) = (self.unit, other.unit) else { return None };
        Some(Self { value: self.value * other.value, unit })
    }

    fn over(self, other: Self) -> Option<Self> {
        let unit = match (self.unit, other.unit) {
            (unit, "") => unit,
            (a, b) if a == b => "",
            _ => return None,
        };
        Some(Self { value: self.value / other.value, unit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(f64, &'static str)> {
        let mut words = Vec::new();
        if !split(text, &mut words) {
            return None;
        }
        let mut reader = Reader { words: &words, depth: 0 };
        let result = reader.sum().filter(|q| q.value.is_finite())?;
        reader.words.is_empty().then_some((result.value, result.unit))
    }

    #[test]
    fn what_can_be_worked_out_is_and_nothing_else() {
        assert_eq!(of("8 / 4 * 7px"), Some((14.0, "px")));
        assert_eq!(of("(4px + 2) * -1.5"), Some((-9.0, "px")));
        assert_eq!(of("16px/2"), Some((8.0, "px")));
        assert_eq!(of("32px / 16px"), Some((2.0, "")));
        assert_eq!(of("-16px"), Some((-16.0, "px")));
        for text in
            ["4px -2px", "4px 8px", "1px + 1rem", "1 / 0", "2px * 2px", "min(1px, 2px)", "a * b", "1 +", "(1"]
        {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(of(&format!("{}1{}", "(".repeat(60), ")".repeat(60))), None);
    }
}
