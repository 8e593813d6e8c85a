//! Inputs that change something, one by one: what a call without them says is another thing.

use serde_json::{Value, json};

use super::{Bench, installed};

fn len(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

#[test]
fn what_git_is_asked_for_is_what_it_shows() {
    let ten = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n".to_owned();
    let bench = Bench::new(&[("a.txt", &ten), ("b.txt", "b\n")]);
    bench.git(&["switch", "--quiet", "--create", "side"]);
    bench.put("side.txt", "s\n");
    bench.commit("feat: aside");
    bench.git(&["switch", "--quiet", "main"]);
    bench.commit("fix: ahead");
    bench.git(&["merge", "--quiet", "--no-ff", "--no-edit", "side"]);
    bench.put("a.txt", &ten.replace("5\n", "five\n"));
    bench.put("b.txt", "bee\n");
    let mut session = bench.serve();
    let mut files = |arguments: Value| len(&session.ok("git_diff", arguments)["diff"]["files"]);
    assert_eq!((files(json!({})), files(json!({ "paths": ["b.txt"] }))), (2, 1));
    let mut hunks = |context: u64| {
        let diff = session.ok("git_diff", json!({ "paths": ["a.txt"], "context": context }));
        diff["diff"]["files"][0]["hunks"].as_str().unwrap().to_owned()
    };
    assert!(!hunks(0).contains("\n 4") && hunks(3).contains("\n 4"), "{}", hunks(3));
    let mut many = |arguments: Value| len(&session.ok("git_log", arguments)["commits"]);
    assert_eq!(many(json!({})), 4);
    assert_eq!(many(json!({ "since": "2100-01-01" })), 0);
    assert_eq!(many(json!({ "firstParent": true })), 3);
    assert_eq!((many(json!({ "merges": false })), many(json!({ "merges": true }))), (3, 1));
    assert_eq!(many(json!({ "author": "Test" })), 4);
    bench.git(&["add", "b.txt"]);
    let staged = session.ok("git_diff", json!({ "staged": true, "range": "HEAD~1" }));
    assert_eq!(len(&staged["diff"]["files"]), 2, "the index against that revision: {staged}");
}

#[test]
fn an_analysis_depends_on_all_that_it_is_told() {
    let bench =
        Bench::new(&[("src/bad.c", "x\n"), ("sub/Makefile", "t:\n\t@gcc -c bad.c\n"), ("sub/bad.c", "x\n")]);
    bench.place.configure(
        "[[failures.patterns]]\nid = \"slow-deploy\"\ntitle = \"Slow\"\nseverity = \"low\"\ncategory = \"performance\"\n\
         expressions = [{ find = \"deploy is slow\" }]\nsuggestions = [{ text = \"It took {seconds} s.\", priority = \"low\" }]\n",
    );
    let mut session = bench.serve();
    let mut ask = |arguments: Value| session.ok("analyze_result", arguments);
    let crashed = ask(json!({ "command": "./app", "exitCode": 139 }));
    assert!(crashed["findings"].to_string().contains("cpp-segfault"), "{crashed}");
    assert!(
        !ask(json!({ "command": "./app", "exitCode": 1 }))["findings"].to_string().contains("cpp-segfault")
    );
    let late = json!({ "command": "go test ./...", "exitCode": 1, "context": { "timedOut": true } });
    assert!(ask(late)["findings"].to_string().contains("test-timeout"));
    let deploy = json!({ "command": "make deploy", "exitCode": 1, "context": { "timedOut": true } });
    assert!(!ask(deploy)["findings"].to_string().contains("test-timeout"), "it is no test");
    let error = "bad.c:1:1: error: unknown type name 'x'\n";
    let known = ask(
        json!({ "command": "gcc bad.c", "exitCode": 1, "stderr": error, "context": { "files": ["src/bad.c"] } }),
    );
    assert_eq!(known["affectedFiles"], json!(["src/bad.c"]), "{known}");
    let there = ask(json!({ "command": "gcc bad.c", "exitCode": 1, "stderr": error, "directory": "sub" }));
    assert_eq!(there["affectedFiles"], json!(["sub/bad.c"]), "{there}");
    let slow = ask(
        json!({ "command": "make deploy", "exitCode": 1, "stdout": "deploy is slow", "duration": 4_000 }),
    );
    assert!(slow["suggestions"].to_string().contains("4 s"), "{slow}");
    // A run's own analysis says its files from the root, wherever it ran.
    let ran = session.ok("analyze_command", json!({ "command": "make t", "directory": "sub" }));
    assert_eq!(ran["affectedFiles"][0], "sub/bad.c", "{ran}");
    assert_eq!(ran["analysis"]["affectedFiles"][0], "sub/bad.c", "{ran}");
}

#[test]
fn servers_are_recommended_for_what_they_are_to_be_used_for() {
    let bench = Bench::new(&[]);
    let mut session = bench.serve();
    let mut first = |what: &str| {
        let found = session.ok("recommend_mcp_servers", json!({ "useCase": what }));
        assert!(len(&found["servers"]) > 0, "{found}");
        found["servers"][0]["name"].clone()
    };
    assert_ne!(first("query a postgres database"), first("look at a page in a browser"));
}

#[test]
fn a_jobs_tail_is_as_long_as_it_is_asked_for() {
    let bench = Bench::new(&[("Makefile", "test:\n\t@echo one; echo two; echo three; sleep 30\n")]);
    bench.place.configure("[limits]\ndetach-after = 1\n");
    let mut session = bench.serve();
    let job = session.ok("make_test", json!({}))["job"].clone();
    let mut tail = |lines: u64| {
        session.ok("job_status", json!({ "job": job, "tail": lines }))["jobs"][0]["tail"].clone()
    };
    assert_eq!(tail(1), json!(["three"]));
    assert_eq!(tail(2), json!(["two", "three"]));
    assert_eq!(tail(0), Value::Null);
    session.ok("job_cancel", json!({ "job": job }));
}

#[test]
fn a_pull_request_is_about_the_folder_that_is_named() {
    let bench = Bench::new(&[("a/a.txt", "1\n"), ("b/b.txt", "1\n")]);
    bench.git(&["switch", "--quiet", "--create", "feature"]);
    bench.put("a/a.txt", "2\n");
    bench.commit("feat(a): two");
    bench.put("b/b.txt", "2\n");
    bench.commit("fix(b): mend the other");
    let mut session = bench.serve();
    let all = session.ok("generate_pr_message", json!({}));
    assert!(all["body"].as_str().unwrap().contains("mend the other") && all["commits"] == 2, "{all}");
    let one = session.ok("generate_pr_message", json!({ "directory": "a" }));
    assert!(one["title"].as_str().unwrap().contains("two"), "{one}");
    assert!(!one.to_string().contains("mend") && one["commits"] == 1, "{one}");
    assert_eq!(session.fails("generate_pr_message", json!({ "directory": "nowhere" }))["code"], "not_found");
}

#[test]
fn a_dry_run_that_is_to_be_applied_is_refused() {
    let bench = Bench::new(&[("go.mod", "module x\n")]);
    let mut session = bench.serve();
    let contrary = session.fails("go_generate", json!({ "dryRun": true, "apply": true }));
    assert_eq!(contrary["code"], "invalid_argument", "{contrary}");
}

#[test]
fn what_go_is_asked_for_is_what_it_does() {
    let Some(go) = installed("the Go tools", "python/devtools/lib/*/site-packages/go/bin") else { return };
    let bench = Bench::new(&[
        ("go.mod", "module example.com/m\n\ngo 1.21\n"),
        ("main.go", "package main\n\nfunc main() {}\n"),
        ("tagged.go", "//go:build extra\n\npackage main\n\nvar _ = missing\n"),
        ("sub/fine.go", "package sub\n"),
        ("sub/ugly.go", "package sub\nfunc  F( ) {}\n"),
        ("other/go.mod", "module example.com/other\n\ngo 1.21\n"),
        (".gitignore", "bin/\n"),
    ])
    .with(go)
    .patient();
    let mut session = bench.serve();
    let build = |more: Value| {
        let mut arguments = json!({ "package": ".", "output": "bin/app" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let binary = || std::fs::read(bench.place.root().join("bin/app")).unwrap();
    let root = bench.place.root().canonicalize().unwrap().display().to_string();
    let names_root = |bytes: &[u8]| bytes.windows(root.len()).any(|part| part == root.as_bytes());
    assert_eq!(session.ok("go_build", build(json!({})))["success"], true);
    assert!(names_root(&binary()));
    assert_eq!(session.ok("go_build", build(json!({ "buildFlags": ["-trimpath"] })))["success"], true);
    assert!(!names_root(&binary()));
    let arm = session.ok("go_build", build(json!({ "goos": "linux", "goarch": "arm64" })));
    assert_eq!(arm["success"], true, "{arm}");
    assert_eq!(binary().get(18), Some(&0xB7), "the machine of an ELF file: AArch64");
    assert_eq!(session.ok("go_build", build(json!({ "tags": ["extra"] })))["success"], false);
    let fine = session.ok("go_fmt", json!({ "files": ["sub/fine.go"], "write": false }));
    assert_eq!((&fine["unformatted"], &fine["success"]), (&json!([]), &json!(true)));
    let below = session.ok("go_fmt", json!({ "directory": "sub", "write": false }));
    assert_eq!(below["unformatted"], json!(["sub/ugly.go"]), "as the root has it");
    let elsewhere = session.ok("go_work", json!({ "command": "init", "directory": "other" }));
    assert!(elsewhere["plan"]["effects"].to_string().contains("other/go.work"), "{elsewhere}");
    bench.put("go.work", "go 1.21\n\nuse .\n");
    let used = session.ok("go_work", json!({ "command": "use", "modules": ["./other"] }));
    assert!(used["plan"]["diff"].as_str().unwrap().contains("./other"), "{used}");
    let synced = session.ok("go_work", json!({ "command": "sync" }));
    assert_eq!(synced["success"], true, "{synced}");
}
