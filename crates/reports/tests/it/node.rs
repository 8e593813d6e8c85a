//! jest, vitest, mocha, eslint, tsc.

use gatewright_reports::{Format, Level, Outcome, Parsed, read};

use crate::{at, context, fixture, named, out, ruled, spot};

#[test]
fn jest_tests_have_the_place_of_their_failure() {
    let report = out(Format::JestJson, "js", fixture!("jest/fail.json"), 1);
    let counts = report.counts.unwrap();
    assert_eq!(
        (counts.total, counts.passed, counts.failed, counts.timed_out, counts.errored, counts.skipped),
        (8, 2, 2, 1, 1, 2)
    );
    let half = named(&report, "discount > half");
    assert_eq!((spot(half).as_str(), half.duration_ms), ("js/jest/cart.test.js:4", Some(2)));
    assert!(half.message.as_deref().unwrap().ends_with("Expected: 100\nReceived: -800"));
    assert_eq!(named(&report, "discount > sleeps").outcome, Outcome::TimedOut);
    let broken = named(&report, "(file)");
    assert_eq!((broken.outcome, spot(broken).as_str()), (Outcome::Errored, "js/jest/broken.test.js:1"));
    assert!(broken.message.as_deref().unwrap().starts_with("Cannot find module 'nosuch'"));
}

#[test]
fn jest_coverage_is_by_file_and_of_all() {
    let coverage = out(Format::JestJson, "js", fixture!("jest/cover.json"), 1).coverage.unwrap();
    assert_eq!(coverage.parts[0].name, "js/src/cart.js");
    assert!((coverage.percent.unwrap() - 85.714).abs() < 0.001);
}

#[test]
fn jest_without_tests_says_nothing_that_is_read() {
    let report = read(Format::JestJson, b"", fixture!("jest/none.json.stderr"), Some(1), &context("js"));
    assert!(matches!(report.parsed, Parsed::Not { .. }));
}

#[test]
fn jest_that_breaks_off_gives_the_files_before() {
    let whole = fixture!("jest/fail.json");
    let report = out(Format::JestJson, "js", &whole[..whole.len() / 2], 1);
    assert!(matches!(report.parsed, Parsed::Partly { cut: true, .. }), "{:?}", report.parsed);
    assert_eq!(named(&report, "discount > half").outcome, Outcome::Failed);
    assert!(report.disagreements[0].starts_with("it says 7 tests, and "));
}

#[test]
fn vitest_is_read_as_jest_is() {
    let report = out(Format::VitestJson, "js", fixture!("vitest/fail.json"), 1);
    assert_eq!(spot(named(&report, "discount > throws")), "js/vitest/cart.test.js:7");
    assert_eq!(named(&report, "discount > throws").message.as_deref(), Some("Error: no shop"));
    let sleeps = named(&report, "discount > sleeps");
    assert_eq!((sleeps.outcome, sleeps.message.as_deref()), (Outcome::TimedOut, Some("the test timed out")));
    assert_eq!(named(&report, "(file)").outcome, Outcome::Errored);
    let none = out(Format::VitestJson, "js", fixture!("vitest/none.json"), 1);
    assert_eq!(none.disagreements, ["exit code 1, and no failure was read"]);
}

#[test]
fn mocha_tests_are_told_by_the_lists_they_stand_in() {
    let report = out(Format::MochaJson, "js", fixture!("mocha/fail.json"), 3);
    assert_eq!(spot(named(&report, "cart takes off half")), "js/mocha/cart.js:4");
    assert_eq!(named(&report, "cart sleeps").outcome, Outcome::TimedOut);
    let hook = report.tests.iter().find(|test| test.name.contains("before all")).unwrap();
    assert_eq!((hook.outcome, hook.message.as_deref()), (Outcome::Errored, Some("no shop")));
    assert_eq!(report.counts.map(|counts| (counts.passed, counts.skipped, counts.bad())), Some((1, 2, 3)));
}

