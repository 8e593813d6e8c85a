//! The parts of a declaration's value, with the bytes that they take (CSS Syntax 3).

use std::ops::Range;

use cssparser::{ParseError, Parser, ParserInput, Token};

/// Deepest nesting that is looked into; what lies deeper is passed over.
pub(super) const MAX_DEPTH: usize = 64;

/// One part.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// White space or a comment.
    Space,
    /// Without escapes.
    Ident(String),
    /// `#` and what follows.
    Hash,
    Number,
    /// A number with a unit.
    Dimension,
    Delim(char),
    Comma,
    Colon,
    /// The name after `@`.
    At(String),
    /// What is between the quotes, without escapes.
    Text(String),
    /// A function, its name in lower case, and its arguments.
    Function(String, Vec<Piece>),
    Parens(Vec<Piece>),
    /// What is not looked into: interpolations, URLs, percentages, what is no CSS.
    Other,
}

impl Piece {
    pub(super) fn ident(&self) -> Option<&str> {
        if let Kind::Ident(name) = &self.kind { Some(name) } else { None }
    }

    pub(super) fn is_space(&self) -> bool {
        self.kind == Kind::Space
    }

    pub(super) fn is_delim(&self, sign: char) -> bool {
        self.kind == Kind::Delim(sign)
    }
}

/// The piece that a token is, where it opens no block of braces.
pub(super) fn kind<'i>(token: &Token<'i>, parser: &mut Parser<'i, '_>, shift: usize, depth: usize) -> Kind {
    match token {
        Token::WhiteSpace(_) | Token::Comment(_) => Kind::Space,
        Token::Ident(name) => Kind::Ident(name.to_string()),
        Token::Hash(_) | Token::IDHash(_) => Kind::Hash,
        Token::Number { .. } => Kind::Number,
        Token::Dimension { .. } => Kind::Dimension,
        Token::Delim(sign) => Kind::Delim(*sign),
        Token::Comma => Kind::Comma,
        Token::Colon => Kind::Colon,
        Token::AtKeyword(name) => Kind::At(name.to_string()),
        Token::QuotedString(text) => Kind::Text(text.to_string()),
        Token::Function(name) if depth < MAX_DEPTH => {
            Kind::Function(name.to_ascii_lowercase(), nested(parser, shift, depth))
        }
        Token::ParenthesisBlock if depth < MAX_DEPTH => Kind::Parens(nested(parser, shift, depth)),
        _ => Kind::Other,
    }
}

fn nested(parser: &mut Parser<'_, '_>, shift: usize, depth: usize) -> Vec<Piece> {
    let inside = |inner: &mut Parser<'_, '_>| Ok::<_, ParseError<'_, ()>>(list(inner, shift, depth + 1));
    parser.parse_nested_block(inside).unwrap_or_default()
}

/// All pieces up to the end of the block, or of the text.
fn list(parser: &mut Parser<'_, '_>, shift: usize, depth: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    loop {
        let start = parser.position().byte_index();
        let Ok(token) = parser.next_including_whitespace_and_comments().cloned() else { return pieces };
        let kind = kind(&token, parser, shift, depth);
        if matches!(
            token,
            Token::CurlyBracketBlock
                | Token::SquareBracketBlock
                | Token::Function(_)
                | Token::ParenthesisBlock
        ) && kind == Kind::Other
        {
            pass(parser);
        }
        let end = parser.position().byte_index();
        pieces.push(Piece { range: start + shift..end + shift, kind });
    }
}

/// Passes over the block that was just opened.
pub(super) fn pass(parser: &mut Parser<'_, '_>) {
    let skip = |inner: &mut Parser<'_, '_>| {
        while inner.next_including_whitespace_and_comments().is_ok() {}
        Ok::<_, ParseError<'_, ()>>(())
    };
    // It fails only where something is left.
    let _ = parser.parse_nested_block(skip);
}

/// The pieces of a value that stands at `shift` of a larger text.
pub(super) fn of(value: &str, shift: usize) -> Vec<Piece> {
    let mut input = ParserInput::new(value);
    list(&mut Parser::new(&mut input), shift, 0)
}
