//! BM25 over a hundred small documents (Robertson and Zaragoza 2009, with the usual k1 and b), fields by weight.
//!
//! The published crates bring a stemmer, a cache and an unmaintained hash; a menu needs neither.

use std::collections::BTreeMap;
use std::ops::Bound;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// What a query word counts where it is only the beginning of a word, as `color` is of `colors`.
const PREFIX: f64 = 0.6;

/// Shortest beginning that counts.
const SHORTEST: usize = 3;

/// The words of a text: identifiers are split at underscores and capitals, and all is in lower case.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        if (!c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase()))
            && words.last().is_some_and(|w| !w.is_empty())
        {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A document: its words, counted by the weight of their field.
#[derive(Debug, Default)]
pub(crate) struct Document {
    counts: BTreeMap<String, f64>,
    length: f64,
}

impl Document {
    /// Adds a field's text.
    pub(crate) fn field(mut self, text: &str, weight: f64) -> Self {
        for word in words(text) {
            *self.counts.entry(word).or_default() += weight;
            self.length += weight;
        }
        self
    }
}

/// Documents by their words: a query looks at those that it names and at no other.
#[derive(Debug)]
pub(crate) struct Index {
    /// For each word the documents that have it, and how often.
    words: BTreeMap<String, Vec<(usize, f64)>>,
    /// The length of each document as a part of the average.
    lengths: Vec<f64>,
}

impl Index {
    pub(crate) fn new(documents: impl Iterator<Item = Document>) -> Self {
        let (mut words, mut lengths): (BTreeMap<String, Vec<_>>, Vec<f64>) = Default::default();
        for (number, document) in documents.enumerate() {
            for (word, count) in document.counts {
                words.entry(word).or_default().push((number, count));
            }
            lengths.push(document.length);
        }
        let average = lengths.iter().sum::<f64>() / count(lengths.len()).max(1.0);
        for length in &mut lengths {
            *length /= average.max(1.0);
        }
        Self { words, lengths }
    }

    /// How often `word` occurs in each document that has it: whole, or as the beginning of a word, or with one as its beginning.
    fn counts(&self, word: &str) -> BTreeMap<usize, f64> {
        let longer = (word.len() >= SHORTEST)
            .then(|| self.words.range::<str, _>((Bound::Excluded(word), Bound::Unbounded)))
            .into_iter()
            .flatten()
            .take_while(|(other, _)| other.starts_with(word))
            .map(|(_, found)| (found, PREFIX));
        let beginnings = (SHORTEST..word.len()).filter_map(|end| word.get(..end));
        let shorter = beginnings.filter_map(|other| Some((self.words.get(other)?, PREFIX)));
        let whole = self.words.get(word).map(|found| (found, 1.0));
        let mut counts = BTreeMap::new();
        for (found, weight) in whole.into_iter().chain(longer).chain(shorter) {
            for (number, count) in found {
                *counts.entry(*number).or_default() += count * weight;
            }
        }
        counts
    }

    /// The documents that have any word of `query`, by number and score, best first; equal ones in their own order.
    pub(crate) fn rank(&self, query: &str) -> Vec<(usize, f64)> {
        let total = count(self.lengths.len());
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for word in words(query) {
            let counts = self.counts(&word);
            let having = count(counts.len());
            let idf = ((total - having + 0.5) / (having + 0.5)).ln_1p();
            for (number, count) in counts {
                let norm = K1 * (1.0 - B + B * self.lengths[number]);
                *scores.entry(number).or_default() += idf * count * (K1 + 1.0) / (count + norm);
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().filter(|(_, score)| *score > 0.0).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
const fn count(many: usize) -> f64 {
    many as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_more_than_mentions_and_beginnings_count() {
        let of = |name: &str, about: &str| Document::default().field(name, 3.0).field(about, 1.0);
        let documents = [
            of("tokens_build", "Builds design tokens to CSS, SCSS and JavaScript."),
            of("a11y_scan", "Scans pages; colors of tokens are looked at, too."),
            of("git_log", "Shows commits."),
        ];
        let index = Index::new(documents.into_iter());
        let found = |query: &str| index.rank(query).into_iter().map(|(i, _)| i).collect::<Vec<_>>();
        assert_eq!(found("design token css"), [0, 1]);
        assert_eq!(found("color"), [1]);
        assert_eq!(found("gitLog"), [2]);
        assert_eq!(found("buildings"), [0], "a word begins with one of its own");
        assert_eq!(found("desi"), [0]);
        assert!(found("de").is_empty(), "too short to begin anything");
        assert!(found("zebra").is_empty() && found("").is_empty());
    }
}
