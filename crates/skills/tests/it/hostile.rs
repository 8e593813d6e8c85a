//! Skills that mean harm, in the engine itself. Those that only the parent can end: `killed.rs`.

use std::time::{Duration, Instant};

use gatewright_skills::{Kind, Limits};
use serde_json::{Value, json};

use crate::support::{failure, many, one, result, within};

fn fails_in_time(text: &str) -> gatewright_skills::Failure {
    let mut run = one(text, Value::Null);
    run.limits.milliseconds = 200;
    let start = Instant::now();
    let failure = within(run).0.result.unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(15), "{text}: {:?}", start.elapsed());
    failure
}

#[test]
fn endless_loops_end_with_their_time() {
    for text in [
        "export default () => { for (;;) {} };",
        "export default () => { for (;;) { try { for (;;) {} } catch {} finally { continue; } } };",
        "for (;;) {} export default () => 1;",
        "export default async () => { for (;;) await null; };",
        "export default async () => { const again = () => Promise.resolve().then(again); return again(); };",
        "export default () => { const e = new Error(); Object.defineProperty(e, 'message', { get() { for (;;) {} } }); throw e; };",
        "export default () => ({ toJSON() { for (;;) {} } });",
        "export default () => ({ get a() { for (;;) {} } });",
        "export default () => new Proxy({}, { ownKeys() { for (;;) {} } });",
        "export default () => ({ then() { for (;;) {} } });",
        "export default () => { function* f() { for (;;) yield 1; } return [...f()].length; };",
    ] {
        let failure = fails_in_time(text);
        assert!(matches!(failure.kind, Kind::Timeout | Kind::Memory), "{text}: {failure:?}");
    }
}

#[test]
fn a_regular_expression_that_goes_back_for_ever_ends_with_its_time() {
    let text = "export default () => /^(a+)+$/.test('a'.repeat(40) + 'b');";
    assert_eq!(fails_in_time(text).kind, Kind::Timeout);
}

#[test]
fn memory_bombs_end_at_the_limit() {
    for text in [
        "export default () => { const a = []; for (;;) a.push('x'.repeat(1000) + a.length); };",
        "export default () => 'x'.repeat(2 ** 29).length;",
        "export default () => { let s = 'x'; for (;;) s += s; };",
        "export default () => new Uint8Array(2 ** 31).length;",
        "export default () => 'x'.padStart(2 ** 29, 'ab').length;",
        "export default () => { const m = new Map(); for (let i = 0; ; i += 1) m.set(i, {}); };",
        "export default () => Array.from({ length: 2 ** 31 }, () => ({})).length;",
    ] {
        let mut run = one(text, Value::Null);
        run.limits = Limits { milliseconds: 60_000, memory: 8 * 1024 * 1024 };
        let failure = within(run).0.result.unwrap_err();
        assert!(matches!(failure.kind, Kind::Memory | Kind::Thrown), "{text}: {failure:?}");
        assert!(failure.kind == Kind::Memory || failure.name == "RangeError", "{text}: {failure:?}");
    }
}

#[test]
fn memory_that_runs_out_is_caught_by_nobody_for_long() {
    let text = "const a = []; export default () => { for (;;) { try { for (;;) a.push(new Array(1000).fill(1)); } catch {} } };";
    let mut run = one(text, Value::Null);
    run.limits = Limits { milliseconds: 500, memory: 16 * 1024 * 1024 };
    let failure = within(run).0.result.unwrap_err();
    assert!(matches!(failure.kind, Kind::Timeout | Kind::Memory), "{failure:?}");
}

#[test]
fn recursion_ends_at_the_stack_limit() {
    for text in [
        "export default () => { const f = () => f() + 1; return f(); };",
        "export default () => { const o = { toString() { return `${o}`; } }; return `${o}`; };",
        "export default () => { let a = []; for (let i = 0; i < 100000; i += 1) a = [a]; return a; };",
        "export default () => JSON.parse('['.repeat(100000));",
        "export default () => { const a = []; a[0] = a; return a.toString() + String([[a]].flat(Infinity)); };",
    ] {
        let failure = failure(text);
        assert!(matches!(failure.kind, Kind::Stack | Kind::Thrown), "{text}: {failure:?}");
    }
    assert_eq!(failure("export default () => { const f = () => f() + 1; return f(); };").kind, Kind::Stack);
}

