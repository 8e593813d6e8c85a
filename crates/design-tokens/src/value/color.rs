//! Colours of all fourteen spaces (color module), as CSS Color 4 writes them. Nothing is clamped or converted unless
//! asked for.

use ::color::{ColorSpaceTag, DynamicColor, Flags, Missing};
use serde_json::{Value as Json, json};

use crate::json::number;

/// The colour spaces of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the format's own words (color module)")]
pub enum Space {
    Srgb,
    SrgbLinear,
    Hsl,
    Hwb,
    Lab,
    Lch,
    Oklab,
    Oklch,
    DisplayP3,
    A98Rgb,
    ProphotoRgb,
    Rec2020,
    XyzD65,
    XyzD50,
}

/// How a component is bounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Range {
    /// Both ends allowed.
    Closed(f64, f64),
    /// A hue: 360 is written 0.
    Hue,
    /// From zero up.
    Positive,
    /// Any number.
    Any,
}

impl Range {
    pub(crate) fn holds(self, n: f64) -> bool {
        match self {
            Self::Closed(low, high) => (low..=high).contains(&n),
            Self::Hue => (0.0..360.0).contains(&n),
            Self::Positive => n >= 0.0,
            Self::Any => true,
        }
    }

    pub(crate) fn describe(self) -> String {
        match self {
            Self::Closed(low, high) => format!("from {low} to {high}"),
            Self::Hue => "from 0 up to, but not including, 360".into(),
            Self::Positive => "0 or more".into(),
            Self::Any => "any number".into(),
        }
    }
}

impl Space {
    /// Every space, as it is spelled.
    pub const ALL: [(&'static str, Self); 14] = [
        ("srgb", Self::Srgb),
        ("srgb-linear", Self::SrgbLinear),
        ("hsl", Self::Hsl),
        ("hwb", Self::Hwb),
        ("lab", Self::Lab),
        ("lch", Self::Lch),
        ("oklab", Self::Oklab),
        ("oklch", Self::Oklch),
        ("display-p3", Self::DisplayP3),
        ("a98-rgb", Self::A98Rgb),
        ("prophoto-rgb", Self::ProphotoRgb),
        ("rec2020", Self::Rec2020),
        ("xyz-d65", Self::XyzD65),
        ("xyz-d50", Self::XyzD50),
    ];

    /// The space that `name` spells.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, s)| *s)
    }

    /// The space as it is spelled.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, s)| *s == self).map_or("srgb", |(n, _)| n)
    }

    pub(crate) const fn ranges(self) -> [Range; 3] {
        use Range::{Any, Closed, Hue, Positive};
        match self {
            Self::Hsl | Self::Hwb => [Hue, Closed(0.0, 100.0), Closed(0.0, 100.0)],
            Self::Lab => [Closed(0.0, 100.0), Any, Any],
            Self::Lch => [Closed(0.0, 100.0), Positive, Hue],
            Self::Oklab => [Closed(0.0, 1.0), Any, Any],
            Self::Oklch => [Closed(0.0, 1.0), Positive, Hue],
            // D65 white has a Z above 1, so the text's [0, 1] cannot be meant strictly.
            Self::XyzD65 | Self::XyzD50 => [Any, Any, Any],
            _ => [Closed(0.0, 1.0), Closed(0.0, 1.0), Closed(0.0, 1.0)],
        }
    }

    pub(crate) const fn tag(self) -> ColorSpaceTag {
        match self {
            Self::Srgb => ColorSpaceTag::Srgb,
            Self::SrgbLinear => ColorSpaceTag::LinearSrgb,
            Self::Hsl => ColorSpaceTag::Hsl,
            Self::Hwb => ColorSpaceTag::Hwb,
            Self::Lab => ColorSpaceTag::Lab,
            Self::Lch => ColorSpaceTag::Lch,
            Self::Oklab => ColorSpaceTag::Oklab,
            Self::Oklch => ColorSpaceTag::Oklch,
            Self::DisplayP3 => ColorSpaceTag::DisplayP3,
            Self::A98Rgb => ColorSpaceTag::A98Rgb,
            Self::ProphotoRgb => ColorSpaceTag::ProphotoRgb,
            Self::Rec2020 => ColorSpaceTag::Rec2020,
            Self::XyzD65 => ColorSpaceTag::XyzD65,
            Self::XyzD50 => ColorSpaceTag::XyzD50,
        }
    }

    fn of_tag(tag: ColorSpaceTag) -> Option<Self> {
        Self::ALL.iter().map(|(_, s)| *s).find(|s| s.tag() == tag)
    }
}

