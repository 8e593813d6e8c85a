//! SQL that is put together from values: a string that is a statement, and a value joined on to it, formatted into it
//! or interpolated.

use std::sync::OnceLock;

use regex::Regex;

use super::pieces::{Kind, Piece};
use crate::pattern::Language;

/// A string that begins as a statement. Written in one case: "Select a file from" is for people.
const STATEMENT: &str = r"^\s*(?:(?:SELECT\s[\s\S]+?\sFROM|INSERT\s+INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM|REPLACE\s+INTO|DROP\s+TABLE)\b|(?:select\s+(?:distinct\s+)?(?:\*|[\w.`]+(?:\s*,\s*[\w.`]+)*|count\(\S*\))\s+from|insert\s+into|update\s+\S+\s+set|delete\s+from|drop\s+table)\s)";

fn statement() -> Option<&'static Regex> {
    static COMPILED: OnceLock<Option<Regex>> = OnceLock::new();
    COMPILED.get_or_init(|| Regex::new(STATEMENT).ok()).as_ref()
}

pub(super) fn find(text: &str, pieces: &[Piece], language: Option<Language>) -> Vec<usize> {
    let mut hits = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let Some(inside) = piece.inside(text) else { continue };
        if !statement().is_some_and(|statement| statement.is_match(inside)) {
            continue;
        }
        let code = |index: Option<usize>| -> &str {
            let neighbour =
                index.and_then(|index| pieces.get(index)).filter(|piece| piece.kind == Kind::Code);
            neighbour.and_then(|piece| text.get(piece.range.clone())).unwrap_or_default()
        };
        let before = code(index.checked_sub(1));
        if interpolated(piece, inside, before, language)
            || formatted(inside, before, code(Some(index + 1)), language)
            || joined(text, pieces, index)
        {
            hits.push(piece.range.start);
        }
    }
    hits
}

fn interpolated(piece: &Piece, inside: &str, before: &str, language: Option<Language>) -> bool {
    let Kind::Text { interpolates: true, .. } = piece.kind else { return false };
    if language == Some(Language::Python) {
        return inside.replace("{{", "").contains('{');
    }
    // A tagged template, such as sql`…`, passes its values apart.
    let tagged = before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | ')' | '>'));
    let tagged = tagged && !before.ends_with("return") && !before.ends_with("await");
    inside.contains("${") && !tagged
}

fn formatted(inside: &str, before: &str, after: &str, language: Option<Language>) -> bool {
    let call = before.trim_end();
    let verb = ["%s", "%v", "%q", "%+v"].iter().any(|verb| inside.contains(verb));
    match language {
        Some(Language::Go) => verb && (call.ends_with("printf(") || call.ends_with("Sprintf(")),
        Some(Language::Java) => verb && (call.ends_with(".format(") || after.starts_with(".formatted(")),
        Some(Language::Rust) => {
            let hole = inside.replace("{{", "").contains('{');
            hole && ["format!(", "format_args!("].iter().any(|name| call.ends_with(name))
        }
        Some(Language::Cpp) => {
            let statement = call.rsplit([';', '{', '}']).next().unwrap_or_default();
            verb && (statement.contains("sprintf(") || statement.contains("snprintf("))
        }
        Some(Language::Python) | None => after.starts_with(".format(") || is_modulo(after),
        Some(Language::Javascript | Language::Typescript) => false,
    }
}

fn is_modulo(after: &str) -> bool {
    after.trim_start().strip_prefix('%').is_some_and(|rest| !rest.starts_with('='))
}

/// How many pieces after a statement are looked at.
const CHAIN: usize = 32;

/// Whether a value follows after `+` (or `<<`), past further strings. A name in capitals is taken for a constant.
fn joined(text: &str, pieces: &[Piece], index: usize) -> bool {
    let mut rest = pieces.get(index + 1..).unwrap_or_default().iter().take(CHAIN);
    while let Some(code) = rest.next().filter(|piece| piece.kind == Kind::Code) {
        let code = text.get(code.range.clone()).unwrap_or_default().trim();
        let Some(value) = code.strip_prefix('+').or_else(|| code.strip_prefix("<<")) else { return false };
        let value = value.trim_start();
        if value.is_empty() {
            // Another string: what follows it counts.
            if rest.next().is_none_or(|piece| !matches!(piece.kind, Kind::Text { .. })) {
                return false;
            }
            continue;
        }
        let name: String =
            value.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$')).collect();
        return !name.is_empty() && !value.starts_with('=') && name.chars().any(char::is_lowercase);
    }
    false
}
