//! Fields, what each is worth, and every other number that decides about scores (§5 of `docs/design/library.md`).

/// Where a word stands in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The last part of the id.
    Name,
    /// What it is filed under.
    Category,
    /// Its first heading.
    Title,
    /// Words that it was given to be found by.
    Tags,
    /// What it is, in a sentence or two.
    Description,
    /// The headings of its text.
    Headings,
    /// Identifiers of its code.
    Code,
    /// Its text.
    Body,
}

impl Field {
    /// All, in the order of their bits.
    pub const ALL: [Self; 8] = [
        Self::Name,
        Self::Category,
        Self::Title,
        Self::Tags,
        Self::Description,
        Self::Headings,
        Self::Code,
        Self::Body,
    ];

    /// Its bit in the mask of a posting.
    #[must_use]
    pub const fn bit(self) -> u8 {
        1 << self.number()
    }

    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Name => 0,
            Self::Category => 1,
            Self::Title => 2,
            Self::Tags => 3,
            Self::Description => 4,
            Self::Headings => 5,
            Self::Code => 6,
            Self::Body => 7,
        }
    }

    /// As it is said to a user.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Category => "category",
            Self::Title => "title",
            Self::Tags => "tags",
            Self::Description => "description",
            Self::Headings => "headings",
            Self::Code => "code",
            Self::Body => "body",
        }
    }

    /// Whether words as written, and pairs of neighbours, are terms there too.
    pub(crate) const fn is_short(self) -> bool {
        !matches!(self, Self::Code | Self::Body)
    }

    /// The fields of a mask, in order.
    #[must_use]
    pub fn of(mask: u8) -> Vec<Self> {
        Self::ALL.into_iter().filter(|field| mask & field.bit() != 0).collect()
    }
}

/// What a field is worth, and how much its length takes from that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// What one occurrence counts.
    pub weight: f64,
    /// From 0 (length does not matter) to 1.
    pub b: f64,
    /// The length, in words, at which nothing is taken or added. A constant: what a document scores does not depend on its
    /// neighbours.
    pub pivot: f64,
}

/// Every number of the formula. The first two decide what is indexed: documents analysed with others than
/// [`Tuning::DEFAULT`]'s do not belong into one index with those. The rest decide how a question is answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// By [`Field::ALL`].
    pub fields: [Shape; 8],
    /// How soon more occurrences stop counting.
    pub k1: f64,
    /// What a word counts that stands as it was asked, in short fields, above its stem's 1000; in thousandths.
    pub exact: u32,
    /// What the whole identifier counts.
    pub whole: u32,
    /// What a longer word counts that begins as the asked one.
    pub prefix: u32,
    /// What a word counts at distance 1 and 2.
    pub typo: [u32; 2],
    /// What neighbours count in addition, of their pair's score.
    pub pair: u32,
    /// What a document keeps that has none of the words, in thousandths; the rest goes by how many it has.
    pub coverage: u32,
    /// What one point of quality adds or takes, in thousandths.
    pub quality: u32,
    /// What being verified adds.
    pub verified: u32,
    /// What is added at most where all words stand together (comprehensive).
    pub near: u32,
}

impl Tuning {
    /// The numbers of `docs/design/library.md` §5.
    pub const DEFAULT: Self = Self {
        fields: [
            Shape { weight: 8.0, b: 0.0, pivot: 1.0 },
            Shape { weight: 2.0, b: 0.0, pivot: 1.0 },
            Shape { weight: 6.0, b: 0.3, pivot: 6.0 },
            Shape { weight: 5.0, b: 0.0, pivot: 1.0 },
            Shape { weight: 4.0, b: 0.5, pivot: 25.0 },
            Shape { weight: 3.0, b: 0.5, pivot: 20.0 },
            Shape { weight: 1.5, b: 0.75, pivot: 80.0 },
            Shape { weight: 1.0, b: 0.75, pivot: 250.0 },
        ],
        k1: 2.0,
        exact: 250,
        whole: 1000,
        prefix: 600,
        typo: [700, 500],
        pair: 1500,
        coverage: 500,
        quality: 20,
        verified: 50,
        near: 200,
    };

    /// What `times` occurrences in a field of `length` words count.
    pub(crate) fn occurrences(&self, field: Field, times: u32, length: u32) -> f64 {
        let Some(shape) = self.fields.get(usize::from(field.number())) else { return 0.0 };
        shape.weight * f64::from(times) / (1.0 - shape.b + shape.b * f64::from(length) / shape.pivot)
    }

    /// What all occurrences in a document count, as 1 to 255: whatever is there, counts.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 255, by the line itself"
    )]
    pub(crate) fn impact(&self, occurrences: f64) -> u8 {
        (255.0 * occurrences / (occurrences + self.k1)).round().clamp(1.0, 255.0) as u8
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How much a word says that `having` of `all` documents have: `1024·ln(1 + (all − having + ½)/(having + ½))`, at least 1.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 1 and 23,000: the logarithm of a number below 2³³"
)]
pub(crate) fn idf(all: u32, having: u32) -> u32 {
    let rest = f64::from(all.saturating_sub(having));
    let rarity = (rest + 0.5) / (f64::from(having) + 0.5);
    (1024.0 * ln(1.0 + rarity)).round().max(1.0) as u32
}

/// The natural logarithm of a number from 1 on, from additions, multiplications and divisions alone: those are the same
/// on every machine, which a system's own logarithm is not.
fn ln(mut x: f64) -> f64 {
    let mut halves = 0.0;
    while x > 1.5 {
        x *= 0.5;
        halves += 1.0;
    }
    // ln x = 2·artanh((x − 1)/(x + 1)); |y| ≤ 1/5 in this range, so twelve terms are more than a double holds.
    let y = (x - 1.0) / (x + 1.0);
    let (square, mut power, mut sum, mut odd) = (y * y, y, 0.0, 1.0);
    for _ in 0..13 {
        sum += power / odd;
        power *= square;
        odd += 2.0;
    }
    2.0 * sum + halves * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_right() {
        for x in [1.0, 1.1, 1.5, 1.500_1, 2.0, 3.0, 10.0, 12_345.6, 2e6, 8e9] {
            assert!((ln(x) - f64::ln(x)).abs() < 1e-12, "{x}: {} {}", ln(x), f64::ln(x));
        }
    }

    #[test]
    fn rare_words_say_more() {
        assert_eq!(idf(1, 1), 295);
        assert_eq!(idf(1_000_000, 1_000_000), 1);
        assert!(idf(1000, 1) > idf(1000, 10) && idf(1000, 10) > idf(1000, 900));
        assert_eq!(idf(0, 0), 710);
    }

    #[test]
    fn impacts_follow_the_formula() {
        let t = Tuning::DEFAULT;
        // Name alone: 8/(8 + 2) of 255.
        assert_eq!(t.impact(t.occurrences(Field::Name, 1, 3)), 204);
        // A body of its pivot's length: 1/(1 + 2).
        assert_eq!(t.impact(t.occurrences(Field::Body, 1, 250)), 85);
        assert_eq!(t.impact(t.occurrences(Field::Body, 1, 100_000)), 1);
        assert_eq!(t.impact(1e9), 255);
        assert_eq!(Field::of(Field::Body.bit() | Field::Name.bit()), [Field::Name, Field::Body]);
    }
}
