//! Loops inside loops. By braces, or by indentation in Python; one hit for each outermost loop, at the first loop
//! inside it. Callbacks (`forEach`) and comprehensions are not counted.

use super::pieces::{Kind, Piece};
use crate::pattern::Language;

pub(super) fn find(text: &str, pieces: &[Piece], language: Option<Language>) -> Vec<usize> {
    match language {
        None => Vec::new(),
        Some(Language::Python) => by_indentation(text, pieces),
        Some(language) => by_braces(text, pieces, language),
    }
}

fn by_indentation(text: &str, pieces: &[Piece]) -> Vec<usize> {
    let mut hits = Vec::new();
    // The indentation of each open loop, and whether the outermost has its hit.
    let (mut open, mut reported): (Vec<usize>, bool) = (Vec::new(), false);
    let mut start = 0;
    let mut piece = pieces.iter().peekable();
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let code = line.trim_start_matches([' ', '\t']);
        let indentation = line.len() - code.len();
        while piece.peek().is_some_and(|piece| piece.range.end <= at + indentation) {
            piece.next();
        }
        let is_code = piece.peek().is_some_and(|piece| piece.kind == Kind::Code);
        if code.trim().is_empty() || !is_code {
            continue;
        }
        open.retain(|&outer| outer < indentation);
        if open.is_empty() {
            reported = false;
        }
        let code = code.strip_prefix("async ").unwrap_or(code);
        if code.starts_with("for ") || code.starts_with("while ") || code.starts_with("while(") {
            if !open.is_empty() && !reported {
                hits.push(at + indentation);
                reported = true;
            }
            open.push(indentation);
        }
    }
    hits
}

#[derive(Default)]
struct Braces {
    /// For each open brace, how many loops its block belongs to.
    blocks: Vec<usize>,
    /// Loops whose body has not begun.
    pending: usize,
    /// Sum over `blocks`.
    inside: usize,
    parentheses: usize,
    /// The depth of parentheses at which the pending loops began.
    base: usize,
    reported: bool,
}

fn by_braces(text: &str, pieces: &[Piece], language: Language) -> Vec<usize> {
    let statements = !matches!(language, Language::Go | Language::Rust);
    let mut hits = Vec::new();
    let mut state = Braces::default();
    for piece in pieces.iter().filter(|piece| piece.kind == Kind::Code) {
        let code = text.get(piece.range.clone()).unwrap_or_default();
        let bytes = code.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'{' if state.parentheses <= state.base || state.pending == 0 => state.open(),
                b'{' => state.blocks.push(0),
                b'}' => state.close(),
                b'(' | b'[' => state.parentheses += 1,
                b')' | b']' => state.parentheses = state.parentheses.saturating_sub(1),
                b';' if statements && state.parentheses <= state.base => state.end(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => {
                    let length = bytes
                        .get(at..)
                        .unwrap_or_default()
                        .iter()
                        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'))
                        .count();
                    let member = at > 0 && bytes.get(at - 1) == Some(&b'.');
                    let word = code.get(at..at + length).unwrap_or_default();
                    let rest = code.get(at + length..).unwrap_or_default();
                    if !member && is_loop(word, rest, language) && state.begin() {
                        hits.push(piece.range.start + at);
                    }
                    at += length;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }
    hits
}

/// How far the head of a Rust `for` is looked through for its `in`.
const HEAD: usize = 160;

fn is_loop(word: &str, rest: &str, language: Language) -> bool {
    match (word, language) {
        // `impl Trait for Type` and `for<'a>` are no loops.
        ("for", Language::Rust) => {
            let head = rest.get(..rest.floor_char_boundary(HEAD)).unwrap_or_default();
            let head = head.split(['{', ';']).next().unwrap_or_default();
            !rest.trim_start().starts_with('<') && head.contains(" in ")
        }
        ("loop", Language::Rust) => rest.trim_start().starts_with('{'),
        ("for", _) => !rest.trim_start().starts_with([':', ',', '=', ')']),
        ("while", language) => language != Language::Go,
        ("do", Language::Javascript | Language::Typescript | Language::Java | Language::Cpp) => {
            rest.trim_start().starts_with('{')
        }
        _ => false,
    }
}

impl Braces {
    /// A loop begins; whether that is the first inside another.
    fn begin(&mut self) -> bool {
        let nested = self.inside + self.pending > 0;
        if self.pending == 0 {
            self.base = self.parentheses;
        }
        self.pending += 1;
        let hit = nested && !self.reported;
        self.reported |= nested;
        hit
    }

    fn open(&mut self) {
        self.blocks.push(self.pending);
        self.inside += self.pending;
        self.pending = 0;
    }

    fn close(&mut self) {
        self.inside -= self.blocks.pop().unwrap_or_default().min(self.inside);
        self.end();
    }

    /// A statement ends, and with it loops that have no block.
    fn end(&mut self) {
        self.pending = 0;
        if self.inside == 0 {
            self.reported = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Language, analyze_source};

    fn lines(text: &str, language: Language) -> Vec<usize> {
        analyze_source(text, Some(language)).matches.iter().map(|found| found.line).collect()
    }

    #[test]
    fn a_loop_in_a_loop_is_found_in_every_language() {
        assert_eq!(lines("for i := 0; i < n; i++ {\n\tfor range b {\n\t}\n}\n", Language::Go), [2]);
        assert_eq!(lines("for a in b {\n  while c {\n    loop {\n}}}\n", Language::Rust), [2]);
        assert_eq!(lines("for (const a of b)\n  for (;;) f();\n", Language::Javascript), [2]);
        assert_eq!(lines("do {\n  while (x) {}\n} while (y);\n", Language::Java), [2]);
        assert_eq!(
            lines("for a in b:\n    x = 1\n    while c:\n        for d in e: pass\n", Language::Python),
            [3]
        );
    }

    #[test]
    fn loops_one_after_the_other_and_words_are_no_nest() {
        for (text, language) in [
            ("for i := range a {\n}\nfor j := range b {\n}\n", Language::Go),
            (
                "impl A for B { fn f() { for x in y {} } fn g<F: for<'a> Fn(&'a u8)>() { loop {} } }",
                Language::Rust,
            ),
            ("for (;;) f();\nfor (;;) g();\n", Language::Cpp),
            ("do { f(); } while (x);\nwhile (y) { // for (;;)\n s = \"for (;;) {\"; }\n", Language::Java),
            ("for (const a of b) { x.for; y = { for: 1 } }", Language::Typescript),
            ("for a in b:\n    pass\nfor c in d:\n    x = '''\n    for e in f:\n'''\n", Language::Python),
        ] {
            assert_eq!(lines(text, language), [0; 0], "{text}");
        }
    }
}