#[test]
fn results_above_the_limits_are_refused() {
    let large = failure("export default () => 'x'.repeat(256 * 1024);");
    assert_eq!(large.kind, Kind::Result);
    assert!(large.message.contains("262146"), "{large}");
    assert_eq!(
        result("export default () => 'x'.repeat(256 * 1024 - 2).length;", Value::Null),
        json!(262_142)
    );
    let deep = "export default (n) => { let a = 1; for (let i = 0; i < n; i += 1) a = [a]; return a; };";
    let run = |depth: u32| within(one(deep, json!(depth))).0.result;
    assert!(run(64).is_ok());
    assert_eq!(run(65).unwrap_err().kind, Kind::Result);
}

#[test]
fn an_output_of_a_gigabyte_never_is() {
    for text in [
        "export default () => Array(1024).fill('x'.repeat(1024 * 1024));",
        "export default () => { const s = 'x'.repeat(1024 * 1024); for (let i = 0; i < 1024; i += 1) console.log(s); return 1; };",
    ] {
        let mut run = one(text, Value::Null);
        run.limits = Limits { milliseconds: 60_000, memory: 16 * 1024 * 1024 };
        let (outcome, kept) = within(run);
        let said: usize = kept.logs.iter().map(|(_, text)| text.len()).sum();
        assert!(said <= 64 * 1024, "{text}: {said}");
        match outcome.result {
            Ok(value) => assert!(value == json!(1) && outcome.log_cut),
            Err(failure) => assert!(matches!(failure.kind, Kind::Memory | Kind::Result), "{failure:?}"),
        }
    }
}

#[test]
fn a_tojson_of_every_object_changes_the_results_alone() {
    let text =
        "Object.prototype.toJSON = () => 'mine'; export default () => { console.log({}); return { a: 1 }; };";
    let (outcome, kept) = within(one(text, json!({ "a": 1 })));
    assert_eq!(outcome.result.unwrap(), json!("mine"));
    assert_eq!(kept.logs[0].1, "\"mine\"");
    let throws = "Object.prototype.toJSON = () => { throw new Error('no'); }; export default () => ({});";
    assert_eq!(failure(throws).to_string(), "Error: no");
}