#[test]
fn what_a_test_prints_into_a_report_is_unread() {
    let report = out(Format::MochaJson, "js", fixture!("mocha/pass.json"), 0);
    assert_eq!(report.parsed, Parsed::Partly { unread_lines: 1, cut: false });
    assert_eq!(report.counts.unwrap().passed, 1);
    let broken = read(Format::MochaJson, b"", fixture!("mocha/broken.json.stderr"), Some(1), &context("js"));
    assert!(matches!(broken.parsed, Parsed::Not { .. }));
}

#[test]
fn eslint_findings_have_ranges_fixes_and_suggestions() {
    let report = out(Format::EslintJson, "js", fixture!("eslint/fail.json"), 1);
    assert_eq!((report.levels.errors, report.levels.warnings), (4, 1));
    let var = ruled(&report, "no-var");
    assert_eq!(
        (at(var).as_str(), var.end_line, var.end_column, var.fix),
        ("js/src/cart.js:5:3", Some(5), Some(45), true)
    );
    let equal = ruled(&report, "eqeqeq");
    assert_eq!((equal.fix, equal.help.as_deref()), (false, Some("Use '===' instead of '=='.")));
    assert_eq!(ruled(&report, "no-debugger").severity, Level::Warning);
    assert_eq!(report.diagnostics[0].message, "Parsing error: Unexpected token =");
    let none = read(Format::EslintJson, b"", fixture!("eslint/none.json.stderr"), Some(2), &context("js"));
    assert!(matches!(none.parsed, Parsed::Not { .. }));
}

#[test]
fn eslint_that_breaks_off_gives_the_messages_before() {
    let whole = fixture!("eslint/fail.json");
    let at = String::from_utf8_lossy(whole).find("\"ruleId\":\"eqeqeq\"").unwrap();
    let report = out(Format::EslintJson, "js", &whole[..at + 30], 1);
    assert!(matches!(report.parsed, Parsed::Partly { cut: true, .. }));
    assert_eq!(report.levels.errors, 2);
    assert_eq!(ruled(&report, "no-var").line, Some(5));
}

#[test]
fn tsc_is_read_plain_and_pretty() {
    let plain = out(Format::Tsc, "js", fixture!("tsc/fail.txt"), 1);
    let pretty = out(Format::Tsc, "js", fixture!("tsc/pretty.txt"), 1);
    for report in [&plain, &pretty] {
        let places: Vec<_> = report.diagnostics.iter().map(at).collect();
        assert_eq!(places, ["js/ts/a.ts:1:7", "js/ts/a.ts:2:41", "js/ts/a.ts:3:22", "js/ts/a.ts:4:19"]);
    }
    assert_eq!(ruled(&plain, "TS2339").message, "Property 'b' does not exist on type '{ a: number; }'.");
    assert!(
        pretty.diagnostics[2].help.as_deref().unwrap().starts_with("ts/a.ts:2: The expected type comes from")
    );
    for (one, other) in plain.diagnostics.iter().zip(&pretty.diagnostics) {
        assert_eq!(one.id, other.id);
    }
}

#[test]
fn tsc_without_a_file_and_with_more_lines_is_read() {
    let missing = out(Format::Tsc, "js", fixture!("tsc/missing.txt"), 1);
    assert_eq!(ruled(&missing, "TS5058").message, "The specified path does not exist: 'js/nosuch.json'.");
    assert_eq!(out(Format::Tsc, "js", fixture!("tsc/options.txt"), 1).levels.errors, 1);
    let chain =
        b"a.ts(1,1): error TS2345: Argument does not fit.\n  Property 'b' is missing.\n    In type 'A'.\n";
    assert_eq!(
        out(Format::Tsc, "", chain, 2).diagnostics[0].message,
        "Argument does not fit.\nProperty 'b' is missing.\nIn type 'A'."
    );
    let wrong = out(Format::Tsc, "", b"error TS1: No.\n\nFound 2 errors.\n", 2);
    assert_eq!(wrong.disagreements, ["it says 2 errors, and 1 were read"]);
}

