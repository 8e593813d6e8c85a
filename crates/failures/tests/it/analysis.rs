use gatewright_failures::{Category, FailedRun, Priority, Severity, merge};
use serde_json::{Value, json};

use crate::fixture::{Captured, analyzer, ids};

fn arguments(call: &gatewright_failures::ToolCall) -> Value {
    Value::Object(call.arguments.clone())
}

#[test]
fn a_failing_go_test_is_named_and_the_next_call_runs_it_alone() {
    let captured = Captured::named("go-test-fail/match-error");
    let files = ["cart/cart.go".to_owned(), "cart/more_test.go".to_owned()];
    let analysis = analyzer().analyze(&FailedRun { files: &files, run: Some("run_1"), ..captured.run() });
    assert_eq!(
        (analysis.category, analysis.severity, analysis.confidence),
        (Category::Test, Severity::High, 0.75)
    );
    let found = &analysis.matches[0];
    assert_eq!((found.line, found.captures["name"].as_str()), (1, "TestEmpty"));
    assert_eq!(found.excerpt, "--- FAIL: TestEmpty (0.00s)");
    assert_eq!(analysis.affected_files, ["cart/more_test.go"]);
    let call = analysis.suggestions[0].tool.as_ref().unwrap();
    assert_eq!(call.name, "go_test");
    assert_eq!(
        arguments(call),
        json!({ "package": "example.com/shop/cart", "verbose": true, "args": ["-run=TestEmpty"] })
    );
    assert_eq!(analysis.suggestions[0].confidence, 0.68);
    assert_eq!(
        analysis.suggestions[1].text,
        "TestEmpty says at cart/more_test.go line 7: Total(nil) = 0, want 1"
    );
    let last =
        analysis.suggestions.iter().find_map(|s| s.tool.as_ref().filter(|call| call.name == "run_output"));
    assert_eq!(arguments(last.unwrap()), json!({ "run": "run_1", "aroundFailure": true }));
}

#[test]
fn a_missing_go_package_comes_before_the_build_that_fails_for_it() {
    let analysis = Captured::named("go-missing-dep/match-no-module").analyze();
    assert_eq!(ids(&analysis), ["go-missing-dep"]);
    assert_eq!(analysis.category, Category::Dependencies);
    assert_eq!(analysis.suggestions[0].tool.as_ref().unwrap().name, "go_mod_tidy");
    assert!(analysis.suggestions[0].text.contains("github.com/google/uuid"));
    assert_eq!(analysis.affected_files, ["cmd/shop/main.go"]);
}

#[test]
fn a_call_is_suggested_where_the_run_was_and_names_files_as_they_are_called_there() {
    let placed = ["eslint".to_owned()];
    let captured = Captured::named("js-eslint-errors/match-stylish");
    let calls = |dir, placed| {
        let run = FailedRun { dir: Some(dir), placed, run: Some("run_1"), ..captured.run() };
        let analysis = analyzer().analyze(&FailedRun { root: Some("/srv/shop-js"), ..run });
        assert_eq!(analysis.affected_files, ["src/bad.js"]);
        let calls = analysis.suggestions.into_iter().filter_map(|said| said.tool);
        calls.map(|call| (call.name.clone(), arguments(&call))).collect::<Vec<_>>()
    };
    let of = |calls: Vec<(String, Value)>| calls.into_iter().find(|(name, _)| name == "eslint").unwrap().1;
    let output = ("run_output".to_owned(), json!({ "run": "run_1", "aroundFailure": true }));
    assert!(calls("src", &placed).contains(&output), "it works in no folder");
    assert_eq!(of(calls("src", &placed)), json!({ "fix": true, "files": ["bad.js"], "directory": "src" }));
    assert_eq!(
        of(calls("web/app", &placed)),
        json!({ "fix": true, "files": ["../../src/bad.js"], "directory": "web/app" })
    );
    for (dir, placed) in [("src", &[][..]), ("", &placed), (".", &placed)] {
        assert_eq!(of(calls(dir, placed)), json!({ "fix": true, "files": ["src/bad.js"] }));
    }
}

