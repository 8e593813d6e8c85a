//! JavaScript and TypeScript: strings in style objects of JSX (`style={{ color: "red" }}`) and in assignments to a style
//! (`node.style.color = "red"`). Nothing else of a script is looked at, and nothing that is put together.

use std::ops::Range;

/// Deepest nesting of template literals.
const MAX_TEMPLATES: usize = 32;

/// A property, as CSS spells it, and the inside of the string that is its value.
pub(super) type Styled = (String, Range<usize>);

/// The styled properties of a script.
pub(super) fn styles(text: &str) -> Vec<Styled> {
    // There the names are the same, and `var()` means nothing.
    if text.contains("react-native") {
        return Vec::new();
    }
    let mut scanner = Scanner { text, bytes: text.as_bytes(), at: 0, found: Vec::new() };
    scanner.code();
    scanner.found
}

/// The styled properties of an expression that stands at `shift` of a larger text, if it is an object.
pub(super) fn object(text: &str, range: Range<usize>) -> Vec<Styled> {
    let inside = text.get(..range.end).unwrap_or_default();
    let mut scanner = Scanner { text: inside, bytes: inside.as_bytes(), at: range.start, found: Vec::new() };
    scanner.space();
    if scanner.byte() == Some(b'{') {
        scanner.at += 1;
        scanner.object();
    }
    scanner.found
}

/// Most bytes of a regular expression; a slash without another one so near is a sign of division.
const MAX_PATTERN: usize = 1_000;

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    found: Vec<Styled>,
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

