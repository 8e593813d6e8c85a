//! Values as CSS text.

use crate::names::css_identifier;
use crate::resolve::Token;
use crate::value::{
    Border, Color, Dimension, Duration, FontWeight, LineCap, LineHeight, Part, Shadow, Slot, Space, Stop,
    StrokeStyle, Transition, Typography, Value,
};

/// How values are written.
pub(super) struct Writer<'w> {
    /// The name of a token that may be referred to; `None` writes its value.
    pub(super) variable: &'w dyn Fn(&str) -> Option<String>,
    /// Pixels per rem, when px are to be written in rem.
    pub(super) px_per_rem: Option<f64>,
}

/// A value as CSS text, references resolved.
#[must_use]
pub fn css_value(value: &Value) -> String {
    Writer { variable: &|_| None, px_per_rem: None }.value(value)
}

/// Text with references, resolved.
pub(crate) fn css_text(parts: &[Part]) -> String {
    Writer { variable: &|_| None, px_per_rem: None }.text(parts)
}

/// The shortest decimal, never in scientific notation; `-0` is `0`.
pub(super) fn number(n: f64) -> String {
    if n == 0.0 { "0".into() } else { n.to_string() }
}

/// A computed number: rounded to six places, which no screen can tell apart.
fn rounded(n: f64) -> String {
    number((n * 1e6).round() / 1e6)
}

impl Writer<'_> {
    fn slot<T>(&self, slot: &Slot<T>, own: impl Fn(&T) -> String) -> String {
        slot.alias.as_deref().and_then(|id| (self.variable)(id)).unwrap_or_else(|| own(&slot.value))
    }

    pub(super) fn value(&self, value: &Value) -> String {
        match value {
            Value::Color(c) => color(c),
            Value::Dimension(d) => self.dimension(d),
            Value::FontFamily(names) => family(names),
            Value::FontWeight(w) => number(w.0),
            Value::Duration(d) => duration(d),
            Value::CubicBezier(b) => bezier(b),
            Value::Number(n) => number(*n),
            Value::StrokeStyle(s) => stroke(s).to_owned(),
            Value::Border(b) => self.border(b),
            Value::Transition(t) => self.transition(t),
            Value::Shadow(layers) => {
                let layers: Vec<String> = layers.iter().map(|l| self.slot(l, |s| self.shadow(s))).collect();
                layers.join(", ")
            }
            Value::Gradient(stops) => self.gradient(stops),
            Value::Typography(t) => self.font(t).unwrap_or_default(),
            Value::Text(parts) => self.text(parts),
        }
    }

    pub(super) fn dimension(&self, d: &Dimension) -> String {
        match self.px_per_rem {
            Some(size) if d.unit == "px" => format!("{}rem", rounded(d.value / size)),
            _ => format!("{}{}", number(d.value), d.unit),
        }
    }

    fn length(&self, slot: &Slot<Dimension>) -> String {
        self.slot(slot, |d| self.dimension(d))
    }

    fn border(&self, b: &Border) -> String {
        let style = self.slot(&b.style, |s| stroke(s).to_owned());
        format!("{} {style} {}", self.length(&b.width), self.slot(&b.color, color))
    }

    fn transition(&self, t: &Transition) -> String {
        let (length, delay) = (self.slot(&t.duration, duration), self.slot(&t.delay, duration));
        format!("{length} {} {delay}", self.slot(&t.timing, bezier))
    }

    fn shadow(&self, s: &Shadow) -> String {
        let inset = if s.inset { "inset " } else { "" };
        let lengths = [&s.x, &s.y, &s.blur, &s.spread].map(|l| self.length(l)).join(" ");
        format!("{inset}{lengths} {}", self.slot(&s.color, color))
    }

    fn gradient(&self, stops: &[Stop]) -> String {
        let mut written: Vec<String> = stops
            .iter()
            .map(|stop| {
                let color = self.slot(&stop.color, color);
                let position = match stop.position.alias.as_deref().and_then(|id| (self.variable)(id)) {
                    Some(variable) => format!("calc({variable} * 100%)"),
                    None => format!("{}%", rounded(stop.position.value * 100.0)),
                };
                format!("{color} {position}")
            })
            .collect();
        if let [one] = written.as_slice() {
            // Older engines want two stops.
            written.push(one.clone());
        }
        written.join(", ")
    }

    /// The `font` shorthand, where family and size are known.
    pub(super) fn font(&self, t: &Typography) -> Option<String> {
        let (family, size) = (self.family(t)?, self.size(t)?);
        let weight = self.weight(t).map(|w| format!("{w} ")).unwrap_or_default();
        let line = self.line_height(t).map(|l| format!("/{l}")).unwrap_or_default();
        Some(format!("{weight}{size}{line} {family}"))
    }

    pub(super) fn family(&self, t: &Typography) -> Option<String> {
        t.family.as_ref().map(|f| self.slot(f, |names| family(names)))
    }

    pub(super) fn size(&self, t: &Typography) -> Option<String> {
        t.size.as_ref().map(|s| self.length(s))
    }

    pub(super) fn weight(&self, t: &Typography) -> Option<String> {
        t.weight.as_ref().map(|w| self.slot(w, |FontWeight(n)| number(*n)))
    }

    pub(super) fn letter_spacing(&self, t: &Typography) -> Option<String> {
        t.letter_spacing.as_ref().map(|l| self.length(l))
    }

    pub(super) fn line_height(&self, t: &Typography) -> Option<String> {
        t.line_height.as_ref().map(|l| {
            self.slot(l, |l| match l {
                LineHeight::Times(n) => number(*n),
                LineHeight::Length(d) => self.dimension(d),
            })
        })
    }

    pub(super) fn text(&self, parts: &[Part]) -> String {
        let joined: String = parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Token(id, value) => (self.variable)(id).unwrap_or_else(|| self.value(value)),
            })
            .collect();
        safe(&joined)
    }
}

