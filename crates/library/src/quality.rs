//! Scores, in tenths, and what they decide.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::text::{bare, folded};

/// What a pattern must have to be extracted or promoted: 7.0 of 10.
pub const THRESHOLD: Score = Score(70);
/// How many uses make a pattern verified.
pub const VERIFIED_USES: u64 = 3;
/// How far a stated score may be from the mean of its criteria, in tenths.
pub const MOST_APART: u8 = 5;

/// A score from 0.0 to 10.0, in tenths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u8);

/// Why a text is no score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ScoreError {
    /// No number.
    #[error("a score is a number from 0 to 10, as 8.5/10 or 8.5")]
    NoNumber,
    /// A number beyond 10, or below 0.
    #[error("a score is from 0 to 10")]
    OutOfRange,
    /// Of something else than 10.
    #[error("a score is out of 10: write it as 8.5/10")]
    NotOfTen,
}

impl Score {
    /// From tenths: 85 is 8.5. None beyond 100.
    pub fn from_tenths(tenths: u8) -> Option<Self> {
        if tenths <= 100 { Some(Self(tenths)) } else { None }
    }

    /// In points, 0 to 10.
    pub fn points(self) -> f64 {
        f64::from(self.0) / 10.0
    }

    /// 85 for 8.5.
    pub fn tenths(self) -> u8 {
        self.0
    }

    /// `8.5/10`, `8.5 / 10`, `8.5`, `8`; emphasis around it and words behind it in parentheses are passed over. More
    /// decimals are cut off, never rounded: 6.95 is not 7.0.
    pub fn parse(text: &str) -> Result<Self, ScoreError> {
        let text = bare(text);
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (number, rest) = text.split_at_checked(end).ok_or(ScoreError::NoNumber)?;
        let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) {
            return Err(if text.starts_with('-') { ScoreError::OutOfRange } else { ScoreError::NoNumber });
        }
        let rest = rest.trim_start();
        let behind = match rest.strip_prefix('/') {
            Some(of) => {
                let of = of.trim_start();
                let end = of.find(|c: char| !c.is_ascii_digit()).unwrap_or(of.len());
                let (ten, behind) = of.split_at_checked(end).ok_or(ScoreError::NotOfTen)?;
                if ten != "10" {
                    return Err(ScoreError::NotOfTen);
                }
                behind.trim_start().trim_start_matches(['*', '_', '`']).trim_start()
            }
            None => rest,
        };
        // Behind a comma or a bare hyphen the number would go on (`8,5`, `8-9`).
        let is_remark = behind.starts_with(['(', '–', '—', '|', ';']) || behind.starts_with("- ");
        if !behind.is_empty() && !is_remark {
            return Err(if behind.starts_with('%') { ScoreError::NotOfTen } else { ScoreError::NoNumber });
        }
        let beyond = part.bytes().any(|b| b != b'0');
        let whole: u8 = whole.parse().map_err(|_| ScoreError::OutOfRange)?;
        let tenth = part.bytes().next().map_or(0, |b| b.saturating_sub(b'0'));
        if whole > 10 || whole == 10 && beyond {
            return Err(ScoreError::OutOfRange);
        }
        Ok(Self(whole * 10 + tenth))
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 10, self.0 % 10)
    }
}

impl Serialize for Score {
    /// As a number with one decimal.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(f64::from(self.0) / 10.0)
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // By its digits, so that 6.95 is cut as it is in files.
        let number = serde_json::Number::deserialize(from)?;
        Self::parse(&number.to_string()).map_err(serde::de::Error::custom)
    }
}

/// What is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// It does what it says.
    Correctness,
    /// It can be used elsewhere by its parameters.
    Reusability,
    /// It says how it is used.
    Documentation,
    /// It is tested.
    TestCoverage,
    /// It is fast enough.
    Performance,
}

impl Criterion {
    /// All five, in the order of the format's table.
    pub const ALL: [Self; 5] =
        [Self::Correctness, Self::Reusability, Self::Documentation, Self::TestCoverage, Self::Performance];

    /// As the table has it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Correctness => "Correctness",
            Self::Reusability => "Reusability",
            Self::Documentation => "Documentation",
            Self::TestCoverage => "Test Coverage",
            Self::Performance => "Performance",
        }
    }

    /// By the table's cell; case and emphasis are nothing.
    pub fn named(text: &str) -> Option<Self> {
        let text = folded(text);
        Self::ALL.into_iter().find(|c| folded(c.title()) == text)
    }
}

