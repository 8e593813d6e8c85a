//! Colours: the format's objects, CSS text, and text put together from references.

use super::{Context, followed, legacy, member, number_in, only, slot, wrong};
use crate::diagnostic::At;
use crate::json::Node;
use crate::reference::{self, Piece};
use crate::value::color::{Color, Space};
use crate::value::{Slot, Type, Value};

pub(super) fn color(node: &Node, cx: &mut dyn Context) -> Option<Slot<Color>> {
    fn take(value: Value) -> Option<Color> {
        if let Value::Color(c) = value { Some(c) } else { None }
    }
    slot(node, cx, Type::Color, take, own_color)
}

pub(super) fn own_color(node: &Node, cx: &mut dyn Context) -> Option<Color> {
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

/// `rgba({color.black}, 0.5)`: older dialects put colours and their parts together from references.
pub(super) fn templated_color(text: &str, at: At, cx: &mut dyn Context) -> Option<Color> {
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
