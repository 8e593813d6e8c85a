//! BM25 over a hundred small documents (Robertson and Zaragoza 2009, with the usual k1 and b), fields by weight.
//!
//! The published crates bring a stemmer, a cache and an unmaintained hash; a menu needs neither.

use std::collections::BTreeMap;

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

/// A document: how often each word occurs, counted by the weight of its field.
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

    /// How often `word` occurs, whole or as the beginning of a word, or with one as its beginning.
    fn count(&self, word: &str) -> f64 {
        let whole = self.counts.get(word).copied().unwrap_or(0.0);
        let begins = |other: &str| {
            other != word
                && ((word.len() >= SHORTEST && other.starts_with(word))
                    || (other.len() >= SHORTEST && word.starts_with(other)))
        };
        let parts: f64 = self.counts.iter().filter(|(other, _)| begins(other)).map(|(_, n)| n).sum();
        whole + parts * PREFIX
    }
}

/// The documents that have any word of `query`, by number and score, best first; equal ones in their own order.
pub(crate) fn rank(documents: &[Document], query: &str) -> Vec<(usize, f64)> {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
    let total = documents.len() as f64;
    let average = documents.iter().map(|d| d.length).sum::<f64>() / total.max(1.0);
    let mut scores = vec![0.0; documents.len()];
    for word in words(query) {
        let counts: Vec<f64> = documents.iter().map(|d| d.count(&word)).collect();
        #[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
        let having = counts.iter().filter(|n| **n > 0.0).count() as f64;
        let idf = ((total - having + 0.5) / (having + 0.5)).ln_1p();
        for ((score, count), document) in scores.iter_mut().zip(counts).zip(documents) {
            let norm = K1 * (1.0 - B + B * document.length / average.max(1.0));
            *score += idf * count * (K1 + 1.0) / (count + norm);
        }
    }
    let mut ranked: Vec<(usize, f64)> = scores.into_iter().enumerate().filter(|(_, s)| *s > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
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
        let found = |query: &str| rank(&documents, query).into_iter().map(|(i, _)| i).collect::<Vec<_>>();
        assert_eq!(found("design token css"), [0, 1]);
        assert_eq!(found("color"), [1]);
        assert_eq!(found("gitLog"), [2]);
        assert!(found("zebra").is_empty() && found("").is_empty());
    }
}
