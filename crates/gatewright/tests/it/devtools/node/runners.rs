//! `nodejs_test`, with each runner.

use std::time::Duration;

use serde_json::{Value, json};

use super::{bench, command, serve, text};

const SUM: &str = "export const sum = (a, b) => a + b;\nexport const never = (a) => {\n  return a;\n};\n";

/// What is to be said of a test that fails beside one that passes and one that is skipped.
fn holds(found: &Value, runner: &str, (file, line): (&str, u64), says: &str) {
    assert_eq!(
        (found["runner"].as_str(), found["success"].as_bool(), found["rounds"].as_u64()),
        (Some(runner), Some(false), Some(1)),
        "{found}"
    );
    assert_eq!(
        found["counts"],
        json!({ "total": 3, "passed": 1, "failed": 1, "skipped": 1, "errored": 0, "timedOut": 0 }),
        "{found}"
    );
    let test = &found["tests"][0];
    assert!(test["name"].as_str().unwrap().ends_with("fails"), "{test}");
    assert_eq!((test["file"].as_str(), test["line"].as_u64()), (Some(file), Some(line)), "{test}");
    assert!(test["message"].as_str().unwrap().contains(says), "{test}");
    assert_eq!(found["history"][0]["is"], "new", "{found}");
}

const VITEST: &str = "import { describe, expect, it } from 'vitest';
import { sum } from './sum.mjs';

describe('sum', () => {
  it('adds', () => expect(sum(1, 2)).toBe(3));
  it('fails', () => {
    expect(sum(1, 1)).toBe(3);
  });
  it.skip('waits', () => {});
});
";

#[test]
fn nodejs_test_runs_vitest_with_coverage_by_file() {
    let manifest = "{ \"name\": \"x\", \"type\": \"module\", \"devDependencies\": { \"vitest\": \"4\", \"@vitest/coverage-v8\": \"4\" } }\n";
    let Some(bench) =
        bench(&[("package.json", manifest), ("src/sum.mjs", SUM), ("src/sum.test.mjs", VITEST)])
    else {
        return;
    };
    let mut session = serve(&bench);
    let failed = session.ok("nodejs_test", json!({ "verbose": true }));
    holds(&failed, "vitest", ("src/sum.test.mjs", 7), "expected 2 to be 3");
    assert!(failed["passed"].to_string().contains("adds"), "{failed}");
    assert_eq!(command(&failed), "node node_modules/.bin/vitest run --reporter=json");
    let picked = session.ok("nodejs_test", json!({ "testPattern": "adds", "coverage": true }));
    assert_eq!((picked["success"].as_bool(), picked["counts"]["passed"].as_u64()), (Some(true), Some(1)));
    let covered = picked["coverage"]["percent"].as_f64().unwrap();
    assert!((30.0..100.0).contains(&covered), "{picked}");
    assert_eq!(picked["coverage"]["parts"][0]["name"], "src/sum.mjs", "{picked}");
    assert!(picked.get("passed").is_none(), "only where it is asked for: {picked}");
    bench.put("src/torn.test.mjs", "import { test } from 'vitest';\nconst = 3;\n");
    let torn = session.ok("nodejs_test", json!({ "args": ["src/torn.test.mjs"] }));
    let test = &torn["tests"][0];
    assert_eq!(
        (test["outcome"].as_str(), test["file"].as_str()),
        (Some("errored"), Some("src/torn.test.mjs"))
    );
    assert_eq!(torn["success"], false);
    let refused = session.fails("nodejs_test", json!({ "args": ["--ui"] }));
    assert_eq!(refused["code"], "invalid_argument");
}

const JEST: &str = "const sum = (a, b) => a + b;

describe('sum', () => {
  it('adds', () => expect(sum(1, 2)).toBe(3));
  it('fails', () => {
    expect(sum(1, 1)).toBe(3);
  });
  it.skip('waits', () => {});
});
";

#[test]
fn nodejs_test_runs_jest_with_coverage_by_file() {
    let Some(bench) = bench(&[
        ("package.json", "{ \"name\": \"x\", \"devDependencies\": { \"jest\": \"30\" } }\n"),
        ("src/sum.test.js", JEST),
        ("src/other.js", "exports.other = () => 1;\n"),
        (
            "src/other.test.js",
            "const { other } = require('./other');\ntest('other', () => expect(other()).toBe(1));\n",
        ),
    ]) else {
        return;
    };
    let mut session = serve(&bench);
    let failed = session.ok("nodejs_test", json!({ "args": ["src/sum.test.js"] }));
    holds(&failed, "jest", ("src/sum.test.js", 6), "toBe");
    let picked = session.ok("nodejs_test", json!({ "testPattern": "other", "coverage": true }));
    assert_eq!(picked["coverage"]["percent"], 100.0, "{picked}");
    assert_eq!(
        picked["coverage"]["parts"],
        json!([{ "name": "src/other.js", "percent": 100.0 }]),
        "{picked}"
    );
    assert!(command(&picked).contains("--coverageReporters=json-summary --coverageDirectory=coverage"));
}

const MOCHA: &str = "const assert = require('node:assert');
describe('sum', () => {
  it('adds', () => assert.equal(1 + 2, 3));
  it('fails', () => {
    assert.equal(1 + 1, 3);
  });
  it.skip('waits', () => {});
});
";

