//! Running a project's tests, whatever runs them, and what is remembered of them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Bench, installed};

#[test]
fn run_tests_prefers_make_and_says_how_the_tests_stand() {
    let bench = Bench::new(&[("Makefile", "test:\n\t@echo tested; exit 1\n"), ("go.mod", "module x\n")]);
    let mut session = bench.serve();
    let ran = session.ok("run_tests", json!({ "parallel": true }));
    assert_eq!((ran["runner"].as_str(), ran["success"].as_bool()), (Some("make"), Some(false)), "{ran}");
    assert_eq!(ran["runs"][0]["command"], "make -j4 test");
    assert_eq!(session.fails("run_tests", json!({ "pattern": "x" }))["code"], "invalid_argument");
    assert_eq!(session.fails("run_tests", json!({ "directory": "docs" }))["code"], "not_found");
    let status = session.ok("test_status", json!({}));
    assert_eq!(
        (status["runner"].as_str(), status["installed"].as_bool()),
        (Some("make"), Some(true)),
        "{status}"
    );
    assert_eq!(session.fails("test_status", json!({ "directory": "/etc" }))["type"], "policy");
}

#[test]
fn a_run_in_one_folder_says_nothing_of_the_failures_of_another() {
    let bench = Bench::new(&[("a/Makefile", "test:\n\t@exit 1\n"), ("b/Makefile", "test:\n\t@true\n")]);
    let mut session = bench.serve();
    let failed = session.ok("run_tests", json!({ "directory": "a" }));
    assert_eq!((&failed["success"], &failed["history"][0]["is"]), (&json!(false), &json!("new")), "{failed}");
    let other = session.ok("run_tests", json!({ "directory": "b" }));
    assert_eq!((&other["success"], &other["recovered"]), (&json!(true), &Value::Null), "{other}");
    let open = session.ok("test_status", json!({ "directory": "a" }));
    assert_eq!(open["failing"].as_array().unwrap().len(), 1, "{open}");
    bench.put("a/Makefile", "test:\n\t@true\n");
    let mended = session.ok("run_tests", json!({ "directory": "./a/" }));
    assert_eq!(mended["recovered"].as_array().map(Vec::len), Some(1), "{mended}");
}

#[test]
fn the_open_failures_of_a_folder_are_said_however_many_others_there_are() {
    let says = |many: u32| {
        format!("test:\n\t@for i in $$(seq {many}); do echo \"x$$i.c:1:1: error: wrong\"; done; exit 1\n")
    };
    let bench = Bench::new(&[("a/Makefile", &says(2)), ("b/Makefile", &says(40))]);
    let mut session = bench.serve();
    for directory in ["a", "b"] {
        assert_eq!(session.ok("run_tests", json!({ "directory": directory }))["success"], false);
    }
    let here = session.ok("test_status", json!({ "directory": "a" }));
    let mut files: Vec<&str> =
        here["failing"].as_array().unwrap().iter().map(|failing| failing["file"].as_str().unwrap()).collect();
    files.sort_unstable();
    assert_eq!(files, ["a/Makefile", "a/x1.c", "a/x2.c"], "{here}");
    let all = session.ok("test_status", json!({}));
    assert_eq!((&all["truncated"]["shown"], &all["truncated"]["total"]), (&json!(30), &json!(44)), "{all}");
}

#[test]
fn what_npm_installed_for_a_folder_is_there_for_that_folder() {
    let bench = Bench::new(&[
        ("web/package.json", "{ \"name\": \"web\", \"devDependencies\": { \"jest\": \"30\" } }\n"),
        ("web/.markdownlint.json", "{}\n"),
        ("web/app/package.json", "{ \"name\": \"app\", \"devDependencies\": { \"jest\": \"30\" } }\n"),
        ("other/package.json", "{ \"name\": \"other\", \"devDependencies\": { \"jest\": \"30\" } }\n"),
        ("web/node_modules/.bin/jest", "1;\n"),
        ("web/node_modules/.bin/markdownlint", "1;\n"),
    ]);
    let mut session = bench.serve();
    for (directory, installed) in [("web", true), ("web/app", true), ("other", false)] {
        let status = session.ok("test_status", json!({ "directory": directory }));
        assert_eq!(
            (&status["runner"], &status["installed"]),
            (&json!("jest"), &json!(installed)),
            "{status}"
        );
    }
    let project = session.ok("project_status", json!({ "directory": "web" }));
    assert!(project["installed"].to_string().contains("markdownlint"), "{project}");
}

