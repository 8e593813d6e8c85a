//! Reading git, and what is made of it.

use serde_json::json;

use super::{Bench, hostile, installed};

fn bench() -> Bench {
    let bench = Bench::new(&[("kept.txt", "one\n"), ("src/a.rs", "fn a() {}\n"), (".gitignore", "out/\n")]);
    bench.git(&["switch", "--quiet", "--create", "feature"]);
    bench
}

#[test]
fn git_status_says_what_is_staged_changed_and_new_and_runs_nothing_of_the_repositorys() {
    let bench = bench();
    bench.put("src/a.rs", "fn a() { }\n");
    bench.put("src/new.rs", "");
    bench.put("staged.txt", "x\n");
    bench.git(&["add", "staged.txt"]);
    bench.put("hook.sh", "#!/bin/sh\ntouch canary\n");
    bench.git(&["config", "core.fsmonitor", "./hook.sh"]);
    bench.git(&["config", "filter.evil.clean", "touch canary"]);
    bench.put(".gitattributes", "*.rs filter=evil\n");
    let mut session = bench.serve();
    let status = session.ok("git_status", json!({}));
    assert_eq!(
        (status["branch"].as_str(), status["clean"].as_bool()),
        (Some("feature"), Some(false)),
        "{status}"
    );
    assert_eq!(status["staged"][0]["path"], "staged.txt");
    assert_eq!(status["counts"]["staged"], 1);
    assert!(status["notCompared"].to_string().contains("src/a.rs"), "a filter is not run: {status}");
    let below = session.ok("git_status", json!({ "directory": "src" }));
    assert_eq!(
        (below["counts"]["staged"].as_u64(), below["untracked"][0].as_str()),
        (Some(0), Some("src/new.rs")),
        "{below}"
    );
    assert_eq!(session.fails("git_status", json!({ "directory": "../.." }))["type"], "policy");
    assert!(!bench.place.root().join("canary").exists());
}

#[test]
fn git_diff_shows_what_differs_by_range_path_and_index() {
    let bench = bench();
    bench.put("src/a.rs", "fn a() { b() }\n");
    bench.commit("feat(src): call b");
    bench.put("kept.txt", "one\ntwo  \n");
    let mut session = bench.serve();
    let range = session.ok("git_diff", json!({ "range": "main...HEAD" }));
    assert_eq!(
        (range["diff"]["files"][0]["path"].as_str(), range["diff"]["stats"]["additions"].as_u64()),
        (Some("src/a.rs"), Some(1)),
        "{range}"
    );
    assert!(range["diff"]["files"][0]["hunks"].as_str().unwrap().contains("+fn a() { b() }"));
    let tree = session.ok("git_diff", json!({ "paths": ["kept.txt"] }));
    assert_eq!(tree["diff"]["files"][0]["additions"], 1);
    let names = session.ok("git_diff", json!({ "namesOnly": true }));
    assert_eq!(
        (names["diff"]["files"][0]["path"].as_str(), names["diff"]["files"][0]["hunks"].as_str()),
        (Some("kept.txt"), Some("")),
        "{names}"
    );
    assert_eq!(session.ok("git_diff", json!({ "staged": true }))["diff"]["stats"]["files"], 0);
    bench.git(&["add", "kept.txt"]);
    assert_eq!(session.ok("git_diff", json!({ "staged": true, "context": 0 }))["diff"]["stats"]["files"], 1);
    bench.commit("white");
    bench.put("kept.txt", "one\ntwo\n");
    assert_eq!(session.ok("git_diff", json!({}))["diff"]["stats"]["additions"], 1);
    let ignoring = session.ok("git_diff", json!({ "ignoreWhitespace": true }));
    assert_eq!(ignoring["diff"]["stats"]["additions"], 0, "{ignoring}");
    let below = session.ok("git_diff", json!({ "range": "main..HEAD", "directory": "src" }));
    assert_eq!(below["diff"]["stats"]["files"], 1, "{below}");
    for (arguments, code) in [
        (json!({ "range": "nowhere..HEAD" }), "not_found"),
        (json!({ "range": "--output=/tmp/x" }), "invalid_argument"),
        (json!({ "range": "main..HEAD", "staged": true }), "invalid_argument"),
    ] {
        assert_eq!(session.fails("git_diff", arguments.clone())["code"], code, "{arguments}");
    }
}

