//! Style sheets: their declarations, the names that they define, and what they load. CSS with nesting, and of SCSS and Less what lies
//! around declarations.

use std::ops::Range;

use cssparser::{ParseError, Parser, ParserInput, Token};

use super::pieces::{self, Kind, MAX_DEPTH, Piece};

/// How a style sheet is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Css,
    Scss,
    Less,
}

/// A property with its value.
#[derive(Debug)]
pub(super) struct Declaration<'d> {
    /// In lower case.
    pub(super) property: String,
    pub(super) value: &'d [Piece],
    /// Whether it is in force under conditions on which tokens may have other values.
    pub(super) in_mode: bool,
}

/// What a style sheet says beside declarations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Names that are given a value: with their `--`, `$` or `@`, and the value as it is written.
    pub(super) defined: Vec<(String, String)>,
    /// What is drawn in by `@use`, `@forward` and `@import`: the rule, what it names, and the name given to it.
    pub(super) loaded: Vec<(String, String, Option<String>)>,
}

/// At-rules in whose blocks `var()` has no meaning, or which are about something else.
const OPAQUE: [&str; 9] = [
    "font-face",
    "property",
    "counter-style",
    "font-feature-values",
    "font-palette-values",
    "color-profile",
    "page",
    "viewport",
    "function",
];

/// Goes through a style sheet that stands at `shift` of a larger text. `is_mode` tells whether a prelude is a condition on which
/// tokens may have other values.
pub(super) fn read(
    text: &str,
    shift: usize,
    syntax: Syntax,
    is_mode: &dyn Fn(&str) -> bool,
    each: &mut dyn FnMut(&Declaration<'_>),
) -> Said {
    let blanked;
    let text = if syntax == Syntax::Css {
        text
    } else {
        blanked = without_line_comments(text);
        &blanked
    };
    let mut reader = Reader { text, shift, is_mode, each, said: Said::default() };
    let mut input = ParserInput::new(text);
    reader.block(&mut Parser::new(&mut input), false, 0);
    reader.said
}

struct Reader<'r> {
    text: &'r str,
    shift: usize,
    is_mode: &'r dyn Fn(&str) -> bool,
    each: &'r mut dyn FnMut(&Declaration<'_>),
    said: Said,
}

