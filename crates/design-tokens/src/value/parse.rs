//! From written values to typed ones. References are followed through a [`Context`]; a reference of the wrong type is
//! an error, and older spellings are read with a warning.

use super::color::{Color, Space};
use super::primitive::{LEGACY_UNITS, STROKES, UNITS, WEIGHTS};
use super::{
    Border, Dimension, Duration, FontWeight, LineCap, LineHeight, Part, Shadow, Slot, Stop, StrokeStyle,
    Transition, Type, Typography, Value,
};
use crate::diagnostic::{At, Diagnostics};
use crate::json::{Kind, Node};
use crate::reference::{self, Piece};

/// Most parts of a text, its references' parts among them.
const MAX_PARTS: usize = 1_000;

/// What parsing a value may ask of its surroundings.
pub(crate) trait Context {
    /// The typed value of the token at `path`, resolved. `None`: an error was reported.
    fn token(&mut self, at: At, path: &[String]) -> Option<(String, Type, Value)>;
    /// The node that a pointer leads to and, when it is a token's whole value, the token. `None`: an error was reported.
    fn pointer(&mut self, at: At, segments: &[String]) -> Option<Target>;
    fn diagnostics(&mut self) -> &mut Diagnostics;
    /// Whether older spellings are expected and need no warning.
    fn plain(&self) -> bool;
}

/// Where a pointer leads.
pub(crate) enum Target {
    /// A token: its resolved value.
    Token(String, Type, Value),
    /// A part of a value.
    Part(Node),
}

/// Parses `node` as a value of `ty`.
pub(crate) fn parse(ty: Type, node: &Node, cx: &mut dyn Context) -> Option<Value> {
    Some(match ty {
        Type::Color => Value::Color(color(node, cx)?.value),
        Type::Dimension => match dimension_or_text(node, cx)? {
            Ok(slot) => Value::Dimension(slot.value),
            Err(parts) => Value::Text(parts),
        },
        Type::FontFamily => Value::FontFamily(font_family(node, cx)?.value),
        Type::FontWeight => Value::FontWeight(font_weight(node, cx)?.value),
        Type::Duration => Value::Duration(duration(node, cx)?.value),
        Type::CubicBezier => Value::CubicBezier(bezier(node, cx)?.value),
        Type::Number => match plain_number(node, cx)? {
            Ok(slot) => Value::Number(slot.value),
            Err(parts) => Value::Text(parts),
        },
        Type::StrokeStyle => Value::StrokeStyle(stroke(node, cx)?.value),
        Type::Border => border(node, cx)?,
        Type::Transition => transition(node, cx)?,
        Type::Shadow => shadow(node, cx)?,
        Type::Gradient => gradient(node, cx)?,
        Type::Typography => typography(node, cx)?,
        Type::Text => Value::Text(text(node, cx)?),
    })
}

fn wrong<T>(node: &Node, cx: &mut dyn Context, expected: &str, fix: &str) -> Option<T> {
    let message = format!("expected {expected}, found {}", node.describe());
    cx.diagnostics().error(node.at, "value-type", message, fix);
    None
}

fn legacy(at: At, cx: &mut dyn Context, what: &str, fix: &str) {
    if !cx.plain() {
        cx.diagnostics().warn(at, "legacy-value", format!("{what} is the spelling of an older draft"), fix);
    }
}

/// Follows a reference, if `node` is one, and takes its value out with `take`; otherwise parses with `own`.
fn slot<T: Clone>(
    node: &Node,
    cx: &mut dyn Context,
    expected: Type,
    take: fn(Value) -> Option<T>,
    own: fn(&Node, &mut dyn Context) -> Option<T>,
) -> Option<Slot<T>> {
    let Some((at, reference)) = reference_of(node, cx)? else { return own(node, cx).map(Slot::own) };
    let target = match reference {
        Ok(path) => cx.token(at, &path).map(|(id, ty, value)| Target::Token(id, ty, value))?,
        Err(segments) => cx.pointer(at, &segments)?,
    };
    match target {
        Target::Part(part) => slot(&part, cx, expected, take, own).map(|s| Slot::own(s.value)),
        Target::Token(id, ty, value) => match take(value) {
            Some(value) => Some(Slot { value, alias: Some(id) }),
            None => {
                let message = format!("{{{id}}} is a {}, a {} is needed here", ty.name(), expected.name());
                cx.diagnostics().error(at, "reference-type", message, "refer to a token of that type");
                None
            }
        },
    }
}

