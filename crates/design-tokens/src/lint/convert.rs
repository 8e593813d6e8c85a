//! Older spellings of values, in the stable format's own.

use serde_json::Value as Json;

use super::edit::Edit;
use super::source::{Doc, Kind, Node};
use crate::diagnostic::{At, Diagnostics};
use crate::json;
use crate::reference;
use crate::value::{Context, Target, Type, Value, parse};

/// Surroundings in which every reference leads nowhere.
struct Alone {
    diagnostics: Diagnostics,
    plain: bool,
}

impl Context for Alone {
    fn token(&mut self, at: At, _: &[String]) -> Option<(String, Type, Value)> {
        self.diagnostics.error(at, "alone", "", "");
        None
    }

    fn pointer(&mut self, at: At, _: &[String]) -> Option<Target> {
        self.diagnostics.error(at, "alone", "", "");
        None
    }

    fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.diagnostics
    }

    fn plain(&self) -> bool {
        self.plain
    }
}

/// What a text means as a value of a type, and whether the format has nothing against how it is written.
fn read(written: &str, ty: Type, plain: bool) -> Option<(Value, bool)> {
    let mut diagnostics = Diagnostics::default();
    let node = json::parse("value.json5", written, &mut diagnostics)?;
    let mut alone = Alone { diagnostics, plain };
    let value = parse(ty, &node, &mut alone)?;
    (!alone.diagnostics.has_errors()).then(|| (value, alone.diagnostics.sorted().is_empty()))
}

/// Whether a text is a value of a type as the format writes it.
pub(super) fn is_clean(written: &str, ty: Type) -> bool {
    read(written, ty, false).is_some_and(|(value, is_clean)| is_clean && !matches!(value, Value::Text(_)))
}

/// The edits that bring a token's value into the format's spelling, as far as it has one. What refers to other tokens is kept.
pub(super) fn value(file: usize, doc: &Doc, node: &Node, ty: Type, plain: bool, edits: &mut Vec<Edit>) {
    if node.text().is_some_and(is_reference) || node.get("$ref").is_some() {
        return;
    }
    let written = doc.written(&node.range);
    if is_clean(written, ty) {
        return;
    }
    let known = members(ty, plain);
    let loses = |node: &Node| node.members().iter().any(|m| !known.contains(&m.key.as_str()));
    let is_whole = known.is_empty() || (plain && !loses(node) && !node.items().iter().any(loses));
    if is_whole
        && let Some((value, _)) = read(written, ty, plain)
        && let Some(text) = spelled(&value)
        && is_clean(&text, ty)
    {
        edits.push(Edit::new(file, node.range.clone(), text));
        return;
    }
    for item in node.items() {
        // Layers and stops; a list of names or numbers has no parts of its own.
        if matches!(item.kind, Kind::Object(_)) && !known.is_empty() {
            value_of_members(file, doc, item, ty, plain, edits);
        }
    }
    value_of_members(file, doc, node, ty, plain, edits);
}

fn value_of_members(file: usize, doc: &Doc, node: &Node, ty: Type, plain: bool, edits: &mut Vec<Edit>) {
    for member in node.members() {
        if let Some(ty) = member_type(ty, &member.key) {
            value(file, doc, &member.value, ty, plain, edits);
        }
    }
}

/// Whether a text is nothing but a reference.
pub(super) fn is_reference(text: &str) -> bool {
    reference::curly(text).is_some() || text.starts_with("#/")
}

/// The members of a composite type; none where a value has no parts.
fn members(ty: Type, plain: bool) -> &'static [&'static str] {
    match ty {
        Type::Border => &["color", "width", "style"],
        Type::Transition => &["duration", "delay", "timingFunction"],
        Type::Shadow if plain => {
            &["color", "offsetX", "offsetY", "blur", "spread", "inset", "x", "y", "type"]
        }
        Type::Shadow => &["color", "offsetX", "offsetY", "blur", "spread", "inset"],
        Type::Gradient => &["color", "position"],
        Type::Typography => &["fontFamily", "fontSize", "fontWeight", "letterSpacing", "lineHeight"],
        _ => &[],
    }
}

fn member_type(ty: Type, member: &str) -> Option<Type> {
    Some(match (ty, member) {
        (Type::Border | Type::Shadow | Type::Gradient, "color") => Type::Color,
        (Type::Border, "width") => Type::Dimension,
        (Type::Border, "style") => Type::StrokeStyle,
        (Type::Transition, "duration" | "delay") => Type::Duration,
        (Type::Transition, "timingFunction") => Type::CubicBezier,
        (Type::Shadow, "offsetX" | "offsetY" | "blur" | "spread") => Type::Dimension,
        (Type::Gradient, "position") | (Type::Typography, "lineHeight") => Type::Number,
        (Type::Typography, "fontFamily") => Type::FontFamily,
        (Type::Typography, "fontSize" | "letterSpacing") => Type::Dimension,
        (Type::Typography, "fontWeight") => Type::FontWeight,
        _ => return None,
    })
}