impl Reader<'_> {
    /// What stands between two braces, or in the whole text.
    fn block(&mut self, parser: &mut Parser<'_, '_>, in_mode: bool, depth: usize) {
        let mut statement: Vec<Piece> = Vec::new();
        loop {
            let start = parser.position().byte_index();
            let Ok(token) = parser.next_including_whitespace_and_comments().cloned() else { break };
            match token {
                Token::Semicolon | Token::CloseCurlyBracket => {
                    self.statement(&std::mem::take(&mut statement), in_mode);
                }
                Token::CurlyBracketBlock => {
                    let interpolates = statement.last().is_some_and(|last| {
                        (last.is_delim('#') || last.is_delim('@')) && last.range.end == start + self.shift
                    });
                    if interpolates || depth >= MAX_DEPTH {
                        pieces::pass(parser);
                        let end = parser.position().byte_index();
                        statement
                            .push(Piece { range: start + self.shift..end + self.shift, kind: Kind::Other });
                        continue;
                    }
                    self.nested(parser, &statement, in_mode, depth);
                    statement.clear();
                }
                token => {
                    let kind = pieces::kind(&token, parser, self.shift, depth);
                    let opens = matches!(
                        token,
                        Token::SquareBracketBlock | Token::Function(_) | Token::ParenthesisBlock
                    );
                    if opens && kind == Kind::Other {
                        pieces::pass(parser);
                    }
                    // A statement begins with something.
                    if kind != Kind::Space || !statement.is_empty() {
                        let end = parser.position().byte_index();
                        statement.push(Piece { range: start + self.shift..end + self.shift, kind });
                    }
                }
            }
        }
        self.statement(&statement, in_mode);
    }

    /// A block of braces, after its prelude.
    fn nested(&mut self, parser: &mut Parser<'_, '_>, prelude: &[Piece], in_mode: bool, depth: usize) {
        let is_opaque = match prelude.first().map(|first| &first.kind) {
            Some(Kind::At(name)) => OPAQUE.iter().any(|opaque| name.eq_ignore_ascii_case(opaque)),
            // The value of a custom property.
            Some(Kind::Ident(name)) => name.starts_with("--"),
            _ => false,
        };
        if is_opaque {
            return pieces::pass(parser);
        }
        let in_mode = in_mode || (self.is_mode)(self.written(prelude));
        let inside = |inner: &mut Parser<'_, '_>| {
            self.block(inner, in_mode, depth + 1);
            Ok::<_, ParseError<'_, ()>>(())
        };
        // It fails only where something is left.
        let _ = parser.parse_nested_block(inside);
    }

    fn written(&self, pieces: &[Piece]) -> &str {
        let range = bounds(pieces).map(|range| range.start - self.shift..range.end - self.shift);
        range.and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    fn statement(&mut self, statement: &[Piece], in_mode: bool) {
        if let Some(Piece { kind: Kind::At(rule), .. }) = statement.first()
            && matches!(rule.as_str(), "use" | "forward" | "import")
        {
            self.load(rule, statement);
            return;
        }
        let mut rest = statement;
        let sign = match rest.first().map(|first| &first.kind) {
            Some(Kind::Delim('$')) => {
                rest = rest.get(1..).unwrap_or_default();
                "$"
            }
            _ => "",
        };
        let (name, after) = match rest.split_first() {
            Some((Piece { kind: Kind::Ident(name), .. }, after)) => (format!("{sign}{name}"), after),
            Some((Piece { kind: Kind::At(name), .. }, after)) => (format!("@{name}"), after),
            _ => return,
        };
        let spaces = after.iter().take_while(|piece| piece.is_space()).count();
        let Some((Piece { kind: Kind::Colon, .. }, value)) =
            after.get(spaces..).and_then(<[Piece]>::split_first)
        else {
            return;
        };
        if name.starts_with("--") || name.starts_with(['$', '@']) {
            self.said.defined.push((name, self.written(value).trim().to_owned()));
            return;
        }
        (self.each)(&Declaration { property: name.to_ascii_lowercase(), value, in_mode });
    }

    fn load(&mut self, rule: &str, statement: &[Piece]) {
        let mut words = statement.iter().skip(1).filter(|piece| !piece.is_space());
        while let Some(piece) = words.next() {
            if let Kind::Text(path) = &piece.kind {
                let mut ahead = words.clone();
                let is_named = ahead.next().is_some_and(|piece| piece.ident() == Some("as"));
                let name = ahead.next().filter(|_| is_named).map(|piece| match &piece.kind {
                    Kind::Ident(name) => name.clone(),
                    _ => "*".to_owned(),
                });
                self.said.loaded.push((rule.to_owned(), path.clone(), name));
            }
        }
    }
}

/// The bytes from the first piece to the last.
pub(super) fn bounds(pieces: &[Piece]) -> Option<Range<usize>> {
    Some(pieces.first()?.range.start..pieces.last()?.range.end)
}

/// `text` with spaces where SCSS and Less have comments to the end of the line: of the same length.
fn without_line_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    let find = |from: usize, what: &[u8]| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.windows(what.len()).position(|window| window == what).map_or(bytes.len(), |found| from + found)
    };
    while let Some(&byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        if byte == b'"' || byte == b'\'' {
            at = end_of_string(bytes, at);
        } else if rest.starts_with(b"/*") {
            at = find(at + 2, b"*/") + 2;
        } else if rest.starts_with(b"//") {
            let end = find(at, b"\n");
            out.get_mut(at..end).into_iter().for_each(|comment| comment.fill(b' '));
            at = end;
        } else if rest.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"url(")) {
            // A URL without quotes has slashes of its own, and no line breaks.
            let address = rest.get(4..).unwrap_or_default();
            let end = address.iter().position(|byte| matches!(byte, b')' | b'\n')).unwrap_or(address.len());
            let is_quoted = matches!(address.trim_ascii_start().first(), Some(b'"' | b'\''));
            at += if is_quoted { 4 } else { 4 + end };
        } else {
            at += if byte == b'\\' { 2 } else { 1 };
        }
    }
    String::from_utf8(out).unwrap_or_default()
}