#[test]
fn git_log_lists_commits_by_what_is_asked_of_them() {
    let bench = bench();
    bench.put("src/b.rs", "fn b() {}\n");
    bench.commit("feat(src): add b\n\nIt is needed.\n\nSigned-off-by: Test <test@example.com>");
    bench.put("kept.txt", "two\n");
    bench.commit("fix: keep two");
    let mut session = bench.serve();
    let all = session.ok("git_log", json!({}));
    let summaries: Vec<&str> =
        all["commits"].as_array().unwrap().iter().filter_map(|c| c["summary"].as_str()).collect();
    assert_eq!(summaries, ["fix: keep two", "feat(src): add b", "first"]);
    assert_eq!(all["commits"][1]["trailers"][0]["key"], "Signed-off-by");
    let few = session.ok("git_log", json!({ "limit": 1, "skip": 1, "stats": true }));
    assert_eq!(
        (few["commits"][0]["summary"].as_str(), few["more"].as_bool()),
        (Some("feat(src): add b"), Some(true))
    );
    assert_eq!(few["commits"][0]["stats"]["additions"], 1);
    for (arguments, count) in [
        (json!({ "paths": ["src"] }), 2),
        (json!({ "directory": "src" }), 2),
        (json!({ "revision": "main..HEAD" }), 2),
        (json!({ "grep": "keep" }), 1),
        (json!({ "grep": "^fix.*two$", "regex": true }), 1),
        (json!({ "grep": "^fix.*two$" }), 0),
        (json!({ "author": "nobody" }), 0),
        (json!({ "since": "2000-01-01" }), 3),
        (json!({ "until": "2000-01-01" }), 0),
        (json!({ "merges": true }), 0),
        (json!({ "firstParent": true }), 3),
    ] {
        let log = session.ok("git_log", arguments.clone());
        assert_eq!(log["commits"].as_array().unwrap().len(), count, "{arguments}");
    }
    assert_eq!(session.fails("git_log", json!({ "revision": "nowhere" }))["code"], "not_found");
    assert_eq!(session.fails("git_log", json!({ "revision": "-p" }))["code"], "invalid_argument");
}

#[test]
fn code_review_finds_what_a_branch_adds_and_should_not() {
    let bench = bench();
    let long = format!("let x = \"{}\";\n", "y".repeat(220));
    bench.put(
        "src/bad.js",
        &format!("eval(input);\n// TODO: later\n{long}const key = \"AKIAIOSFODNN7REALKEY\";\n"),
    );
    bench.put("src/bad.test.js", "eval(input);\n");
    bench.commit("feat: bad");
    let mut session = bench.serve();
    let all = session.ok("code_review", json!({}));
    let rules: Vec<&str> =
        all["concerns"].as_array().unwrap().iter().filter_map(|c| c["rule"].as_str()).collect();
    assert!(
        rules.contains(&"code-from-text") && rules.contains(&"leftover-note") && rules.contains(&"long-line"),
        "{all}"
    );
    assert_eq!(
        (all["concerns"][0]["severity"].as_str(), all["files"].as_u64(), all["skipped"].as_u64()),
        (Some("high"), Some(1), Some(1)),
        "{all}"
    );
    assert!(!all.to_string().contains("AKIAIOSFODNN7REALKEY"));
    let todo = all["concerns"].as_array().unwrap().iter().find(|c| c["rule"] == "leftover-note").unwrap();
    assert_eq!((todo["file"].as_str(), todo["line"].as_u64()), (Some("src/bad.js"), Some(2)));
    let security = session.ok("code_review", json!({ "focus": "security", "includeTests": true }));
    assert!(
        security["concerns"].as_array().unwrap().iter().all(|c| c["category"] == "security"),
        "{security}"
    );
    assert_eq!(security["files"], 2);
    let one = session.ok("code_review", json!({ "includeTests": true, "maxFiles": 1 }));
    assert_eq!((one["files"].as_u64(), one["skipped"].as_u64()), (Some(1), Some(1)));
    assert_eq!(session.ok("code_review", json!({ "base": "HEAD" }))["total"], 0);
    assert_eq!(session.ok("code_review", json!({ "directory": "docs" }))["files"], 0);
    assert_eq!(session.fails("code_review", json!({ "base": "nowhere" }))["code"], "not_found");
}