/// A value as the format writes it, on one line. `None`: the format has no such value.
fn spelled(value: &Value) -> Option<String> {
    if matches!(value, Value::Text(_)) {
        return None;
    }
    let mut json = value.to_json();
    let mut fits = true;
    tidy(&mut json, &mut fits);
    let mut out = String::new();
    write(&json, &mut out);
    fits.then_some(out)
}

/// Shortens what eight bits give, adds the fallback that the format has for it, and finds units that the format has not.
fn tidy(json: &mut Json, fits: &mut bool) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(|item| tidy(item, fits)),
        Json::Object(members) => {
            let unit = members.get("unit").and_then(Json::as_str);
            *fits &= unit.is_none_or(|unit| matches!(unit, "px" | "rem" | "ms" | "s"));
            if members.get("colorSpace").and_then(Json::as_str) == Some("srgb")
                && let Some(bytes) = members.get("components").and_then(bytes)
            {
                let components =
                    bytes.map(|byte| json::number((f64::from(byte) / 255.0 * 1e5).round() / 1e5));
                members.insert("components".into(), components.into_iter().collect());
                let hex = format!("#{:02x}{:02x}{:02x}", bytes[0], bytes[1], bytes[2]);
                members.entry("hex").or_insert_with(|| Json::String(hex));
            }
            members.values_mut().for_each(|member| tidy(member, fits));
        }
        _ => {}
    }
}

/// The components of a colour as bytes, where they are exactly such.
fn bytes(components: &Json) -> Option<[u8; 3]> {
    let mut out = [0; 3];
    for (byte, component) in out.iter_mut().zip(components.as_array()?) {
        let scaled = component.as_f64()? * 255.0;
        let whole = scaled.round();
        if (scaled - whole).abs() > 1e-6 || !(0.0..=255.0).contains(&whole) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a byte")]
        let whole = whole as u8;
        *byte = whole;
    }
    Some(out)
}

/// Members in the order in which the format's own examples have them.
const ORDER: [&str; 23] = [
    "colorSpace",
    "components",
    "alpha",
    "hex",
    "value",
    "unit",
    "duration",
    "delay",
    "timingFunction",
    "fontFamily",
    "fontSize",
    "fontWeight",
    "letterSpacing",
    "lineHeight",
    "color",
    "offsetX",
    "offsetY",
    "blur",
    "spread",
    "inset",
    "width",
    "style",
    "position",
];