#[test]
fn run_tests_runs_pytest_and_remembers_which_failures_are_new_known_and_back() {
    let Some(python) = installed("the Python tools", "python/devtools/bin") else { return };
    let failing = "def test_good():\n    assert True\n\ndef test_bad():\n    assert 1 == 2\n";
    let bench = Bench::new(&[
        ("pyproject.toml", "[project]\nname = \"x\"\nversion = \"1\"\n[tool.pytest.ini_options]\n"),
        ("test_x.py", failing),
        (".gitignore", "__pycache__/\n.pytest_cache/\n"),
    ])
    .with(python);
    let mut session = bench.serve();
    let first = session.ok("run_tests", json!({ "verbose": true }));
    assert_eq!(
        (first["runner"].as_str(), first["counts"]["failed"].as_u64()),
        (Some("pytest"), Some(1)),
        "{first}"
    );
    assert!(first["passed"].to_string().contains("test_good"), "{first}");
    assert_eq!(first["history"][0]["is"], "new", "{first}");
    let second = session.ok("run_tests", json!({ "verbose": true }));
    assert_eq!(second["history"][0]["is"], "known", "{second}");
    let status = session.ok("test_status", json!({}));
    assert!(status["failing"].to_string().contains("test_bad"), "{status}");
    let picked = session.ok("run_tests", json!({ "pattern": "good" }));
    assert_eq!(
        (picked["success"].as_bool(), picked["counts"]["total"].as_u64()),
        (Some(true), Some(1)),
        "{picked}"
    );
    bench.put("test_x.py", &failing.replace("1 == 2", "1 == 1"));
    bench.commit("fix: it holds");
    let fixed = session.ok("run_tests", json!({ "verbose": true }));
    assert!(fixed["success"] == true && fixed["recovered"].to_string().contains("test_bad"), "{fixed}");
    bench.put("test_x.py", failing);
    bench.commit("feat: it is back");
    let back = session.ok("run_tests", json!({ "verbose": true }));
    assert_eq!(back["history"][0]["is"], "fixed_before", "{back}");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

#[test]
fn run_tests_runs_mocha_of_the_project_and_npm_otherwise() {
    let Some(node) = installed("the test runners of npm", "npm/devtools/node_modules") else { return };
    let bench = Bench::new(&[
        (
            "package.json",
            "{ \"name\": \"x\", \"scripts\": { \"test\": \"mocha\" }, \"devDependencies\": { \"mocha\": \"12\" } }\n",
        ),
        (
            "test/x.js",
            "const a = require(\"assert\");\ndescribe(\"sum\", () => {\n  it(\"adds\", () => a.equal(1 + 1, 2));\n  it(\"fails\", () => a.equal(1, 2));\n});\n",
        ),
        (".gitignore", "node_modules\n"),
        (
            "plain/package.json",
            "{ \"name\": \"plain\", \"scripts\": { \"test\": \"node --test --test-reporter=tap\" } }\n",
        ),
        ("plain/x.test.js", "require(\"node:test\")(\"holds\", () => {});\n"),
    ]);
    std::os::unix::fs::symlink(&node, bench.place.root().join("node_modules")).unwrap();
    let bench = bench.with(node.join(".bin"));
    let mut session = bench.serve();
    let ran = session.ok("run_tests", json!({}));
    assert_eq!(
        (ran["runner"].as_str(), ran["counts"]["failed"].as_u64(), ran["counts"]["passed"].as_u64()),
        (Some("mocha"), Some(1), Some(1)),
        "{ran}"
    );
    let one = session.ok("run_tests", json!({ "pattern": "adds" }));
    assert_eq!((one["success"].as_bool(), one["counts"]["total"].as_u64()), (Some(true), Some(1)), "{one}");
    let plain = session.ok("run_tests", json!({ "directory": "plain" }));
    assert_eq!((plain["runner"].as_str(), plain["success"].as_bool()), (Some("npm"), Some(true)), "{plain}");
}

#[test]
fn a_watched_run_detaches_at_once_and_runs_again_on_a_change_until_it_is_cancelled() {
    let bench = Bench::new(&[("Makefile", "test:\n\t@cat input\n"), ("input", "one\n")]);
    let mut session = bench.serve();
    let began = Instant::now();
    let left = session.ok("run_tests", json!({ "watch": true }));
    assert_eq!(left["status"], "detached", "{left}");
    assert!(began.elapsed() < Duration::from_secs(5));
    let job = &left["job"];
    let round = |session: &mut super::Session, wanted: &str| {
        let began = Instant::now();
        loop {
            let status = session.ok("job_status", json!({ "job": job }));
            if status["jobs"][0]["progress"].as_str().is_some_and(|said| said.contains(wanted)) {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{status}");
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    round(&mut session, "round 1: `make test` succeeded");
    std::fs::remove_file(bench.place.root().join("input")).unwrap();
    round(&mut session, "round 2: `make test` failed");
    let ended = session.ok("job_cancel", json!({ "job": job }));
    assert_eq!(ended["job"]["state"], "cancelled", "{ended}");
}