/// Text of unknown origin as one custom property's value: what would close the declaration, the rule or a comment is
/// quoted away as a string.
fn safe(text: &str) -> String {
    let text = text.trim().trim_end_matches(';').trim_end();
    let unfolded: String = if text.contains(['"', '\'']) {
        text.to_owned()
    } else {
        // Outside strings a line break is white space.
        text.split(['\n', '\r', '\t']).map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let text = unfolded.as_str();
    let mut depth = Vec::new();
    let mut quote = None;
    let mut fine = !text.trim().is_empty();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if let Some(open) = quote {
            match c {
                '\\' => {
                    chars.next();
                }
                '\n' => fine = false,
                c if c == open => quote = None,
                _ => {}
            }
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '(' => depth.push(')'),
            '[' => depth.push(']'),
            '{' => depth.push('}'),
            ')' | ']' | '}' => fine &= depth.pop() == Some(c),
            ';' | '!' if depth.is_empty() => fine = false,
            '/' if chars.peek() == Some(&'*') => fine = false,
            '<' if chars.peek() == Some(&'/') => fine = false,
            '\\' => fine = false,
            c if c.is_control() => fine = false,
            _ => {}
        }
    }
    if fine && quote.is_none() && depth.is_empty() { text.trim().to_owned() } else { string(text) }
}

/// A CSS string (CSSOM, "serialize a string").
pub(super) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\0' => out.push('\u{fffd}'),
            c if c.is_control() => out.push_str(&format!("\\{:x} ", u32::from(c))),
            // So that a stylesheet can stand in a page.
            '<' => out.push_str("\\3c "),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A colour in its own space; hexadecimal where that says exactly the same.
pub(super) fn color(c: &Color) -> String {
    let opaque = (c.alpha - 1.0).abs() < f64::EPSILON;
    if let Some([r, g, b]) = c.exact_bytes() {
        let alpha = c.alpha * 255.0;
        if opaque {
            return format!("#{r:02x}{g:02x}{b:02x}");
        }
        if (alpha - alpha.round()).abs() < 1e-9 {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "alpha is from 0 to 1"
            )]
            return format!("#{r:02x}{g:02x}{b:02x}{:02x}", alpha.round() as u8);
        }
        return format!("rgb({r} {g} {b} / {})", number(c.alpha));
    }
    let part = |i: usize, unit: &str| {
        c.components[i].map_or_else(|| "none".to_owned(), |n| format!("{}{unit}", number(n)))
    };
    let alpha = if opaque { String::new() } else { format!(" / {}", number(c.alpha)) };
    let name = c.space.name();
    match c.space {
        Space::Hsl | Space::Hwb => {
            format!("{name}({} {} {}{alpha})", part(0, ""), part(1, "%"), part(2, "%"))
        }
        Space::Lab | Space::Lch => format!("{name}({} {} {}{alpha})", part(0, "%"), part(1, ""), part(2, "")),
        Space::Oklab | Space::Oklch => {
            format!("{name}({} {} {}{alpha})", part(0, ""), part(1, ""), part(2, ""))
        }
        _ => format!("color({name} {} {} {}{alpha})", part(0, ""), part(1, ""), part(2, "")),
    }
}

