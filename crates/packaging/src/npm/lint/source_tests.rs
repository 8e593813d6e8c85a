use super::*;

fn format(text: &str) -> Option<Format> {
    Source::read(text.as_bytes()).format
}

#[test]
fn every_expression_compiles() {
    for pattern in [&ESM, &CJS, &MARKED, &DEFAULT, &FLOW, &ENV] {
        assert!(pattern.is_some());
    }
}

#[test]
fn a_token_counts_after_a_space_a_semicolon_or_at_the_beginning() {
    for (text, expected) in [
        ("import a from 'a'", Some(Format::Esm)),
        ("\u{FEFF}import'a'", Some(Format::Esm)),
        (";export{a}", Some(Format::Esm)),
        ("a\rexport default 1", Some(Format::Esm)),
        ("a\u{2028}import.meta", Some(Format::Esm)),
        ("f(import.meta.url)", None),
        ("import.metadata", None),
        ("import('x')", None),
        ("export class A {}", None),
        ("exported = 1", None),
        ("\u{85}export default 1", None),
        ("module.exports = 1", Some(Format::Cjs)),
        (" module/exports", Some(Format::Cjs)),
        ("module\nexports", None),
        ("exports.a = 1", Some(Format::Cjs)),
        ("a=require('x')", None),
        ("a = require ('x')", Some(Format::Cjs)),
        ("Object.assign ( exports, {})", Some(Format::Cjs)),
        ("Object.assign(exportsA)", None),
        ("export default 1; module.exports = 1", None),
        ("", None),
    ] {
        assert_eq!(format(text), expected, "{text:?}");
    }
}

#[test]
fn comments_are_taken_out_of_strings_too() {
    assert_eq!(without_comments("a /* b */ c // d\ne"), "a  c \ne");
    assert_eq!(without_comments("'http://x'; y\rz"), "'http:\rz");
    assert_eq!(without_comments("/*/ a */b/**/c/* d"), "bc/* d");
    // Two halves that a block kept apart.
    assert_eq!(without_comments("a /".to_owned().as_str()), "a /");
    assert_eq!(without_comments("a //**// b"), "a ");
}

#[test]
fn a_block_does_not_reach_over_a_line_separator() {
    assert_eq!(without_blocks("/* a \u{2028} b */ c"), "/* a \u{2028} b */ c");
    assert_eq!(without_blocks("/* a \u{2028} /* b */ c"), "/* a \u{2028}  c");
}

#[test]
fn a_default_is_seen_when_its_value_is_long_enough() {
    let marked = |rest: &str| {
        let text = format!("exports.__esModule = true;\n{rest}\n");
        Source::read(text.as_bytes()).marked_default
    };
    for (rest, expected) in [
        ("exports.default = foo123456;", true),
        ("exports['default'] =\n  function_;", true),
        ("exports[\"default\"]=foo1234 ", true),
        ("exports.default = foo1234", false),
        ("exports.default = foo123", false),
        ("exports.default = foo;", false),
        ("exports.default = void 0;", false),
        ("exports.default = exports;", false),
        ("exports.default = exports ;", false),
        ("exports.default = exports;;", false),
        ("exports.default = exportsA", true),
        ("exports.default = {a:12345}", false),
        ("exports.default = '😀😀😀';", true),
        ("exports.default = foo; exports.default = something;", true),
        ("exports.default = exports.default = 1", true),
    ] {
        assert_eq!(marked(rest), expected, "{rest:?}");
    }
    assert!(!Source::read(b"exports.default = something;").marked_default);
}

#[test]
fn flow_is_announced_in_a_comment_at_the_beginning_of_a_line() {
    for (text, expected) in [
        ("// @flow", true),
        ("a\n /** @flow */", true),
        ("a\r* @flow", true),
        ("/**\n * x\n * @flow strict\n */", true),
        ("a // @flow", false),
        ("@flow", false),
    ] {
        assert_eq!(Source::read(text.as_bytes()).flow, expected, "{text:?}");
    }
}

#[test]
fn a_program_is_started_by_env_and_nothing_else() {
    for (text, expected) in [
        ("#!/usr/bin/env node", true),
        ("#! \t/usr/bin/env -S node", true),
        ("#!/usr/bin/node", false),
        ("\n#!/usr/bin/env node", false),
        ("\u{FEFF}#!/usr/bin/env node", false),
    ] {
        assert_eq!(starts_by_env(text.as_bytes()), expected, "{text:?}");
    }
}

#[test]
fn long_lines_and_open_comments_take_no_longer_than_they_are() {
    let started = std::time::Instant::now();
    for unit in [
        "/*",
        "/*\u{2028}",
        "import a,",
        "exports.default=",
        "exports.default = ",
        "//",
        "* @",
        "/*\u{2028}*/",
    ] {
        let _ = Source::read(unit.repeat(1 << 20).as_bytes());
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
