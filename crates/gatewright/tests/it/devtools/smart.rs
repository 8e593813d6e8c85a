//! Why something failed, what this project is, and what the cache saved.

use serde_json::json;

use super::Bench;

fn bench() -> Bench {
    Bench::new(&[
        ("Makefile", "test:\n\t@echo tested\nfail:\n\tgcc -o x missing.c\n"),
        (
            "go.mod",
            "module example.com/shop\n\ngo 1.21\n\nrequire (\n\texample.com/a v1.0.0\n\texample.com/b v1.0.0 // indirect\n)\n",
        ),
        ("cmd/app/main.go", "package main\n\nfunc main() {}\n"),
        (
            "web/package.json",
            "{ \"name\": \"web\", \"scripts\": { \"test\": \"node --test\" }, \"dependencies\": { \"react\": \"19\" } }\n",
        ),
    ])
}

#[test]
fn analyze_result_recognises_a_failure_and_names_the_call_to_make_next() {
    let bench = bench();
    let mut session = bench.serve();
    let missing = "shop.go:4:2: no required module provides package example.com/c; to add it:\n\tgo get example.com/c\n";
    let found = session.ok(
        "analyze_result",
        json!({ "command": "go build ./...", "exitCode": 1, "stderr": missing, "duration": 900 }),
    );
    assert_eq!(
        (found["explained"].as_bool(), found["severity"].as_str()),
        (Some(true), Some("high")),
        "{found}"
    );
    assert!(found["findings"].to_string().contains("go-missing-dep"), "{found}");
    assert!(found["suggestions"].to_string().contains("go_mod_tidy"), "{found}");
    let unknown =
        session.ok("analyze_result", json!({ "command": "frob", "exitCode": 3, "stdout": "no idea" }));
    assert_eq!((unknown["explained"].as_bool(), unknown["confidence"].as_f64()), (Some(false), Some(0.3)));
    let late = session.ok("analyze_result", json!({ "command": "go test ./...", "exitCode": 1, "context": { "timedOut": true, "files": ["a_test.go"] } }));
    assert!(late["findings"].to_string().contains("test-timeout"), "{late}");
    assert_eq!(session.fails("analyze_result", json!({ "command": "x" }))["code"], "invalid_argument");
}

#[test]
fn analyze_command_runs_under_the_grammar_of_its_program_and_explains() {
    let bench = bench();
    let mut session = bench.serve();
    let held = session.ok("analyze_command", json!({ "command": "make test" }));
    assert_eq!((held["success"].as_bool(), held["analysis"].is_null()), (Some(true), true), "{held}");
    let failed = session
        .ok("analyze_command", json!({ "command": "make fail", "context": { "files": ["missing.c"] } }));
    assert_eq!(
        (failed["success"].as_bool(), failed["runs"][0]["exitCode"].as_i64()),
        (Some(false), Some(2)),
        "{failed}"
    );
    assert_eq!(failed["analysis"]["explained"], true, "{failed}");
    for command in [
        "make test; rm -rf /",
        "make $(x)",
        "sh -c x",
        "/tmp/make test",
        "make SHELL=/tmp/x",
        "python3 -c 'x'",
    ] {
        assert_eq!(
            session.fails("analyze_command", json!({ "command": command }))["code"],
            "invalid_argument",
            "{command}"
        );
    }
}

#[test]
fn analyze_command_knows_of_the_signal_that_ended_its_program() {
    let bench = Bench::new(&[("Makefile", "test:\n\t@kill -9 $$PPID\n")]);
    let mut session = bench.serve();
    let killed = session.ok("analyze_command", json!({ "command": "make test" }));
    assert_eq!(
        (&killed["success"], &killed["analysis"]["explained"]),
        (&json!(false), &json!(true)),
        "{killed}"
    );
    assert_eq!(killed["analysis"]["severity"], killed["severity"], "one run has one analysis: {killed}");
}

#[test]
fn what_is_known_and_recommended_can_be_asked() {
    let bench = bench();
    let mut session = bench.serve();
    let all = session.ok("get_knowledge_base_stats", json!({}));
    let build = session.ok("get_knowledge_base_stats", json!({ "category": "build" }));
    assert!(all["total"].as_u64() > build["total"].as_u64() && build["total"].as_u64() > Some(0), "{build}");
    assert_eq!(
        session.fails("get_knowledge_base_stats", json!({ "category": "magic" }))["code"],
        "invalid_argument"
    );
    let browser = session.ok(
        "recommend_mcp_servers",
        json!({ "useCase": "look at a page in a browser", "includeConfig": true }),
    );
    assert!(browser["servers"][0]["configuration"].is_object(), "{browser}");
    let plain = session.ok("recommend_mcp_servers", json!({ "useCase": "look at a page in a browser" }));
    assert!(plain["servers"][0]["configuration"].is_null());
    let urgent = session.ok("recommend_mcp_servers", json!({ "priority": "high" }));
    assert!(urgent["servers"].as_array().unwrap().iter().all(|server| server["priority"] == "high"));
    let topic = urgent["servers"][0]["category"].clone();
    let of_topic = session.ok("recommend_mcp_servers", json!({ "category": topic }));
    assert!(
        of_topic["servers"].as_array().unwrap().iter().all(|server| server["category"] == topic),
        "{of_topic}"
    );
    assert_eq!(
        session.fails("recommend_mcp_servers", json!({ "priority": "now" }))["code"],
        "invalid_argument"
    );
}

#[test]
fn project_status_and_go_project_info_say_what_the_files_say() {
    let bench = bench();
    let mut session = bench.serve();
    let project = session.ok("project_status", json!({}));
    assert_eq!(project["project"]["buildSystem"], "make", "{project}");
    assert!(project["project"]["languages"].to_string().contains("go"), "{project}");
    assert!(project["project"]["makefile"]["targets"].to_string().contains("\"test\""), "{project}");
    assert!(project["installed"].to_string().contains("make"), "{project}");
    let web = session.ok("project_status", json!({ "directory": "web" }));
    assert_eq!(
        (web["project"]["type"].as_str(), web["project"]["name"].as_str()),
        (Some("node"), Some("web")),
        "{web}"
    );
    assert_eq!(session.fails("project_status", json!({ "directory": "/etc" }))["type"], "policy");
    let go = session.ok("go_project_info", json!({}));
    assert_eq!(
        (
            go["module"]["module"]["module"].as_str(),
            go["module"]["direct"].as_u64(),
            go["module"]["indirect"].as_u64()
        ),
        (Some("example.com/shop"), Some(1), Some(1)),
        "{go}"
    );
    assert!(go["module"]["commands"].to_string().contains("cmd/app"), "{go}");
    assert_eq!(session.fails("go_project_info", json!({ "directory": "web" }))["code"], "not_found");
    let figures = session.ok("get_performance_metrics", json!({}));
    assert_eq!(figures["cache"]["enabled"], true, "{figures}");
    assert_eq!(session.fails("get_performance_metrics", json!({ "x": 1 }))["code"], "invalid_argument");
}
