//! Why a document was found, so that its score can be computed again.

use crate::fields::{Field, Tuning};

/// What stands in a document for a word that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// The word as it was asked.
    Exact,
    /// A word of the same stem.
    Stem,
    /// It was asked as a part of an identifier, and is a word or a part there.
    Part,
    /// The identifier that it was asked in, as one word.
    Whole,
    /// A longer word that begins so.
    Prefix,
    /// A word that this may be a misspelling of.
    Typo,
    /// In a phrase, or beside its neighbour.
    Phrase,
}

impl How {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Exact, Self::Stem, Self::Part, Self::Whole, Self::Prefix, Self::Typo, Self::Phrase];

    /// As it is said to a user.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Stem => "stem",
            Self::Part => "part",
            Self::Whole => "whole",
            Self::Prefix => "prefix",
            Self::Typo => "typo",
            Self::Phrase => "phrase",
        }
    }
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What was asked for, folded.
    pub word: String,
    /// What is there: a word, or the stem of words.
    pub found: String,
    /// How they belong together.
    pub how: How,
    /// Where it is.
    pub fields: Vec<Field>,
    /// Its part of the score, in percent.
    pub share: i32,
    /// What it adds to the sum that the score is made of.
    pub points: u32,
}

/// Why a document was found. All shares and [`Why::quality_share`] sum to 100.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// By word, in the order of the question; then pairs of neighbours.
    pub found: Vec<Found>,
    /// How many words were asked for.
    pub asked: u32,
    /// How many of them the document has.
    pub matched: u32,
    /// What is added for words that stand together, in thousandths (comprehensive).
    pub near: u32,
    /// In tenths.
    pub quality: Option<u8>,
    /// Whether it was used often enough.
    pub verified: bool,
    /// What quality and being verified add, in percent of the score; below 0 where they take.
    pub quality_share: i32,
}

/// What a score is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) sum: u32,
    pub(crate) matched: u32,
    pub(crate) asked: u32,
    pub(crate) near: u32,
    pub(crate) quality: Option<u8>,
    pub(crate) verified: bool,
}

impl Parts {
    /// The score before quality, and with it. Integers throughout, rounded down at every step.
    pub(crate) fn scores(self, tuning: &Tuning) -> (u32, u32) {
        self.covered(coverage(self.matched, self.asked, tuning), tuning)
    }

    /// The same, when it is known what [`coverage`] gives.
    #[inline]
    pub(crate) fn covered(self, coverage: u64, tuning: &Tuning) -> (u32, u32) {
        let words = u64::from(self.sum) * coverage / 1000 * (1000 + u64::from(self.near)) / 1000;
        // Tenths of a point by thousandths: 50 tenths are neither good nor bad.
        let good = u64::from(self.quality.unwrap_or(50)) * u64::from(tuning.quality) / 10;
        let factor = (1000 + good).saturating_sub(5 * u64::from(tuning.quality));
        let score = words * factor / 1000;
        let score = if self.verified { score * (1000 + u64::from(tuning.verified)) / 1000 } else { score };
        (narrow(words), narrow(score))
    }
}

/// What is left of the sum of a document that has so many of the words, in thousandths.
pub(crate) fn coverage(matched: u32, asked: u32, tuning: &Tuning) -> u64 {
    let rest = 1000u64.saturating_sub(u64::from(tuning.coverage));
    u64::from(tuning.coverage) + rest * u64::from(matched) / u64::from(asked.max(1))
}

fn narrow(score: u64) -> u32 {
    u32::try_from(score).unwrap_or(u32::MAX)
}

impl Why {
    /// Gives every reason its share.
    pub(crate) fn new(mut found: Vec<Found>, parts: Parts, tuning: &Tuning) -> Self {
        let (words, score) = parts.scores(tuning);
        let (before, after) = (i64::from(words), i64::from(score));
        let of_quality = if after == 0 { 0 } else { rounded((after - before) * 100, after) };
        share_out(&mut found, 100 - of_quality);
        let Parts { matched, asked, near, quality, verified, .. } = parts;
        let quality_share = i32::try_from(of_quality).unwrap_or(0);
        Self { found, asked, matched, near, quality, verified, quality_share }
    }

