//! Errors name the place in the file that the author wrote.

use gatewright_skills::{Frame, Kind};
use serde_json::Value;

use crate::support::{failure, many, within};

fn frame(function: &str, file: &str, line: u32, column: u32) -> Frame {
    Frame { function: function.to_owned(), file: file.to_owned(), line, column }
}

#[test]
fn an_error_has_name_message_and_the_place_in_the_file_as_written() {
    let text = "interface Rows<T> {\n  rows: T[];\n}\nexport function execute(input: Rows<string>): number {\n  const first: string = input!.rows[0] as string;\n  return first.length;\n}\n";
    let failure = failure(text);
    assert_eq!(failure.kind, Kind::Thrown);
    assert_eq!(failure.name, "TypeError");
    assert!(failure.message.contains("rows"), "{failure}");
    assert_eq!(failure.frames, [frame("execute", "skill-name.ts", 5, 25)]);
}

#[test]
fn what_was_thrown_deeper_is_named_by_its_own_file() {
    let run = many(
        &[
            (
                "skill-name.ts",
                "import { check } from './check';\nexport default async function run(input: unknown): Promise<void> {\n  await null; check(input);\n}",
            ),
            (
                "check.ts",
                "type A = string;\nexport const check = (a: unknown): a is A => { throw new RangeError('boom'); };",
            ),
        ],
        Value::Null,
    );
    let failure = within(run).0.result.unwrap_err();
    assert_eq!(failure.to_string(), "RangeError: boom");
    assert_eq!(failure.frames.first(), Some(&frame("check", "check.ts", 2, 58)));
    assert_eq!(failure.frames.get(1), Some(&frame("run", "skill-name.ts", 3, 21)));
    assert_eq!(failure.frames.len(), 2);
}

#[test]
fn what_is_no_error_object_is_told_too() {
    let text = failure("export default () => { throw 'just text'; };");
    assert_eq!((text.kind, text.name.as_str(), text.message.as_str()), (Kind::Thrown, "thrown", "just text"));
    let own = failure(
        "class Denied extends Error { override name = 'Denied' } export default () => { throw new Denied('no'); };",
    );
    assert_eq!(own.to_string(), "Denied: no");
    assert_eq!(failure("export default () => { throw null; };").kind, Kind::Memory);
}

#[test]
fn an_error_that_deceives_is_bounded() {
    let text = "export default () => { const e = new Error('x'.repeat(100000)); e.name = 'n'.repeat(5000);
        e.stack = '    at f (skill-name.ts:1:1)\\n'.repeat(1000) + '    at g (/etc/passwd:1:1)'; throw e; };";
    let failure = failure(text);
    assert_eq!(failure.message.len(), 2_000);
    assert_eq!(failure.name.len(), 200);
    assert_eq!(failure.frames.len(), 20);
    let throws = "export default () => { throw Object.defineProperty(new Error('a'), 'stack', { get() { throw 1; } }); };";
    assert_eq!(crate::support::failure(throws).message, "a");
    let elsewhere = "export default () => { const e = new Error('a'); e.stack = '    at g (/etc/passwd:1:1)'; throw e; };";
    assert_eq!(crate::support::failure(elsewhere).frames, []);
}

#[test]
fn syntax_that_only_the_engine_refuses_has_its_place() {
    let failure = failure("export default () => 1;\nlet a = 1;\nlet a = 2;\n");
    assert_eq!((failure.kind, failure.name.as_str()), (Kind::Source, "SyntaxError"), "{failure:?}");
    assert_eq!(failure.frames.first().map(|frame| frame.line), Some(3), "{failure:?}");
}

#[test]
fn typescript_that_is_more_than_types_has_its_place() {
    let failure = failure("export default () => 1;\n\n  enum Level { Low }\n");
    assert_eq!(failure.kind, Kind::Source);
    assert_eq!(failure.frames, [frame("", "skill-name.ts", 3, 3)]);
    assert!(failure.message.contains("`enum`"), "{failure}");
}

#[test]
fn a_type_that_is_imported_as_a_value_is_told_what_to_write() {
    let run = many(
        &[
            ("skill-name.ts", "import { Row } from './types';\nexport default (row: Row) => 1;"),
            ("types.ts", "export interface Row { a: number }"),
        ],
        Value::Null,
    );
    let failure = within(run).0.result.unwrap_err();
    assert_eq!(failure.kind, Kind::Import);
    assert!(failure.message.contains("`import type`"), "{failure}");
}

#[test]
fn an_import_of_what_is_not_there_says_what_kind_of_thing_it_is() {
    for (specifier, words) in [
        ("./missing", "no such file"),
        ("node:fs", "what Node has"),
        ("lodash", "packages"),
        ("/etc/passwd", "relative paths"),
        ("https://example.com/a.js", "relative paths"),
        ("../../up", "no such file"),
    ] {
        let still = failure(&format!("import x from '{specifier}'; export default () => x;"));
        assert_eq!(still.kind, Kind::Import, "{specifier}: {still:?}");
        assert!(still.message.contains(words), "{specifier}: {still}");
        let dynamic = failure(&format!("export default () => import('{specifier}');"));
        assert_eq!(dynamic.kind, Kind::Import, "{specifier}: {dynamic:?}");
    }
}

#[test]
fn marks_at_the_start_and_other_ends_of_lines_are_read() {
    for text in [
        "\u{feff}export default () => {\n throw new Error('a'); };",
        "#!/usr/bin/env node\nexport default () => { throw new Error('a'); };",
        "type A = 1;\r\nexport default () => { throw new Error('a'); };",
        "export default ():\nvoid => { throw new Error('a'); };",
    ] {
        let failure = failure(text);
        assert_eq!(failure.to_string(), "Error: a", "{text}: {failure:?}");
        assert_eq!(failure.frames.first().map(|frame| frame.line), Some(2), "{text}: {failure:?}");
    }
}

#[test]
fn columns_are_in_utf_16_units_whatever_a_type_or_a_text_took() {
    let column = |text: &str| failure(text).frames[0].column;
    let plain = column("export default () => { let a; throw new Error('a'); };");
    for taken in [": 'é€'", ": '\u{1f600}'", "= 'é€'", "= '\u{1f600}'", ": string", "/*é*/ "] {
        let text = format!("\nexport default () => {{ let a{taken}; throw new Error('a'); }};");
        let units = u32::try_from(taken.encode_utf16().count()).unwrap();
        assert_eq!(column(&text), plain + units, "{text}");
    }
}

#[test]
fn what_is_not_there_is_told_with_what_helps() {
    for (code, words) in [
        ("new Date()", "the clock"),
        ("setTimeout(() => {}, 1)", "no timers"),
        ("fetch('https://example.com')", "no network"),
        ("require('fs')", "nothing of Node"),
        ("eval('1')", "no code from text"),
    ] {
        let failure = failure(&format!("export default () => {code};"));
        assert_eq!(failure.name, "ReferenceError", "{code}");
        assert!(failure.message.contains(words), "{code}: {failure}");
    }
    assert_eq!(failure("export default () => other();").message, "other is not defined");
}