/// JSON with the spaces that people write.
fn write(json: &Json, out: &mut String) {
    let list = |out: &mut String, parts: Vec<(Option<&String>, &Json)>| {
        for (number, (key, part)) in parts.into_iter().enumerate() {
            if number > 0 {
                out.push_str(", ");
            }
            if let Some(key) = key {
                out.push_str(&format!("{}: ", Json::String(key.clone())));
            }
            write(part, out);
        }
    };
    match json {
        Json::Array(items) => {
            out.push('[');
            list(out, items.iter().map(|item| (None, item)).collect());
            out.push(']');
        }
        Json::Object(members) => {
            let mut parts: Vec<_> = members.iter().map(|(key, member)| (Some(key), member)).collect();
            let rank = |key: &str| ORDER.iter().position(|known| *known == key).unwrap_or(ORDER.len());
            parts.sort_by_key(|(key, _)| key.map(|key| (rank(key), key)));
            out.push_str("{ ");
            list(out, parts);
            out.push_str(" }");
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// The type that a value is of beyond doubt, by its form.
pub(super) fn certain(doc: &Doc, node: &Node) -> Option<Type> {
    let has = |key: &str| node.get(key).is_some();
    let ty = match &node.kind {
        Kind::Object(_) if has("colorSpace") => Type::Color,
        Kind::Object(_) if has("value") => match node.get("unit")?.text()? {
            "px" | "rem" => Type::Dimension,
            "ms" | "s" => Type::Duration,
            _ => return None,
        },
        Kind::Object(_) if has("dashArray") => Type::StrokeStyle,
        Kind::Object(_) if has("timingFunction") => Type::Transition,
        Kind::Object(_) if has("offsetX") || has("blur") => Type::Shadow,
        Kind::Object(_) if has("width") && has("style") => Type::Border,
        Kind::Object(_) if has("fontFamily") || has("fontSize") => Type::Typography,
        Kind::Array(items) => match &items.first()?.kind {
            Kind::Number => Type::CubicBezier,
            Kind::Text(text) if !is_reference(text) => Type::FontFamily,
            Kind::Object(_) if items.first()?.get("position").is_some() => Type::Gradient,
            Kind::Object(_) if items.first()?.get("offsetX").is_some() => Type::Shadow,
            _ => return None,
        },
        Kind::Text(text) => of_text(text)?,
        _ => return None,
    };
    // With references in it, only the compiler can tell; it is asked when the edit is tried.
    let refers = doc.written(&node.range).contains(['{', '#']) && !matches!(node.kind, Kind::Text(_));
    (refers || read(doc.written(&node.range), ty, false).is_some()).then_some(ty)
}

/// Text that is a colour, a length, a time or a curve beyond doubt.
fn of_text(text: &str) -> Option<Type> {
    let text = text.trim();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    if text.starts_with('#') || (text.contains('(') && crate::value::Color::from_css(text).is_some()) {
        return Some(Type::Color);
    }
    if text.starts_with("cubic-bezier(") {
        return Some(Type::CubicBezier);
    }
    match unit {
        _ if unit == text => None,
        "px" | "rem" => Some(Type::Dimension),
        "ms" | "s" => Some(Type::Duration),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(written: &str, ty: Type, plain: bool) -> String {
        let doc = Doc::parse("a.json", written);
        let mut edits = Vec::new();
        value(0, &doc, doc.root.as_ref().unwrap(), ty, plain, &mut edits);
        let mut out = written.to_owned();
        for edit in edits.iter().rev() {
            out.replace_range(edit.start..edit.end, &edit.text);
        }
        out
    }

    #[test]
    fn values_are_written_as_the_format_has_them() {
        for (before, ty, after) in [
            ("\"16px\"", Type::Dimension, r#"{ "value": 16, "unit": "px" }"#),
            ("16", Type::Dimension, r#"{ "value": 16, "unit": "px" }"#),
            ("\"0.5rem\"", Type::Dimension, r#"{ "value": 0.5, "unit": "rem" }"#),
            ("\"200ms\"", Type::Duration, r#"{ "value": 200, "unit": "ms" }"#),
            (
                "\"#111\"",
                Type::Color,
                r##"{ "colorSpace": "srgb", "components": [0.06667, 0.06667, 0.06667], "hex": "#111111" }"##,
            ),
            ("\"ease\"", Type::CubicBezier, "[0.25, 0.1, 0.25, 1]"),
            ("\"1.5\"", Type::Number, "1.5"),
            ("\"Semi Bold\"", Type::FontWeight, "600"),
            ("\"Inter, sans-serif\"", Type::FontFamily, r#"["Inter", "sans-serif"]"#),
            ("\"2em\"", Type::Dimension, "\"2em\""),
            ("\"4px 8px\"", Type::Dimension, "\"4px 8px\""),
            ("\"{a.b}\"", Type::Dimension, "\"{a.b}\""),
            ("\"calc({a} * 2)\"", Type::Dimension, "\"calc({a} * 2)\""),
            ("700", Type::FontWeight, "700"),
        ] {
            assert_eq!(converted(before, ty, false), after, "{before}");
        }
    }

    #[test]
    fn what_is_clean_or_refers_is_kept_in_composites() {
        assert_eq!(
            converted(r#"{"color": "{ink}", "width": "1px", "style": "solid"}"#, Type::Border, false),
            r#"{"color": "{ink}", "width": { "value": 1, "unit": "px" }, "style": "solid"}"#
        );
        let shadow =
            r##"[{"x": 0, "y": "2", "blur": "4px", "spread": 0, "color": "#000", "type": "dropShadow"}]"##;
        let after = converted(shadow, Type::Shadow, true);
        assert!(
            after.starts_with(r#"{ "color": { "colorSpace""#)
                && after.contains(r#""offsetY": { "value": 2,"#),
            "{after}"
        );
        let more = r#"{"fontSize": "16", "textCase": "upper"}"#;
        assert_eq!(
            converted(more, Type::Typography, true),
            r#"{"fontSize": { "value": 16, "unit": "px" }, "textCase": "upper"}"#,
            "what the format does not know is not lost"
        );
    }

    #[test]
    fn only_what_has_one_meaning_has_a_certain_type() {
        let ty = |written: &str| {
            let doc = Doc::parse("a.json", written);
            certain(&doc, doc.root.as_ref().unwrap())
        };
        assert_eq!(ty(r##""#fff""##), Some(Type::Color));
        assert_eq!(ty(r#""rgb(0 0 0 / 50%)""#), Some(Type::Color));
        assert_eq!(ty("\"1.5rem\""), Some(Type::Dimension));
        assert_eq!(ty(r#"{"value": 1, "unit": "ms"}"#), Some(Type::Duration));
        assert_eq!(ty("[0, 0, 1, 1]"), Some(Type::CubicBezier));
        assert_eq!(ty(r#"["Inter"]"#), Some(Type::FontFamily));
        assert_eq!(ty(r#"{"offsetX": "{a}", "color": "{b}"}"#), Some(Type::Shadow));
        for unclear in
            ["400", "\"bold\"", "\"red\"", "\"solid\"", "\"2em\"", "[1, 2]", "true", "\"#nope\"", "{}"]
        {
            assert_eq!(ty(unclear), None, "{unclear}");
        }
    }
}