type Referred = Result<Vec<String>, Vec<String>>;

/// `Some(None)`: not a reference. `None`: malformed, and reported.
#[expect(clippy::option_option, reason = "no reference, or one that is malformed")]
fn reference_of(node: &Node, cx: &mut dyn Context) -> Option<Option<(At, Referred)>> {
    if let Some(text) = node.string() {
        return match reference::curly(text) {
            None => Some(None),
            Some(Ok(path)) => Some(Some((node.at, Ok(path)))),
            Some(Err(why)) => {
                cx.diagnostics().error(
                    node.at,
                    "bad-reference",
                    format!("{text:?}: {why}"),
                    "write `{group.token}`",
                );
                None
            }
        };
    }
    let Some(target) = node.get("$ref") else { return Some(None) };
    let Some(text) = target.string() else {
        return wrong(target, cx, "a JSON Pointer", "write `{ \"$ref\": \"#/group/token\" }`");
    };
    match reference::pointer(text) {
        Ok(segments) => Some(Some((target.at, Err(segments)))),
        Err(why) => {
            cx.diagnostics().error(
                target.at,
                "bad-reference",
                format!("{text:?}: {why}"),
                "write `#/group/token`",
            );
            None
        }
    }
}

/// A member of an object, required unless `default` is given.
fn member<'n>(node: &'n Node, name: &str, cx: &mut dyn Context) -> Option<&'n Node> {
    let found = node.get(name);
    if found.is_none() {
        cx.diagnostics().error(
            node.at,
            "missing-member",
            format!("the member {name:?} is missing"),
            "add it",
        );
    }
    found
}

/// Reports members that the type does not have. In older dialects they are passed over.
fn only(node: &Node, names: &[&str], cx: &mut dyn Context) -> Option<()> {
    let Some(object) = node.object() else { return Some(()) };
    let mut fine = Some(());
    for (key, (at, _)) in object {
        if !names.contains(&key.as_str()) && !cx.plain() {
            let message = format!("{key:?} is not a member of this type");
            let fix = format!("the members are {}; put others under $extensions", names.join(", "));
            cx.diagnostics().error(*at, "extra-member", message, fix);
            fine = None;
        }
    }
    fine
}

fn number_in(node: &Node, cx: &mut dyn Context) -> Option<f64> {
    fn own(node: &Node, cx: &mut dyn Context) -> Option<f64> {
        match node.number() {
            Some(n) => Some(n),
            None => match node.string().and_then(finite).filter(|_| cx.plain()) {
                Some(n) => Some(n),
                None => wrong(node, cx, "a number", ""),
            },
        }
    }
    fn take(value: Value) -> Option<f64> {
        if let Value::Number(n) = value { Some(n) } else { None }
    }
    slot(node, cx, Type::Number, take, own).map(|s| s.value)
}

pub(super) fn color(node: &Node, cx: &mut dyn Context) -> Option<Slot<Color>> {
    fn take(value: Value) -> Option<Color> {
        if let Value::Color(c) = value { Some(c) } else { None }
    }
    slot(node, cx, Type::Color, take, own_color)
}

