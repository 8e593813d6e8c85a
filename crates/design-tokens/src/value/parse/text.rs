//! Text of older dialects, its references kept.

use super::{Context, wrong};
use crate::json::{Kind, Node};
use crate::reference::{self, Piece};
use crate::value::Part;

/// Most parts of a text, its references' parts among them.
pub(super) const MAX_PARTS: usize = 1_000;

/// Text of an older dialect, its references kept.
pub(super) fn text(node: &Node, cx: &mut dyn Context) -> Option<Vec<Part>> {
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
    if let [Part::Text(minus), Part::Token(..)] = parts.as_mut_slice()
        && minus.trim() == "-"
    {
        // CSS has no minus before a function.
        *minus = "calc(-1 * ".into();
        parts.push(Part::Text(")".into()));
        return Some(parts);
    }
    let mathematics = |text: &str| [" * ", " / ", " + ", " - "].iter().any(|op| text.contains(op));
    let computes = parts.iter().any(|p| matches!(p, Part::Text(t) if mathematics(t) && !t.contains("calc(")));
    if computes && !source.contains("calc(") && !source.contains("gradient(") {
        parts.insert(0, Part::Text("calc(".into()));
        parts.push(Part::Text(")".into()));
    }
    Some(parts)
}
