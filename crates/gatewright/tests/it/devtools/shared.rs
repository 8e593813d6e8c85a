//! What every tool that starts a program takes, in every such tool: a stand-in says where it runs and with what, and takes its
//! time where it is told to. What the real programs do is tested elsewhere.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{Bench, Session};

/// Each tool that starts programs whose writes are its proposal, what it needs, and an argument that its program's grammar takes.
fn tools() -> Vec<(&'static str, Value, &'static str)> {
    let none = || json!({});
    vec![
        ("make_lint", none(), "--keep-going"),
        ("make_test", none(), "--keep-going"),
        ("make_depend", none(), "--keep-going"),
        ("make_build", none(), "--keep-going"),
        ("make_clean", none(), "--keep-going"),
        ("markdownlint", none(), "--quiet"),
        ("yamllint", none(), "--strict"),
        ("commitlint", json!({ "message": "feat: x" }), "--strict"),
        ("eslint", none(), "--quiet"),
        ("actionlint", none(), "-verbose"),
        ("lint_all", none(), "--strict"),
        ("run_tests", none(), "--keep-going"),
        ("go_test", none(), "-short"),
        ("go_build", none(), "-trimpath"),
        ("go_fmt", none(), "-e"),
        ("go_lint", none(), "--tests=false"),
        ("go_vet", none(), "-unsafeptr=false"),
        ("go_mod_tidy", none(), "-e"),
        ("go_mod_download", none(), "-x"),
        ("go_benchmark", none(), "-short"),
        ("go_generate", none(), "-x"),
        ("go_work", json!({ "command": "sync" }), ""),
        ("go_vulncheck", none(), "-test"),
        ("staticcheck", none(), "-tests=false"),
        ("python_test", none(), "--strict-markers"),
        ("python_lint", none(), "--preview"),
        ("python_format", none(), "--preview"),
        ("python_check_types", json!({ "checker": "mypy" }), "--strict"),
        ("python_benchmark", none(), "--strict-markers"),
        ("python_profile", json!({ "command": "python -m pytest" }), "-x"),
        ("python_security", json!({ "tool": "bandit" }), "--ignore-nosec"),
        ("python_venv", json!({ "action": "create" }), ""),
        ("python_install_deps", none(), "--no-cache"),
        ("python_update_deps", none(), "--no-cache"),
        ("python_build", json!({ "noBuildIsolation": true }), "--verbose"),
        ("analyze_command", json!({ "command": "make test" }), "--keep-going"),
        ("cargo_check", none(), "--locked"),
        ("cargo_build", none(), "--locked"),
        ("cargo_clippy", none(), "--locked"),
        ("cargo_test", none(), "--locked"),
        ("cargo_fmt", none(), "--quiet"),
        ("nodejs_test", none(), "--test-only"),
        ("nodejs_lint", none(), "--quiet"),
        ("nodejs_format", none(), "--no-config"),
        ("nodejs_check_types", none(), "--strict"),
        ("nodejs_build", none(), "--if-present"),
        ("nodejs_scripts", json!({ "script": "build" }), "--if-present"),
        ("nodejs_benchmark", none(), "--globals"),
        ("nodejs_profile", none(), "--if-present"),
    ]
}

/// Stand-ins for the programs of these tools: each says where it is, and takes its time where it is told to.
pub(super) fn stand_ins(programs: &std::path::Path) {
    put(
        programs,
        &[
            "make",
            "go",
            "gofmt",
            "golangci-lint",
            "govulncheck",
            "staticcheck",
            "eslint",
            "markdownlint",
            "yamllint",
            "actionlint",
            "commitlint",
        ],
    );
}

/// Those of Node, Python and Rust besides: of use to none but the tools that are tried here.
fn more_stand_ins(programs: &std::path::Path) {
    put(programs, &["cargo", "node", "npm", "prettier", "tsc", "vitest"]);
    put(programs, &["pytest", "ruff", "mypy", "bandit", "uv", "python3"]);
}

