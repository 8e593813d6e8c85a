//! Any text at all.

use gatewright_skills::{Dialect, strip};
use proptest::prelude::*;

/// Pieces that meet in ways nobody writes.
const PIECES: &[&str] = &[
    "type A = 1",
    "interface B {}",
    "let a: b",
    "const c",
    " = ",
    "x as T",
    "y!",
    "<T>",
    "(d: e)",
    ": f",
    " => ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "class G",
    " extends H<I>",
    " implements J",
    "private k",
    "readonly",
    " static",
    "get l()",
    "abstract",
    "declare ",
    "export ",
    "default ",
    "import type M from 'n'",
    "import { type O, p } from './q'",
    "enum R {}",
    "namespace S {",
    "?",
    "!",
    ";",
    "\n",
    "\n",
    ",",
    "/*\n*/",
    "// t\n",
    "/u/",
    "`v${",
    "}`",
    "'w'",
    "async ",
    "function ",
    "*",
    "return ",
    "satisfies X",
    "@y",
    "é",
    "\u{1f600}",
    "\u{2028}",
    "0",
    "x",
    "this: Z",
    "<",
    ">",
    ".",
    "?.",
];

fn holds(text: &str) -> Result<(), TestCaseError> {
    let Ok(stripped) = strip("a.ts", text) else { return Ok(()) };
    prop_assert_eq!(stripped.text.len(), text.len());
    let ends = |text: &str| {
        text.char_indices()
            .filter(|(_, c)| matches!(c, '\n' | '\r' | '\u{2028}'))
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    };
    prop_assert_eq!(ends(&stripped.text), ends(text));
    // It is JavaScript: reading it as such takes nothing more out.
    let again = strip("a.js", &stripped.text);
    prop_assert_eq!(again.map(|again| again.text), Ok(stripped.text.clone()));
    // And taking the types out of what has none changes nothing, where `a < b > c` is not read in two ways.
    let twice = strip("a.ts", &stripped.text);
    if let (Ok(twice), false) = (twice, stripped.text.contains('<')) {
        prop_assert_eq!(twice.text, stripped.text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_javascript_afterwards_or_refused(text in "\\PC{0,80}") {
        holds(&text)?;
    }

    #[test]
    fn any_pieces_are_javascript_afterwards_or_refused(pieces in proptest::collection::vec(0..PIECES.len(), 0..12)) {
        let text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        holds(&text)?;
    }

    #[test]
    fn statements_in_any_order_stay_apart(kinds in proptest::collection::vec(0..STATEMENTS.len(), 1..8)) {
        let text = kinds.iter().map(|kind| STATEMENTS[*kind]).collect::<Vec<_>>().join("\n");
        holds(&text)?;
        stays(&text)?;
    }

    #[test]
    fn members_in_any_order_stay_apart(kinds in proptest::collection::vec(0..MEMBERS.len(), 1..8)) {
        let members = kinds.iter().map(|kind| MEMBERS[*kind]).collect::<Vec<_>>().join("\n");
        let text = format!("abstract class A {{\n{members}\n}}");
        holds(&text)?;
        stays(&text)?;
    }
}

/// Statements without semicolons.
const STATEMENTS: [&str; 18] = [
    "a",
    "type A = 1",
    "(b)",
    "[c]",
    "`d`",
    "let e: F",
    "g as H",
    "interface I {}",
    "+j",
    "/k/.l",
    "declare let m",
    "n!",
    "<O>p",
    "<Q>(r: S) => t",
    "const u = v satisfies W",
    "function x(): void",
    "const y = <Z,>(a: B): C => d",
    "e = f<G>",
];

/// Members without semicolons.
const MEMBERS: [&str; 20] = [
    "a",
    "b = c",
    "private d",
    "declare e: 1",
    "[f] = 1",
    "public [g]: h",
    "*i() {}",
    "get: any",
    "static: any",
    "private *j() {}",
    "[k: string]: any",
    "l(): void",
    "m() {}",
    "readonly in: 1",
    "async: any",
    "get n() { return 1 }",
    "static o = p as Q",
    "set?: 1",
    "abstract r: 1",
    "protected static async *s<T>(this: U) {}",
];

/// What the parser reads is not refused because spaces would join it.
fn stays(text: &str) -> Result<(), TestCaseError> {
    if let Err(refusal) = strip("a.ts", text) {
        prop_assert!(!refusal.message.contains("something else"), "{}\n{}", text, refusal);
    }
    Ok(())
}

#[test]
fn names_tell_what_a_file_is_written_in() {
    assert_eq!(Dialect::of("a/b.ts"), Some(Dialect::TypeScript));
    assert_eq!(Dialect::of("a.test.mts"), Some(Dialect::TypeScript));
    assert_eq!(Dialect::of("a.js"), Some(Dialect::JavaScript));
    assert_eq!(Dialect::of("a.d.ts"), None);
}