    /// The score again, from what is said here.
    pub fn score(&self, tuning: &Tuning) -> u32 {
        let sum = self.found.iter().fold(0u32, |sum, found| sum.saturating_add(found.points));
        let (matched, asked) = (self.matched, self.asked);
        let parts =
            Parts { sum, matched, asked, near: self.near, quality: self.quality, verified: self.verified };
        parts.scores(tuning).1
    }

    /// In a line: what was found how, where, and what each adds.
    pub fn sentence(&self) -> String {
        let mut said: Vec<String> = self.found.iter().map(Found::sentence).collect();
        if self.near > 0 {
            said.push("words stand together".to_owned());
        }
        if self.quality_share != 0 {
            said.push(format!("quality {:+} %", self.quality_share));
        }
        said.join("; ")
    }
}

impl Found {
    fn sentence(&self) -> String {
        let fields: Vec<&str> = self.fields.iter().map(|field| field.word()).collect();
        let (word, found, share, fields) = (&self.word, &self.found, self.share, fields.join(", "));
        let what = match self.how {
            How::Exact => format!("`{word}`"),
            How::Stem | How::Part => format!("a form of `{word}`"),
            How::Whole => format!("`{word}` in `{found}`"),
            How::Prefix => format!("`{word}…` as `{found}`"),
            How::Typo => format!("`{word}` perhaps meant `{found}`"),
            How::Phrase => format!("\"{word}\""),
        };
        format!("{what} in {fields} {share} %")
    }
}

fn rounded(value: i64, by: i64) -> i64 {
    let half = if value < 0 { -by / 2 } else { by / 2 };
    (value + half) / by
}

/// Shares by points, that sum to `all`: what rounding leaves goes to the largest remainders, the first of equal ones.
fn share_out(found: &mut [Found], all: i64) {
    let sum: i64 = found.iter().map(|f| i64::from(f.points)).sum();
    if sum == 0 {
        return;
    }
    let mut left = all;
    let mut remainders = Vec::new();
    for (i, of) in found.iter_mut().enumerate() {
        let exact = i64::from(of.points) * all;
        let share = exact.div_euclid(sum);
        of.share = i32::try_from(share).unwrap_or(0);
        left -= share;
        remainders.push((std::cmp::Reverse(exact.rem_euclid(sum)), i));
    }
    remainders.sort_unstable();
    for (_, i) in remainders {
        if left > 0
            && let Some(of) = found.get_mut(i)
        {
            of.share += 1;
            left -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_sum_to_a_hundred(
            points in proptest::collection::vec(1u32..5_000_000, 1..30),
            quality in proptest::option::of(0u8..=100),
            verified in any::<bool>(),
            near in 0u32..=200,
            matched in 1u32..=16,
        ) {
            let found = points.iter().map(|points| Found {
                word: String::new(), found: String::new(), how: How::Stem, fields: Vec::new(), share: 0, points: *points,
            }).collect();
            let parts = Parts { sum: points.iter().sum(), matched, asked: 16, near, quality, verified };
            let why = Why::new(found, parts, &Tuning::DEFAULT);
            prop_assert_eq!(why.found.iter().map(|f| f.share).sum::<i32>() + why.quality_share, 100);
            prop_assert_eq!(why.score(&Tuning::DEFAULT), parts.scores(&Tuning::DEFAULT).1);
        }
    }

    #[test]
    fn the_parts_do_what_the_design_says() {
        let parts = Parts { sum: 10_000, matched: 1, asked: 2, near: 0, quality: None, verified: false };
        let score = |parts: Parts| parts.scores(&Tuning::DEFAULT);
        assert_eq!(score(parts), (7_500, 7_500));
        assert_eq!(score(Parts { matched: 2, ..parts }), (10_000, 10_000));
        assert_eq!(score(Parts { matched: 2, quality: Some(100), ..parts }), (10_000, 11_000));
        assert_eq!(score(Parts { matched: 2, quality: Some(0), ..parts }), (10_000, 9_000));
        assert_eq!(score(Parts { matched: 2, quality: Some(85), ..parts }), (10_000, 10_700));
        assert_eq!(score(Parts { matched: 2, verified: true, ..parts }), (10_000, 10_500));
        assert_eq!(score(Parts { matched: 2, near: 200, ..parts }), (12_000, 12_000));
    }
}
