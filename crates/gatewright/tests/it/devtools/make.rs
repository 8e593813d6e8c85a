//! The tools of make, with GNU make and gcc.

use serde_json::json;

use super::Bench;

const MAKEFILE: &str = "\
.PHONY: lint test depend build clean fail
lint:
\t@echo linted $(LEVEL)
test:
\t@echo ran > made-by-test
\t@echo tested
depend:
\t@echo 'one: two' > depend.mk
build: out/app
out/app: main.c
\t@mkdir -p out
\tgcc -Wall -o out/app main.c
clean:
\trm -rf out
fail:
\t@echo about to fail; exit 3
jobs:
\t@echo $(MAKEFLAGS)
";

fn bench() -> Bench {
    Bench::new(&[
        ("Makefile", MAKEFILE),
        ("main.c", "int main(void) { return 0; }\n"),
        (".gitignore", "out/\n"),
        ("sub/Makefile", "lint:\n\t@echo in sub\n"),
    ])
}

#[test]
fn make_lint_runs_the_target_in_the_directory_with_the_arguments_that_it_is_given() {
    let bench = bench();
    let mut session = bench.serve();
    let linted = session.ok("make_lint", json!({ "args": ["LEVEL=high"] }));
    assert_eq!((linted["success"].as_bool(), linted["runs"][0]["exitCode"].as_i64()), (Some(true), Some(0)));
    assert_eq!(linted["runs"][0]["command"], "make LEVEL=high lint");
    let shown = session.ok("run_output", json!({ "run": linted["runs"][0]["run"] }));
    assert_eq!(shown["lines"][0]["text"], "linted high");
    let sub = session.ok("make_lint", json!({ "directory": "sub" }));
    let shown = session.ok("run_output", json!({ "run": sub["runs"][0]["run"] }));
    assert_eq!(
        shown["lines"].as_array().unwrap().iter().filter(|l| l["text"] == "in sub").count(),
        1,
        "{shown}"
    );
    let jobs = session.ok("make_lint", json!({ "target": "jobs", "parallel": 3 }));
    assert_eq!(jobs["runs"][0]["command"], "make -j3 jobs");
    let failed = session.ok("make_lint", json!({ "target": "fail" }));
    assert_eq!((failed["success"].as_bool(), failed["runs"][0]["exitCode"].as_i64()), (Some(false), Some(2)));
    assert_eq!(failed["diagnostics"][0]["file"], "Makefile", "{failed}");
    assert!(failed["message"].as_str().unwrap().contains("exit code 2"), "{failed}");
}

#[test]
fn x06_make_takes_no_argument_that_would_run_something_else() {
    let bench = bench();
    let mut session = bench.serve();
    for args in [
        json!(["SHELL=/tmp/x"]),
        json!(["--eval=x:;touch y"]),
        json!(["-f", "/etc/passwd"]),
        json!(["-C", ".."]),
        json!(["MAKEFLAGS=-k"]),
    ] {
        let refused = session.fails("make_test", json!({ "args": args }));
        assert_eq!(refused["code"], "invalid_argument", "{args}");
    }
    let refused = session.fails("make_test", json!({ "target": "-f/tmp/x" }));
    assert_eq!(refused["code"], "invalid_argument");
    assert_eq!(session.fails("make_test", json!({ "directory": "../.." }))["type"], "policy");
    assert_eq!(session.fails("make_test", json!({ "timeout": 5 }))["code"], "invalid_argument");
    assert_eq!(bench.dirt(), "");
}

#[test]
fn make_test_leaves_no_file_and_proposes_what_it_wrote() {
    let bench = bench();
    let mut session = bench.serve();
    let tested = session.ok("make_test", json!({}));
    assert_eq!(tested["status"], "proposed");
    assert_eq!(tested["plan"]["effects"], json!(["create made-by-test (4 bytes)"]));
    assert_eq!(bench.dirt(), "");
    let failed = session.ok("make_test", json!({ "target": "missing" }));
    assert_eq!(failed["success"], false);
    assert!(failed["plan"]["effects"].as_array().unwrap().is_empty());
}

#[test]
fn make_build_keeps_what_the_project_ignores_and_make_clean_takes_it_back_only_when_applied() {
    let bench = bench();
    let mut session = bench.serve();
    let built = session.ok("make_build", json!({}));
    assert_eq!(built["success"], true, "{built}");
    assert_eq!(built["sideWrites"]["paths"], json!(["out/"]));
    assert!(built["sideWrites"]["bytes"].as_u64().unwrap() > 1_000);
    assert!(bench.read("out/app").is_none() && bench.place.root().join("out/app").is_file());
    let again = session.ok("make_build", json!({}));
    assert_eq!(again["success"], true);
    let again = session.ok("run_output", json!({ "run": again["runs"][0]["run"], "grep": "up to date" }));
    assert!(again["lines"].as_array().unwrap().len() <= 1);
    bench.put("main.c", "int main(void) { return missing; }\n");
    let broken = session.ok("make_build", json!({}));
    assert_eq!(broken["success"], false);
    let first = &broken["diagnostics"][0];
    assert_eq!((first["file"].as_str(), first["line"].as_u64()), (Some("main.c"), Some(1)), "{broken}");
    let clean = session.ok("make_clean", json!({}));
    assert_eq!(clean["plan"]["effects"], json!(["remove out/app"]), "{clean}");
    assert!(bench.place.root().join("out/app").is_file(), "nothing is removed without `apply`");
    let applied = session.ok("make_clean", json!({ "apply": true, "plan": clean["plan"]["id"] }));
    assert_eq!(applied["status"], "completed");
    assert!(!bench.place.root().join("out/app").exists());
    assert_eq!(session.ok("make_clean", json!({ "target": "fail" }))["success"], false);
}

#[test]
fn make_depend_proposes_what_it_writes() {
    let bench = bench();
    let mut session = bench.serve();
    let made = session.ok("make_depend", json!({ "apply": true }));
    assert_eq!(made["plan"]["effects"], json!(["create depend.mk (9 bytes)"]));
    assert_eq!(bench.read("depend.mk").as_deref(), Some("one: two\n"));
    assert_eq!(session.ok("make_depend", json!({ "target": "fail" }))["success"], false);
}
