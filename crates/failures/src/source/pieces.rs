//! A source cut into code, strings and comments: just enough of each language's lexical grammar that a word in a
//! string is not taken for code. Linear; what is never closed ends with its line, or with the text.

use std::ops::Range;

use crate::pattern::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Code,
    Comment,
    /// A string; the range covers its quotes and its prefix (`f`, `r`, …).
    Text {
        /// How many bytes the opening and the closing quotes take.
        open: usize,
        close: usize,
        /// Whether `{…}` or `${…}` in it are values.
        interpolates: bool,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
}

impl Piece {
    /// What is between the quotes.
    pub(crate) fn inside<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self.kind {
            Kind::Text { open, close, .. } => text.get(self.range.start + open..self.range.end - close),
            _ => None,
        }
    }
}

struct Cutter<'t> {
    text: &'t str,
    bytes: &'t [u8],
    language: Option<Language>,
    pieces: Vec<Piece>,
    code: usize,
}

pub(crate) fn pieces(text: &str, language: Option<Language>) -> Vec<Piece> {
    let mut cutter = Cutter { text, bytes: text.as_bytes(), language, pieces: Vec::new(), code: 0 };
    let mut at = 0;
    while at < text.len() {
        at = cutter.step(at);
    }
    cutter.code_until(text.len());
    cutter.pieces
}