fn own_color(node: &Node, cx: &mut dyn Context) -> Option<Color> {
    if let Some(text) = node.string() {
        legacy(node.at, cx, "a colour as a string", "write `{ \"colorSpace\": …, \"components\": […] }`");
        if let Some(color) = Color::from_css(text).or_else(|| templated_color(text, node.at, cx)) {
            return Some(color);
        }
        let message = format!("{text:?} is not a colour");
        cx.diagnostics().error(
            node.at,
            "bad-color",
            message,
            "write hex, or a colour function of CSS Color 4",
        );
        return None;
    }
    if node.object().is_none() {
        return wrong(
            node,
            cx,
            "a colour",
            "write `{ \"colorSpace\": \"srgb\", \"components\": [1, 0, 0] }`",
        );
    }
    only(node, &["colorSpace", "components", "alpha", "hex"], cx)?;
    let space_node = member(node, "colorSpace", cx)?;
    let space_node = followed(space_node, cx)?;
    let Some(space) = space_node.string().and_then(Space::named) else {
        let names: Vec<&str> = Space::ALL.iter().map(|(n, _)| *n).collect();
        let message = format!("{} is not a colour space", space_node.to_value());
        cx.diagnostics().error(space_node.at, "color-space", message, format!("one of {}", names.join(", ")));
        return None;
    };
    let list = followed(member(node, "components", cx)?, cx)?;
    let Some([a, b, c]) = list.array() else {
        return wrong(&list, cx, "three components", "");
    };
    let mut components = [None; 3];
    for ((place, part), range) in components.iter_mut().zip([a, b, c]).zip(space.ranges()) {
        let part = followed(part, cx)?;
        if part.string() == Some("none") {
            continue;
        }
        let n = number_in(&part, cx)?;
        if !range.holds(n) {
            let message = format!("{n} is out of range for {}: {}", space.name(), range.describe());
            cx.diagnostics().error(part.at, "color-range", message, "");
            return None;
        }
        *place = Some(n);
    }
    let alpha = match node.get("alpha") {
        None => 1.0,
        Some(alpha) => {
            let n = number_in(alpha, cx)?;
            if !(0.0..=1.0).contains(&n) {
                cx.diagnostics().error(
                    alpha.at,
                    "color-range",
                    format!("alpha is from 0 to 1, this is {n}"),
                    "",
                );
                return None;
            }
            n
        }
    };
    let hex = match node.get("hex") {
        None => None,
        Some(hex) => {
            let hex = followed(hex, cx)?;
            let digits = hex.string().and_then(|s| s.strip_prefix('#')).unwrap_or_default();
            if digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                Some(format!("#{digits}"))
            } else {
                // Only a fallback: the components say what the colour is.
                let message =
                    format!("{} is not `#` and six hexadecimal digits and is left out", hex.to_value());
                cx.diagnostics().warn(hex.at, "color-hex", message, "alpha has a member of its own");
                None
            }
        }
    };
    Some(Color { space, components, alpha, hex })
}

/// Where `node` is a pointer, what it leads to.
fn followed(node: &Node, cx: &mut dyn Context) -> Option<Node> {
    if node.get("$ref").is_none() {
        return Some(node.clone());
    }
    let Some((at, Err(segments))) = reference_of(node, cx)? else { return Some(node.clone()) };
    match cx.pointer(at, &segments)? {
        Target::Part(part) => Some(part),
        Target::Token(id, ty, value) => match value {
            Value::Number(n) => Some(Node { at, kind: Kind::Number(n) }),
            _ => {
                let message = format!("{{{id}}} is a {}, which is no part of this value", ty.name());
                cx.diagnostics().error(at, "reference-type", message, "point at the part, with /$value/…");
                None
            }
        },
    }
}

/// `rgba({color.black}, 0.5)`: older dialects put colours and their parts together from references.
fn templated_color(text: &str, at: At, cx: &mut dyn Context) -> Option<Color> {
    let pieces = reference::template(text)?;
    let mut out = String::new();
    let mut inner = None;
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(&text),
            Piece::Reference(path) => {
                let (_, _, value) = cx.token(at, &path)?;
                if let Value::Color(color) = &value {
                    inner = Some(color.clone());
                }
                out.push_str(&crate::emit::css_value(&value));
            }
        }
    }
    if let Some(color) = Color::from_css(&out) {
        return Some(color);
    }
    // `rgba(#000000, 0.5)`: the colour with another alpha.
    let arguments = out.strip_prefix("rgba(")?.strip_suffix(')')?;
    let alpha: f64 = arguments.rsplit_once(',')?.1.trim().parse().ok()?;
    inner.map(|color| Color { alpha, hex: None, ..color })
}

