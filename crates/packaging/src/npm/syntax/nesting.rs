//! How deep a source nests, found without recursion.
//!
//! The parser descends once per nested construct and has no bound of its own: a file of a few hundred kilobytes made of
//! opening brackets would end the process. So a source is looked at first, token by token, and what nests deeper than
//! the stack that is given to the parser allows is not parsed. Where it cannot be told whether a slash divides or starts
//! a regular expression, and the two readings differ in brackets or quotes, the source is refused as well: a guess could
//! be made to hide brackets.

use super::Unreadable;

/// Brackets within brackets.
const MAX_DEPTH: usize = 400;
/// Tokens in a row, over all open brackets, that may each nest into the one before.
const MAX_CHAIN: usize = 20_000;
/// Conditions (`?`) or angle brackets in a row within one pair of brackets: the parser reads such more than once.
const MAX_REREAD: usize = 2_000;
/// Opening brackets without their closing ones in strings, comments and regular expressions, over the file. So many
/// would be needed for harm should this scanner ever take code for one of those.
const MAX_HIDDEN: usize = 20_000;

/// What stands before a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// An operator or the start: an operand follows, so that a slash starts a regular expression.
    Operator,
    /// The end of an operand: a slash divides.
    Operand,
    /// Either.
    Unsure,
}

/// One pair of brackets that is open.
struct Level {
    close: u8,
    /// Whether it follows `if`, `while`, `for` or `with`, so that a statement comes after it.
    head: bool,
    chain: usize,
    conditions: usize,
    angles: usize,
    /// The token before, when a statement may have ended with it: `;` or `}`, else 0.
    ended: u8,
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    typescript: bool,
    levels: Vec<Level>,
    before: Before,
    /// Whether the last token was one of the keywords that a statement in parentheses follows.
    keyword_head: bool,
    after_dot: bool,
    /// Whether a line ended since the last token.
    new_line: bool,
    chain: usize,
    hidden: usize,
}

