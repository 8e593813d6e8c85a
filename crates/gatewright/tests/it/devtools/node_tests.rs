//! `run_tests` with jest and vitest, as a project has them installed.

use serde_json::json;

use super::Bench;

/// A project of npm's that has `files` and what these tests have installed.
fn bench(files: &[(&str, &str)]) -> Option<Bench> {
    let mut all = vec![
        (".gitignore", "node_modules\ncoverage/\n"),
        ("src/sum.mjs", "export const sum = (a, b) => a + b;\nexport const never = (a) => a;\n"),
    ];
    all.extend_from_slice(files);
    Bench::new(&all).patient().with_node_modules()
}

const VITEST: &str = "\
import { describe, expect, it } from 'vitest';
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
fn run_tests_runs_vitest_of_the_project() {
    let files = [
        (
            "package.json",
            "{ \"name\": \"x\", \"type\": \"module\", \"devDependencies\": { \"vitest\": \"4\", \"@vitest/coverage-v8\": \"4\" } }\n",
        ),
        ("src/sum.test.mjs", VITEST),
    ];
    let Some(bench) = bench(&files) else { return };
    let mut session = bench.serve();
    let failed = session.ok("run_tests", json!({ "verbose": true }));
    assert_eq!(
        (failed["runner"].as_str(), failed["success"].as_bool()),
        (Some("vitest"), Some(false)),
        "{failed}"
    );
    assert_eq!(
        failed["counts"],
        json!({ "total": 3, "passed": 1, "failed": 1, "skipped": 1, "errored": 0, "timedOut": 0 }),
        "{failed}"
    );
    let test = &failed["tests"][0];
    assert_eq!(
        (test["name"].as_str(), test["file"].as_str(), test["line"].as_u64()),
        (Some("sum > fails"), Some("src/sum.test.mjs"), Some(7)),
        "{failed}"
    );
    assert!(test["message"].as_str().unwrap().contains("expected 2 to be 3"), "{test}");
    assert!(failed["passed"].to_string().contains("adds"), "{failed}");
    let picked = session.ok("run_tests", json!({ "pattern": "adds", "coverage": true, "parallel": false }));
    assert_eq!(
        (picked["success"].as_bool(), picked["counts"]["passed"].as_u64()),
        (Some(true), Some(1)),
        "{picked}"
    );
    assert!(picked["coverage"]["percent"].as_f64().is_some_and(|percent| percent > 0.0), "{picked}");
    assert_eq!(
        picked["runs"][0]["command"],
        "node node_modules/.bin/vitest run --reporter=json --no-file-parallelism --coverage --testNamePattern=adds"
    );
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    assert_eq!(session.fails("run_tests", json!({ "args": ["--ui"] }))["code"], "invalid_argument");
}

const JEST: &str = "\
const sum = (a, b) => a + b;

describe('sum', () => {
  it('adds', () => expect(sum(1, 2)).toBe(3));
  it('fails', () => {
    expect(sum(1, 1)).toBe(3);
  });
  it.skip('waits', () => {});
});
";

#[test]
fn run_tests_runs_jest_of_the_project() {
    let files = [
        ("package.json", "{ \"name\": \"x\", \"devDependencies\": { \"jest\": \"30\" } }\n"),
        ("src/sum.test.js", JEST),
        ("src/other.js", "exports.other = () => 1;\n"),
        (
            "src/other.test.js",
            "const { other } = require('./other');\ntest('other', () => expect(other()).toBe(1));\n",
        ),
    ];
    let Some(bench) = bench(&files) else { return };
    let mut session = bench.serve();
    let failed = session.ok("run_tests", json!({ "verbose": true }));
    assert_eq!(
        (failed["runner"].as_str(), failed["success"].as_bool()),
        (Some("jest"), Some(false)),
        "{failed}"
    );
    assert_eq!(
        failed["counts"],
        json!({ "total": 4, "passed": 2, "failed": 1, "skipped": 1, "errored": 0, "timedOut": 0 }),
        "{failed}"
    );
    let test = &failed["tests"][0];
    assert_eq!(
        (test["name"].as_str(), test["file"].as_str(), test["line"].as_u64()),
        (Some("sum > fails"), Some("src/sum.test.js"), Some(6)),
        "{failed}"
    );
    assert!(test["message"].as_str().unwrap().contains("toBe"), "{test}");
    assert!(failed["passed"].to_string().contains("adds"), "{failed}");
    let picked = session.ok("run_tests", json!({ "pattern": "other", "coverage": true, "parallel": false }));
    assert_eq!(
        (picked["success"].as_bool(), picked["counts"]["passed"].as_u64()),
        (Some(true), Some(1)),
        "{picked}"
    );
    assert_eq!(picked["coverage"]["percent"], 100.0, "{picked}");
    assert_eq!(
        picked["runs"][0]["command"],
        "node node_modules/.bin/jest --json --runInBand --coverage --testNamePattern=other"
    );
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    assert_eq!(
        session.fails("run_tests", json!({ "args": ["--globalSetup=/tmp/x.js"] }))["code"],
        "invalid_argument"
    );
}