impl Cutter<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_default()
    }

    fn starts(&self, at: usize, with: &str) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(with.as_bytes()))
    }

    fn find(&self, from: usize, what: &str) -> Option<usize> {
        self.text.get(from..).and_then(|rest| rest.find(what)).map(|at| from + at)
    }

    fn code_until(&mut self, end: usize) {
        if self.code < end {
            self.pieces.push(Piece { kind: Kind::Code, range: self.code..end });
        }
        self.code = end;
    }

    fn push(&mut self, kind: Kind, range: Range<usize>) -> usize {
        self.code_until(range.start);
        let end = range.end;
        self.pieces.push(Piece { kind, range });
        self.code = end;
        end
    }

    fn comment(&mut self, start: usize, end: usize) -> usize {
        self.push(Kind::Comment, start..end)
    }

    fn step(&mut self, at: usize) -> usize {
        let slashes = !matches!(self.language, Some(Language::Python) | None);
        let end_of_line = |cutter: &Self| cutter.find(at, "\n").unwrap_or(cutter.text.len());
        match self.byte(at) {
            b'/' if slashes && self.starts(at, "//") => {
                let end = end_of_line(self);
                self.comment(at, end)
            }
            b'/' if slashes && self.starts(at, "/*") => {
                let end = self.find(at + 2, "*/").map_or(self.text.len(), |end| end + 2);
                self.comment(at, end)
            }
            b'#' if self.language == Some(Language::Python) => {
                let end = end_of_line(self);
                self.comment(at, end)
            }
            b'"' | b'\'' | b'`' => self.quoted(at),
            _ => at + 1,
        }
    }

    fn quoted(&mut self, at: usize) -> usize {
        let quote = self.byte(at);
        let before = self.word_before(at);
        match (self.language, quote) {
            (Some(Language::Python), b'"' | b'\'') => {
                let prefix = self.text.get(before..at).unwrap_or_default();
                let is_prefix = prefix.len() <= 2 && prefix.bytes().all(|b| b"rRbBfFuUtT".contains(&b));
                let start = if is_prefix { before } else { at };
                let interpolates = is_prefix && prefix.contains(['f', 'F', 't', 'T']);
                let raw = false;
                let triple = if quote == b'"' { "\"\"\"" } else { "'''" };
                if self.starts(at, triple) {
                    let (end, closed) = self.until(at + 3, triple, raw, true);
                    return self.text_piece(start, at + 3, end, if closed { 3 } else { 0 }, interpolates);
                }
                self.one_line(start, at, quote, interpolates)
            }
            (Some(Language::Rust), b'"') => self.rust_string(before, at),
            (Some(Language::Javascript | Language::Typescript) | None, b'\'') => {
                self.one_line(at, at, quote, false)
            }
            (_, b'\'') => self.character(at),
            (Some(Language::Javascript | Language::Typescript), b'`') => {
                let (end, closed) = self.until(at + 1, "`", false, true);
                self.text_piece(at, at + 1, end, usize::from(closed), true)
            }
            (Some(Language::Go), b'`') => {
                let (end, closed) = self.until(at + 1, "`", true, true);
                self.text_piece(at, at + 1, end, usize::from(closed), false)
            }
            (_, b'`') => at + 1,
            (Some(Language::Java), _) if self.starts(at, "\"\"\"") => {
                let (end, closed) = self.until(at + 3, "\"\"\"", false, true);
                self.text_piece(at, at + 3, end, if closed { 3 } else { 0 }, false)
            }
            _ => self.one_line(at, at, quote, false),
        }
    }

    fn text_piece(
        &mut self,
        start: usize,
        inside: usize,
        end: usize,
        close: usize,
        interpolates: bool,
    ) -> usize {
        let open = inside - start;
        self.push(Kind::Text { open, close, interpolates }, start..end + close)
    }

    fn one_line(&mut self, start: usize, at: usize, quote: u8, interpolates: bool) -> usize {
        let close = if quote == b'"' { "\"" } else { "'" };
        let (end, closed) = self.until(at + 1, close, false, false);
        self.text_piece(start, at + 1, end, usize::from(closed), interpolates)
    }

    /// `r"…"`, `r#"…"#`, `b"…"` and plain ones, which may hold line ends.
    fn rust_string(&mut self, before: usize, at: usize) -> usize {
        let front = self.text.get(..at).unwrap_or_default();
        let hashes = front.len() - front.trim_end_matches('#').len();
        let prefix = self.text.get(self.word_before(at - hashes)..at - hashes).unwrap_or_default();
        if matches!(prefix, "r" | "br" | "cr") {
            let close = format!("\"{}", "#".repeat(hashes));
            let (end, closed) = self.until(at + 1, &close, true, true);
            return self.text_piece(at, at + 1, end, if closed { close.len() } else { 0 }, false);
        }
        let start = if matches!(self.text.get(before..at), Some("b" | "c")) { before } else { at };
        let (end, closed) = self.until(at + 1, "\"", false, true);
        self.text_piece(start, at + 1, end, usize::from(closed), false)
    }

    /// A character: `'x'`, `'\n'`, `'\u{1F600}'`; anything else, such as a lifetime, is code.
    fn character(&mut self, at: usize) -> usize {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let mut chars = rest.char_indices();
        let end = match chars.next() {
            Some((_, '\\')) => {
                rest.bytes().take(12).enumerate().skip(2).find(|&(_, b)| b == b'\'').map(|(end, _)| end)
            }
            Some((_, '\n' | '\'')) | None => None,
            Some(_) => chars.next().filter(|&(_, next)| next == '\'').map(|(end, _)| end),
        };
        match end {
            Some(end) => self.text_piece(at, at + 1, at + 1 + end, 1, false),
            None => at + 1,
        }
    }

    /// Where a string ends, and whether it is closed there.
    fn until(&self, from: usize, close: &str, raw: bool, lines: bool) -> (usize, bool) {
        let mut at = from;
        while at < self.bytes.len() {
            match self.byte(at) {
                b'\\' if !raw => {
                    at += 1;
                    // An escaped line end goes on; anything else is passed over by characters.
                    at += self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
                    continue;
                }
                b'\n' if !lines => return (at, false),
                _ if self.starts(at, close) => return (at, true),
                _ => {}
            }
            at += 1;
        }
        (self.bytes.len(), false)
    }

    fn word_before(&self, at: usize) -> usize {
        let mut start = at;
        while start > self.code
            && (self.byte(start - 1).is_ascii_alphanumeric() || self.byte(start - 1) == b'_')
        {
            start -= 1;
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, language: Language) -> Vec<(&str, &str)> {
        pieces(text, Some(language))
            .iter()
            .map(|piece| {
                let kind = match piece.kind {
                    Kind::Code => "code",
                    Kind::Comment => "comment",
                    Kind::Text { .. } => "text",
                };
                (kind, piece.inside(text).unwrap_or(&text[piece.range.clone()]))
            })
            .collect()
    }

    #[test]
    fn strings_and_comments_are_told_from_code() {
        assert_eq!(
            cut("a = f'x{y}' # for\n", Language::Python),
            [("code", "a = "), ("text", "x{y}"), ("code", " "), ("comment", "# for"), ("code", "\n")]
        );
        assert_eq!(
            cut("f(r#\"a\"b\"#, 'x', &'a str) // for", Language::Rust),
            [
                ("code", "f(r#"),
                ("text", "a\"b"),
                ("code", ", "),
                ("text", "x"),
                ("code", ", &'a str) "),
                ("comment", "// for")
            ]
        );
        assert_eq!(
            cut("x = `a\n${b}`;", Language::Javascript),
            [("code", "x = "), ("text", "a\n${b}"), ("code", ";")]
        );
        assert_eq!(
            cut("s := \"open\nfor", Language::Go),
            [("code", "s := "), ("text", "open"), ("code", "\nfor")]
        );
    }
}