/// Whether a source can be parsed without running out of stack.
pub(super) fn check(text: &str, typescript: bool) -> Result<(), Unreadable> {
    let mut scanner = Scanner {
        text,
        bytes: text.as_bytes(),
        at: 0,
        typescript,
        levels: Vec::new(),
        before: Before::Operator,
        keyword_head: false,
        after_dot: false,
        new_line: false,
        chain: 0,
        hidden: 0,
    };
    scanner.open(0);
    if text.starts_with("#!") {
        scanner.line();
    }
    while let Some(byte) = scanner.peek(0) {
        scanner.token(byte)?;
    }
    if scanner.levels.len() == 1 { Ok(()) } else { Err(Unreadable::Unclear) }
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn starts(&self, text: &str) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    fn open(&mut self, close: u8) {
        let head = self.keyword_head;
        self.levels.push(Level { close, head, chain: 0, conditions: 0, angles: 0, ended: 0 });
        self.at += usize::from(close != 0);
    }

    fn token(&mut self, byte: u8) -> Result<(), Unreadable> {
        let blank = self.blank();
        if blank > 0 {
            self.new_line |= matches!(byte, b'\n' | b'\r') || blank > 1;
            self.at += blank;
            return Ok(());
        }
        match byte {
            b'/' if self.peek(1) == Some(b'/') => {
                self.line();
                return Ok(());
            }
            b'/' if self.peek(1) == Some(b'*') => return self.block(),
            // A script may have comments as HTML has them, and a module may not: no such file is worth the doubt.
            b'<' if self.starts("<!--") => return Err(Unreadable::Unclear),
            b'-' if self.starts("-->") && !self.after_operand() => return Err(Unreadable::Unclear),
            _ => {}
        }
        let word = is_word(byte) || byte == b'\\' || byte == b'#';
        let start = self.at;
        match byte {
            _ if word && !byte.is_ascii_digit() => self.word(),
            _ if byte.is_ascii_digit() => self.number(),
            b'"' | b'\'' => self.string(byte)?,
            b'`' => {
                self.at += 1;
                self.template()?;
            }
            b'(' | b'[' | b'{' => self.bracket(byte)?,
            b')' | b']' | b'}' => self.close(byte)?,
            b'/' => self.slash()?,
            _ => self.operator(byte),
        }
        if !(word && self.peek_word(start, "if|while|for|with|await")) {
            self.keyword_head = false;
        }
        let spread = start > 0 && self.bytes.get(start - 1) == Some(&b'.');
        self.after_dot = byte == b'.' && !spread;
        self.new_line = false;
        self.count(start, byte)
    }

    /// Counts a token into its chain, and cuts the chain where a statement or an element ends.
    fn count(&mut self, start: usize, byte: u8) -> Result<(), Unreadable> {
        let goes_on = self
            .peek_word(start, "else|while|catch|finally|in|of|as|instanceof|satisfies|extends|implements");
        let optional = byte == b'?' && matches!(self.peek(0), Some(b':' | b')' | b','));
        let Some(level) = self.levels.last_mut() else { return Err(Unreadable::Unclear) };
        // What follows a closing brace and is no word may belong to the same expression.
        let starts = level.ended == b';' || (level.ended == b'}' && (is_word(byte) || byte == b'@'));
        if starts && !goes_on {
            self.chain -= level.chain;
            (level.chain, level.conditions) = (0, 0);
        }
        level.ended = 0;
        level.chain += 1;
        self.chain += 1;
        match byte {
            b',' => {
                self.chain -= level.chain;
                (level.chain, level.conditions) = (0, 0);
            }
            b';' => (level.ended, level.angles) = (byte, 0),
            b'}' => level.ended = byte,
            b'?' if !optional => level.conditions += 1,
            b'<' if self.typescript => level.angles += 1,
            b'>' if self.typescript => level.angles = level.angles.saturating_sub(1),
            _ => {}
        }
        let reread = level.conditions.max(level.angles);
        if self.levels.len() > MAX_DEPTH || self.chain > MAX_CHAIN || reread > MAX_REREAD {
            return Err(Unreadable::Deep);
        }
        if self.hidden > MAX_HIDDEN { Err(Unreadable::Unclear) } else { Ok(()) }
    }

    fn peek_word(&self, start: usize, words: &str) -> bool {
        let text = self.bytes.get(start..self.at).unwrap_or_default();
        words.split('|').any(|word| word.as_bytes() == text)
    }

    fn word(&mut self) {
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            if self.starts("\\u{") {
                // An escape has braces of its own: `\u{61}`.
                self.at += 3;
                while self.peek(0).is_some_and(|byte| byte.is_ascii_hexdigit()) {
                    self.at += 1;
                }
                self.at += usize::from(self.peek(0) == Some(b'}'));
            } else if self.blank() == 0 && (is_word(byte) || matches!(byte, b'#' | b'\\')) {
                self.at += 1;
                while self.peek(0).is_some_and(|byte| byte & 0xc0 == 0x80) {
                    self.at += 1;
                }
            } else {
                break;
            }
        }
        self.at = self.at.max(start + 1);
        let sure = "return|typeof|case|do|else|in|instanceof|new|void|delete|throw|extends|default|break|continue|debugger";
        let unsure =
            "await|yield|of|let|async|static|type|as|satisfies|is|keyof|infer|export|import|declare|get|set";
        self.before = if self.after_dot {
            Before::Operand
        } else if self.peek_word(start, sure) {
            Before::Operator
        } else if self.peek_word(start, unsure) {
            Before::Unsure
        } else {
            Before::Operand
        };
        let head = self.peek_word(start, "if|while|for|with")
            || (self.keyword_head && self.peek_word(start, "await"));
        self.keyword_head = head && !self.after_dot;
    }

    fn number(&mut self) {
        while let Some(byte) = self.peek(0) {
            if !is_word(byte) && byte != b'.' {
                break;
            }
            self.at += 1;
        }
        self.before = Before::Operand;
    }

    fn operator(&mut self, byte: u8) {
        self.at += 1;
        if matches!(byte, b'+' | b'-') && self.peek(0) == Some(byte) {
            // `a++ / b`: what `++` stands before cannot be a regular expression.
            self.at += 1;
            self.before = Before::Operand;
        } else if self.typescript
            && ((byte == b'!' && self.before != Before::Operator && self.peek(0) != Some(b'='))
                || (byte == b'>' && self.at > 1 && self.bytes.get(self.at - 2) != Some(&b'=')))
        {
            // `a! / b` and `a<b> / c`, which only TypeScript has.
            self.before = Before::Unsure;
        } else {
            self.before = Before::Operator;
        }
    }

    fn bracket(&mut self, byte: u8) -> Result<(), Unreadable> {
        self.open(match byte {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        });
        self.before = Before::Operator;
        if self.levels.len() > MAX_DEPTH { Err(Unreadable::Deep) } else { Ok(()) }
    }

    fn close(&mut self, byte: u8) -> Result<(), Unreadable> {
        let level =
            self.levels.pop().filter(|level| level.close == byte || (level.close == b'`' && byte == b'}'));
        let level = level.ok_or(Unreadable::Unclear)?;
        self.chain -= level.chain;
        self.at += 1;
        if level.close == b'`' {
            return self.template();
        }
        self.before = match byte {
            b')' if level.head => Before::Operator,
            b'}' => Before::Unsure,
            _ => Before::Operand,
        };
        Ok(())
    }

    fn slash(&mut self) -> Result<(), Unreadable> {
        let end = self.regex_end();
        // A statement may end with its line, so that an operand is no sign.
        let unsure = self.new_line && self.before == Before::Operand;
        let divides = match (if unsure { Before::Unsure } else { self.before }, end) {
            (Before::Operand, _) | (Before::Unsure, None) => true,
            (Before::Operator, None) => return Err(Unreadable::Unclear),
            (Before::Operator, Some(_)) => false,
            (Before::Unsure, Some(end)) => {
                let inner = self.bytes.get(self.at + 1..end).unwrap_or_default();
                if inner.iter().any(|byte| b"\"'`()[]{}/".contains(byte)) {
                    return Err(Unreadable::Unclear);
                }
                false
            }
        };
        match end {
            Some(end) if !divides => {
                self.hide(self.at, end);
                self.at = end + 1;
                while self.peek(0).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
                    self.at += 1;
                }
                self.before = Before::Operand;
            }
            _ => {
                self.at += 1;
                self.before = Before::Operator;
            }
        }
        Ok(())
    }

    /// Where a regular expression that starts here would end: at the slash that is neither escaped nor in a class.
    fn regex_end(&self) -> Option<usize> {
        let mut class = false;
        let mut at = self.at + 1;
        loop {
            match self.bytes.get(at)? {
                b'\n' | b'\r' => return None,
                0xe2 if self.separator(at) => return None,
                b'\\' => at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => return Some(at),
                _ => {}
            }
            at += 1;
        }
    }

    fn string(&mut self, quote: u8) -> Result<(), Unreadable> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0).ok_or(Unreadable::Unclear)? {
                b'\\' => self.at += if self.starts("\\\r\n") { 3 } else { 2 },
                b'\n' | b'\r' => return Err(Unreadable::Unclear),
                byte => {
                    self.at += 1;
                    if byte == quote {
                        break;
                    }
                }
            }
        }
        self.hide(start, self.at);
        self.before = Before::Operand;
        Ok(())
    }

    /// A template from behind its start, or behind a part of it, up to its end or the next part.
    fn template(&mut self) -> Result<(), Unreadable> {
        let start = self.at;
        loop {
            match self.peek(0).ok_or(Unreadable::Unclear)? {
                b'\\' => self.at += 2,
                b'`' => {
                    self.hide(start, self.at);
                    self.at += 1;
                    self.before = Before::Operand;
                    return Ok(());
                }
                b'$' if self.peek(1) == Some(b'{') => {
                    self.hide(start, self.at);
                    self.at += 1;
                    self.open(b'`');
                    self.before = Before::Operator;
                    return if self.levels.len() > MAX_DEPTH { Err(Unreadable::Deep) } else { Ok(()) };
                }
                _ => self.at += 1,
            }
        }
    }

    fn line(&mut self) {
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            if matches!(byte, b'\n' | b'\r') || self.separator(self.at) {
                break;
            }
            self.at += 1;
        }
        self.hide(start, self.at);
    }

    fn block(&mut self) -> Result<(), Unreadable> {
        let start = self.at;
        self.at += 2;
        while !self.starts("*/") {
            if self.peek(0).is_none() {
                return Err(Unreadable::Unclear);
            }
            self.at += 1;
        }
        self.at += 2;
        let skipped = self.bytes.get(start..self.at).unwrap_or_default();
        self.new_line |= skipped.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0xe2));
        self.hide(start, self.at);
        Ok(())
    }

    /// Whether `-->` stands behind something on its line: `x --> 0`. At the start of one it opens a comment.
    fn after_operand(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or_default();
        let last = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        last.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_$)]".contains(byte))
    }

    /// Bytes of the white space that starts here; more than one are a separator of lines or of words.
    fn blank(&self) -> usize {
        match self.peek(0) {
            Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => 1,
            Some(0x80..) => {
                let next = self.text.get(self.at..).and_then(|rest| rest.chars().next());
                next.filter(|c| c.is_whitespace() || *c == '\u{feff}').map_or(0, char::len_utf8)
            }
            _ => 0,
        }
    }

    /// Whether U+2028 or U+2029 is at a place.
    fn separator(&self, at: usize) -> bool {
        matches!(self.bytes.get(at..at + 3), Some([0xe2, 0x80, 0xa8 | 0xa9]))
    }

    /// Counts the brackets that are skipped and not closed again.
    fn hide(&mut self, start: usize, end: usize) {
        let skipped = self.bytes.get(start..end).unwrap_or_default();
        let opened = skipped.iter().filter(|byte| b"([{".contains(byte)).count();
        let closed = skipped.iter().filter(|byte| b")]}".contains(byte)).count();
        self.hidden += opened.saturating_sub(closed);
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