/// A colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Color {
    /// The space.
    pub space: Space,
    /// The components; `None` is `none`.
    pub components: [Option<f64>; 3],
    /// From 0 to 1.
    pub alpha: f64,
    /// The fallback that the file gives: `#rrggbb`.
    pub hex: Option<String>,
}

impl Color {
    /// Reads CSS text, as older dialects have it: hex, names, and every function of CSS Color 4.
    #[must_use]
    pub fn from_css(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(exact) = exact_hex(text) {
            return Some(exact);
        }
        let parsed: DynamicColor = ::color::parse_color(text).ok()?;
        let space = Space::of_tag(parsed.cs)?;
        let missing = parsed.flags.missing();
        let [a, b, c, alpha] = parsed.components;
        let component = |i: usize, n: f32| (!missing.contains(i)).then(|| shortest(n));
        let components = [component(0, a), component(1, b), component(2, c)];
        Some(Self { space, components, alpha: shortest(alpha), hex: None })
    }

    /// The format's own JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let components: Vec<Json> =
            self.components.iter().map(|c| c.map_or_else(|| json!("none"), number)).collect();
        let mut out = json!({ "colorSpace": self.space.name(), "components": components });
        if let Some(object) = out.as_object_mut() {
            if (self.alpha - 1.0).abs() > f64::EPSILON {
                object.insert("alpha".into(), number(self.alpha));
            }
            if let Some(hex) = &self.hex {
                object.insert("hex".into(), json!(hex));
            }
        }
        out
    }

    /// The outcome of a computation: six digits are what single precision gives.
    pub(crate) fn of_dynamic(color: &DynamicColor, space: Space) -> Self {
        let rounded = |n: f32| {
            let n = (f64::from(n) * 1e5).round() / 1e5;
            // No negative zero, which would be written.
            if n == 0.0 { 0.0 } else { n }
        };
        let [a, b, c, alpha] = color.components;
        Self {
            space,
            components: [Some(rounded(a)), Some(rounded(b)), Some(rounded(c))],
            alpha: rounded(alpha),
            hex: None,
        }
    }

    /// The colour for computations; `none` counts as zero.
    pub(crate) fn dynamic(&self) -> DynamicColor {
        #[expect(clippy::cast_possible_truncation, reason = "the colour crate computes in single precision")]
        let part = |i: usize| self.components[i].unwrap_or(0.0) as f32;
        #[expect(clippy::cast_possible_truncation, reason = "as above")]
        let alpha = self.alpha as f32;
        let flags = Flags::from_missing(Missing::EMPTY);
        DynamicColor { cs: self.space.tag(), flags, components: [part(0), part(1), part(2), alpha] }
    }

    /// Red, green, blue and alpha in sRGB, from 0 to 1 where the colour is in gamut, not clamped.
    #[must_use]
    pub fn to_srgb(&self) -> [f64; 4] {
        if self.space == Space::Srgb {
            let part = |i: usize| self.components[i].unwrap_or(0.0);
            return [part(0), part(1), part(2), self.alpha];
        }
        self.dynamic().convert(ColorSpaceTag::Srgb).components.map(f64::from)
    }

    /// Whether sRGB can show it.
    #[must_use]
    pub fn in_srgb_gamut(&self) -> bool {
        self.to_srgb()[..3].iter().all(|c| (-0.0005..=1.0005).contains(c))
    }

    /// WCAG 2.2 relative luminance, alpha not regarded.
    #[must_use]
    pub fn luminance(&self) -> f64 {
        let linear = |c: f64| {
            let c = c.clamp(0.0, 1.0);
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let [r, g, b, _] = self.to_srgb();
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    /// WCAG 2.2 contrast ratio of this colour, laid over `behind`, against `behind`.
    #[must_use]
    pub fn contrast(&self, behind: &Self) -> f64 {
        let (front, back) = (self.to_srgb(), behind.to_srgb());
        let mix = |i: usize| Some(front[i] * front[3] + back[i] * (1.0 - front[3]));
        let flat = Self { space: Space::Srgb, components: [mix(0), mix(1), mix(2)], alpha: 1.0, hex: None };
        let (a, b) = (flat.luminance(), behind.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// How far two colours look apart: the Euclidean distance in Oklab (`deltaEOK` of CSS Color 4 §19) times 100, so that
    /// some 2 is just noticeable, with a difference of alpha counted as one more axis.
    #[must_use]
    pub fn distance(&self, other: &Self) -> f64 {
        apart(self.oklab(), other.oklab())
    }

    /// Lightness, a, b and alpha in Oklab.
    pub(crate) fn oklab(&self) -> [f64; 4] {
        self.dynamic().convert(ColorSpaceTag::Oklab).components.map(f64::from)
    }

    /// The components as bytes, when the colour is sRGB and exactly that.
    #[must_use]
    pub fn exact_bytes(&self) -> Option<[u8; 3]> {
        if self.space != Space::Srgb {
            return None;
        }
        let mut out = [0; 3];
        for (byte, component) in out.iter_mut().zip(self.components) {
            *byte = to_byte(component?)?;
        }
        Some(out)
    }

    /// The nearest sRGB bytes, for pictures of it; out-of-gamut colours are clipped.
    #[must_use]
    pub fn nearest_bytes(&self) -> [u8; 3] {
        let [r, g, b, _] = self.to_srgb();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
        let byte = |c: f64| (c.clamp(0.0, 1.0) * 255.0).round() as u8;
        [byte(r), byte(g), byte(b)]
    }
}

/// As [`Color::distance`], of two colours in Oklab.
pub(crate) fn apart(a: [f64; 4], b: [f64; 4]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    sum.sqrt() * 100.0
}

/// The byte that a component from 0 to 1 is, within what designers' tools round to.
fn to_byte(component: f64) -> Option<u8> {
    let scaled = component * 255.0;
    let rounded = scaled.round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a byte")]
    let byte =
        ((0.0..=255.0).contains(&rounded) && (scaled - rounded).abs() < 0.002).then_some(rounded as u8);
    byte
}

/// `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa` without a detour through single precision.
fn exact_hex(text: &str) -> Option<Color> {
    let digits = text.strip_prefix('#')?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |i: usize| match digits.len() {
        3 | 4 => u8::from_str_radix(&digits[i..=i].repeat(2), 16).ok(),
        6 | 8 => u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok(),
        _ => None,
    };
    let part = |i: usize| byte(i).map(|b| f64::from(b) / 255.0);
    let alpha = if matches!(digits.len(), 4 | 8) { part(3)? } else { 1.0 };
    Some(Color {
        space: Space::Srgb,
        components: [Some(part(0)?), Some(part(1)?), Some(part(2)?)],
        alpha,
        hex: None,
    })
}

/// The double with the same shortest decimal as the single, so that `0.1` stays `0.1`.
fn shortest(n: f32) -> f64 {
    n.to_string().parse().unwrap_or_else(|_| f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn css_colours_are_read_exactly() {
        let red = Color::from_css("#f00").unwrap();
        assert_eq!(red.exact_bytes(), Some([255, 0, 0]));
        let half = Color::from_css("rgba(0, 0, 0, 0.1)").unwrap();
        assert!((half.alpha - 0.1).abs() < 1e-12, "{}", half.alpha);
        let lch = Color::from_css("oklch(0.7 none 200)").unwrap();
        assert_eq!((lch.space, lch.components[1]), (Space::Oklch, None));
        assert!(Color::from_css("nonsense").is_none());
    }

    #[test]
    fn contrast_is_wcags() {
        let (black, white) = (Color::from_css("#000").unwrap(), Color::from_css("#fff").unwrap());
        assert!((black.contrast(&white) - 21.0).abs() < 1e-9);
        let grey = Color::from_css("#777777").unwrap();
        assert!((grey.contrast(&white) - 4.478).abs() < 0.001, "{}", grey.contrast(&white));
    }

    #[test]
    fn gamut_is_told_without_clamping() {
        let wide = Color {
            space: Space::DisplayP3,
            components: [Some(0.0), Some(1.0), Some(0.0)],
            alpha: 1.0,
            hex: None,
        };
        assert!(!wide.in_srgb_gamut() && wide.to_srgb()[1] > 1.0);
    }
}
