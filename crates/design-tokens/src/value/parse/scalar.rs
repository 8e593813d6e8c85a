//! Values of one part: lengths, fonts, times, curves, numbers, line styles.

use super::math::{Quantity, mathematics};
use super::text::text;
use super::{Context, followed, legacy, member, number_in, only, slot, wrong};
use crate::json::{Kind, Node};
use crate::reference;
use crate::value::primitive::{LEGACY_UNITS, STROKES, UNITS, WEIGHTS};
use crate::value::{Dimension, Duration, FontWeight, LineCap, Part, Slot, StrokeStyle, Type, Value};

/// A finite number; Rust would also read `inf` and `nan`.
pub(super) fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|n: &f64| n.is_finite())
}

pub(super) fn unit(text: &str) -> Option<&'static str> {
    UNITS.iter().chain(&LEGACY_UNITS).find(|u| **u == text).copied()
}

pub(super) fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+')).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

/// A dimension; in older dialects also what mathematics gives, and text.
pub(super) fn dimension_or_text(node: &Node, cx: &mut dyn Context) -> Option<Value> {
    if let Some(source) = node.string().filter(|s| reference::curly(s).is_none()) {
        let plain =
            split_unit(source).is_some_and(|(n, u)| u.is_empty() || unit(u).is_some() && n.is_finite());
        let braces = source.contains(['{', '}']) && reference::template(source).is_none();
        if braces || source.trim().is_empty() || source.starts_with("#/") {
            let message = format!("{source:?} is neither a dimension nor a reference");
            cx.diagnostics().error(node.at, "bad-reference", message, "write `{group.token}`");
            return None;
        }
        if !plain {
            // Several lengths, mathematics, keywords: CSS text of an older dialect.
            legacy(node.at, cx, "text as a dimension", "write `{ \"value\": 16, \"unit\": \"px\" }`");
            if let Some(Quantity { value, unit }) = mathematics(node, cx)? {
                return Some(Value::Dimension(Dimension { value, unit }));
            }
            return text(node, cx).map(Value::Text);
        }
    }
    if let Some(Ok(path)) = node.string().and_then(reference::curly) {
        let (id, ty, value) = cx.token(node.at, &path)?;
        return match value {
            Value::Dimension(value) => Some(Value::Dimension(value)),
            Value::Number(n) if cx.plain() => Some(Value::Dimension(Dimension { value: n, unit: "" })),
            Value::Text(_) => Some(Value::Text(vec![Part::Token(id, Box::new(value))])),
            _ => {
                let message = format!("{{{id}}} is a {}, a dimension is needed here", ty.name());
                cx.diagnostics().error(node.at, "reference-type", message, "refer to a token of that type");
                None
            }
        };
    }
    dimension(node, cx).map(|slot| Value::Dimension(slot.value))
}

pub(super) fn dimension(node: &Node, cx: &mut dyn Context) -> Option<Slot<Dimension>> {
    fn take(value: Value) -> Option<Dimension> {
        match value {
            Value::Dimension(d) => Some(d),
            _ => None,
        }
    }
    slot(node, cx, Type::Dimension, take, own_dimension)
}

pub(super) fn own_dimension(node: &Node, cx: &mut dyn Context) -> Option<Dimension> {
    const FIX: &str = "write `{ \"value\": 16, \"unit\": \"px\" }`";
    if let Some(text) = node.string() {
        legacy(node.at, cx, "a dimension as a string", FIX);
        let parsed =
            split_unit(text).and_then(|(value, u)| Some((value, if u.is_empty() { "px" } else { unit(u)? })));
        let worked_out = match parsed {
            Some((value, unit)) => Some(Quantity { value, unit }),
            None => mathematics(node, cx)?,
        };
        return match worked_out {
            Some(Quantity { value, unit }) => Some(Dimension { value, unit }),
            None => {
                cx.diagnostics().error(node.at, "bad-dimension", format!("{text:?} is not a dimension"), FIX);
                None
            }
        };
    }
    if let Some(value) = node.number() {
        legacy(node.at, cx, "a dimension without a unit", FIX);
        return Some(Dimension { value, unit: if value == 0.0 || !cx.plain() { "px" } else { "" } });
    }
    if node.object().is_none() {
        return wrong(node, cx, "a dimension", FIX);
    }
    only(node, &["value", "unit"], cx)?;
    let value = number_in(member(node, "value", cx)?, cx)?;
    let unit_node = followed(member(node, "unit", cx)?, cx)?;
    match unit_node.string() {
        Some(u) if UNITS.contains(&u) => Some(Dimension { value, unit: unit(u)? }),
        // Android's word for what the format calls px; and nothing where nothing is measured.
        Some(u) if u == "dp" || (u.is_empty() && value == 0.0) => {
            let message = format!("the unit {u:?} is not of the format, which has px and rem");
            cx.diagnostics().warn(unit_node.at, "unit", message, "write px; it is taken for that");
            Some(Dimension { value, unit: "px" })
        }
        Some(u) if unit(u).is_some() => {
            let message = format!("the unit {u:?} is not of the format, which has px and rem");
            cx.diagnostics().warn(unit_node.at, "unit", message, "it is passed on to CSS as it is");
            Some(Dimension { value, unit: unit(u)? })
        }
        _ => {
            let message = format!("{} is not a unit", unit_node.to_value());
            cx.diagnostics().error(unit_node.at, "unit", message, "px or rem");
            None
        }
    }
}

