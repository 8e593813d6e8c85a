//! From written values to typed ones. References are followed through a [`Context`]; a reference of the wrong type is
//! an error, and older spellings are read with a warning.

mod color;
mod composite;
mod math;
mod scalar;
mod text;

use super::color::Color;
use super::{Slot, Type, Value, modify};
use crate::diagnostic::{At, Diagnostics};
use crate::json::{Kind, Node};
use crate::reference;
use color::color;
use composite::{border, gradient, shadow, transition, typography};
pub(crate) use scalar::curve as parse_curve;
use scalar::{bezier, dimension_or_text, duration, finite, font_family, font_weight, plain_number, stroke};
use text::text;

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
        Type::Dimension => dimension_or_text(node, cx)?,
        Type::FontFamily => Value::FontFamily(font_family(node, cx)?.value),
        Type::FontWeight => Value::FontWeight(font_weight(node, cx)?.value),
        Type::Duration => Value::Duration(duration(node, cx)?.value),
        Type::CubicBezier => Value::CubicBezier(bezier(node, cx)?.value),
        Type::Number => plain_number(node, cx)?,
        Type::StrokeStyle => Value::StrokeStyle(stroke(node, cx)?.value),
        Type::Border => border(node, cx)?,
        Type::Transition => transition(node, cx)?,
        Type::Shadow => shadow(node, cx)?,
        Type::Gradient => gradient(node, cx)?,
        Type::Typography => typography(node, cx)?,
        Type::Text => Value::Text(text(node, cx)?),
    })
}

/// `color` as a Tokens Studio modifier changes it: `{ "type": "lighten", "value": "0.1", "space": "lch" }`.
pub(crate) fn parse_modified(color: &Color, modifier: &Node, cx: &mut dyn Context) -> Option<Color> {
    let text = |name: &str| modifier.get(name).and_then(Node::string);
    let space = match text("space") {
        None => Some(color.space),
        Some(name) => modify::space(name),
    };
    let amount = member(modifier, "value", cx)?;
    // Tokens Studio writes its numbers as strings, in the stable format's files too.
    let amount = match amount.string().and_then(finite) {
        Some(n) => n,
        None => match parse(Type::Number, amount, cx)? {
            Value::Number(n) => n,
            _ => return wrong(amount, cx, "a number", "write a part of one, such as 0.1"),
        },
    };
    let change = match text("type") {
        Some("lighten") => Some(modify::Change::Lighten(amount)),
        Some("darken") => Some(modify::Change::Darken(amount)),
        Some("alpha") => Some(modify::Change::Alpha(amount)),
        Some("mix") => {
            let other = self::color(member(modifier, "color", cx)?, cx)?;
            Some(modify::Change::Mix(amount, Box::new(other.value)))
        }
        _ => None,
    };
    match (change, space) {
        (Some(change), Some(space)) => Some(modify::changed(color, &change, space)),
        (change, _) => {
            let fix = if change.is_none() { "lighten, darken, mix or alpha" } else { "lch, hsl, srgb or p3" };
            cx.diagnostics().error(
                modifier.at,
                "studio-modify",
                "the modifier is not one that is known",
                fix,
            );
            None
        }
    }
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
