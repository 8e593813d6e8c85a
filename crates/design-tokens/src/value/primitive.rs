//! Values of one part.

use serde_json::{Value as Json, json};

use crate::json::number;

/// A length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dimension {
    /// How much.
    pub value: f64,
    /// `px`, `rem`; in older dialects also `em`, `%` and other CSS units, and nothing.
    pub unit: &'static str,
}

/// Units that the format knows.
pub(crate) const UNITS: [&str; 2] = ["px", "rem"];

/// Units that only older dialects have; they mean the same in CSS.
pub(crate) const LEGACY_UNITS: [&str; 14] =
    ["em", "%", "vw", "vh", "vmin", "vmax", "ch", "ex", "lh", "rlh", "pt", "deg", "fr", "cqw"];

impl Dimension {
    pub(crate) fn to_json(self) -> Json {
        json!({ "value": number(self.value), "unit": self.unit })
    }
}

/// A time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duration {
    /// How much.
    pub value: f64,
    /// `ms` or `s`.
    pub unit: &'static str,
}

impl Duration {
    pub(crate) fn to_json(self) -> Json {
        json!({ "value": number(self.value), "unit": self.unit })
    }
}

/// A font weight, from 1 to 1000.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FontWeight(pub f64);

/// The names that the format gives to weights.
pub(crate) const WEIGHTS: [(&str, f64); 18] = [
    ("thin", 100.0),
    ("hairline", 100.0),
    ("extra-light", 200.0),
    ("ultra-light", 200.0),
    ("light", 300.0),
    ("normal", 400.0),
    ("regular", 400.0),
    ("book", 400.0),
    ("medium", 500.0),
    ("semi-bold", 600.0),
    ("demi-bold", 600.0),
    ("bold", 700.0),
    ("extra-bold", 800.0),
    ("ultra-bold", 800.0),
    ("black", 900.0),
    ("heavy", 900.0),
    ("extra-black", 950.0),
    ("ultra-black", 950.0),
];

/// How a line is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum StrokeStyle {
    /// One of the format's words, which are CSS's too.
    Named(&'static str),
    /// A pattern of dashes and gaps.
    Dashes {
        /// Lengths of dashes and gaps in turn.
        array: Vec<Dimension>,
        /// How a dash ends.
        cap: LineCap,
    },
}

/// The format's words for line styles.
pub(crate) const STROKES: [&str; 8] =
    ["solid", "dashed", "dotted", "double", "groove", "ridge", "outset", "inset"];

/// How a dash ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the format's own words")]
pub enum LineCap {
    Round,
    Butt,
    Square,
}

impl LineCap {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Round => "round",
            Self::Butt => "butt",
            Self::Square => "square",
        }
    }
}

impl StrokeStyle {
    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Named(name) => json!(name),
            Self::Dashes { array, cap } => json!({
                "dashArray": array.iter().map(|d| d.to_json()).collect::<Json>(), "lineCap": cap.name(),
            }),
        }
    }
}