/// Where the string that begins at `at` ends; the end of the line ends it too.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let quote = bytes.get(at).copied();
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 2,
            b'\n' => return end,
            byte if Some(byte) == quote => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declarations(text: &str, syntax: Syntax) -> (Vec<String>, Said) {
        let mut found = Vec::new();
        let is_mode = |prelude: &str| prelude.contains("dark");
        let said = read(text, 0, syntax, &is_mode, &mut |declaration| {
            let value = bounds(declaration.value).map_or("", |range| &text[range]);
            let mark = if declaration.in_mode { "!" } else { "" };
            found.push(format!("{mark}{}={}", declaration.property, value.trim()));
        });
        (found, said)
    }

    #[test]
    fn declarations_are_found_wherever_they_nest() {
        let text =
            "a:hover, b { color: red; & > c { Margin : 0 4px } }\n@media (x) { d { top: 0; } } e { left: 1px";
        assert_eq!(declarations(text, Syntax::Css).0, ["color=red", "margin=0 4px", "top=0", "left=1px"]);
        let marked = "@media dark { a { color: red } } .dark { b { top: 0 } left: 0 } c { top: 1px }";
        assert_eq!(declarations(marked, Syntax::Css).0, ["!color=red", "!top=0", "!left=0", "top=1px"]);
    }

    #[test]
    fn comments_strings_urls_and_definitions_are_no_declarations() {
        let text = "/* a { color: red } */ a { content: \"b { color: red }\"; background: url(x;color:red); --c: red; --d: { color: red }; }
            @font-face { font-family: A } @property --x { initial-value: red }";
        let (found, said) = declarations(text, Syntax::Css);
        assert_eq!(found, ["content=\"b { color: red }\"", "background=url(x;color:red)"]);
        assert_eq!(said.defined, [("--c".to_owned(), "red".to_owned())]);
    }

    #[test]
    fn what_scss_and_less_add_is_understood_or_left_alone() {
        let scss = "@use 'lib/tokens' as t; @import \"a\", \"b\"; // don't { color: red }
            $ink: #111; %x { color: t.$red } .a { &-b { @include m(#fff) { color: $ink } #{$p}-color: red; #{$s} { top: 1px } }
            background: url(//x.test/a.png); @function f() { @return red; } @if $a == red { left: 0 } }";
        let (found, said) = declarations(scss, Syntax::Scss);
        assert_eq!(
            found,
            ["color=t.$red", "color=$ink", "top=1px", "background=url(//x.test/a.png)", "left=0"]
        );
        assert_eq!(said.defined, [("$ink".to_owned(), "#111".to_owned())]);
        let loaded: Vec<_> =
            said.loaded.iter().map(|(r, p, n)| (r.as_str(), p.as_str(), n.as_deref())).collect();
        assert_eq!(loaded, [("use", "lib/tokens", Some("t")), ("import", "a", None), ("import", "b", None)]);
        let less = "@ink: #111; .m(@c: #222) { color: @c; .n(#333); @r: { top: 0 }; width: ~\"calc(1px)\"; } .@{name} { left: 0 }";
        let (found, said) = declarations(less, Syntax::Less);
        assert_eq!(found, ["color=@c", "top=0", "width=~\"calc(1px)\"", "left=0"]);
        assert_eq!(said.defined, [("@ink".to_owned(), "#111".to_owned())]);
    }

    #[test]
    fn what_is_nested_too_deep_or_never_closed_ends() {
        for text in ["a{".repeat(10_000), "(".repeat(100_000), "a:calc(".repeat(20_000), "}".repeat(1_000)] {
            declarations(&text, Syntax::Scss);
        }
    }
}
