//! Typed values. Every member that may be a reference keeps, beside its value, the token that it came from.

pub mod color;
mod modify;
mod parse;
mod primitive;

use serde_json::{Value as Json, json};

pub use color::{Color, Space};
pub(crate) use parse::{Context, Target, parse, parse_curve, parse_modified};
pub use primitive::{Dimension, Duration, FontWeight, LineCap, StrokeStyle};

use crate::json::number;

/// The thirteen types of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the format's own words (format module, types)")]
pub enum Type {
    Color,
    Dimension,
    FontFamily,
    FontWeight,
    Duration,
    CubicBezier,
    Number,
    StrokeStyle,
    Border,
    Transition,
    Shadow,
    Gradient,
    Typography,
    /// Not of the format: a value of an older dialect that is passed through as CSS text.
    Text,
}

impl Type {
    /// The closed list, as it is spelled in `$type`.
    pub const ALL: [(&'static str, Self); 13] = [
        ("color", Self::Color),
        ("dimension", Self::Dimension),
        ("fontFamily", Self::FontFamily),
        ("fontWeight", Self::FontWeight),
        ("duration", Self::Duration),
        ("cubicBezier", Self::CubicBezier),
        ("number", Self::Number),
        ("strokeStyle", Self::StrokeStyle),
        ("border", Self::Border),
        ("transition", Self::Transition),
        ("shadow", Self::Shadow),
        ("gradient", Self::Gradient),
        ("typography", Self::Typography),
    ];

    /// The type that `name` spells.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
    }

    /// The type that older dialects mean by `name`.
    pub(crate) fn legacy(name: &str) -> Option<Self> {
        Some(match name {
            "sizing" | "spacing" | "borderRadius" | "borderWidth" | "letterSpacing" | "paragraphSpacing"
            | "paragraphIndent" | "fontSizes" | "fontSize" | "size" | "radius" => Self::Dimension,
            "fontFamilies" => Self::FontFamily,
            "fontWeights" => Self::FontWeight,
            "lineHeights" | "opacity" | "lineHeight" | "integer" => Self::Number,
            "time" => Self::Duration,
            "boxShadow" => Self::Shadow,
            "string" | "boolean" | "link" | "file" | "other" | "text" | "textCase" | "textDecoration"
            | "asset" | "content" | "fontStyle" | "html" | "composition" | "percentage"
            | "custom-fontStyle" | "custom" => Self::Text,
            _ => return None,
        })
    }

    /// The type as the format spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, t)| *t == self).map_or("text", |(n, _)| n)
    }
}

/// A value, and the token that it was taken from whole, when it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot<T> {
    /// The value.
    pub value: T,
    /// The path of the token that the reference named.
    pub alias: Option<String>,
}

impl<T> Slot<T> {
    /// A value that stands here itself.
    pub const fn own(value: T) -> Self {
        Self { value, alias: None }
    }
}

/// A border.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the format's own members (format module, border)")]
pub struct Border {
    pub color: Slot<Color>,
    pub width: Slot<Dimension>,
    pub style: Slot<StrokeStyle>,
}

/// A transition.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the format's own members (format module, transition)")]
pub struct Transition {
    pub duration: Slot<Duration>,
    pub delay: Slot<Duration>,
    pub timing: Slot<[f64; 4]>,
}

/// One shadow.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the format's own members (format module, shadow)")]
pub struct Shadow {
    pub color: Slot<Color>,
    pub x: Slot<Dimension>,
    pub y: Slot<Dimension>,
    pub blur: Slot<Dimension>,
    pub spread: Slot<Dimension>,
    pub inset: bool,
}

/// One stop of a gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    /// The colour.
    pub color: Slot<Color>,
    /// From 0 to 1.
    pub position: Slot<f64>,
}

/// A typography value. Members are optional because older files leave some out.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the format's own members (format module, typography)")]
pub struct Typography {
    pub family: Option<Slot<Vec<String>>>,
    pub size: Option<Slot<Dimension>>,
    pub weight: Option<Slot<FontWeight>>,
    pub letter_spacing: Option<Slot<Dimension>>,
    pub line_height: Option<Slot<LineHeight>>,
}

