//! Answers that are given again: a warm one is the cold one, whatever happened meanwhile.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{Bench, Session, installed};
use crate::wire::Wire;

/// How often an answer of this namespace was given again.
fn hits(session: &mut Session, namespace: &str) -> u64 {
    let figures = session.ok("get_performance_metrics", json!({}));
    let all = figures["cache"]["namespaces"].as_array().unwrap();
    let one = all.iter().find(|one| one["namespace"] == namespace).unwrap();
    one["hits"].as_u64().unwrap()
}

/// Asks twice: the same comes back, the second time from the cache.
fn again(session: &mut Session, namespace: &str, tool: &str, arguments: &Value) -> Value {
    let plain = |mut answer: Value| {
        answer.as_object_mut().unwrap().remove("metadata");
        answer
    };
    let first = plain(session.ok(tool, arguments.clone()));
    let before = hits(session, namespace);
    let second = plain(session.ok(tool, arguments.clone()));
    assert_eq!(first, second);
    assert!(hits(session, namespace) > before, "{tool} was computed again: {namespace}");
    first
}

#[test]
fn what_a_project_is_is_known_until_a_manifest_changes() {
    let bench = Bench::new(&[("package.json", "{ \"name\": \"web\" }\n"), ("src/index.js", "1\n")]);
    let mut session = bench.serve();
    let ask = json!({});
    let ask = |session: &mut Session| again(session, "project-detection", "project_status", &ask);
    assert_eq!(ask(&mut session)["project"]["type"], "node");
    bench.put("src/index.js", "2\n");
    assert_eq!(ask(&mut session)["project"]["type"], "node");
    bench.put("go.mod", "module example.com/m\n\ngo 1.22\n");
    assert_eq!(ask(&mut session)["project"]["type"], "mixed");
    std::fs::remove_file(bench.place.root().join("package.json")).unwrap();
    assert_eq!(ask(&mut session)["project"]["type"], "go");
    // The configuration is part of the question.
    bench.put("gatewright.toml", "[devtools]\nexclude-paths = [\"go.mod\"]\n");
    assert_ne!(ask(&mut session)["project"]["type"], "go");
}

#[test]
fn programs_are_known_until_a_folder_of_the_path_changes() {
    let programs = tempfile::tempdir().unwrap();
    let golangci = programs.path().join("golangci-lint");
    let bench =
        Bench::new(&[("go.mod", "module example.com/m\n\ngo 1.22\n"), (".golangci.yml", "version: 2\n")]);
    // Nothing of this machine's: it may have the program.
    let mut server = bench.command();
    server.env("PATH", programs.path()).args(["serve", "--toolsets", "all"]);
    let mut session = Session(Wire::greeted(&mut server, &json!({})));
    let has = |session: &mut Session| {
        let said = session.ok("project_status", json!({}));
        let all = said["installed"].as_array().unwrap();
        all.iter().any(|program| program == "golangci-lint")
    };
    let mode = |mode| std::fs::set_permissions(&golangci, std::fs::Permissions::from_mode(mode)).unwrap();
    assert!(!has(&mut session));
    std::fs::write(&golangci, "#!/bin/sh\n").unwrap();
    mode(0o755);
    assert!(has(&mut session));
    // A folder that has changed within the file system's tick may change again unseen: it is looked at again.
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    again(&mut session, "command-availability", "project_status", &json!({}));
    mode(0o644);
    assert!(!has(&mut session));
    mode(0o755);
    assert!(has(&mut session));
    std::fs::remove_file(&golangci).unwrap();
    assert!(!has(&mut session));
}

#[test]
fn a_go_module_is_known_until_a_source_changes() {
    let bench = Bench::new(&[("go.mod", "module example.com/m\n\ngo 1.22\n"), ("m.go", "package m\n")]);
    let mut session = bench.serve();
    let packages = |session: &mut Session| {
        let said = again(session, "go-project-info", "go_project_info", &json!({}));
        said["module"]["packages"].as_array().unwrap().len()
    };
    assert_eq!(packages(&mut session), 1);
    bench.put("inner/inner.go", "package inner\n");
    assert_eq!(packages(&mut session), 2);
    bench.put("go.mod", "module example.com/other\n\ngo 1.22\n");
    let said = session.ok("go_project_info", json!({}));
    assert_eq!(said["module"]["module"]["module"], "example.com/other", "{said}");
}