/// A name that stands in quotes, without them.
fn unquoted(name: &str) -> &str {
    let inner =
        |quote| name.strip_prefix(quote)?.strip_suffix(quote).filter(|inner: &&str| !inner.contains(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(name)
}

/// The names of a list as CSS has it: commas within quotes are part of a name.
fn families(list: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut quote = None;
    for c in list.chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (',', None) => names.push(String::new()),
            (c, _) => names.last_mut().into_iter().for_each(|name| name.push(c)),
        }
    }
    names.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Whether a name with commas is meant as a list: it has quotes, or ends in one of CSS's generic families.
fn is_list(name: &str) -> bool {
    const GENERIC: [&str; 9] = [
        "serif",
        "sans-serif",
        "monospace",
        "cursive",
        "fantasy",
        "system-ui",
        "ui-monospace",
        "ui-serif",
        "ui-sans-serif",
    ];
    let last = name.rsplit(',').next().unwrap_or_default().trim();
    name.contains(['"', '\'']) || GENERIC.contains(&last)
}

pub(super) fn font_family(node: &Node, cx: &mut dyn Context) -> Option<Slot<Vec<String>>> {
    fn take(value: Value) -> Option<Vec<String>> {
        match value {
            Value::FontFamily(f) => Some(f),
            Value::Text(parts) => Some(vec![crate::emit::css_text(&parts)]),
            _ => None,
        }
    }
    fn own(node: &Node, cx: &mut dyn Context) -> Option<Vec<String>> {
        match &node.kind {
            Kind::String(name) if name.trim_matches(['"', '\'', ',', ' ']).is_empty() => {
                cx.diagnostics().error(node.at, "value-type", "the font's name is empty", "");
                None
            }
            Kind::String(name) if name.contains(['{', '}']) => {
                let message = format!("{name:?} is neither a font name nor a reference");
                cx.diagnostics().error(node.at, "bad-reference", message, "write `{group.token}` alone");
                None
            }
            Kind::String(name) if name.contains(',') => {
                legacy(node.at, cx, "a list of fonts in one string", "write an array of names");
                Some(families(name))
            }
            Kind::String(name) => Some(vec![unquoted(name).to_owned()]),
            Kind::Array(items) if !items.is_empty() => {
                let mut names = Vec::with_capacity(items.len());
                for item in items {
                    match item.string().filter(|name| name.contains(',')) {
                        // Each is one name; but no font is called like a whole list.
                        Some(name) if !is_list(name) => names.push(name.to_owned()),
                        _ => names.extend(font_family(item, cx)?.value),
                    }
                }
                Some(names)
            }
            _ => wrong(node, cx, "a font name or an array of them", ""),
        }
    }
    slot(node, cx, Type::FontFamily, take, own)
}

pub(super) fn font_weight(node: &Node, cx: &mut dyn Context) -> Option<Slot<FontWeight>> {
    fn take(value: Value) -> Option<FontWeight> {
        match value {
            Value::FontWeight(w) => Some(w),
            _ => None,
        }
    }
    fn own(node: &Node, cx: &mut dyn Context) -> Option<FontWeight> {
        if let Some(n) = node.number() {
            if (1.0..=1000.0).contains(&n) {
                return Some(FontWeight(n));
            }
            cx.diagnostics().error(
                node.at,
                "font-weight",
                format!("a weight is from 1 to 1000, this is {n}"),
                "",
            );
            return None;
        }
        let Some(text) = node.string() else { return wrong(node, cx, "a font weight", "") };
        if let Some((_, n)) = WEIGHTS.iter().find(|(name, _)| *name == text) {
            return Some(FontWeight(*n));
        }
        let plain: String = text.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        let plain = plain.trim_end_matches("italic");
        let known = WEIGHTS.iter().find(|(name, _)| name.replace('-', "") == plain).map(|(_, n)| *n);
        match known.or_else(|| plain.parse().ok().filter(|n| (1.0..=1000.0).contains(n))) {
            Some(n) => {
                legacy(
                    node.at,
                    cx,
                    "this spelling of a weight",
                    "write the number, or `semi-bold` and the like",
                );
                Some(FontWeight(n))
            }
            None => {
                let fix = strsim_closest(text, WEIGHTS.iter().map(|(n, _)| *n));
                cx.diagnostics().error(node.at, "font-weight", format!("{text:?} is not a weight"), fix);
                None
            }
        }
    }
    slot(node, cx, Type::FontWeight, take, own)
}

pub(super) fn strsim_closest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> String {
    known
        .map(|k| (strsim::jaro_winkler(text, k), k))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| format!("did you mean {k:?}?"))
        .unwrap_or_default()
}