#[test]
fn proto_in_the_input_is_data() {
    let input: Value =
        serde_json::from_str(r#"{"__proto__":{"admin":true},"constructor":{"prototype":1},"toString":2}"#)
            .unwrap();
    let text = "export default (input: any) => [({} as any).admin ?? null, input.admin ?? null, Object.keys(input), input['__proto__']];";
    assert_eq!(
        result(text, input),
        json!([null, null, ["__proto__", "constructor", "toString"], { "admin": true }])
    );
    let back = "export default () => JSON.parse('{\"__proto__\":{\"a\":1}}');";
    assert_eq!(result(back, Value::Null), serde_json::from_str::<Value>(r#"{"__proto__":{"a":1}}"#).unwrap());
}

#[test]
fn getters_in_results_are_code_of_the_skill_like_any_other() {
    assert_eq!(result("export default () => ({ get a() { return 1; } });", Value::Null), json!({ "a": 1 }));
    let throws = failure("export default () => ({ get a() { throw new TypeError('from a getter'); } });");
    assert_eq!(throws.to_string(), "TypeError: from a getter");
}

#[test]
fn changing_the_globals_changes_nothing_of_the_machinery() {
    let text = "JSON.stringify = () => '\"forged\"'; JSON.parse = () => 'forged'; Promise.prototype.then = () => { throw 1; };
        globalThis.Promise = null; Object.defineProperty = null; Reflect.apply = () => 'forged';
        String.prototype.toWellFormed = () => 'forged'; Array.prototype[Symbol.iterator] = () => { throw 2; };
        export default (input) => { console.log('a', input.a); return input; };";
    let (outcome, kept) = within(one(text, json!({ "a": 1 })));
    assert_eq!(outcome.result.unwrap(), json!({ "a": 1 }));
    assert_eq!(kept.logs[0].1, "a 1");
}

#[test]
fn code_is_not_made_from_text() {
    let text = "export default () => {
        const tries = [
            () => Function('return 1')(), () => new Function('return 1')(), () => eval('1'), () => globalThis['ev' + 'al']('1'),
            () => (() => {}).constructor('return 1')(), () => (async () => {}).constructor('return 1')(),
            () => (function* () {}).constructor('yield 1')(), () => (async function* () {}).constructor('yield 1')(),
            () => Reflect.construct((class A {}).constructor, ['return 1'])(), () => Object.getPrototypeOf(Function).constructor('return 1')(),
            () => new (class extends Function {})('return 1')(), () => console.log.constructor('return 1')(),
            () => gatewright.read.constructor('return 1')(), () => Array.constructor('return 1')(),
            () => Object.getOwnPropertyDescriptor(Object.getPrototypeOf(async () => {}), 'constructor').value('1')(),
            () => (() => {}).bind().constructor('return 1')(), () => new Proxy(function () {}, {}).constructor('return 1')(),
        ];
        return tries.map((f) => { try { return f(); } catch (e) { return e.name; } });
    };";
    let tries = result(text, Value::Null);
    for (index, outcome) in tries.as_array().unwrap().iter().enumerate() {
        assert!(outcome == "TypeError" || outcome == "ReferenceError", "{index}: {outcome}");
    }
    assert_eq!(tries.as_array().unwrap().len(), 17);
    let still = "export default () => [(() => {}) instanceof Function, Function.prototype === Object.getPrototypeOf(() => {})];";
    assert_eq!(result(still, Value::Null), json!([true, true]));
}

#[test]
fn the_machinery_is_not_reached_through_the_stack() {
    let text = "export default function f() {
        const found = [];
        const sees = (e, sites) => { found.push('called'); return 'x'; };
        try { Error.prepareStackTrace = sees; } catch (e) { found.push(e.name); }
        try { Object.defineProperty(Error, 'prepareStackTrace', { value: sees }); } catch (e) { found.push(e.name); }
        void new Error('a').stack; const o = {}; Error.captureStackTrace?.(o); void o.stack;
        try { void f.caller; found.push('caller'); } catch (e) { found.push(e.name); }
        return found;
    };";
    assert_eq!(result(text, Value::Null), json!(["TypeError", "TypeError", "TypeError"]));
}

#[test]
fn dynamic_imports_find_the_files_of_the_run_alone() {
    let text = "export default async (name: string) => { try { return Object.keys(await import(name)); } catch (e) { return (e as Error).name; } };";
    let tried = |name: &str| {
        let files = [("a/skill-name.ts", text), ("a/b.ts", "export const c = 1;")];
        within(many(&files, json!(name))).0.result.unwrap()
    };
    assert_eq!(tried("./b"), json!(["c"]));
    for name in [
        "../../b",
        "/a/b.ts",
        "a/b.ts",
        "gatewright:prelude",
        "file:///etc/passwd",
        "data:text/javascript,1",
        "std",
        "os",
        "qjs:os",
        "",
    ] {
        assert_eq!(tried(name), json!("ReferenceError"), "{name}");
    }
}

#[test]
fn waiting_for_another_thread_is_not_possible() {
    let text = "export default () => [typeof Atomics, typeof SharedArrayBuffer, typeof setTimeout, typeof require, typeof process];";
    assert_eq!(
        result(text, Value::Null),
        json!(["undefined", "undefined", "undefined", "undefined", "undefined"])
    );
}