/// The scores of the criteria, as far as they are stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Criteria {
    /// [`Criterion::Correctness`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correctness: Option<Score>,
    /// [`Criterion::Reusability`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reusability: Option<Score>,
    /// [`Criterion::Documentation`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation: Option<Score>,
    /// [`Criterion::TestCoverage`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_coverage: Option<Score>,
    /// [`Criterion::Performance`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub performance: Option<Score>,
}

impl Criteria {
    /// The score of one.
    pub fn get(&self, criterion: Criterion) -> Option<Score> {
        match criterion {
            Criterion::Correctness => self.correctness,
            Criterion::Reusability => self.reusability,
            Criterion::Documentation => self.documentation,
            Criterion::TestCoverage => self.test_coverage,
            Criterion::Performance => self.performance,
        }
    }

    /// Sets the score of one.
    pub fn set(&mut self, criterion: Criterion, score: Score) {
        let place = match criterion {
            Criterion::Correctness => &mut self.correctness,
            Criterion::Reusability => &mut self.reusability,
            Criterion::Documentation => &mut self.documentation,
            Criterion::TestCoverage => &mut self.test_coverage,
            Criterion::Performance => &mut self.performance,
        };
        *place = Some(score);
    }

    /// Whether none is stated.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Those that are not stated.
    pub fn missing(&self) -> Vec<Criterion> {
        Criterion::ALL.into_iter().filter(|c| self.get(*c).is_none()).collect()
    }

    /// The mean of all five to one decimal, a half rounded up; none unless all five are stated.
    pub fn mean(&self) -> Option<Score> {
        let sum =
            Criterion::ALL.into_iter().try_fold(0_u32, |sum, c| Some(sum + u32::from(self.get(c)?.0)))?;
        u8::try_from((sum * 2 + 5) / 10).ok().and_then(Score::from_tenths)
    }

    /// The lowest that is stated, the first of several.
    pub fn weakest(&self) -> Option<(Criterion, Score)> {
        Criterion::ALL.into_iter().filter_map(|c| Some((c, self.get(c)?))).min_by_key(|(_, score)| *score)
    }
}

/// The score that counts: the stated one, else the mean of the criteria.
pub fn overall(stated: Option<Score>, criteria: &Criteria) -> Option<Score> {
    stated.or_else(|| criteria.mean())
}

/// How far a stated score is from the mean of its criteria, when that is more than [`MOST_APART`] tenths.
pub fn contradiction(stated: Option<Score>, criteria: &Criteria) -> Option<(Score, Score)> {
    let (stated, mean) = (stated?, criteria.mean()?);
    if stated.0.abs_diff(mean.0) > MOST_APART { Some((stated, mean)) } else { None }
}

/// Why a pattern is not taken into a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Refused {
    /// Less than [`THRESHOLD`].
    #[error("{score} of 10; the library takes {THRESHOLD} and better{}", weakest_words(*.weakest))]
    TooLow {
        /// What it has.
        score: Score,
        /// What would help most.
        weakest: Option<(Criterion, Score)>,
    },
    /// No score.
    #[error("no quality is stated; the library takes {THRESHOLD} and better: score all five criteria")]
    NotScored,
}

fn weakest_words(weakest: Option<(Criterion, Score)>) -> String {
    weakest.map_or_else(String::new, |(criterion, score)| {
        format!(" (weakest: {} with {score})", criterion.title().to_lowercase())
    })
}

/// Whether a pattern of this quality may be extracted or promoted.
pub fn admit(stated: Option<Score>, criteria: &Criteria) -> Result<Score, Refused> {
    match overall(stated, criteria) {
        None => Err(Refused::NotScored),
        Some(score) if score < THRESHOLD => Err(Refused::TooLow { score, weakest: criteria.weakest() }),
        Some(score) => Ok(score),
    }
}

/// Whether so many uses make a pattern verified.
pub fn is_verified(uses: u64) -> bool {
    uses >= VERIFIED_USES
}

/// Whether a use made a pattern verified: it was not before.
pub fn promoted(before: u64, after: u64) -> bool {
    !is_verified(before) && is_verified(after)
}