#[test]
fn prettier_names_what_is_not_formatted_and_says_what_does_not_parse() {
    let (stdout, stderr) = (fixture!("prettier/fail.txt"), fixture!("prettier/fail.txt.stderr"));
    let report = read(Format::PrettierList, stdout, stderr, Some(2), &context("js"));
    let told: Vec<_> =
        report.diagnostics.iter().map(|found| (at(found), found.severity, found.fix)).collect();
    assert_eq!(
        told,
        [
            ("js/broken.js:1:7".to_owned(), Level::Error, false),
            ("js/y.yaml:2:1".to_owned(), Level::Error, false),
            ("js/.prettierrc".to_owned(), Level::Warning, true),
            ("js/bad.js".to_owned(), Level::Warning, true),
        ]
    );
    assert_eq!((report.parsed.clone(), report.disagreements.len()), (Parsed::Fully, 0));
    let broken = ruled(&report, "SyntaxError");
    assert_eq!(broken.message, "Unexpected token");
    let names = out(Format::PrettierList, "", b"src/a b.ts\n", 1);
    assert_eq!((at(&names.diagnostics[0]).as_str(), names.first.is_some()), ("src/a b.ts", false));
    let setting = b"[error] Invalid configuration for file \"/srv/shop/js/ok.js\":\n[error] YAML Error in \"/srv/shop/js/.prettierrc\":\n[error] Flow map must end with a } at line 1, column 2:\n[error] \n[error] {\n[error]  ^\n";
    let report = read(Format::PrettierList, b"", setting, Some(2), &context("js"));
    let first = &report.diagnostics[0];
    assert_eq!((at(first).as_str(), first.message.as_str()), ("js/ok.js", "Invalid configuration"));
    assert!(first.help.as_deref().unwrap().contains("Flow map must end"), "{first:?}");
    let none = read(
        Format::PrettierList,
        b"",
        b"[error] No files matching the pattern were found: \"nope.js\".\n",
        Some(2),
        &context("js"),
    );
    assert_eq!((none.levels.errors, none.parsed), (1, Parsed::Fully));
}

#[test]
fn benchmarks_of_vitest_have_their_time_and_those_that_threw_are_errors() {
    let report = out(Format::VitestBench, "js", fixture!("vitest-bench/pass.json"), 0);
    let told: Vec<_> =
        report.benchmarks.iter().map(|one| (one.name.as_str(), one.suite.as_deref().unwrap())).collect();
    assert_eq!(told, [("sums > loop", "js/a.bench.mjs"), ("sums > reduce", "js/a.bench.mjs")]);
    let first = &report.benchmarks[0];
    let (each, rate) = (first.ns_per_op.unwrap(), first.extra["ops/s"]);
    assert!(each > 1.0 && (each * rate / 1e9 - 1.0).abs() < 0.05 && first.iterations > 100, "{first:?}");
    let failed = out(Format::VitestBench, "js", fixture!("vitest-bench/fail.json"), 0);
    assert_eq!((at(&failed.diagnostics[0]).as_str(), failed.benchmarks.len()), ("js/b.bench.mjs", 0));
    assert!(failed.diagnostics[0].message.contains("`throws`"));
}

#[test]
fn node_says_in_comments_what_was_covered_and_why_a_file_did_not_run() {
    let report = out(Format::Tap, "js", fixture!("tap/cover.tap"), 1);
    let coverage = report.coverage.as_ref().unwrap();
    let parts: Vec<_> = coverage.parts.iter().map(|part| (part.name.as_str(), part.percent)).collect();
    assert_eq!((coverage.percent, parts), (Some(87.5), vec![("js/sum.js", 75.0), ("js/sum.test.js", 100.0)]));
    let broken = report.failures().find(|test| test.name.contains("broken")).unwrap();
    assert_eq!(broken.message.as_deref(), Some("SyntaxError: Unexpected token '='"));
    assert_eq!(spot(broken), "js/broken.test.js:2");
    assert_eq!(report.parsed, Parsed::Fully);
}