#[test]
fn generate_pr_message_is_conventional_and_fills_the_template() {
    let bench = bench();
    bench.put("src/b.rs", "fn b() {}\n");
    bench.commit("feat(src): add b");
    bench.put("src/b.rs", "fn b() { c() }\n");
    bench.commit("fix(src)!: call c\n\nBREAKING CHANGE: b needs c now");
    bench.put("src/b.rs", "fn b() { c(); }\n");
    bench.commit("feat(src): again");
    let mut session = bench.serve();
    let plain = session.ok("generate_pr_message", json!({}));
    assert_eq!(
        (plain["title"].as_str(), plain["type"].as_str()),
        (Some("feat(src): add b"), Some("feat")),
        "{plain}"
    );
    assert!(plain["body"].as_str().unwrap().contains("- call c") && plain["template"].is_null());
    let full = session.ok(
        "generate_pr_message",
        json!({ "type": "fix", "scope": "core", "includeBreaking": true, "includeIssue": "12" }),
    );
    assert_eq!(full["title"], "fix(core)!: call c", "{full}");
    let body = full["body"].as_str().unwrap();
    assert!(body.contains("b needs c now") && body.contains("Closes #12"), "{body}");
    bench.put(".github/PULL_REQUEST_TEMPLATE.md", "# What\n\n- [ ] tested\n");
    let filled = session.ok("generate_pr_message", json!({}));
    assert!(filled["body"].as_str().unwrap().contains("- [ ] tested"), "{filled}");
    assert_eq!(filled["template"], ".github/PULL_REQUEST_TEMPLATE.md");
    assert!(session.ok("generate_pr_message", json!({ "useTemplate": false }))["template"].is_null());
    assert_eq!(session.fails("generate_pr_message", json!({ "base": "HEAD" }))["code"], "not_found");
}

#[test]
fn g02_g04_g06_g08_a_hostile_repository_executes_nothing_through_any_tool() {
    let bench = Bench::new(&[
        ("Makefile", "lint test depend build clean:\n\t@git status; git diff; git log -p -1; git st; true\n"),
        ("go.mod", "module example.com/m\n\ngo 1.22\n"),
        ("main.go", "package main\n\nfunc main() {}\n"),
        ("README.md", "# M\n"),
        ("a.yaml", "---\na: 1\n"),
        (".yamllint", "extends: default\n"),
        (".gitattributes", "* filter=evil diff=evil\n"),
    ])
    .patient();
    // Go asks git what it builds.
    let bench = match installed("the Go tools", "python/devtools/lib/*/site-packages/go/bin") {
        Some(go) => bench.with(go),
        None => bench,
    };
    bench.git(&["checkout", "--quiet", "-b", "feature"]);
    bench.put("main.go", "package main\n\n// Main.\nfunc main() {}\n");
    bench.commit("feat: say it");
    hostile::arm(&bench.place.root());
    bench.put("a.yaml", "---\na: 2\n");
    let mut session = bench.serve();
    let listed = session.0.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<String> =
        listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert!(names.len() >= 44, "{names:?}");
    let mut worked = 0;
    for name in &names {
        let arguments = match name.as_str() {
            "analyze_command" => vec![
                json!({ "command": "git status" }),
                json!({ "command": "git diff HEAD~1" }),
                json!({ "command": "git log -p" }),
                json!({ "command": "go build ./..." }),
            ],
            "analyze_result" => vec![json!({ "command": "git status", "exitCode": 1 })],
            "commitlint" => vec![json!({ "message": "feat: say it" })],
            "go_work" => vec![json!({ "command": "init", "modules": ["."] })],
            "git_diff" => vec![json!({}), json!({ "range": "main...HEAD" }), json!({ "staged": true })],
            "git_log" => vec![json!({}), json!({ "stats": true, "paths": ["main.go"] })],
            _ => vec![json!({})],
        };
        for arguments in arguments {
            let result = session.call(name, arguments.clone());
            worked += usize::from(result["isError"] != true);
            assert!(!result.to_string().contains("canary"), "{name} {arguments}: {result}");
            assert!(!bench.place.root().join("canary").exists(), "{name} {arguments}");
        }
    }
    assert!(worked >= 25, "{worked} calls did something");
    session.0.finish();
    // The control, which must escape: an alias, too, and what it names is no command of git's own.
    for word in ["diff", "st"] {
        let canary = bench.place.root().join("canary");
        let mut git = std::process::Command::new("git");
        git.arg(word).current_dir(bench.place.root()).output().unwrap();
        assert!(canary.exists(), "whoever asks git itself is had: {word}");
        std::fs::remove_file(canary).unwrap();
    }
}
