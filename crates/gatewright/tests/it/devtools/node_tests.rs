//! `run_tests` with jest and vitest, as a project has them installed.

use std::ops::RangeInclusive;

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

/// What a runner is to say of a test that fails beside one that is skipped and those that pass.
struct Expected {
    runner: &'static str,
    passed: u64,
    file: &'static str,
    line: u64,
    says: &'static str,
    /// A pattern that picks one test, and the command that runs it.
    picked: &'static str,
    command: &'static str,
    /// How much of the sources that test covers, in percent.
    covered: RangeInclusive<f64>,
    /// An argument that its grammar does not take.
    refused: &'static str,
}

/// That `run_tests` says all of it, and leaves nothing behind.
fn holds(bench: &Bench, expected: &Expected) {
    let mut session = bench.serve();
    let failed = session.ok("run_tests", json!({ "verbose": true }));
    assert_eq!(
        (failed["runner"].as_str(), failed["success"].as_bool()),
        (Some(expected.runner), Some(false)),
        "{failed}"
    );
    let (passed, total) = (expected.passed, expected.passed + 2);
    assert_eq!(
        failed["counts"],
        json!({ "total": total, "passed": passed, "failed": 1, "skipped": 1, "errored": 0, "timedOut": 0 }),
        "{failed}"
    );
    let test = &failed["tests"][0];
    assert_eq!(
        (test["name"].as_str(), test["file"].as_str(), test["line"].as_u64()),
        (Some("sum > fails"), Some(expected.file), Some(expected.line)),
        "{failed}"
    );
    assert!(test["message"].as_str().unwrap().contains(expected.says), "{test}");
    assert!(failed["passed"].to_string().contains("adds"), "{failed}");
    let picked =
        session.ok("run_tests", json!({ "pattern": expected.picked, "coverage": true, "parallel": false }));
    assert_eq!(
        (picked["success"].as_bool(), picked["counts"]["passed"].as_u64()),
        (Some(true), Some(1)),
        "{picked}"
    );
    let covered = picked["coverage"]["percent"].as_f64().unwrap();
    assert!(expected.covered.contains(&covered), "{picked}");
    assert_eq!(picked["runs"][0]["command"], expected.command);
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    let refused = session.fails("run_tests", json!({ "args": [expected.refused] }));
    assert_eq!(refused["code"], "invalid_argument");
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
    let line = "node node_modules/.bin/vitest run --reporter=json --no-file-parallelism --coverage --testNamePattern=adds";
    let expected = Expected {
        runner: "vitest",
        passed: 1,
        file: "src/sum.test.mjs",
        line: 7,
        says: "expected 2 to be 3",
        picked: "adds",
        command: line,
        covered: 0.1..=100.0,
        refused: "--ui",
    };
    holds(&bench, &expected);
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
    let line = "node node_modules/.bin/jest --json --runInBand --coverage --testNamePattern=other";
    let expected = Expected {
        runner: "jest",
        passed: 2,
        file: "src/sum.test.js",
        line: 6,
        says: "toBe",
        picked: "other",
        command: line,
        covered: 100.0..=100.0,
        refused: "--globalSetup=/tmp/x.js",
    };
    holds(&bench, &expected);
}
