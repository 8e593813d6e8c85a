//! What a file of JavaScript is, told from its text as publint tells it: by expressions, not by a parser. Strings and
//! comments can mislead it; what it says is what its users see. Expressions are those of `regex`: linear in the length of
//! the text, however long its lines are.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::message::Format;

type Pattern = LazyLock<Option<Regex>>;

/// What ECMAScript's `\s` is (`WhiteSpace` and `LineTerminator`, ECMA-262 §12.2 and §12.3), for use inside brackets. The `\s`
/// of `regex` has U+0085 in addition and lacks U+FEFF.
const SPACE: &str =
    r"\t\n\x0B\x0C\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";

/// Compiles an expression in which `␣` stands for a class of spaces and `·` for their contents.
fn pattern(text: &str) -> Option<Regex> {
    Regex::new(&text.replace('␣', &format!("[{SPACE}]")).replace('·', SPACE)).ok()
}

static ESM: Pattern = LazyLock::new(|| {
    pattern(concat!(
        r#"(?:\A|[;·])(?:import[0-9A-Za-z_,{}*·]*from|import␣*['"*{]|import\.meta(?-u:\b)"#,
        r"|export(?-u:\b)␣*(?:[*{]|default|type|function|const|var|let|async function))",
    ))
});

static CJS: Pattern = LazyLock::new(|| {
    pattern(concat!(
        r"(?:\A|[;·])(?:module[^\n\r\u{2028}\u{2029}]exports(?-u:\b)|exports\.[0-9A-Za-z_]|require␣*\(",
        r"|global\.[0-9A-Za-z_]|Object\.(?:defineProperty|defineProperties|assign)␣*\(␣*exports(?-u:\b))",
    ))
});

static MARKED: Pattern = LazyLock::new(|| {
    pattern(concat!(
        r"exports\.__esModule␣*=␣*true",
        r#"|Object\.defineProperty␣*\(␣*exports␣*,␣*["']__esModule["']␣*,␣*\{␣*value␣*:␣*true␣*\}"#,
    ))
});

static DEFAULT: Pattern =
    LazyLock::new(|| pattern(r#"exports(?:\.default|\["default"\]|\['default'\])␣*=␣*"#));

static FLOW: Pattern = LazyLock::new(|| pattern(r"(?:\A|[\n\r\u{2028}\u{2029}])␣*(?://|/\*\*?|\*)␣*@flow"));

static ENV: Pattern = LazyLock::new(|| pattern(r"\A#!␣*/usr/bin/env"));

fn fits(pattern: &Pattern, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// What was found in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Source {
    /// `None` when neither was seen, or both.
    pub(super) format: Option<Format>,
    /// Whether it marks itself `__esModule` and exports a default that is worth a word.
    pub(super) marked_default: bool,
    /// Whether it is written in Flow.
    pub(super) flow: bool,
    /// Whether it has nothing in it.
    pub(super) empty: bool,
}

impl Source {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(without_mark(bytes));
        let code = without_comments(&text);
        let format = match (fits(&ESM, &code), fits(&CJS, &code)) {
            (true, false) => Some(Format::Esm),
            (false, true) => Some(Format::Cjs),
            _ => None,
        };
        let marked_default = fits(&MARKED, &code) && has_default(&code);
        Self { format, marked_default, flow: fits(&FLOW, &text), empty: text.is_empty() }
    }
}

/// Whether a file begins so that a shell starts it by `env`. A byte order mark before `#!` is in the way of that, and so it
/// counts here (publint drops it when it reads an archive, and keeps it when it reads a folder).
pub(super) fn starts_by_env(bytes: &[u8]) -> bool {
    // Spaces may stand between, any number of them; the expression ends its look where something else comes.
    fits(&ENV, &String::from_utf8_lossy(bytes))
}

/// Without the byte order mark of UTF-8.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

fn ends_line(symbol: char) -> bool {
    matches!(symbol, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_space(symbol: char) -> bool {
    symbol == '\u{FEFF}' || (symbol != '\u{85}' && symbol.is_whitespace())
}

/// Takes comments out, blocks first, without regard to strings. What stood on both sides of a block then stands together.
fn without_comments(text: &str) -> Cow<'_, str> {
    match without_blocks(text) {
        Cow::Borrowed(text) => without_line_comments(text),
        Cow::Owned(text) => Cow::Owned(without_line_comments(&text).into_owned()),
    }
}

fn without_blocks(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(at) = rest.get(from..).and_then(|tail| tail.find("/*")).map(|at| from + at) {
        let Some((before, inside)) = rest.get(..at).zip(rest.get(at + 2..)) else { break };
        let Some((comment, after)) = inside.split_once("*/") else { break };
        // publint's expression does not reach over these two, so neither this beginning nor another before them is one.
        if let Some(separator) = comment.rfind(['\u{2028}', '\u{2029}']) {
            from = at + 2 + separator;
            continue;
        }
        kept.push_str(before);
        (rest, from) = (after, 0);
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

fn without_line_comments(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("//") {
        kept.push_str(before);
        rest = comment.find(ends_line).and_then(|end| comment.get(end..)).unwrap_or_default();
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Whether a default is exported whose value begins with seven characters that are no spaces and one more on that line,
/// and is neither `exports` nor an object. Characters are UTF-16 units.
fn has_default(code: &str) -> bool {
    let Some(pattern) = DEFAULT.as_ref() else { return false };
    let mut from = 0;
    while let Some(found) = pattern.find_at(code, from) {
        let value = code.get(found.end()..).unwrap_or_default();
        match beginning(value) {
            // The `e` of `exports` is one byte long.
            None => from = found.start() + 1,
            Some("exports" | "exports;") => from = found.end() + "exports".len(),
            Some(text) if text.starts_with('{') => from = found.end() + text.len(),
            Some(_) => return true,
        }
    }
    false
}

/// Seven units without a space and one more that does not end the line; a space in the last place is left off.
fn beginning(value: &str) -> Option<&str> {
    let mut units = 0;
    for (at, symbol) in value.char_indices() {
        match units {
            0..7 if is_space(symbol) => return None,
            0..7 => units += symbol.len_utf16(),
            7 if ends_line(symbol) => return None,
            7 if !is_space(symbol) => return value.get(..at + symbol.len_utf8()),
            _ => return value.get(..at),
        }
    }
    (units > 7).then_some(value)
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
