//! `[devtools]` of the configuration: each key changes what a tool does.

use serde_json::{Value, json};

use super::Bench;
use super::shared::stand_ins;

const MAKEFILE: &str = "\
test:
\t@echo plain
check:
\t@echo checked $(COLOUR) $$COLOUR; sleep $${NAP:-0}
";

fn bench(settings: &str) -> Bench {
    Bench::new(&[
        ("Makefile", MAKEFILE),
        ("go.mod", "module x\n"),
        ("sub/package.json", "{ \"name\": \"sub\" }\n"),
        ("gatewright.toml", &format!("[devtools]\n{settings}")),
    ])
}

fn said(session: &mut super::Session, result: &Value) -> String {
    let shown = session.ok("run_output", json!({ "run": result["runs"][0]["run"] }));
    shown["lines"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn make_targets_parallel_and_environment_are_what_the_project_says() {
    let bench = bench("parallel = 3\nmake-targets = { test = 'check' }\nenvironment = { COLOUR = 'blue' }\n");
    let mut session = bench.serve();
    let ran = session.ok("make_test", json!({}));
    assert_eq!(ran["runs"][0]["command"], "make -j3 check");
    assert_eq!(said(&mut session, &ran), "checked blue blue");
    let asked = session.ok("make_test", json!({ "parallel": 1 }));
    assert_eq!(asked["runs"][0]["command"], "make -j1 check", "what a call says counts");
}

#[test]
fn a_timeout_holds_where_a_call_does_not_say_another() {
    let bench = bench("timeout = 1000\nmake-targets = { test = 'check' }\nenvironment = { NAP = '3' }\n");
    let mut session = bench.serve();
    let late = session.fails("make_test", json!({}));
    assert_eq!(late["code"], "timeout", "{late}");
    assert_eq!(session.ok("make_test", json!({ "timeout": 20_000 }))["success"], true);
}

#[test]
fn commands_test_runner_linters_and_excludes_choose() {
    let own = bench("commands = { test = 'make check COLOUR=red' }\n");
    let mut session = own.serve();
    let ran = session.ok("run_tests", json!({}));
    assert_eq!(ran["runs"][0]["command"], "make check COLOUR=red");
    let runner = bench("test-runner = 'pytest'\n");
    let status = runner.serve().call("run_tests", json!({}));
    assert!(status.to_string().contains("pytest"), "{status}");
    let linters = bench("linters = ['yamllint']\n");
    let all = linters.serve().ok("lint_all", json!({}));
    let names: Vec<&str> =
        all["linters"].as_array().unwrap().iter().filter_map(|l| l["linter"].as_str()).collect();
    assert_eq!(names, ["yamllint"], "{all}");
    let linters = bench("linters = ['yamlint', 'yamllint', 'staticcheck']\n");
    let all = linters.serve().ok("lint_all", json!({}));
    let said: Vec<(&str, bool)> = all["linters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| (l["linter"].as_str().unwrap(), l["skipped"].to_string().contains("does not know it")))
        .collect();
    assert_eq!(said, [("yamllint", false), ("yamlint", true), ("staticcheck", true)], "{all}");
    assert!(all["message"].as_str().unwrap().contains("Not run: yamllint, yamlint, staticcheck"), "{all}");
    let seen =
        |settings: &str| bench(settings).serve().ok("project_status", json!({}))["project"].to_string();
    assert!(seen("").contains("sub/package.json") || seen("").contains("\"sub\""));
    assert!(!seen("exclude-paths = ['sub/**', 'sub']\n").contains("\"sub\""));
}

#[test]
fn golang_settings_are_those_of_every_test_run_and_nothing_reserved_can_be_set() {
    let programs = tempfile::tempdir().unwrap();
    stand_ins(programs.path());
    let bench = bench("[devtools.golang]\ntags = ['extra']\ncover = true\nrace = true\n");
    let bench = bench.with(programs.path().to_owned());
    let mut session = bench.serve();
    let answer = session.ok("go_test", json!({ "tags": ["more"] }));
    assert_eq!(answer["runs"][0]["command"], "go test -json -race -cover -tags=extra,more ./...");
    let reserved = [
        "PATH",
        "LD_PRELOAD",
        "home",
        "GIT_DIR",
        "1X",
        "NODE_OPTIONS",
        "GOSUMDB",
        "GONOSUMDB",
        "GOPROXY",
        "RUSTC_WRAPPER",
        "CARGO_BUILD_RUSTC",
        "PYTHONPATH",
        "https_proxy",
        "XDG_CACHE_HOME",
        "STATICCHECK_CACHE",
    ];
    for name in reserved {
        let bench = self::bench(&format!("environment = {{ {name} = 'x' }}\n").replace("1X", "'1X'"));
        let refused = bench.serve().fails("make_test", json!({}));
        assert_eq!(refused["code"], "invalid_argument", "{name}: {refused}");
    }
    for name in ["CI", "CGO_ENABLED", "GOMAXPROCS", "RUST_BACKTRACE", "PYTHONUNBUFFERED", "NODE_ENV", "TZ"] {
        let bench = self::bench(&format!("environment = {{ {name} = '1' }}\n"));
        assert_eq!(bench.serve().ok("make_test", json!({}))["success"], true, "{name}");
    }
}

#[test]
fn what_the_project_says_that_it_is_goes_before_what_is_found_out() {
    let files = [
        ("package.json", "{ \"name\": \"x\", \"scripts\": { \"test\": \"node --test\" } }\n"),
        ("go.mod", "module x\n"),
        ("Makefile", MAKEFILE),
    ];
    let with = |settings: &str| {
        let text = format!("[devtools]\n{settings}");
        let all: Vec<(&str, &str)> = files.into_iter().chain([("gatewright.toml", text.as_str())]).collect();
        Bench::new(&all)
    };
    let project = |bench: &Bench| bench.serve().ok("project_status", json!({}))["project"].clone();
    let runner = |bench: &Bench| bench.serve().call("run_tests", json!({})).to_string();
    let plain = with("");
    assert_eq!(
        (&project(&plain)["type"], &project(&plain)["buildSystem"]),
        (&json!("mixed"), &json!("make"))
    );
    assert!(runner(&plain).contains("make test"));
    let said = with("project-type = 'go'\nbuild-system = 'go'\n");
    assert_eq!((&project(&said)["type"], &project(&said)["buildSystem"]), (&json!("go"), &json!("go")));
    assert!(runner(&said).contains("go test"), "{}", runner(&said));
    let node = with("project-type = 'node'\nbuild-system = 'npm'\n");
    assert!(runner(&node).contains("npm"), "{}", runner(&node));
    let wrong = with("project-type = 'cobol'\n").command().args(["config", "show"]).output().unwrap();
    assert!(!wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("cobol"));
}

#[test]
fn python_settings_are_those_of_pytest() {
    let Some(python) = super::super::bench::installed("pytest", "python/devtools/bin") else { return };
    let bench = Bench::new(&[
        ("pytest.ini", "[pytest]\nmarkers = slow\n"),
        (
            "test_a.py",
            "import pytest\n\ndef test_fast():\n    assert True\n\n@pytest.mark.slow\ndef test_slow():\n    assert False\n",
        ),
        ("gatewright.toml", "[devtools]\ntest-runner = 'pytest'\n[devtools.python]\nmarkers = 'not slow'\n"),
    ]);
    let bench = bench.with(python).patient();
    let ran = bench.serve().ok("run_tests", json!({}));
    assert_eq!((&ran["success"], &ran["counts"]["passed"]), (&json!(true), &json!(1)), "{ran}");
    bench.put("gatewright.toml", "[devtools]\ntest-runner = 'pytest'\n[devtools.python]\ncover = true\n");
    let ran = bench.serve().call("run_tests", json!({}));
    assert!(ran.to_string().contains("--cov"), "{ran}");

    bench.put("gatewright.toml", "[devtools.python]\nmarkers = 'not slow'\ncover = true\n");
    let mut session = bench.serve();
    let ran = session.ok("python_test", json!({}));
    assert_eq!((&ran["success"], &ran["counts"]["passed"]), (&json!(true), &json!(1)), "{ran}");
    assert!(ran["coverage"].to_string().contains("percent"), "{ran}");
    let ran = session.ok("python_test", json!({ "markers": "slow" }));
    assert_eq!(ran["counts"]["failed"], 1, "what a call says counts: {ran}");
}

#[test]
fn file_validation_chooses_what_a_call_leaves_open() {
    let bench = Bench::new(&[
        ("a.md", "no end"),
        ("b.txt", "no end"),
        ("gen/c.md", "no end"),
        (
            "gatewright.toml",
            "[devtools.file-validation]\nexclude = ['gen/**']\nfile-types = ['md']\nmax-file-size-mb = 1\n",
        ),
    ]);
    bench.put("large.md", &"x".repeat(1_000_001));
    let mut session = bench.serve();
    let looked = session.ok("ensure_newline", json!({ "patterns": ["**"], "mode": "check" }));
    let paths: Vec<&str> =
        looked["files"].as_array().unwrap().iter().filter_map(|f| f["path"].as_str()).collect();
    assert_eq!((paths, &looked["skipped"]["large"]), (vec!["a.md"], &json!(1)), "{looked}");
    let asked =
        session.ok("ensure_newline", json!({ "patterns": ["**"], "mode": "check", "fileTypes": ["txt"] }));
    assert_eq!(asked["files"][0]["path"], "b.txt", "what a call says counts: {asked}");
}