/// Generic families and the two vendor words that work only unquoted.
const GENERIC: [&str; 16] = [
    "serif",
    "sans-serif",
    "monospace",
    "cursive",
    "fantasy",
    "system-ui",
    "ui-serif",
    "ui-sans-serif",
    "ui-monospace",
    "ui-rounded",
    "math",
    "emoji",
    "fangsong",
    "-apple-system",
    "BlinkMacSystemFont",
    "kai",
];

pub(super) fn family(names: &[String]) -> String {
    let written: Vec<String> = names
        .iter()
        .map(|name| {
            let plain = name.chars().all(|c| c.is_ascii_alphabetic()) && !is_keyword(name);
            if GENERIC.contains(&name.as_str()) || plain { name.clone() } else { string(name) }
        })
        .collect();
    written.join(", ")
}

fn is_keyword(name: &str) -> bool {
    let words = ["inherit", "initial", "unset", "revert", "default", "none"];
    words.iter().any(|w| name.eq_ignore_ascii_case(w))
        || GENERIC.iter().any(|w| name.eq_ignore_ascii_case(w) && name != *w)
}

fn duration(d: &Duration) -> String {
    format!("{}{}", number(d.value), d.unit)
}

fn bezier(b: &[f64; 4]) -> String {
    let [x1, y1, x2, y2] = b.map(number);
    format!("cubic-bezier({x1}, {y1}, {x2}, {y2})")
}

/// CSS borders have no dash pattern: the format itself names `dashed` as the fallback.
fn stroke(s: &StrokeStyle) -> &'static str {
    match s {
        StrokeStyle::Named(name) => name,
        StrokeStyle::Dashes { cap: LineCap::Round, array }
            if array.first().is_some_and(|d| d.value == 0.0) =>
        {
            "dotted"
        }
        StrokeStyle::Dashes { .. } => "dashed",
    }
}

/// A comment that stays one, whatever is in it.
pub(super) fn comment(text: &str) -> String {
    text.replace("*/", "*\u{200b}/").replace("</", "<\u{200b}/").replace(['\r', '\n'], " ")
}

/// What is said about a token, as the inside of a comment: its description, and that it is deprecated.
pub(super) fn remarks(token: &Token) -> Option<String> {
    let mut said = Vec::new();
    said.extend(token.description.as_deref().map(comment));
    match &token.deprecated {
        Some(Some(reason)) => said.push(format!("@deprecated {}", comment(reason))),
        Some(None) => said.push("@deprecated".into()),
        None => {}
    }
    (!said.is_empty()).then(|| said.join(" "))
}

/// A `var()` reference.
pub(super) fn variable(name: &str) -> String {
    format!("var(--{})", css_identifier(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_break_out() {
        for hostile in
            ["red; } body { display: none", "a}b", "x /* y", "\"open", "1px !important", "a\\", "(", "\u{1}"]
        {
            let out = safe(hostile);
            assert!(out.starts_with('"') && out.ends_with('"'), "{hostile:?} -> {out}");
        }
        for fine in ["calc(1px + 2px)", "url(\"a;b\")", "linear-gradient(90deg, red, blue)", "\"it's\""] {
            assert_eq!(safe(fine), fine);
        }
    }

    #[test]
    fn comments_stay_closed() {
        assert!(!comment("a */ body {} /* </style>").contains("*/"));
        assert!(!comment("</style>").contains("</"));
    }

    #[test]
    fn numbers_are_plain() {
        assert_eq!(
            [number(-0.0), number(1e-7), number(1.5), number(1e21)],
            ["0", "0.0000001", "1.5", "1000000000000000000000"]
        );
    }

    #[test]
    fn families_are_quoted_where_css_needs_it() {
        let names =
            ["Inter", "Helvetica Neue", "sans-serif", "Sans-Serif", "inherit", "a\"b", "-apple-system"];
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        assert_eq!(
            family(&names),
            r#"Inter, "Helvetica Neue", sans-serif, "Sans-Serif", "inherit", "a\"b", -apple-system"#
        );
    }
}