#[test]
fn eslint_is_called_with_the_files_that_it_complained_about() {
    let captured = Captured::named("js-eslint-errors/match-stylish");
    let analysis = analyzer().analyze(&FailedRun { root: Some("/srv/shop-js/"), ..captured.run() });
    assert_eq!(analysis.affected_files, ["src/bad.js"]);
    let call = analysis.suggestions[0].tool.as_ref().unwrap();
    assert_eq!(
        (call.name.as_str(), arguments(call)),
        ("eslint", json!({ "fix": true, "files": ["src/bad.js"] }))
    );
    let finding = &analysis.findings[0];
    assert_eq!(finding.count, 6, "five errors and the sum");
    assert_eq!(analysis.matches.len(), 5);
}

#[test]
fn absolute_paths_are_affected_files_only_below_the_root() {
    let captured = Captured::named("js-eslint-errors/match-stylish");
    assert_eq!(captured.analyze().affected_files, [""; 0]);
    let captured = Captured::named("python-import-error/match-module");
    let analysis = analyzer().analyze(&FailedRun { root: Some("/srv/shop-py"), ..captured.run() });
    assert_eq!(analysis.affected_files, ["shop/web.py"]);
}

#[test]
fn places_are_read_from_the_lines_around() {
    for (name, file, line) in [
        ("rust-borrow-checker/match-moved", "src/main.rs", "1"),
        ("rust-lifetime-error/match-may-not-live", "src/main.rs", "1"),
        ("js-typescript-error/match-pretty", "src/bad.ts", "2"),
        ("js-module-not-found/match-esbuild", "src/lost.js", "1"),
        ("java-null-pointer/match-main", "Npe.java", "3"),
        ("cpp-compilation-error/match-gcc", "bad.cpp", "4"),
        ("cpp-segfault/match-valgrind", "segv.cpp", "2"),
        ("cpp-memory-leak/match-valgrind", "leak.cpp", "3"),
        ("sec-hardcoded-secrets/match-bandit", "shop/secret.py", "3"),
        ("test-timeout/match-pytest", "tests/test_slow.py", "5"),
        ("test-timeout/match-vitest", "vt/slow.spec.mjs", ""),
        ("config-missing-env/match-rust", "src/main.rs", "1"),
    ] {
        let analysis = Captured::named(name).analyze();
        let id = name.split('/').next().unwrap();
        let found = analysis.matches.iter().find(|found| found.pattern == id).unwrap();
        assert_eq!(found.captures.get("file").map(String::as_str), Some(file), "{name}");
        assert_eq!(found.captures.get("line").map_or("", String::as_str), line, "{name}");
    }
}

#[test]
fn the_variable_that_is_missing_is_named() {
    for name in ["match-bash", "match-bash-required", "match-go", "match-node", "match-python"] {
        let analysis = Captured::named(&format!("config-missing-env/{name}")).analyze();
        assert!(
            analysis.suggestions[0].text.starts_with("Set DATABASE_URL "),
            "{name}: {:?}",
            analysis.suggestions
        );
    }
}

#[test]
fn how_a_run_ended_can_say_enough() {
    let run = |exit_code, signal, timed_out, program: &'static str| {
        let run = FailedRun { program, exit_code, signal, timed_out, ..FailedRun::default() };
        ids(&analyzer().analyze(&run)).join(" ")
    };
    assert_eq!(run(Some(137), None, false, "webpack"), "build-out-of-memory");
    assert_eq!(run(None, Some(9), false, "webpack"), "build-out-of-memory");
    assert_eq!(run(None, Some(9), true, "webpack"), "", "it was killed because its time was over");
    assert_eq!(run(None, Some(11), false, "./shop"), "cpp-segfault");
    assert_eq!(run(None, None, true, "pytest"), "test-timeout");
    assert_eq!(run(Some(1), None, false, "pytest"), "");
}

