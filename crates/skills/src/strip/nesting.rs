//! How deep a source nests, found without recursion and before it is parsed.
//!
//! The parser descends once per nested construct and has no bound of its own. This looks at tokens as a highlighter would:
//! people are told in words what nests too deep. A text made to deceive it (a slash taken for a division that starts a
//! regular expression) ends the process that parses it and nothing else, which its parent reports.

use super::Refusal;

/// Brackets within brackets. Sources that people write stay below 30; generated ones below 100.
const MAX_DEPTH: usize = 250;

/// Tokens, over all open brackets, that may each nest into the one before: `!!!!a`, `a ? b : c ? d : e`, `a + b + c`.
const MAX_CHAIN: usize = 10_000;

/// Words that an operand follows, so that a slash behind them starts a regular expression.
const BEFORE_OPERANDS: [&str; 13] = [
    "return",
    "typeof",
    "case",
    "do",
    "else",
    "in",
    "of",
    "instanceof",
    "new",
    "void",
    "delete",
    "throw",
    "await",
];

struct Level {
    /// Whether a template goes on behind the bracket that closes it.
    template: bool,
    chain: usize,
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    levels: Vec<Level>,
    chain: usize,
    /// Whether the token before ends an operand.
    operand: bool,
}

pub(super) fn check(text: &str) -> Result<(), Refusal> {
    let mut scanner =
        Scanner { text, at: 0, levels: vec![Level { template: false, chain: 0 }], chain: 0, operand: false };
    while let Some(byte) = scanner.byte(0) {
        scanner.step(byte);
        if scanner.levels.len() > MAX_DEPTH || scanner.chain > MAX_CHAIN {
            let message = "this nests too deep: split it into functions or statements of its own";
            return Err(Refusal::at(text, scanner.at, message));
        }
    }
    Ok(())
}

impl Scanner<'_> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn skip_to(&mut self, end: &str) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let found = rest.windows(end.len()).position(|part| part == end.as_bytes());
        self.at = found.map_or(self.text.len(), |found| self.at + found + end.len());
    }

    fn step(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
            b'/' if self.byte(1) == Some(b'/') => self.skip_to("\n"),
            b'/' if self.byte(1) == Some(b'*') => {
                self.at += 2;
                self.skip_to("*/");
            }
            _ => {
                self.count(byte);
                self.token(byte);
            }
        }
    }

    fn count(&mut self, byte: u8) {
        let Some(level) = self.levels.last_mut() else { return };
        if matches!(byte, b';' | b',' | b'}') {
            self.chain = self.chain.saturating_sub(level.chain);
            level.chain = 0;
        } else {
            level.chain += 1;
            self.chain += 1;
        }
    }

    fn token(&mut self, byte: u8) {
        match byte {
            b'"' | b'\'' => self.string(byte),
            b'`' => self.template(),
            b'(' | b'[' | b'{' => {
                self.levels.push(Level { template: false, chain: 0 });
                self.at += 1;
                self.operand = false;
            }
            b')' | b']' | b'}' => {
                self.at += 1;
                self.operand = byte != b'}';
                if self.levels.len() > 1
                    && let Some(level) = self.levels.pop()
                {
                    self.chain = self.chain.saturating_sub(level.chain);
                    if level.template {
                        self.at -= 1;
                        self.template();
                    }
                }
            }
            b'/' if !self.operand => self.regex(),
            _ if is_word(byte) => {
                let start = self.at;
                while self.byte(0).is_some_and(is_word) {
                    self.at += 1;
                }
                let word = self.text.get(start..self.at).unwrap_or_default();
                self.operand = !BEFORE_OPERANDS.contains(&word);
            }
            _ => {
                self.at += 1;
                self.operand = false;
            }
        }
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == quote || byte == b'\n' {
                break;
            }
        }
        self.operand = true;
    }

    /// From a template's start, or from the brace behind which it goes on.
    fn template(&mut self) {
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            if byte == b'$' && self.byte(1) == Some(b'{') {
                self.at += 2;
                self.levels.push(Level { template: true, chain: 0 });
                self.operand = false;
                return;
            }
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'`' {
                break;
            }
        }
        self.operand = true;
    }

    fn regex(&mut self) {
        let mut class = false;
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            match byte {
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => break,
                b'\n' => break,
                _ => {}
            }
        }
        self.operand = true;
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'@') || byte >= 0x80
}
