//! What a skill is given, and what comes of it.

use gatewright_skills::talk::Level;
use gatewright_skills::{Grants, Kind};
use serde_json::{Value, json};

use crate::support::{failure, many, one, result, within, within_with};

#[test]
fn the_function_named_like_the_skill_is_called_with_the_input() {
    let text = "export function skillName(input: { n: number }): number { return input.n + 1; }
        export function execute() { return 'wrong'; }
        export default () => 'wrong';";
    assert_eq!(result(text, json!({ "n": 41 })), json!(42));
}

#[test]
fn execute_and_then_default_are_called_where_no_function_is_named_like_the_skill() {
    let text = "export const skillName = 5; export function execute() { return 'execute'; } export default () => 'd';";
    assert_eq!(result(text, Value::Null), json!("execute"));
    assert_eq!(result("export default () => 'default'", Value::Null), json!("default"));
    assert_eq!(result("const f = () => 'renamed'; export { f as execute }", Value::Null), json!("renamed"));
}

#[test]
fn a_module_without_such_a_function_is_told_which_are_looked_for() {
    let failure = failure("export const other = () => 1;");
    assert_eq!(failure.kind, Kind::Function);
    assert!(failure.message.contains("skillName, execute, default"), "{failure}");
}

#[test]
fn an_asynchronous_function_is_waited_for() {
    let text = "export async function execute(input) {
        let sum = 0;
        for (let i = 0; i < 100; i += 1) sum += await Promise.resolve(i);
        await new Promise((done) => queueMicrotask(done));
        return { sum };
    }";
    assert_eq!(result(text, Value::Null), json!({ "sum": 4950 }));
    let top = "const later = await Promise.resolve(7); export default () => later;";
    assert_eq!(result(top, Value::Null), json!(7));
}

#[test]
fn a_promise_that_nothing_settles_is_an_error_that_says_so() {
    let waits = failure("export default () => new Promise(() => {});");
    assert_eq!(waits.kind, Kind::Unsettled);
    assert!(waits.message.contains("nothing is left to settle"), "{waits}");
    assert_eq!(failure("await new Promise(() => {}); export default () => 1;").kind, Kind::Unsettled);
}

#[test]
fn what_has_no_json_is_null() {
    for text in
        ["() => undefined", "() => {}", "() => () => 1", "() => Symbol('a')", "() => null", "() => NaN"]
    {
        assert_eq!(result(&format!("export default {text};"), Value::Null), Value::Null, "{text}");
    }
}

#[test]
fn what_cannot_be_json_is_an_error_of_the_skill() {
    for text in ["() => 1n", "() => { const a = {}; a.a = a; return a; }"] {
        let failure = failure(&format!("export default {text};"));
        assert_eq!((failure.kind, failure.name.as_str()), (Kind::Thrown, "TypeError"), "{text}: {failure}");
    }
    let half = failure("export default () => JSON.rawJSON ? '\\ud800' : '\\ud800';");
    assert_eq!(half.kind, Kind::Result, "{half}");
}

#[test]
fn numbers_texts_and_nested_values_come_back_as_they_are() {
    let input = json!({
        "integers": [0, -1, 9_007_199_254_740_991_i64], "fraction": 0.1, "text": "ä\u{1f600}\u{2028}\"\\\u{0}",
        "nested": { "a": [[], {}, null, true] }, "": "",
    });
    assert_eq!(result("export default (input: unknown) => input;", input.clone()), input);
}

#[test]
fn there_is_no_clock_and_no_chance_unless_they_are_granted() {
    let text = "export default () => [typeof Date, typeof Math.random, typeof performance];";
    assert_eq!(result(text, Value::Null), json!(["undefined", "undefined", "undefined"]));
    let mut granted = one(text, Value::Null);
    granted.grants = Grants { clock: true, random: true, reads: false };
    assert_eq!(within(granted).0.result.unwrap(), json!(["function", "function", "undefined"]));
    let mut clock =
        one("export default () => new Date().getFullYear() > 2000 && Date.now() > 1e12;", Value::Null);
    clock.grants.clock = true;
    assert_eq!(within(clock).0.result.unwrap(), json!(true));
}