pub(super) fn duration(node: &Node, cx: &mut dyn Context) -> Option<Slot<Duration>> {
    fn take(value: Value) -> Option<Duration> {
        if let Value::Duration(d) = value { Some(d) } else { None }
    }
    fn own(node: &Node, cx: &mut dyn Context) -> Option<Duration> {
        const FIX: &str = "write `{ \"value\": 200, \"unit\": \"ms\" }`";
        let named = |u: &str| ["ms", "s"].into_iter().find(|known| *known == u);
        if let Some(text) = node.string() {
            legacy(node.at, cx, "a duration as a string", FIX);
            if let Some((value, unit)) = split_unit(text).and_then(|(n, u)| Some((n, named(u)?))) {
                return Some(Duration { value, unit });
            }
            cx.diagnostics().error(node.at, "bad-duration", format!("{text:?} is not a duration"), FIX);
            return None;
        }
        if let Some(value) = node.number().filter(|_| cx.plain()) {
            return Some(Duration { value, unit: "ms" });
        }
        if node.object().is_none() {
            return wrong(node, cx, "a duration", FIX);
        }
        only(node, &["value", "unit"], cx)?;
        let value = number_in(member(node, "value", cx)?, cx)?;
        let unit = followed(member(node, "unit", cx)?, cx)?;
        match unit.string().and_then(named) {
            Some(unit) => Some(Duration { value, unit }),
            None => {
                cx.diagnostics().error(
                    unit.at,
                    "unit",
                    format!("{} is not a unit of time", unit.to_value()),
                    "ms or s",
                );
                None
            }
        }
    }
    slot(node, cx, Type::Duration, take, own)
}

pub(super) fn bezier(node: &Node, cx: &mut dyn Context) -> Option<Slot<[f64; 4]>> {
    fn take(value: Value) -> Option<[f64; 4]> {
        if let Value::CubicBezier(b) = value { Some(b) } else { None }
    }
    fn own(node: &Node, cx: &mut dyn Context) -> Option<[f64; 4]> {
        if let Some(text) = node.string() {
            legacy(node.at, cx, "a curve as a string", "write `[0.25, 0.1, 0.25, 1]`");
            if let Some(curve) = curve(text) {
                return Some(curve);
            }
            cx.diagnostics().error(
                node.at,
                "bad-curve",
                format!("{text:?} is not a curve"),
                "write four numbers",
            );
            return None;
        }
        let Some(items @ [_, _, _, _]) = node.array() else { return wrong(node, cx, "four numbers", "") };
        let mut curve = [0.0; 4];
        for (i, (place, item)) in curve.iter_mut().zip(items).enumerate() {
            let item = followed(item, cx)?;
            *place = number_in(&item, cx)?;
            if i % 2 == 0 && !(0.0..=1.0).contains(place) {
                let message = format!("the curve's x is from 0 to 1, this is {place}");
                cx.diagnostics().error(item.at, "curve-range", message, "");
                return None;
            }
        }
        Some(curve)
    }
    slot(node, cx, Type::CubicBezier, take, own)
}

