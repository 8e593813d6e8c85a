//! Values of several parts. Every member is looked at, so that all errors come in one go.

use super::color::color;
use super::math::{Quantity, mathematics};
use super::scalar::{
    bezier, dimension, duration, finite, font_family, font_weight, number_slot, own_dimension, stroke,
};
use super::{Context, Target, followed, legacy, member, only, reference_of, slot, wrong};
use crate::json::{Kind, Node};
use crate::value::{
    Border, Dimension, Duration, LineHeight, Shadow, Slot, Stop, Transition, Type, Typography, Value,
};

pub(super) fn border(node: &Node, cx: &mut dyn Context) -> Option<Value> {
    if node.object().is_none() {
        return wrong(node, cx, "a border", "");
    }
    let fine = only(node, &["color", "width", "style"], cx);
    // Every member is looked at, so that all errors come in one go.
    let color = member(node, "color", cx).and_then(|n| color(n, cx));
    let width = member(node, "width", cx).and_then(|n| dimension(n, cx));
    let style = member(node, "style", cx).and_then(|n| stroke(n, cx));
    fine?;
    Some(Value::Border(Border { color: color?, width: width?, style: style? }))
}

pub(super) fn transition(node: &Node, cx: &mut dyn Context) -> Option<Value> {
    if node.object().is_none() {
        return wrong(node, cx, "a transition", "");
    }
    let fine = only(node, &["duration", "delay", "timingFunction"], cx);
    let length = member(node, "duration", cx).and_then(|n| duration(n, cx));
    let delay = match node.get("delay") {
        None if cx.plain() => Some(Slot::own(Duration { value: 0.0, unit: "ms" })),
        _ => member(node, "delay", cx).and_then(|n| duration(n, cx)),
    };
    let timing = member(node, "timingFunction", cx).and_then(|n| bezier(n, cx));
    fine?;
    Some(Value::Transition(Transition { duration: length?, delay: delay?, timing: timing? }))
}

pub(super) fn shadow(node: &Node, cx: &mut dyn Context) -> Option<Value> {
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

pub(super) fn one_or_more_shadows(node: &Node, cx: &mut dyn Context) -> Option<Vec<Slot<Shadow>>> {
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

pub(super) fn one_shadow(node: &Node, cx: &mut dyn Context) -> Option<Shadow> {
    if node.object().is_none() {
        return wrong(node, cx, "a shadow", "");
    }
    let fine = only(node, &["color", "offsetX", "offsetY", "blur", "spread", "inset"], cx);
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
    fine?;
    Some(Shadow { color: color?, x: x?, y: y?, blur: blur?, spread: spread?, inset })
}

pub(super) fn gradient(node: &Node, cx: &mut dyn Context) -> Option<Value> {
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

pub(super) fn stop(node: &Node, cx: &mut dyn Context) -> Option<Stop> {
    if node.object().is_none() {
        return wrong(node, cx, "a stop", "");
    }
    let fine = only(node, &["color", "position"], cx);
    let color = member(node, "color", cx).and_then(|n| color(n, cx));
    let position_node = member(node, "position", cx)?;
    let mut position = number_slot(position_node, cx)?;
    if !(0.0..=1.0).contains(&position.value) {
        let message = format!("the position {} counts as {}", position.value, position.value.clamp(0.0, 1.0));
        cx.diagnostics().warn(position_node.at, "stop-position", message, "positions are from 0 to 1");
        position = Slot::own(position.value.clamp(0.0, 1.0));
    }
    fine?;
    Some(Stop { color: color?, position })
}

pub(super) fn typography(node: &Node, cx: &mut dyn Context) -> Option<Value> {
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

pub(super) fn line_height(node: &Node, cx: &mut dyn Context) -> Option<Slot<LineHeight>> {
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
            match mathematics(node, cx)? {
                Some(Quantity { value, unit: "" }) => return Some(LineHeight::Times(value)),
                Some(Quantity { value, unit: "%" }) => return Some(LineHeight::Times(value / 100.0)),
                _ => {}
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