#[test]
fn what_is_not_recognised_is_said_to_be_unexplained() {
    let run = FailedRun { program: "make", exit_code: Some(2), stderr: "oh no\n", ..FailedRun::default() };
    let analysis = analyzer().analyze(&run);
    assert!(!analysis.explained);
    assert_eq!(
        (analysis.category, analysis.severity, analysis.confidence),
        (Category::General, Severity::Medium, 0.3)
    );
    assert_eq!(analysis.suggestions, []);
    let analysis = analyzer().analyze(&FailedRun { run: Some("run_7"), timed_out: true, ..run });
    let said: Vec<_> = analysis.suggestions.iter().map(|s| s.priority).collect();
    assert_eq!(said, [Priority::High, Priority::Medium]);
}

#[test]
fn an_output_of_more_than_five_thousand_characters_is_trusted_less() {
    let said = |padding: usize| {
        let head = "ModuleNotFoundError: No module named 'x'\n";
        let stdout = format!("{head}{}", "é".repeat(padding - head.len()));
        analyzer().analyze(&FailedRun { stdout: &stdout, ..FailedRun::default() }).confidence
    };
    assert_eq!([said(5_000), said(5_001)], [0.75, 0.68]);
}

#[test]
fn secrets_are_masked_in_excerpts_and_captures() {
    let analysis = Captured::named("sec-hardcoded-secrets/match-bandit").analyze();
    let said = serde_json::to_string(&analysis).unwrap();
    assert!(!said.contains("correct-horse"), "{said}");
    assert!(said.contains("[secret]"));
    let stderr = "a.cpp:1:2: error: expected ')' before 'password = \"hunter2hunter2\"'\nb.cpp:1:2: error: ghp_0123456789abcdefghijABCDEFGHIJ012345\n";
    let said =
        serde_json::to_string(&analyzer().analyze(&FailedRun { stderr, ..FailedRun::default() })).unwrap();
    assert!(!said.contains("hunter2") && !said.contains("ghp_"), "{said}");
}

#[test]
fn what_a_program_says_cannot_become_an_option() {
    let stdout = "--- FAIL: TestX (0.00s)\nFAIL\t-exec=/tmp/evil\t0.1s\n";
    let analysis = analyzer().analyze(&FailedRun { stdout, ..FailedRun::default() });
    for call in analysis.suggestions.iter().filter_map(|s| s.tool.as_ref()) {
        assert_eq!(call.arguments.get("package"), None, "{call:?}");
    }
}

#[test]
fn several_analyses_become_one_answer() {
    let names = [
        "go-test-fail/match-error",
        "go-build-fail/match-types",
        "js-typescript-error/match-tsc",
        "js-eslint-errors/match-stylish",
        "config-missing-env/match-go",
    ];
    let analyses: Vec<_> = names.iter().map(|name| Captured::named(name).analyze()).collect();
    assert!(analyses.iter().all(|analysis| analysis.suggestions.len() <= 5));
    let merged = merge(&analyses);
    assert_eq!(merged.suggestions.len(), 10);
    assert_eq!((merged.severity, merged.category, merged.explained), (Severity::High, Category::Test, true));
    let sorted = merged.suggestions.windows(2).all(|pair| {
        pair[0].priority < pair[1].priority
            || pair[0].priority == pair[1].priority && pair[0].confidence >= pair[1].confidence
    });
    assert!(sorted, "{:?}", merged.suggestions);
    assert_eq!(merge(&[]).suggestions, []);
}

#[test]
fn knowledge_counts_what_is_there() {
    let all = analyzer().knowledge(None);
    assert_eq!((all.total, all.own), (27, 0));
    assert_eq!(all.by_category.values().sum::<usize>(), 27);
    assert_eq!(all.by_severity.values().sum::<usize>(), 27);
    assert_eq!(all.by_severity[&Severity::Low], 1);
    let security = analyzer().knowledge(Some(Category::Security));
    assert_eq!(
        security.patterns.iter().map(|known| known.id.as_str()).collect::<Vec<_>>(),
        ["sec-hardcoded-secrets", "sec-sql-injection"]
    );
}