/// The count that holds: the file's, or what it was at the first use recorded here and the uses since, whichever is more.
pub fn usage(file: u64, baseline: u64, recorded: u64) -> u64 {
    file.max(baseline.saturating_add(recorded))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn score(tenths: u8) -> Score {
        Score::from_tenths(tenths).unwrap()
    }

    fn criteria(tenths: [u8; 5]) -> Criteria {
        let mut found = Criteria::default();
        Criterion::ALL.into_iter().zip(tenths).for_each(|(c, t)| found.set(c, score(t)));
        found
    }

    #[test]
    fn a_score_is_read_in_every_way_it_is_written() {
        for (text, tenths) in [
            ("8.5/10", 85),
            ("8.5", 85),
            ("8", 80),
            ("**8.5/10**", 85),
            ("8.5 / 10", 85),
            ("`9`", 90),
            ("10/10", 100),
            ("0", 0),
            ("8.5/10 (good)", 85),
            ("10.0", 100),
            ("6.95", 69),
            ("9/10 — fine", 90),
            ("7.00/10", 70),
            ("8.5/10 - good", 85),
        ] {
            assert_eq!(Score::parse(text).map(Score::tenths), Ok(tenths), "{text}");
        }
        assert_eq!(
            Score::parse("**8.5**/10"),
            Err(ScoreError::NoNumber),
            "emphasis inside is not looked through"
        );
        assert_eq!(Score::parse("11"), Err(ScoreError::OutOfRange));
        assert_eq!(Score::parse("10.5"), Err(ScoreError::OutOfRange));
        assert_eq!(Score::parse("10.01"), Err(ScoreError::OutOfRange));
        assert_eq!(Score::parse("-1"), Err(ScoreError::OutOfRange));
        assert_eq!(Score::parse("4/5"), Err(ScoreError::NotOfTen));
        assert_eq!(Score::parse("85%"), Err(ScoreError::NotOfTen));
        for text in ["", "good", "8,5", "8-9", ".5", "8.", "8..5", "8.5 stars", "९"] {
            assert!(Score::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_mean_is_rounded_half_up_and_needs_all_five() {
        assert_eq!(criteria([90, 90, 80, 80, 90]).mean(), Some(score(86)));
        assert_eq!(criteria([70, 70, 70, 70, 69]).mean(), Some(score(70)));
        assert_eq!(criteria([70, 70, 70, 69, 69]).mean(), Some(score(70)));
        assert_eq!(criteria([70, 70, 69, 69, 69]).mean(), Some(score(69)));
        let four = Criteria { performance: None, ..criteria([90; 5]) };
        assert_eq!((four.mean(), four.missing()), (None, vec![Criterion::Performance]));
    }

    #[test]
    fn a_stated_score_may_be_half_a_point_off_its_mean() {
        let found = criteria([90, 90, 80, 80, 90]);
        assert_eq!(contradiction(Some(score(85)), &found), None);
        assert_eq!(contradiction(Some(score(91)), &found), None);
        assert_eq!(contradiction(Some(score(92)), &found), Some((score(92), score(86))));
        assert_eq!(
            (overall(None, &found), overall(Some(score(85)), &found)),
            (Some(score(86)), Some(score(85)))
        );
    }

    #[test]
    fn seven_is_taken_and_less_is_refused_with_its_weakest_criterion() {
        assert_eq!(admit(Some(score(70)), &Criteria::default()), Ok(score(70)));
        let said = admit(Some(score(69)), &criteria([70, 70, 70, 60, 70])).unwrap_err().to_string();
        assert_eq!(said, "6.9 of 10; the library takes 7.0 and better (weakest: test coverage with 6.0)");
        assert_eq!(
            admit(None, &Criteria::default()).unwrap_err().to_string(),
            "no quality is stated; the library takes 7.0 and better: score all five criteria"
        );
    }

    #[test]
    fn the_third_use_verifies_and_is_told_once() {
        let told: Vec<bool> = (0..5).map(|n| promoted(n, n + 1)).collect();
        assert_eq!(told, [false, false, true, false, false]);
        assert_eq!((usage(12, 10, 1), usage(12, 10, 5), usage(0, u64::MAX, 9)), (12, 15, u64::MAX));
    }

    proptest! {
        #[test]
        fn a_score_is_read_as_it_is_written(tenths in 0_u8..=100) {
            let score = score(tenths);
            prop_assert_eq!(Score::parse(&score.to_string()), Ok(score));
            prop_assert_eq!(serde_json::from_str::<Score>(&serde_json::to_string(&score).unwrap()).unwrap(), score);
        }

        #[test]
        fn any_text_is_a_score_or_none(text in "\\PC{0,20}|[0-9./ *%-]{0,12}") {
            if let Ok(score) = Score::parse(&text) {
                prop_assert!(score.tenths() <= 100);
            }
        }
    }
}
