//! `[devtools.commands]`: each key is what the tools of its purpose run.

use serde_json::json;

use super::Bench;

const MAKEFILE: &str = "\
own:
\t@echo own $(MAKEFLAGS)
test lint build clean depend:
\t@echo plain
bad:
\t@exit 3
";

fn bench(commands: &str) -> Bench {
    Bench::new(&[("Makefile", MAKEFILE), ("gatewright.toml", &format!("[devtools.commands]\n{commands}"))])
}

#[test]
fn each_command_is_what_the_make_tool_of_its_name_runs_unless_a_target_is_named() {
    for key in ["build", "clean", "depend", "lint", "test"] {
        let bench = bench(&format!("{key} = 'make own WHY=\"quiet\"'\n"));
        let mut session = bench.serve();
        let tool = format!("make_{key}");
        let ran = session.ok(&tool, json!({}));
        assert_eq!(ran["runs"][0]["command"], "make own WHY=quiet", "{key}");
        assert_eq!(ran["success"], true);
        let jobs = session.ok(&tool, json!({ "parallel": 2, "args": ["-k"] }));
        assert_eq!(jobs["runs"][0]["command"], "make -j2 own WHY=quiet -k", "{key}");
        let named = session.ok(&tool, json!({ "target": "bad" }));
        assert_eq!(
            (named["runs"][0]["command"].as_str(), named["success"].as_bool()),
            (Some("make bad"), Some(false))
        );
        for other in ["build", "clean", "depend", "lint", "test"].iter().filter(|other| **other != key) {
            let plain = session.ok(&format!("make_{other}"), json!({}));
            assert_eq!(plain["runs"][0]["command"], format!("make {other}"), "{key}");
        }
    }
}

#[test]
fn a_target_of_the_projects_goes_before_its_command() {
    let bench = Bench::new(&[
        ("Makefile", MAKEFILE),
        (
            "gatewright.toml",
            "[devtools]\nmake-targets = { build = 'own' }\ncommands = { build = 'make bad', test = 'make own' }\n",
        ),
    ]);
    let mut session = bench.serve();
    assert_eq!(session.ok("make_build", json!({}))["runs"][0]["command"], "make own");
    assert_eq!(session.ok("make_test", json!({}))["runs"][0]["command"], "make own");
}

#[test]
fn the_test_command_runs_as_it_stands_or_says_that_it_cannot_be_told_more() {
    let bench = bench("test = 'make bad'\n");
    let mut session = bench.serve();
    let ran = session.ok("run_tests", json!({ "verbose": true, "args": ["-k"] }));
    assert_eq!(
        (ran["runner"].as_str(), ran["runs"][0]["command"].as_str(), ran["success"].as_bool()),
        (Some("make"), Some("make bad -k"), Some(false)),
        "{ran}"
    );
    for arguments in [json!({ "pattern": "x" }), json!({ "coverage": true }), json!({ "parallel": true })] {
        let refused = session.fails("run_tests", arguments.clone());
        assert_eq!(refused["code"], "invalid_argument", "{arguments}");
        assert!(refused["message"].as_str().unwrap().contains("make bad"), "{refused}");
    }
    assert_eq!(session.ok("test_status", json!({}))["runner"], "make");
    // A runner that is named goes before it.
    let named = Bench::new(&[
        ("Makefile", MAKEFILE),
        ("gatewright.toml", "[devtools]\ntest-runner = 'cargo'\ncommands = { test = 'make own' }\n"),
    ]);
    assert_eq!(named.serve().ok("test_status", json!({}))["runner"], "cargo");
}

#[test]
fn the_lint_command_is_what_lint_all_runs_where_no_linters_are_named() {
    let bench = bench("lint = 'make bad'\n");
    let mut session = bench.serve();
    let linted = session.ok("lint_all", json!({}));
    assert_eq!(
        (linted["success"].as_bool(), linted["linters"][0]["linter"].as_str()),
        (Some(false), Some("make bad")),
        "{linted}"
    );
    assert_eq!(linted["linters"][0]["diagnostics"][0]["file"], "Makefile", "{linted}");
    assert_eq!(session.fails("lint_all", json!({ "fix": true }))["code"], "invalid_argument");
    let named = Bench::new(&[
        ("Makefile", MAKEFILE),
        ("gatewright.toml", "[devtools]\nlinters = ['yamllint']\ncommands = { lint = 'make bad' }\n"),
    ]);
    let linted = named.serve().ok("lint_all", json!({}));
    assert_eq!(linted["linters"][0]["linter"], "yamllint", "{linted}");
}

#[test]
fn a_command_may_be_any_program_that_has_a_grammar_and_is_the_projects_own_where_npm_installed_it() {
    let bench = Bench::new(&[
        ("package.json", "{ \"name\": \"x\", \"scripts\": { \"build\": \"node --check bad.js\" } }\n"),
        (".gitignore", "node_modules\n"),
        ("bad.md", "# Title\nText.\n"),
        (
            "gatewright.toml",
            "[devtools.commands]\nlint = 'markdownlint --json bad.md'\nbuild = 'npm run build'\n",
        ),
        ("bad.js", "const = 1;\n"),
    ]);
    let Some(bench) = bench.with_node_modules() else { return };
    let mut session = bench.serve();
    let linted = session.ok("make_lint", json!({}));
    assert_eq!(linted["diagnostics"][0]["file"], "bad.md", "{linted}");
    let explained = session.ok("analyze_command", json!({ "command": "markdownlint bad.md" }));
    assert_eq!(explained["success"], false, "{explained}");
    let built = session.ok("make_build", json!({}));
    assert_eq!(
        (built["success"].as_bool(), built["runs"][0]["command"].as_str()),
        (Some(false), Some("npm run build")),
        "{built}"
    );
    let refused = session.fails("make_build", json!({ "parallel": 2 }));
    assert_eq!(refused["code"], "invalid_argument", "{refused}");
}

#[test]
fn a_command_that_no_grammar_takes_is_refused_with_its_key_and_no_other_key_exists() {
    for (command, why) in [
        ("sh -c x", "is a shell"),
        ("make x; touch y", "[devtools.commands] test"),
        ("make SHELL=/tmp/x", "SHELL"),
        ("/bin/make x", "path"),
        ("", "empty"),
    ] {
        let bench = bench(&format!("test = '{command}'\n"));
        let mut session = bench.serve();
        for tool in ["run_tests", "make_test"] {
            let refused = session.fails(tool, json!({}));
            assert_eq!(refused["code"], "invalid_argument", "{command}: {refused}");
            assert!(refused["message"].as_str().unwrap().contains(why), "{command}: {refused}");
        }
    }
    let (code, why) = bench("tests = 'make own'\n").place.fails(&["call", "run_tests"]);
    assert!(code == 2 && why.contains("tests"), "{code} {why}");
}