/// A finite number; Rust would also read `inf` and `nan`.
fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|n: &f64| n.is_finite())
}

fn unit(text: &str) -> Option<&'static str> {
    UNITS.iter().chain(&LEGACY_UNITS).find(|u| **u == text).copied()
}

fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+')).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

type OrText<T> = Result<Slot<T>, Vec<Part>>;

fn dimension_or_text(node: &Node, cx: &mut dyn Context) -> Option<OrText<Dimension>> {
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
            return text(node, cx).map(Err);
        }
    }
    if let Some(Ok(path)) = node.string().and_then(reference::curly) {
        let (id, ty, value) = cx.token(node.at, &path)?;
        return match value {
            Value::Dimension(value) => Some(Ok(Slot { value, alias: Some(id) })),
            Value::Number(n) if cx.plain() => {
                Some(Ok(Slot { value: Dimension { value: n, unit: "" }, alias: Some(id) }))
            }
            Value::Text(_) => Some(Err(vec![Part::Token(id, Box::new(value))])),
            _ => {
                let message = format!("{{{id}}} is a {}, a dimension is needed here", ty.name());
                cx.diagnostics().error(node.at, "reference-type", message, "refer to a token of that type");
                None
            }
        };
    }
    dimension(node, cx).map(Ok)
}

fn dimension(node: &Node, cx: &mut dyn Context) -> Option<Slot<Dimension>> {
    fn take(value: Value) -> Option<Dimension> {
        match value {
            Value::Dimension(d) => Some(d),
            _ => None,
        }
    }
    slot(node, cx, Type::Dimension, take, own_dimension)
}

fn own_dimension(node: &Node, cx: &mut dyn Context) -> Option<Dimension> {
    const FIX: &str = "write `{ \"value\": 16, \"unit\": \"px\" }`";
    if let Some(text) = node.string() {
        legacy(node.at, cx, "a dimension as a string", FIX);
        let parsed =
            split_unit(text).and_then(|(value, u)| Some((value, if u.is_empty() { "px" } else { unit(u)? })));
        return match parsed {
            Some((value, unit)) => Some(Dimension { value, unit }),
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

fn font_family(node: &Node, cx: &mut dyn Context) -> Option<Slot<Vec<String>>> {
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
                let unquote = |s: &str| s.trim().trim_matches(['"', '\'']).to_owned();
                Some(name.split(',').map(unquote).filter(|n| !n.is_empty()).collect())
            }
            Kind::String(name) => Some(vec![name.trim_matches(['"', '\'']).to_owned()]),
            Kind::Array(items) if !items.is_empty() => {
                let mut names = Vec::with_capacity(items.len());
                for item in items {
                    names.extend(font_family(item, cx)?.value);
                }
                Some(names)
            }
            _ => wrong(node, cx, "a font name or an array of them", ""),
        }
    }
    slot(node, cx, Type::FontFamily, take, own)
}

fn font_weight(node: &Node, cx: &mut dyn Context) -> Option<Slot<FontWeight>> {
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

fn strsim_closest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> String {
    known
        .map(|k| (strsim::jaro_winkler(text, k), k))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| format!("did you mean {k:?}?"))
        .unwrap_or_default()
}