/// A line height: a multiplier in the format, a length in older dialects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LineHeight {
    /// Times the font size.
    Times(f64),
    /// A length.
    Length(Dimension),
}

/// CSS text with references in it, of an older dialect.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text as it stands.
    Text(String),
    /// A token, with the CSS text of its value.
    Token(String, Box<Value>),
}

/// How many parts a text has, those of its references included.
pub(crate) fn size(parts: &[Part]) -> usize {
    let one = |part: &Part| match part {
        Part::Token(_, value) => match &**value {
            Value::Text(inner) => size(inner),
            _ => 1,
        },
        Part::Text(_) => 1,
    };
    parts.iter().map(one).fold(0, usize::saturating_add)
}

/// A typed value.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the format's own types")]
pub enum Value {
    Color(Color),
    Dimension(Dimension),
    FontFamily(Vec<String>),
    FontWeight(FontWeight),
    Duration(Duration),
    CubicBezier([f64; 4]),
    Number(f64),
    StrokeStyle(StrokeStyle),
    Border(Border),
    Transition(Transition),
    Shadow(Vec<Slot<Shadow>>),
    Gradient(Vec<Stop>),
    Typography(Box<Typography>),
    Text(Vec<Part>),
}

impl Value {
    /// The value in the format's own JSON, references resolved.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match self {
            Self::Color(c) => c.to_json(),
            Self::Dimension(d) => d.to_json(),
            Self::FontFamily(names) => match names.as_slice() {
                [one] => json!(one),
                _ => json!(names),
            },
            Self::FontWeight(w) => number(w.0),
            Self::Duration(d) => d.to_json(),
            Self::CubicBezier(b) => b.iter().map(|n| number(*n)).collect(),
            Self::Number(n) => number(*n),
            Self::StrokeStyle(s) => s.to_json(),
            Self::Border(b) => json!({
                "color": b.color.value.to_json(), "width": b.width.value.to_json(), "style": b.style.value.to_json(),
            }),
            Self::Transition(t) => json!({
                "duration": t.duration.value.to_json(),
                "delay": t.delay.value.to_json(),
                "timingFunction": t.timing.value.iter().map(|n| number(*n)).collect::<Json>(),
            }),
            Self::Shadow(layers) => {
                let layers: Vec<Json> = layers.iter().map(|s| s.value.to_json()).collect();
                if let [one] = layers.as_slice() { one.clone() } else { Json::Array(layers) }
            }
            Self::Gradient(stops) => stops
                .iter()
                .map(|s| json!({ "color": s.color.value.to_json(), "position": number(s.position.value) }))
                .collect(),
            Self::Typography(t) => t.to_json(),
            Self::Text(parts) => Json::String(crate::emit::css_text(parts)),
        }
    }
}

impl Shadow {
    fn to_json(&self) -> Json {
        json!({
            "color": self.color.value.to_json(),
            "offsetX": self.x.value.to_json(),
            "offsetY": self.y.value.to_json(),
            "blur": self.blur.value.to_json(),
            "spread": self.spread.value.to_json(),
            "inset": self.inset,
        })
    }
}

impl Typography {
    fn to_json(&self) -> Json {
        let mut out = serde_json::Map::new();
        if let Some(f) = &self.family {
            out.insert("fontFamily".into(), Value::FontFamily(f.value.clone()).to_json());
        }
        if let Some(s) = &self.size {
            out.insert("fontSize".into(), s.value.to_json());
        }
        if let Some(w) = &self.weight {
            out.insert("fontWeight".into(), number(w.value.0));
        }
        if let Some(l) = &self.letter_spacing {
            out.insert("letterSpacing".into(), l.value.to_json());
        }
        if let Some(l) = &self.line_height {
            let value = match l.value {
                LineHeight::Times(n) => number(n),
                LineHeight::Length(d) => d.to_json(),
            };
            out.insert("lineHeight".into(), value);
        }
        Json::Object(out)
    }
}
