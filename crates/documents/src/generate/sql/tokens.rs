//! SQL's words: enough of its lexical rules for PostgreSQL, SQLite, `MySQL` and SQL Server that a `;` or `,` inside of something is
//! never taken for one outside.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, keyword or number.
    Word,
    /// A name in quotes of its dialect.
    Name,
    /// A text, dollar-quoted ones too.
    Text,
    /// One other character.
    Sign,
}

/// A token, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) raw: &'t str,
    /// Whether anything was between it and the one before.
    pub(super) is_apart: bool,
    pub(super) line: usize,
}

impl<'t> Token<'t> {
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.raw.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.kind == Kind::Sign && self.raw.starts_with(sign)
    }

    /// Without its quotes.
    pub(super) fn name(&self) -> &'t str {
        match self.kind {
            Kind::Name | Kind::Text => {
                let mut chars = self.raw.chars();
                chars.next();
                chars.next_back();
                chars.as_str()
            }
            _ => self.raw,
        }
    }
}

/// The tokens of a file, statement by statement; the last one may lack its `;`, which is told.
pub(super) struct Statements<'t> {
    rest: &'t str,
    line: usize,
}

impl<'t> Statements<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { rest: text, line: 1 }
    }
}

/// Most tokens of one statement that are kept; dumps of data have longer ones, and those define nothing.
const MAX_TOKENS: usize = 100_000;

impl<'t> Iterator for Statements<'t> {
    type Item = (Vec<Token<'t>>, bool);

    fn next(&mut self) -> Option<Self::Item> {
        let mut tokens = Vec::new();
        let mut is_apart = false;
        loop {
            let Some(first) = self.rest.chars().next() else {
                return (!tokens.is_empty()).then_some((tokens, false));
            };
            let (length, kind) = next(self.rest, first);
            let (raw, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
            let line = self.line;
            self.line += raw.bytes().filter(|b| *b == b'\n').count();
            self.rest = rest;
            let Some(kind) = kind else {
                if is_down(raw) {
                    self.rest = "";
                }
                is_apart = true;
                continue;
            };
            if kind == Kind::Sign && raw == ";" {
                if tokens.is_empty() {
                    continue;
                }
                return Some((tokens, true));
            }
            if tokens.len() < MAX_TOKENS {
                tokens.push(Token { kind, raw, is_apart, line });
            }
            is_apart = false;
        }
    }
}

/// Whether a comment begins what undoes a migration (goose, dbmate, sql-migrate, rambler).
fn is_down(comment: &str) -> bool {
    let Some(words) = comment.strip_prefix("--") else { return false };
    let words = words.trim().to_ascii_lowercase();
    ["+goose down", "+migrate down", "migrate:down", "rambler down"]
        .iter()
        .any(|down| words.starts_with(down))
}

/// How long the first token is and what; `None`: what lies between tokens.
fn next(text: &str, first: char) -> (usize, Option<Kind>) {
    let until = |end: &str, from: usize| {
        text.get(from..).and_then(|rest| rest.find(end)).map_or(text.len(), |at| from + at + end.len())
    };
    if first.is_whitespace() {
        let length = text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len());
        return (length, None);
    }
    if text.starts_with("--") {
        return (text.find('\n').unwrap_or(text.len()), None);
    }
    if text.starts_with("/*") {
        return (until("*/", 2), None);
    }
    match first {
        '\'' => (quoted(text, '\''), Some(Kind::Text)),
        '"' => (quoted(text, '"'), Some(Kind::Name)),
        '`' => (quoted(text, '`'), Some(Kind::Name)),
        '[' if text
            .get(1..)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_')) =>
        {
            (until("]", 1), Some(Kind::Name))
        }
        '$' => match dollar(text) {
            Some(length) => (length, Some(Kind::Text)),
            None => (1, Some(Kind::Sign)),
        },
        c if c.is_alphanumeric() || c == '_' => {
            let length =
                text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(text.len());
            (length, Some(Kind::Word))
        }
        other => (other.len_utf8(), Some(Kind::Sign)),
    }
}

/// To the closing quote; a doubled one is none. (A backslash before a quote ends nothing in `MySQL` alone, where dumps of data
/// have it: those statements are not read.)
fn quoted(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

/// `$tag$ … $tag$` (PostgreSQL 15, §4.1.2.4).
fn dollar(text: &str) -> Option<usize> {
    let inside = text.get(1..)?;
    let end = inside.find('$')?;
    let tag = inside.get(..end)?;
    if !tag.chars().all(|c| c.is_alphanumeric() || c == '_') || tag.starts_with(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    let fence = text.get(..end + 2)?;
    let rest = text.get(end + 2..)?;
    Some(rest.find(fence).map_or(text.len(), |at| end + 2 + at + fence.len()))
}

/// Tokens as they were written, with one space where there was anything between.
pub(super) fn written(tokens: &[Token<'_>]) -> String {
    let mut out = String::new();
    for token in tokens {
        if token.is_apart && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(token.raw);
    }
    out
}