fn duration(node: &Node, cx: &mut dyn Context) -> Option<Slot<Duration>> {
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

fn bezier(node: &Node, cx: &mut dyn Context) -> Option<Slot<[f64; 4]>> {
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
fn curve(text: &str) -> Option<[f64; 4]> {
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

fn plain_number(node: &Node, cx: &mut dyn Context) -> Option<OrText<f64>> {
    if let Some(source) = node.string().filter(|s| reference::curly(s).is_none()) {
        if let Some(n) = finite(source) {
            legacy(node.at, cx, "a number as a string", "write it without quotes");
            return Some(Ok(Slot::own(n)));
        }
        if let Some(n) =
            source.trim().strip_suffix('%').and_then(|p| p.trim().parse::<f64>().ok()).filter(|_| cx.plain())
        {
            return Some(Ok(Slot::own(n / 100.0)));
        }
        if cx.plain() || reference::template(source).is_some() {
            return text(node, cx).map(Err);
        }
    }
    number_slot(node, cx).map(Ok)
}

fn number_slot(node: &Node, cx: &mut dyn Context) -> Option<Slot<f64>> {
    fn take(value: Value) -> Option<f64> {
        if let Value::Number(n) = value { Some(n) } else { None }
    }
    fn own(node: &Node, cx: &mut dyn Context) -> Option<f64> {
        number_in(node, cx)
    }
    slot(node, cx, Type::Number, take, own)
}

fn stroke(node: &Node, cx: &mut dyn Context) -> Option<Slot<StrokeStyle>> {
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

fn border(node: &Node, cx: &mut dyn Context) -> Option<Value> {
    if node.object().is_none() {
        return wrong(node, cx, "a border", "");
    }
    only(node, &["color", "width", "style"], cx)?;
    // Every member is looked at, so that all errors come in one go.
    let color = member(node, "color", cx).and_then(|n| color(n, cx));
    let width = member(node, "width", cx).and_then(|n| dimension(n, cx));
    let style = member(node, "style", cx).and_then(|n| stroke(n, cx));
    Some(Value::Border(Border { color: color?, width: width?, style: style? }))
}

fn transition(node: &Node, cx: &mut dyn Context) -> Option<Value> {
    if node.object().is_none() {
        return wrong(node, cx, "a transition", "");
    }
    only(node, &["duration", "delay", "timingFunction"], cx)?;
    let length = member(node, "duration", cx).and_then(|n| duration(n, cx));
    let delay = match node.get("delay") {
        None if cx.plain() => Some(Slot::own(Duration { value: 0.0, unit: "ms" })),
        _ => member(node, "delay", cx).and_then(|n| duration(n, cx)),
    };
    let timing = member(node, "timingFunction", cx).and_then(|n| bezier(n, cx));
    Some(Value::Transition(Transition { duration: length?, delay: delay?, timing: timing? }))
}

fn shadow(node: &Node, cx: &mut dyn Context) -> Option<Value> {
    if let Some(items) = node.array() {
        if items.is_empty() {
            return wrong(node, cx, "at least one shadow", "");
        }
        let mut layers = Vec::with_capacity(items.len());
        for item in items {
            layers.extend(one_or_more_shadows(item, cx)?);
        }
        return Some(Value::Shadow(layers));
    }
    one_or_more_shadows(node, cx).map(Value::Shadow)
}

fn one_or_more_shadows(node: &Node, cx: &mut dyn Context) -> Option<Vec<Slot<Shadow>>> {
    let Some((at, reference)) = reference_of(node, cx)? else {
        return Some(vec![Slot::own(one_shadow(node, cx)?)]);
    };
    let target = match reference {
        Ok(path) => cx.token(at, &path).map(|(id, ty, value)| Target::Token(id, ty, value))?,
        Err(segments) => cx.pointer(at, &segments)?,
    };
    match target {
        Target::Part(part) => one_or_more_shadows(&part, cx),
        Target::Token(id, _, Value::Shadow(layers)) => match layers.as_slice() {
            [one] => Some(vec![Slot { value: one.value.clone(), alias: Some(id) }]),
            _ => {
                let message = format!("{{{id}}} has several layers and stands for one");
                cx.diagnostics().warn(at, "shadow-layers", message, "its layers are laid in here one by one");
                Some(layers.into_iter().map(|l| Slot::own(l.value)).collect())
            }
        },
        Target::Token(id, ty, _) => {
            let message = format!("{{{id}}} is a {}, a shadow is needed here", ty.name());
            cx.diagnostics().error(at, "reference-type", message, "refer to a shadow token");
            None
        }
    }
}

fn one_shadow(node: &Node, cx: &mut dyn Context) -> Option<Shadow> {
    if node.object().is_none() {
        return wrong(node, cx, "a shadow", "");
    }
    only(node, &["color", "offsetX", "offsetY", "blur", "spread", "inset"], cx)?;
    let studio = cx.plain() && node.get("offsetX").is_none();
    let (x_name, y_name) = if studio { ("x", "y") } else { ("offsetX", "offsetY") };
    let color = member(node, "color", cx).and_then(|n| color(n, cx));
    let x = member(node, x_name, cx).and_then(|n| dimension(n, cx));
    let y = member(node, y_name, cx).and_then(|n| dimension(n, cx));
    let blur = member(node, "blur", cx).and_then(|n| dimension(n, cx));
    let spread = match node.get("spread") {
        None if cx.plain() => Some(Slot::own(Dimension { value: 0.0, unit: "px" })),
        _ => member(node, "spread", cx).and_then(|n| dimension(n, cx)),
    };
    let inset = match node.get("inset") {
        None => node.get("type").and_then(Node::string) == Some("innerShadow"),
        Some(inset) => match followed(inset, cx)?.kind {
            Kind::Bool(b) => b,
            _ => return wrong(inset, cx, "a boolean", ""),
        },
    };
    Some(Shadow { color: color?, x: x?, y: y?, blur: blur?, spread: spread?, inset })
}

fn gradient(node: &Node, cx: &mut dyn Context) -> Option<Value> {
    let Some(items) = node.array().filter(|a| !a.is_empty()) else {
        return wrong(node, cx, "an array of stops", "write `[{ \"color\": …, \"position\": 0 }, …]`");
    };
    let mut stops = Vec::with_capacity(items.len());
    for item in items {
        if let Some((at, reference)) = reference_of(item, cx)? {
            let target = match reference {
                Ok(path) => cx.token(at, &path).map(|(id, ty, value)| Target::Token(id, ty, value))?,
                Err(segments) => cx.pointer(at, &segments)?,
            };
            match target {
                Target::Token(_, _, Value::Gradient(more)) => stops.extend(more),
                Target::Part(part) => stops.push(stop(&part, cx)?),
                Target::Token(id, ty, _) => {
                    let message = format!("{{{id}}} is a {}, stops of a gradient are needed here", ty.name());
                    cx.diagnostics().error(at, "reference-type", message, "refer to a gradient token");
                    return None;
                }
            }
            continue;
        }
        stops.push(stop(item, cx)?);
    }
    Some(Value::Gradient(stops))
}

fn stop(node: &Node, cx: &mut dyn Context) -> Option<Stop> {
    if node.object().is_none() {
        return wrong(node, cx, "a stop", "");
    }
    only(node, &["color", "position"], cx)?;
    let color = member(node, "color", cx).and_then(|n| color(n, cx));
    let position_node = member(node, "position", cx)?;
    let mut position = number_slot(position_node, cx)?;
    if !(0.0..=1.0).contains(&position.value) {
        let message = format!("the position {} counts as {}", position.value, position.value.clamp(0.0, 1.0));
        cx.diagnostics().warn(position_node.at, "stop-position", message, "positions are from 0 to 1");
        position = Slot::own(position.value.clamp(0.0, 1.0));
    }
    Some(Stop { color: color?, position })
}

fn typography(node: &Node, cx: &mut dyn Context) -> Option<Value> {
    if node.object().is_none() {
        return wrong(node, cx, "a typography value", "");
    }
    let names = ["fontFamily", "fontSize", "fontWeight", "letterSpacing", "lineHeight"];
    let mut failed = false;
    if let Some(object) = node.object() {
        for (key, (at, _)) in object {
            if !names.contains(&key.as_str()) && !cx.plain() {
                let message = format!("{key:?} is not a member of typography and is left out");
                cx.diagnostics().warn(*at, "extra-member", message, "make it a token of its own");
            }
        }
        for name in names {
            if node.get(name).is_none() && !cx.plain() {
                let message = format!("the member {name:?} is missing");
                cx.diagnostics().warn(node.at, "missing-member", message, "the format requires all five");
            }
        }
    }
    let part = |name: &str| node.get(name);
    let mut out = Typography::default();
    if let Some(n) = part("fontFamily") {
        out.family = font_family(n, cx);
        failed |= out.family.is_none();
    }
    if let Some(n) = part("fontSize") {
        out.size = dimension(n, cx);
        failed |= out.size.is_none();
    }
    if let Some(n) = part("fontWeight") {
        out.weight = font_weight(n, cx);
        failed |= out.weight.is_none();
    }
    if let Some(n) = part("letterSpacing") {
        out.letter_spacing = dimension(n, cx);
        failed |= out.letter_spacing.is_none();
    }
    if let Some(n) = part("lineHeight") {
        out.line_height = line_height(n, cx);
        failed |= out.line_height.is_none();
    }
    (!failed).then(|| Value::Typography(Box::new(out)))
}

fn line_height(node: &Node, cx: &mut dyn Context) -> Option<Slot<LineHeight>> {
    fn take(value: Value) -> Option<LineHeight> {
        match value {
            Value::Number(n) => Some(LineHeight::Times(n)),
            Value::Dimension(d) => Some(LineHeight::Length(d)),
            _ => None,
        }
    }
    fn own(node: &Node, cx: &mut dyn Context) -> Option<LineHeight> {
        if let Some(n) = node.number() {
            return Some(LineHeight::Times(n));
        }
        if let Some(text) = node.string() {
            legacy(node.at, cx, "a line height as a string", "write the multiplier as a number");
            if let Some(percent) = text.trim().strip_suffix('%').and_then(|p| p.parse::<f64>().ok()) {
                return Some(LineHeight::Times(percent / 100.0));
            }
            if let Some(n) = finite(text) {
                return Some(LineHeight::Times(n));
            }
            if text.trim().eq_ignore_ascii_case("auto") || text.trim() == "normal" {
                return Some(LineHeight::Times(1.2));
            }
        } else if !cx.plain() && node.object().is_some() {
            legacy(node.at, cx, "a line height with a unit", "write the multiplier as a number");
        }
        own_dimension(node, cx).map(LineHeight::Length)
    }
    slot(node, cx, Type::Number, take, own)
}

/// Text of an older dialect, its references kept.
fn text(node: &Node, cx: &mut dyn Context) -> Option<Vec<Part>> {
    let source = match &node.kind {
        Kind::String(s) => s.clone(),
        Kind::Number(_) | Kind::Bool(_) => node.to_value().to_string(),
        Kind::Array(items) if items.iter().all(|i| i.string().is_some() || i.number().is_some()) => {
            let parts: Vec<String> = items
                .iter()
                .map(|i| i.string().map_or_else(|| i.to_value().to_string(), str::to_owned))
                .collect();
            parts.join(", ")
        }
        _ => return wrong(node, cx, "text", "a value of this kind has no form in CSS"),
    };
    let Some(pieces) = reference::template(&source) else { return Some(vec![Part::Text(source)]) };
    let mut parts = Vec::with_capacity(pieces.len());
    for piece in pieces {
        parts.push(match piece {
            Piece::Text(text) => Part::Text(text),
            Piece::Reference(path) => {
                let (id, _, value) = cx.token(node.at, &path)?;
                Part::Token(id, Box::new(value))
            }
        });
    }
    if crate::value::size(&parts) > MAX_PARTS {
        cx.diagnostics().error(node.at, "too-long", "the text grows too long by its references", "");
        return None;
    }
    let mathematics = |text: &str| [" * ", " / ", " + ", " - "].iter().any(|op| text.contains(op));
    let computes = parts.iter().any(|p| matches!(p, Part::Text(t) if mathematics(t) && !t.contains("calc(")));
    if computes && !source.contains("calc(") && !source.contains("gradient(") {
        parts.insert(0, Part::Text("calc(".into()));
        parts.push(Part::Text(")".into()));
    }
    Some(parts)
}