#[test]
fn history_is_known_until_a_ref_moves() {
    let bench = Bench::new(&[("a.txt", "1\n")]);
    let mut session = bench.serve();
    let ask = json!({ "limit": 5 });
    let latest = |session: &mut Session| {
        let said = again(session, "git-reads", "git_log", &ask);
        said["commits"][0]["summary"].as_str().unwrap().to_owned()
    };
    assert_eq!(latest(&mut session), "first");
    bench.commit("second");
    assert_eq!(latest(&mut session), "second");
    bench.git(&["checkout", "--quiet", "-b", "other", "HEAD~1"]);
    assert_eq!(latest(&mut session), "first");
    bench.git(&["pack-refs", "--all"]);
    assert_eq!(latest(&mut session), "first");
    bench.git(&["checkout", "--quiet", "main"]);
    assert_eq!(latest(&mut session), "second");
    bench.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_eq!(latest(&mut session), "first");
    // A repository that may no longer be read is refused, however well it is remembered.
    bench.put(".git/objects/info/alternates", "/elsewhere\n");
    assert_eq!(session.fails("git_log", ask.clone())["code"], "path_not_allowed");
}

#[test]
fn what_a_linter_looks_at_is_known_until_a_folder_or_a_rule_changes() {
    let Some(python) = installed("the Python tools", "python/devtools/bin") else { return };
    let bench = Bench::new(&[("a.yaml", "---\na:   1\n"), ("made/b.yaml", "---\nb:   1\n")]).with(python);
    let mut session = bench.serve();
    let files = |session: &mut Session| {
        let before = hits(session, "file-lists");
        let first = session.ok("yamllint", json!({}));
        let second = session.ok("yamllint", json!({}));
        assert!(hits(session, "file-lists") > before, "the files were listed again");
        assert_eq!(first["diagnostics"], second["diagnostics"]);
        let all = first["diagnostics"].as_array().unwrap();
        let mut all: Vec<String> = all.iter().map(|d| d["file"].as_str().unwrap().to_owned()).collect();
        all.dedup();
        all
    };
    assert_eq!(files(&mut session), ["a.yaml", "made/b.yaml"]);
    bench.put(".gitignore", "made/\n");
    // What is tracked is not ignored.
    assert_eq!(files(&mut session), ["a.yaml", "made/b.yaml"]);
    bench.git(&["rm", "--quiet", "--cached", "made/b.yaml"]);
    assert_eq!(files(&mut session), ["a.yaml"]);
    bench.put("c.yml", "---\nc:   1\n");
    assert_eq!(files(&mut session), ["a.yaml", "c.yml"]);
    bench.put("gatewright.toml", "[devtools]\nexclude-paths = [\"c.*\"]\n");
    assert_eq!(files(&mut session), ["a.yaml"]);
    assert_eq!(session.ok("yamllint", json!({ "directory": "made" }))["success"], true);
    std::fs::remove_file(bench.place.root().join("a.yaml")).unwrap();
    let nothing = session.ok("yamllint", json!({}));
    assert_eq!(nothing["success"], true, "{nothing}");
    assert!(nothing.get("runs").is_none(), "nothing was run: {nothing}");
}

#[test]
fn what_a_failure_means_is_known_by_all_that_was_said() {
    let bench = Bench::new(&[]);
    let mut session = bench.serve();
    let ask = |out: &str| json!({ "command": "go test ./...", "exitCode": 1, "stdout": out });
    let failed =
        again(&mut session, "failure-analysis", "analyze_result", &ask("--- FAIL: TestTotal (0.00s)\n"));
    assert_eq!(failed["explained"], true, "{failed}");
    let other = again(&mut session, "failure-analysis", "analyze_result", &ask("fine\n"));
    assert_eq!(other["explained"], false, "{other}");
}

#[test]
fn a_cache_that_is_switched_off_keeps_nothing() {
    let bench = Bench::new(&[("package.json", "{}\n")]);
    bench.place.configure("[cache]\nenabled = false\n");
    let mut session = bench.serve();
    for _ in 0..2 {
        session.ok("project_status", json!({}));
    }
    assert_eq!(hits(&mut session, "project-detection"), 0);
}