#[test]
fn there_is_nothing_to_reach_the_machine_with() {
    let text = "export default () => Object.getOwnPropertyNames(globalThis).sort();";
    let names: Vec<String> = serde_json::from_value(result(text, Value::Null)).unwrap();
    assert_eq!(
        names.join(" "),
        "AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array \
         Boolean DataView DisposableStack Error EvalError Float16Array Float32Array Float64Array Function \
         Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object \
         Promise Proxy RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol \
         SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap \
         WeakSet console decodeURI decodeURIComponent encodeURI encodeURIComponent escape gatewright \
         globalThis isFinite isNaN parseFloat parseInt queueMicrotask undefined unescape"
    );
}

#[test]
fn the_console_is_kept_with_its_levels() {
    let text = "export default () => {
        console.log('a', 1, { b: [2] }, null, undefined);
        console.warn(new TypeError('careful')); console.error('e'); console.debug(); console.info(1n);
        console.assert(true, 'not said'); console.assert(false, 'said');
        console.log('\\ud800', Symbol('s'), () => 1);
    };";
    let (outcome, kept) = within(one(text, Value::Null));
    assert_eq!(outcome.result.unwrap(), Value::Null);
    assert!(!outcome.log_cut);
    let expected = [
        (Level::Info, "a 1 {\"b\":[2]} null undefined"),
        (Level::Warn, "TypeError: careful"),
        (Level::Error, "e"),
        (Level::Debug, ""),
        (Level::Info, "1"),
        (Level::Error, "Assertion failed: said"),
        (Level::Info, "\u{fffd} Symbol(s) () => 1"),
    ];
    let kept: Vec<(Level, &str)> = kept.logs.iter().map(|(level, text)| (*level, text.as_str())).collect();
    assert_eq!(kept, expected);
}

#[test]
fn the_console_is_cut_at_its_limits_and_the_skill_goes_on() {
    let wide =
        "export default () => { for (let i = 0; i < 100; i += 1) console.log('ä'.repeat(1000)); return 1; };";
    let (outcome, kept) = within(one(wide, Value::Null));
    assert_eq!(outcome.result.unwrap(), json!(1));
    assert!(outcome.log_cut);
    assert_eq!(kept.logs.iter().map(|(_, text)| text.len()).sum::<usize>(), 64 * 1024);
    let long = "export default () => { for (let i = 0; i < 5000; i += 1) console.log(''); return 1; };";
    let (outcome, kept) = within(one(long, Value::Null));
    assert!(outcome.log_cut && outcome.result.is_ok());
    assert_eq!(kept.logs.len(), 1_000);
}

#[test]
fn files_are_read_only_when_that_is_granted() {
    let text = "export default async () => [await gatewright.read('a.sql'), gatewright.glob('*.sql')];";
    let refused = failure(text);
    assert!(refused.message.contains("not granted"), "{refused}");
    let mut run = one(text, Value::Null);
    run.grants.reads = true;
    let (outcome, kept) = within_with(run, vec![("a.sql", "select 1;")]);
    assert_eq!(outcome.result.unwrap(), json!(["select 1;", ["a.sql"]]));
    assert_eq!(kept.asked, ["a.sql", "*.sql"]);
}

#[test]
fn a_file_that_is_denied_is_an_error_that_the_skill_can_catch() {
    let text = "export default () => { try { gatewright.read('b'); } catch (e) { return [e instanceof Error, e.message]; } };";
    let mut run = one(text, Value::Null);
    run.grants.reads = true;
    assert_eq!(within(run).0.result.unwrap(), json!([true, "b is not there"]));
}

#[test]
fn nothing_of_one_run_is_there_for_the_next() {
    let leaves = "globalThis.left = 1; Array.prototype.left = 1; export default () => 1;";
    assert_eq!(result(leaves, Value::Null), json!(1));
    let looks = "export default () => [typeof globalThis.left, 'left' in []];";
    assert_eq!(result(looks, Value::Null), json!(["undefined", false]));
}

#[test]
fn a_skill_of_several_files_runs() {
    let run = many(
        &[
            (
                "database/skill-name.ts",
                "import { add } from './lib/math.js'; import names from '../shared/names';\nexport default (n: number) => names[add(n, 1)];",
            ),
            (
                "database/lib/math.ts",
                "import type { N } from './types'; export const add = (a: N, b: N): N => a + b;",
            ),
            ("shared/names/index.mts", "export default ['zero', 'one', 'two'] as const;"),
        ],
        json!(1),
    );
    assert_eq!(within(run).0.result.unwrap(), json!("two"));
}
