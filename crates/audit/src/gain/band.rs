//! How far the integer rule is off, as `cargo xtask bench knowledge --only tokens` measured it, and what a figure becomes where
//! that is taken out.

use std::collections::BTreeMap;
use std::ops::{AddAssign, Neg};

use serde::Deserialize;

/// What the measurement left: the page in the documentation is made of the same file.
const MEASURED: &str = include_str!("../../data/token-error.json");

/// What a text is, where errors are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What programs said.
    Output,
    /// JSON of our answers.
    Result,
    /// What models are given of an answer to `tools/list`.
    Menu,
}

impl Kind {
    /// Its name in the measurement.
    const fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Result => "results",
            Self::Menu => "menu",
        }
    }
}

/// The measurement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// The day of it.
    pub measured: String,
    /// The tokenizers that the rule was held against, the first one as what counts.
    pub tokenizers: Vec<String>,
    /// By kind of text.
    pub kinds: Vec<Measured>,
}

/// What was measured of one kind of text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The kind.
    pub kind: String,
    /// What the texts are.
    pub what: String,
    /// Texts of it.
    pub texts: u64,
    /// Their characters.
    pub characters: u64,
    /// Their tokens by the rule.
    pub rule: u64,
    /// By tokenizer.
    pub by: BTreeMap<String, By>,
}

/// How far the rule is off from one tokenizer: thousandths of that one's count, negative where the rule says less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct By {
    /// That one's tokens of all texts.
    pub tokens: u64,
    /// Of all together.
    pub total: i64,
    /// Of the text that a twentieth is below.
    pub p5: i64,
    /// Of the text that a twentieth is above.
    pub p95: i64,
}

impl Errors {
    /// What was measured and is kept with the program.
    pub fn measured() -> Result<Self, serde_json::Error> {
        serde_json::from_str(MEASURED)
    }

    /// No error at all: every figure is that of the rule.
    #[must_use]
    pub const fn none() -> Self {
        Self { measured: String::new(), tokenizers: Vec::new(), kinds: Vec::new() }
    }

    /// What was measured of `kind` against the tokenizer that counts.
    #[must_use]
    pub fn of(&self, kind: Kind) -> Option<&By> {
        let first = self.tokenizers.first()?;
        self.kinds.iter().find(|measured| measured.kind == kind.name())?.by.get(first)
    }

    /// `tokens` of the rule as something that was saved.
    #[must_use]
    pub fn saved(&self, kind: Kind, tokens: u64) -> Amount {
        let by = self.of(kind).copied().unwrap_or(By { tokens: 0, total: 0, p5: 0, p95: 0 });
        // The more the rule says too much, the less was saved.
        Amount([0, by.total, by.p95, by.p5].map(|error| without(tokens, error)))
    }

    /// `tokens` of the rule as something that was spent.
    #[must_use]
    pub fn spent(&self, kind: Kind, tokens: u64) -> Amount {
        let Amount([rule, likely, low, high]) = self.saved(kind, tokens);
        // What was spent is most where the rule says least.
        Amount([rule, likely, high, low])
    }
}

/// What `tokens` of the rule are where it is off by so many thousandths of the true count, to the nearest.
fn without(tokens: u64, error: i64) -> i64 {
    let of = i128::from(1_000 + error.clamp(-900, 9_000));
    i64::try_from((i128::from(tokens) * 1_000 + of / 2) / of).unwrap_or(i64::MAX)
}

/// An amount of tokens: by the rule, likely, lowest and highest gain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount(pub [i64; 4]);

impl Amount {
    /// By the rule.
    #[must_use]
    pub const fn rule(&self) -> i64 {
        self.0[0]
    }

    /// What `self` is more than `other`, and nothing where it is less.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        let mut all = self.0;
        all.iter_mut().zip(other.0).for_each(|(own, other)| *own = own.saturating_sub(other).max(0));
        Self(all)
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own = own.saturating_add(other));
    }
}

impl Neg for Amount {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.map(i64::saturating_neg))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_has_every_kind_that_is_counted() {
        let errors = Errors::measured().unwrap();
        assert_eq!(errors.tokenizers[0], "o200k_base");
        for kind in [Kind::Output, Kind::Result, Kind::Menu] {
            let by = errors.of(kind).unwrap_or_else(|| panic!("{kind:?} was not measured"));
            assert!(by.tokens > 0 && by.p5 <= by.p95, "{by:?}");
        }
    }

    #[test]
    fn an_error_is_taken_out_of_what_was_saved_and_of_what_was_spent() {
        let by = BTreeMap::from([("t".to_owned(), By { tokens: 1, total: 250, p5: -200, p95: 600 })]);
        let kinds = vec![Measured {
            kind: "results".into(),
            what: String::new(),
            texts: 1,
            characters: 1,
            rule: 1,
            by,
        }];
        let errors = Errors { measured: String::new(), tokenizers: vec!["t".into()], kinds };
        assert_eq!(errors.saved(Kind::Result, 1_000), Amount([1_000, 800, 625, 1_250]));
        assert_eq!(errors.spent(Kind::Result, 1_000), Amount([1_000, 800, 1_250, 625]));
        assert_eq!(errors.saved(Kind::Output, 1_000), Amount([1_000; 4]), "it was not measured");
        assert_eq!(Errors::none().saved(Kind::Result, u64::MAX).rule(), i64::MAX);
        let over = Amount([5, 1, 3, 9]).over(Amount([4, 4, 3, 0]));
        assert_eq!((over, -over), (Amount([1, 0, 0, 9]), Amount([-1, 0, 0, -9])));
    }
}