#[test]
fn nodejs_test_runs_mocha_which_measures_no_coverage() {
    let Some(bench) = bench(&[
        ("package.json", "{ \"name\": \"x\", \"devDependencies\": { \"mocha\": \"12\" } }\n"),
        ("test/sum.js", MOCHA),
        ("member/package.json", "{ \"name\": \"y\", \"scripts\": { \"test\": \"mocha\" } }\n"),
        ("member/test/sum.js", MOCHA),
    ]) else {
        return;
    };
    let mut session = serve(&bench);
    holds(&session.ok("nodejs_test", json!({})), "mocha", ("test/sum.js", 5), "2 == 3");
    let picked = session.ok("nodejs_test", json!({ "testPattern": "adds" }));
    assert_eq!(picked["success"], true, "{picked}");
    let member = session.ok("nodejs_test", json!({ "directory": "member", "testPattern": "fails" }));
    assert_eq!(
        (member["runner"].as_str(), member["tests"][0]["file"].as_str()),
        (Some("mocha"), Some("member/test/sum.js"))
    );
    bench.put("gatewright.toml", "[devtools]\ntest-runner = \"node\"\n");
    let named = session.ok("nodejs_test", json!({}));
    assert_eq!(named["runner"], "node", "{named}");
    bench.put("gatewright.toml", "");
    let fault = session.fails("nodejs_test", json!({ "coverage": true }));
    assert_eq!(fault["code"], "invalid_argument", "{fault}");
    assert!(text(&fault).contains("mocha"), "{fault}");
}

const NODE: &str = "const { describe, it } = require('node:test');
const assert = require('node:assert');
const { sum } = require('./sum.js');
describe('sum', () => {
  it('adds', () => assert.equal(sum(1, 2), 3));
  it('fails', () => {
    assert.equal(sum(1, 1), 3);
  });
  it.skip('waits', () => {});
});
";

#[test]
fn nodejs_test_runs_nodes_own_runner_and_the_script_of_those_that_have_another() {
    let Some(bench) = bench(&[
        ("package.json", "{ \"name\": \"x\", \"scripts\": { \"test\": \"node --test\" } }\n"),
        ("sum.js", "exports.sum = (a, b) => a + b;\nexports.never = (a) => {\n  return a;\n};\n"),
        ("sum.test.js", NODE),
        ("other/package.json", "{ \"name\": \"y\", \"scripts\": { \"test\": \"node check.js\" } }\n"),
        ("other/check.js", "console.log('TAP version 13\\nok 1 - checks\\n1..1');\n"),
    ]) else {
        return;
    };
    let mut session = serve(&bench);
    let failed = session.ok("nodejs_test", json!({}));
    holds(&failed, "node", ("sum.test.js", 7), "2 == 3");
    assert_eq!(command(&failed), "node --test --test-reporter=tap");
    let picked = session.ok("nodejs_test", json!({ "testPattern": "adds", "coverage": true }));
    assert_eq!(picked["success"], true, "{picked}");
    let covered = picked["coverage"]["percent"].as_f64().unwrap();
    assert!((50.0..100.0).contains(&covered), "{picked}");
    assert!(picked["coverage"]["parts"].to_string().contains("sum.js"), "{picked}");
    bench.put("torn.test.js", "\nconst = 3;\n");
    let torn = session.ok("nodejs_test", json!({ "args": ["torn.test.js"] }));
    let test = &torn["tests"][0];
    assert_eq!(
        (test["message"].as_str(), test["file"].as_str(), test["line"].as_u64()),
        (Some("SyntaxError: Unexpected token '='"), Some("torn.test.js"), Some(2)),
        "{torn}"
    );
    let own = session.ok("nodejs_test", json!({ "directory": "other" }));
    assert_eq!(
        (own["runner"].as_str(), own["counts"]["passed"].as_u64(), own["success"].as_bool()),
        (Some("npm"), Some(1), Some(true)),
        "{own}"
    );
    let named =
        session.ok("nodejs_test", json!({ "testFramework": "mocha", "args": ["--dry-run", "nope*.js"] }));
    assert_eq!(
        (named["runner"].as_str(), named["success"].as_bool()),
        (Some("mocha"), Some(false)),
        "{named}"
    );
}

#[test]
fn nodejs_test_watches_until_it_is_cancelled() {
    let Some(bench) = bench(&[
        ("package.json", "{ \"name\": \"x\" }\n"),
        ("a.test.js", "require('node:test').test('holds', () => {});\n"),
    ]) else {
        return;
    };
    let mut session = serve(&bench);
    let begun = session.ok("nodejs_test", json!({ "watch": true }));
    let job = begun["job"].clone();
    let seen = |session: &mut super::Session, what: &str| {
        for _ in 0..240 {
            let status = session.ok("job_status", json!({ "job": job }));
            if status["jobs"][0]["progress"].as_str().is_some_and(|said| said.contains(what)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(250));
        }
        panic!("{what} was not seen");
    };
    seen(&mut session, "round 1: ");
    bench.put("a.test.js", "require('node:test').test('breaks', () => { throw new Error('now'); });\n");
    seen(&mut session, "round 2: ");
    let ended = session.ok("job_cancel", json!({ "job": job }));
    assert_eq!(ended["job"]["state"], "cancelled", "{ended}");
}