/// CSS's words and `cubic-bezier()` (CSS Easing 1).
pub(crate) fn curve(text: &str) -> Option<[f64; 4]> {
    Some(match text.trim() {
        "linear" => [0.0, 0.0, 1.0, 1.0],
        "ease" => [0.25, 0.1, 0.25, 1.0],
        "ease-in" => [0.42, 0.0, 1.0, 1.0],
        "ease-out" => [0.0, 0.0, 0.58, 1.0],
        "ease-in-out" => [0.42, 0.0, 0.58, 1.0],
        other => {
            let inner = other.strip_prefix("cubic-bezier(")?.strip_suffix(')')?;
            let numbers: Option<Vec<f64>> = inner.split(',').map(finite).collect();
            let curve: [f64; 4] = numbers?.try_into().ok()?;
            let in_range = |x: f64| (0.0..=1.0).contains(&x);
            return (in_range(curve[0]) && in_range(curve[2])).then_some(curve);
        }
    })
}

/// A number; in older dialects also a part in hundred, a length (line heights), what mathematics gives, and text.
pub(super) fn plain_number(node: &Node, cx: &mut dyn Context) -> Option<Value> {
    if let Some(source) = node.string().filter(|s| reference::curly(s).is_none()) {
        if let Some(n) = finite(source) {
            legacy(node.at, cx, "a number as a string", "write it without quotes");
            return Some(Value::Number(n));
        }
        if cx.plain() {
            if let Some(percent) = source.trim().strip_suffix('%').and_then(finite) {
                return Some(Value::Number(percent / 100.0));
            }
            let length = split_unit(source).and_then(|(value, u)| Some(Quantity { value, unit: unit(u)? }));
            match length.or(mathematics(node, cx)?) {
                Some(Quantity { value, unit: "" }) => return Some(Value::Number(value)),
                Some(Quantity { value, unit: "%" }) => return Some(Value::Number(value / 100.0)),
                Some(Quantity { value, unit }) => return Some(Value::Dimension(Dimension { value, unit })),
                None => {}
            }
        }
        if cx.plain() || reference::template(source).is_some() {
            return text(node, cx).map(Value::Text);
        }
    }
    if let (true, Some(Ok(path))) = (cx.plain(), node.string().and_then(reference::curly)) {
        let (id, _, value) = cx.token(node.at, &path)?;
        return Some(match value {
            Value::Number(_) | Value::Dimension(_) => value,
            other => Value::Text(vec![Part::Token(id, Box::new(other))]),
        });
    }
    number_slot(node, cx).map(|slot| Value::Number(slot.value))
}

pub(super) fn number_slot(node: &Node, cx: &mut dyn Context) -> Option<Slot<f64>> {
    fn take(value: Value) -> Option<f64> {
        if let Value::Number(n) = value { Some(n) } else { None }
    }
    fn own(node: &Node, cx: &mut dyn Context) -> Option<f64> {
        number_in(node, cx)
    }
    slot(node, cx, Type::Number, take, own)
}

pub(super) fn stroke(node: &Node, cx: &mut dyn Context) -> Option<Slot<StrokeStyle>> {
    fn take(value: Value) -> Option<StrokeStyle> {
        match value {
            Value::StrokeStyle(s) => Some(s),
            _ => None,
        }
    }
    fn own(node: &Node, cx: &mut dyn Context) -> Option<StrokeStyle> {
        if let Some(text) = node.string() {
            if let Some(named) = STROKES.iter().find(|s| **s == text) {
                return Some(StrokeStyle::Named(named));
            }
            let fix = strsim_closest(text, STROKES.into_iter());
            cx.diagnostics().error(node.at, "stroke-style", format!("{text:?} is not a line style"), fix);
            return None;
        }
        if node.object().is_none() {
            return wrong(node, cx, "a line style", "");
        }
        only(node, &["dashArray", "lineCap"], cx)?;
        let dashes = followed(member(node, "dashArray", cx)?, cx)?;
        let Some(items) = dashes.array().filter(|a| !a.is_empty()) else {
            return wrong(&dashes, cx, "an array of dimensions", "");
        };
        let mut array = Vec::with_capacity(items.len());
        for item in items {
            array.push(dimension(item, cx)?.value);
        }
        let cap_node = followed(member(node, "lineCap", cx)?, cx)?;
        let cap = match cap_node.string() {
            Some("round") => LineCap::Round,
            Some("butt") => LineCap::Butt,
            Some("square") => LineCap::Square,
            _ => {
                let message = format!("{} is not a line cap", cap_node.to_value());
                cx.diagnostics().error(cap_node.at, "stroke-style", message, "round, butt or square");
                return None;
            }
        };
        Some(StrokeStyle::Dashes { array, cap })
    }
    slot(node, cx, Type::StrokeStyle, take, own)
}
