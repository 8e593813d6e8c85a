//! What the development tools are for: a failing test is found, explained and fixed by calls alone, and all of it undone.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::go::toolchain;
use super::{Bench, Session};

/// The files of a folder, by their names below it.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            all.extend(
                files(&entry.path()).into_iter().map(|(below, text)| (format!("{name}/{below}"), text)),
            );
        } else {
            all.push((name, std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
    all
}

fn bench(go: PathBuf, files: &[(String, String)]) -> Bench {
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    Bench::new(&files).with(go).patient()
}

fn holds(session: &mut Session, tests: u64) {
    let ran = session.ok("go_test", json!({}));
    assert_eq!(
        (ran["success"].as_bool(), ran["counts"]["total"].as_u64(), ran["counts"]["failed"].as_u64()),
        (Some(true), Some(tests), Some(0)),
        "{ran}"
    );
}

#[test]
fn a_failing_test_of_the_example_is_found_explained_fixed_by_calls_alone_and_undone() {
    let Some(go) = toolchain() else { return };
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tides");
    let bench = bench(go, &files(&example));
    let mut session = bench.serve();
    holds(&mut session, 3);
    // A harbour comes to the list, and nobody generates.
    let list = bench.read("harbours.txt").unwrap();
    bench.put("harbours.txt", &format!("{list}Porto 3.2 12.42\n"));
    bench.commit("feat: Porto");
    // Found: which test, where, since when, and in what words.
    let failed = session.ok("run_tests", json!({}));
    assert_eq!(
        (failed["runner"].as_str(), failed["success"].as_bool(), failed["counts"]["failed"].as_u64()),
        (Some("go"), Some(false), Some(1)),
        "{failed}"
    );
    let test = &failed["tests"][0];
    assert_eq!(
        (test["name"].as_str(), test["file"].as_str(), test["line"].as_u64()),
        (Some("TestEveryHarbourOfTheListIsKnown"), Some("tides_test.go"), Some(18)),
        "{failed}"
    );
    assert!(test["message"].as_str().unwrap().contains("harbours_gen.go is out of date"), "{test}");
    assert_eq!(failed["history"][0]["is"], "new");
    // Explained, with the call to make next.
    let next = r#"`go_test {"args":["-run=TestEveryHarbourOfTheListIsKnown"],"package":"example.com/tides","verbose":true}`"#;
    assert!(failed["suggestions"][0].as_str().unwrap().contains(next), "{failed}");
    let alone = session.ok(
        "go_test",
        json!({ "args": ["-run=TestEveryHarbourOfTheListIsKnown"], "package": "example.com/tides", "verbose": true }),
    );
    assert_eq!(
        (alone["success"].as_bool(), alone["counts"]["total"].as_u64()),
        (Some(false), Some(1)),
        "{alone}"
    );
    // Fixed: the diff is looked at, and exactly that is applied.
    let plan = session.ok("go_generate", json!({}));
    assert_eq!(
        (plan["success"].as_bool(), plan["status"].as_str()),
        (Some(true), Some("proposed")),
        "{plan}"
    );
    assert_eq!(plan["plan"]["effects"].as_array().unwrap().len(), 1, "{plan}");
    let diff = plan["plan"]["diff"].as_str().unwrap();
    assert!(diff.contains("+\t{Name: \"Porto\", Range: 3.2, Period: 12.42},"), "{diff}");
    assert_eq!(bench.git(&["status", "--porcelain"]), "", "nothing is written before it is applied");
    let applied = session.ok("go_generate", json!({ "apply": true, "plan": plan["plan"]["id"] }));
    assert_eq!(applied["status"], "completed", "{applied}");
    assert_eq!(bench.git(&["status", "--porcelain"]), " M harbours_gen.go\n");
    let fixed = session.ok("run_tests", json!({}));
    assert_eq!(fixed["success"], true, "{fixed}");
    assert!(fixed["recovered"].to_string().contains("TestEveryHarbourOfTheListIsKnown"), "{fixed}");
    session.0.finish();
    // And all of it undone.
    bench.place.ok(&["undo", applied["metadata"]["transcript"].as_str().unwrap()]);
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    let mut session = bench.serve();
    let back = session.ok("run_tests", json!({}));
    // Nobody has committed the fix, so it never was fixed.
    assert_eq!(
        (back["success"].as_bool(), back["history"][0]["is"].as_str()),
        (Some(false), Some("known")),
        "{back}"
    );
}

/// A package of a published library, with its tests: what Go's own distribution has of `encoding/csv`, as a module.
#[test]
fn a_regression_in_a_real_published_package_is_found_explained_and_mended_by_calls_alone() {
    let Some(go) = toolchain() else { return };
    let mut sources = files(&go.join("../src/encoding/csv"));
    sources.push(("go.mod".to_owned(), "module example.com/csv\n\ngo 1.27\n".to_owned()));
    let bench = bench(go, &sources);
    let mut session = bench.serve();
    let green = session.ok("go_test", json!({}));
    assert_eq!(
        (green["success"].as_bool(), green["counts"]["failed"].as_u64()),
        (Some(true), Some(0)),
        "{green}"
    );
    let tests = green["counts"]["total"].as_u64().unwrap();
    assert!(tests > 60, "{green}");
    // One line: a field that begins with a space is no longer quoted.
    let writer = bench.read("writer.go").unwrap();
    let line = "\treturn unicode.IsSpace(r1)\n";
    assert_eq!(writer.matches(line).count(), 1, "the published source has changed");
    bench.put("writer.go", &writer.replace(line, "\treturn unicode.IsSpace(r1) && false\n"));
    let failed = session.ok("go_test", json!({}));
    assert_eq!(failed["success"], false, "{failed}");
    assert_eq!(
        (failed["counts"]["total"].as_u64(), failed["counts"]["failed"].as_u64()),
        (Some(tests), Some(1)),
        "{failed}"
    );
    let test = &failed["tests"][0];
    let known = bench.read("writer_test.go").unwrap();
    let place = known.lines().position(|line| line.contains("out=%q want %q")).unwrap() as u64 + 1;
    assert_eq!(
        (test["name"].as_str(), test["file"].as_str(), test["line"].as_u64()),
        (Some("TestWrite"), Some("writer_test.go"), Some(place)),
        "{failed}"
    );
    assert!(test["message"].as_str().unwrap().contains(r#"#5: out=" abc\n" want "\" abc\"\n""#), "{test}");
    assert_eq!(failed["history"][0]["is"], "new");
    assert!(failed["suggestions"].as_array().is_some_and(|all| !all.is_empty()), "{failed}");
    // It is what the diff says it is; a rule for gofmt takes it back, rehearsed and then applied.
    let diff = session.ok("git_diff", json!({}));
    assert!(
        diff["diff"]["files"][0]["hunks"]
            .as_str()
            .unwrap()
            .contains("+\treturn unicode.IsSpace(r1) && false")
    );
    let rule = json!({ "files": ["writer.go"], "args": ["-r", "a && false -> a"] });
    let proposed = session.ok("go_fmt", rule.clone());
    assert_eq!(proposed["status"], "proposed", "{proposed}");
    let diff = proposed["plan"]["diff"].as_str().unwrap();
    assert!(
        diff.contains("-\treturn unicode.IsSpace(r1) && false\n+\treturn unicode.IsSpace(r1)\n"),
        "{diff}"
    );
    let mut applied = rule;
    applied["apply"] = json!(true);
    applied["plan"] = proposed["plan"]["id"].clone();
    assert_eq!(session.ok("go_fmt", applied)["status"], "completed");
    assert_eq!(bench.read("writer.go").unwrap(), writer);
    let fixed = session.ok("go_test", json!({}));
    assert!(fixed["success"] == true && fixed["recovered"].to_string().contains("TestWrite"), "{fixed}");
    assert_eq!(bench.dirt(), "", "nothing of all this is left in the tree");
}