fn put(programs: &std::path::Path, names: &[&str]) {
    for name in names {
        let file = programs.join(name);
        std::fs::write(&file, "#!/bin/sh\npwd\nif [ -e slow ]; then sleep 20; fi\n").unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn bench(programs: &std::path::Path) -> Bench {
    stand_ins(programs);
    more_stand_ins(programs);
    let makefile = "lint test depend build clean:\n\ttrue\n";
    let mut files = Vec::new();
    for place in ["", "sub/", "late/"] {
        files.push((format!("{place}Makefile"), makefile));
        files.push((format!("{place}.yamllint"), "extends: default\n"));
        files.push((format!("{place}a.yaml"), "---\na: 1\n"));
        files.push((format!("{place}a.md"), "# A\n"));
        files.push((
            format!("{place}package.json"),
            "{ \"scripts\": { \"build\": \"true\", \"start\": \"true\" } }\n",
        ));
        files.push((format!("{place}pyproject.toml"), "[project]\nname = \"a\"\nversion = \"1\"\n"));
        files.push((format!("{place}uv.lock"), "version = 1\n"));
    }
    files.push(("late/slow".into(), ""));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    Bench::new(&files).with(programs.to_owned())
}

/// Where the call's first program ran, from the root.
fn ran_in(session: &mut Session, result: &Value) -> String {
    let said = session.ok("run_output", json!({ "run": result["runs"][0]["run"] }));
    let line = said["lines"][0]["text"].as_str().or_else(|| said["lines"][0].as_str()).unwrap().to_owned();
    line.strip_prefix("<root>").unwrap_or_else(|| panic!("{line} is not in the root")).to_owned()
}

fn with(mut own: Value, name: &str, value: Value) -> Value {
    own[name] = value;
    own
}

#[test]
fn every_tool_that_takes_what_programs_are_started_with_is_tried_here() {
    let bench = Bench::new(&[]);
    let listed = bench.serve().0.request("tools/list", json!({}))["result"]["tools"].clone();
    let takes = |tool: &Value| {
        let properties = &tool["inputSchema"]["properties"];
        ["directory", "args", "timeout"].iter().all(|name| properties.get(name).is_some())
    };
    let listed = listed.as_array().unwrap().iter().filter(|tool| takes(tool));
    let mut listed: Vec<&str> = listed.map(|tool| tool["name"].as_str().unwrap()).collect();
    let mut tried: Vec<&str> = tools().iter().map(|(tool, _, _)| *tool).collect();
    listed.sort_unstable();
    tried.sort_unstable();
    assert_eq!(listed, tried);
}

#[test]
fn every_tool_runs_its_program_in_the_directory_that_is_named() {
    let programs = tempfile::tempdir().unwrap();
    let bench = bench(programs.path());
    let mut session = bench.serve();
    for (tool, own, _) in tools() {
        let top = session.ok(tool, own.clone());
        assert_eq!(ran_in(&mut session, &top), "", "{tool}");
        let below = session.ok(tool, with(own.clone(), "directory", json!("sub")));
        assert_eq!(ran_in(&mut session, &below), "/sub", "{tool}");
        let gone = session.fails(tool, with(own.clone(), "directory", json!("gone")));
        assert_eq!(gone["code"], "not_found", "{tool}: {gone}");
        // Some say what they looked for there; none says that its program is missing.
        let looks_first = ["lint", "yamllint", "run_tests"].iter().any(|part| tool.contains(part));
        let message = gone["message"].as_str().unwrap();
        assert!(message == "gone: there is no such folder" || looks_first, "{tool}: {gone}");
        let out = session.fails(tool, with(own, "directory", json!("../sub")));
        assert_eq!(out["code"], "path_not_allowed", "{tool}");
    }
}

#[test]
fn every_tool_passes_on_what_its_programs_grammar_takes_and_nothing_else() {
    let programs = tempfile::tempdir().unwrap();
    let bench = bench(programs.path());
    let mut session = bench.serve();
    for (tool, own, argument) in tools().into_iter().filter(|(_, _, argument)| !argument.is_empty()) {
        let plain = session.ok(tool, own.clone());
        let line = |result: &Value| result["runs"][0]["command"].as_str().unwrap().to_owned();
        assert!(!line(&plain).contains(argument), "{tool}: {plain}");
        let more = session.ok(tool, with(own.clone(), "args", json!([argument])));
        assert!(line(&more).split(' ').any(|word| word == argument), "{tool}: {more}");
        let refused = session.call(tool, with(own, "args", json!(["--no-such-flag-anywhere"])));
        if tool == "lint_all" {
            // One linter's arguments are not another's.
            let skipped = &refused["structuredContent"]["linters"][0]["skipped"];
            assert!(skipped.as_str().unwrap().contains("--no-such-flag-anywhere"), "{refused}");
        } else {
            let text = refused["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("invalid_argument"), "{tool}: {refused}");
        }
    }
}

#[test]
fn every_tool_ends_its_program_when_its_time_is_over() {
    let programs = tempfile::tempdir().unwrap();
    let bench = bench(programs.path());
    // What the configuration says is for calls that say nothing.
    bench.place.configure("[devtools]\ntimeout = 600000\n");
    let mut session = bench.serve();
    for (tool, own, _) in tools() {
        let late = with(with(own, "directory", json!("late")), "timeout", json!(1_000));
        assert_eq!(session.fails(tool, late)["code"], "timeout", "{tool}");
    }
}

#[test]
fn a_time_that_a_call_names_is_its_own_even_where_it_is_the_usual_one() {
    let programs = tempfile::tempdir().unwrap();
    let bench = bench(programs.path());
    bench.place.configure("[devtools]\ntimeout = 1000\n");
    bench.put("late/slow", "");
    let script = "#!/bin/sh\npwd\nif [ -e slow ]; then sleep 2; fi\n";
    std::fs::write(programs.path().join("make"), script).unwrap();
    let mut session = bench.serve();
    let late = json!({ "directory": "late" });
    assert_eq!(session.fails("make_test", late.clone())["code"], "timeout", "as it is configured");
    assert_eq!(session.ok("make_test", with(late, "timeout", json!(120_000)))["success"], true);
}
