//! The text that is blanked: positions stay, characters go.

/// What white space of as many bytes and as many UTF-16 units is, so that columns stay by whichever unit they are counted.
const TWO_BYTES: &str = "\u{a0}";
const THREE_BYTES: &str = "\u{2003}";

/// A source and its copy, over which spaces are written. Both always have the same length.
pub(super) struct Sheet<'t> {
    text: &'t str,
    copy: Vec<u8>,
}

/// Something that is no white space and no comment.
#[derive(Clone, Copy)]
pub(super) struct Token<'t> {
    /// Where it starts, in bytes.
    pub(super) at: usize,
    /// A word, or one character.
    pub(super) text: &'t str,
    /// Whether a line ended before it, from where it was looked for.
    pub(super) on_new_line: bool,
}

impl<'t> Sheet<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, copy: text.as_bytes().to_vec() }
    }

    /// The text as it was, from a position on.
    pub(super) fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    /// The text as it was, of a span.
    pub(super) fn part(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Writes spaces over a span. Ends of lines stay.
    pub(super) fn blank(&mut self, start: usize, end: usize) {
        for (offset, char) in self.part(start, end).char_indices() {
            let with = match char {
                '\n' | '\r' | '\u{2028}' | '\u{2029}' => continue,
                _ => match char.len_utf8() {
                    1 => " ",
                    2 => TWO_BYTES,
                    3 => THREE_BYTES,
                    _ => "\u{a0}\u{a0}",
                },
            };
            let at = start + offset;
            if let Some(place) = self.copy.get_mut(at..at + with.len()) {
                place.copy_from_slice(with.as_bytes());
            }
        }
    }

    /// Writes one ASCII character over one. Says whether it could: another is not written over.
    pub(super) fn put(&mut self, at: usize, with: u8) -> bool {
        match self.copy.get_mut(at) {
            Some(place) if place.is_ascii() && !matches!(place, b'\n' | b'\r') => {
                *place = with;
                true
            }
            _ => false,
        }
    }

    /// The first token at or after a position, before `end`.
    pub(super) fn token(&self, from: usize, end: usize) -> Option<Token<'t>> {
        let mut at = from;
        let mut on_new_line = false;
        loop {
            let rest = self.part(at, end);
            let first = rest.chars().next()?;
            if matches!(first, '\n' | '\r' | '\u{2028}' | '\u{2029}') {
                on_new_line = true;
                at += first.len_utf8();
            } else if first.is_whitespace() || first == '\u{feff}' {
                at += first.len_utf8();
            } else if rest.starts_with("//") {
                let line = rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len());
                at += line;
            } else if rest.starts_with("/*") {
                let length = rest.get(2..)?.find("*/")? + 4;
                let is_long = rest.get(..length)?.contains(['\n', '\r', '\u{2028}', '\u{2029}']);
                on_new_line |= is_long;
                at += length;
            } else {
                let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                let length = match rest.find(|c| !is_word(c)) {
                    Some(0) => first.len_utf8(),
                    Some(length) => length,
                    None => rest.len(),
                };
                return Some(Token { at, text: rest.get(..length)?, on_new_line });
            }
        }
    }

    /// The tokens of a span.
    pub(super) fn tokens(&self, start: usize, end: usize) -> impl Iterator<Item = Token<'t>> {
        let mut at = start;
        std::iter::from_fn(move || {
            let token = self.token(at, end)?;
            at = token.at + token.text.len();
            Some(token)
        })
    }

    /// The first token of this text in a span.
    pub(super) fn find(&self, start: usize, end: usize, text: &str) -> Option<usize> {
        self.tokens(start, end).find(|token| token.text == text).map(|token| token.at)
    }

    /// What was made. Only whole characters were written over with whole characters.
    pub(super) fn finish(self) -> String {
        String::from_utf8(self.copy).unwrap_or_default()
    }
}

/// Whether a text ends a line somewhere.
pub(super) fn has_line_end(text: &str) -> bool {
    text.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
}