impl Scanner<'_> {
    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The whole script.
    fn code(&mut self) {
        let mut before = None;
        while let Some(byte) = self.byte() {
            if self.comment() || byte.is_ascii_whitespace() {
                self.at += usize::from(byte.is_ascii_whitespace());
                continue;
            }
            match byte {
                b'"' | b'\'' => {
                    self.string();
                }
                b'`' => self.template(0),
                b'/' if begins_expression(before, self.bytes.get(..self.at).unwrap_or_default()) => {
                    self.pattern();
                }
                byte if is_word(byte) => {
                    let start = self.at;
                    self.word();
                    if self.bytes.get(start..self.at) == Some(b"style") {
                        if before == Some(b'.') {
                            self.assignment();
                        } else {
                            self.attribute();
                        }
                    }
                }
                _ => self.at += 1,
            }
            before = Some(byte);
        }
    }

    fn space(&mut self) {
        while let Some(byte) = self.byte() {
            if byte.is_ascii_whitespace() {
                self.at += 1;
            } else if !self.comment() {
                return;
            }
        }
    }

    fn word(&mut self) -> Range<usize> {
        let start = self.at;
        while self.byte().is_some_and(is_word) {
            self.at += 1;
        }
        start..self.at
    }

    /// Passes over a comment, if one begins here.
    fn comment(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.get(2..).and_then(|rest| rest.find("*/")).map(|end| end + 4)
        } else {
            return false;
        };
        self.at += end.unwrap_or(rest.len());
        true
    }

    /// The inside of the string that begins here. Without an end on its line it is no string: an apostrophe of a text, or one end of
    /// what goes over several lines. What follows on the line is then in doubt, and passed over.
    fn string(&mut self) -> Option<Range<usize>> {
        let quote = self.byte()?;
        let start = self.at + 1;
        let mut end = start;
        while let Some(&byte) = self.bytes.get(end) {
            match byte {
                b'\\' => end += 2,
                b'\n' => break,
                byte if byte == quote => {
                    self.at = end + 1;
                    return Some(start..end);
                }
                _ => end += 1,
            }
        }
        self.at = end.min(self.bytes.len());
        None
    }

    /// Passes over a template literal with all that is in it.
    fn template(&mut self, depth: usize) {
        self.at += 1;
        let mut braces = 0_usize;
        while let Some(byte) = self.byte() {
            match byte {
                b'\\' => self.at += 1,
                b'`' if braces == 0 => {
                    self.at += 1;
                    return;
                }
                b'`' if depth < MAX_TEMPLATES => {
                    self.template(depth + 1);
                    continue;
                }
                b'$' if braces == 0 && self.bytes.get(self.at + 1) == Some(&b'{') => {
                    braces = 1;
                    self.at += 1;
                }
                b'{' if braces > 0 => braces += 1,
                b'}' if braces > 0 => braces -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Passes over a regular expression; one that does not end on its line is none.
    fn pattern(&mut self) {
        let (mut end, mut in_class) = (self.at + 1, false);
        while let Some(&byte) = self.bytes.get(end).filter(|_| end < self.at + MAX_PATTERN) {
            match byte {
                b'\\' => end += 1,
                b'\n' => break,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => {
                    self.at = end + 1;
                    return;
                }
                _ => {}
            }
            end += 1;
        }
        self.at += 1;
    }

    /// After `style`: `={{ … }}`.
    fn attribute(&mut self) {
        for sign in [b'=', b'{', b'{'] {
            self.space();
            if self.byte() != Some(sign) {
                return;
            }
            self.at += 1;
        }
        self.object();
    }

    /// After `.style`: `.property = "value"`, and the end of it.
    fn assignment(&mut self) {
        if self.byte() != Some(b'.') {
            return;
        }
        self.at += 1;
        let property = self.word();
        self.space();
        if self.byte() != Some(b'=') || self.bytes.get(self.at + 1) == Some(&b'=') {
            return;
        }
        self.at += 1;
        self.space();
        if !matches!(self.byte(), Some(b'"' | b'\'')) {
            return;
        }
        let Some(value) = self.string() else { return };
        // What goes on is put together.
        let mut ahead = self.rest().iter().skip_while(|byte| matches!(byte, b' ' | b'\t'));
        if matches!(ahead.next(), None | Some(b';' | b',' | b')' | b'}' | b'\n' | b'\r')) {
            self.push(property, value);
        }
    }

    /// The members of an object, after its brace.
    fn object(&mut self) {
        loop {
            self.space();
            let key = match self.byte() {
                None => return,
                Some(b'}') => {
                    self.at += 1;
                    return;
                }
                Some(b',') => {
                    self.at += 1;
                    continue;
                }
                Some(b'"' | b'\'') => self.string(),
                Some(byte) if is_word(byte) => Some(self.word()),
                Some(_) => None,
            };
            self.space();
            if let (Some(key), Some(b':')) = (key, self.byte()) {
                self.at += 1;
                self.space();
                if matches!(self.byte(), Some(b'"' | b'\''))
                    && let Some(value) = self.string()
                {
                    self.space();
                    if matches!(self.byte(), Some(b',' | b'}')) {
                        self.push(key, value);
                        continue;
                    }
                }
            }
            self.member();
        }
    }

    /// Passes over the rest of a member, up to its comma or the object's brace.
    fn member(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.byte() {
            if self.comment() {
                continue;
            }
            match byte {
                b',' | b'}' if depth == 0 => return,
                b'"' | b'\'' => {
                    self.string();
                    continue;
                }
                b'`' => {
                    self.template(0);
                    continue;
                }
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn push(&mut self, property: Range<usize>, value: Range<usize>) {
        let property = self.text.get(property).unwrap_or_default();
        let written = self.text.get(value.clone()).unwrap_or_default();
        // Custom properties are defined, and what has escapes is not what it says.
        if property.is_empty() || property.starts_with("--") || written.contains('\\') {
            return;
        }
        let mut name = String::with_capacity(property.len() + 4);
        for c in property.chars() {
            if c.is_ascii_uppercase() {
                name.push('-');
            }
            name.push(c.to_ascii_lowercase());
        }
        self.found.push((name, value));
    }
}

/// Whether a slash after this begins a regular expression.
fn begins_expression(before: Option<u8>, text: &[u8]) -> bool {
    match before {
        None => true,
        Some(
            b'(' | b',' | b'=' | b':' | b'[' | b'!' | b'&' | b'|' | b'?' | b'{' | b'}' | b';' | b'+' | b'*'
            | b'%',
        ) => true,
        Some(b'>') => text.trim_ascii_end().ends_with(b"=>"),
        Some(byte) if is_word(byte) => {
            let text = text.trim_ascii_end();
            [b"return".as_slice(), b"typeof", b"case"].iter().any(|word| text.ends_with(word))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        styles(text).into_iter().map(|(name, range)| format!("{name}={}", &text[range])).collect()
    }

    #[test]
    fn strings_of_style_objects_and_assignments_are_found() {
        let text = "const A = () => <b style={{ color: '#f00', padding: 4, 'backgroundColor': \"red\", ...rest, [k]: '1px',
            margin: on ? '2px' : '3px', // top: '1px'
            WebkitBoxShadow: 'none', '--x': 'red', nested: { left: '1px' }, last: `5px` }}>{/* it's */}don't</b>;
            node.style.borderTopColor = 'blue'; node.style.left = '1px' + x; if (a.style.top == '0') {}";
        assert_eq!(
            found(text),
            [
                "color=#f00",
                "backgroundColor=red".replace('C', "-c").as_str(),
                "-webkit-box-shadow=none",
                "border-top-color=blue"
            ]
        );
    }

    #[test]
    fn what_only_looks_like_a_style_is_none() {
        for text in [
            "// <b style={{ color: 'red' }}>",
            "/* style={{ color: 'red' }} */",
            "const a = \"style={{ color: 'red' }}\";",
            "const a = `style={{ color: 'red' }} ${b(`style={{ color: 'red' }}`)}`;",
            "const a = /style={{ color: 'red' }}/;",
            "const style = { color: 'red' };",
            "const mystyle={{ color: 'red' }}",
            "import { View } from 'react-native'; <View style={{ color: 'red' }} />",
            "x.style.setProperty('color', 'red')",
            "x.style.color += 'red'",
            "<b style={{ color: 'r\\u0065d' }}>",
            "<b style={{ color: 'red'.x }}>",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
        assert_eq!(found("<p>it's</p>\n</b><i style={{color:'red'}}></i>"), ["color=red"]);
    }

    #[test]
    fn scripts_without_end_end() {
        for text in [
            "style={{".repeat(50_000),
            "`${".repeat(100_000),
            "'\\".repeat(100_000),
            "/[".repeat(100_000),
            "/".repeat(100_000),
        ] {
            styles(&text);
        }
    }
}
