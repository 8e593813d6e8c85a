//! pytest, and the programs that check Python.

use gatewright_reports::{
    Context, Diagnostic, Format, Level, Outcome, Parsed, Report, coverage_py, pytest_benchmark,
};

use crate::{fixture, named, out, spot};

fn pytest(stdout: &[u8], exit: i32) -> Report {
    out(Format::Pytest, "py", stdout, exit)
}

#[test]
fn failures_errors_and_expected_failures_are_told_apart() {
    let report = pytest(fixture!("pytest/fail.txt"), 1);
    let counts = report.counts.unwrap();
    assert_eq!((counts.total, counts.passed, counts.failed, counts.errored, counts.skipped), (9, 2, 4, 1, 2));
    let half = named(&report, "test_discount[50-100]");
    assert_eq!(
        (spot(half).as_str(), half.suite.as_deref()),
        ("py/tests/test_prices.py:17", Some("py/tests/test_prices.py"))
    );
    assert_eq!(half.message.as_deref(), Some("assert -800 == 100\n+  where -800 = discount(200, 50)"));
    assert!(half.detail.as_deref().unwrap().contains("Captured stdout call"));
    let setup = named(&report, "TestCart::test_shop");
    assert_eq!(
        (setup.outcome, setup.message.as_deref()),
        (Outcome::Errored, Some("RuntimeError: no shop here"))
    );
    assert_eq!(spot(named(&report, "TestCart::test_deep")), "py/tests/test_prices.py:48");
    assert_eq!(named(&report, "test_known").outcome, Outcome::Skipped);
    assert_eq!(named(&report, "(skipped) not before the summer").line, Some(20));
}

#[test]
fn every_style_of_report_gives_the_same_failures() {
    let failed = |stdout| {
        let report = pytest(stdout, 1);
        assert_eq!((report.parsed.clone(), report.counts.unwrap().total), (Parsed::Fully, 9));
        let mut failed: Vec<_> = report.failures().map(|test| (test.name.clone(), test.id.clone())).collect();
        failed.sort();
        failed
    };
    let short = failed(fixture!("pytest/fail.txt"));
    assert_eq!(short.len(), 5);
    for other in [
        fixture!("pytest/verbose.txt"),
        fixture!("pytest/long.txt"),
        fixture!("pytest/quiet.txt"),
        fixture!("pytest/durations.txt"),
    ] {
        assert_eq!(failed(other), short);
    }
}

#[test]
fn a_file_that_cannot_be_collected_is_an_error() {
    let report = pytest(fixture!("pytest/collect-error.txt"), 2);
    let file = named(&report, "(file)");
    assert_eq!((file.outcome, spot(file).as_str()), (Outcome::Errored, "py/tests/test_broken.py:1"));
    assert_eq!(file.message.as_deref(), Some("ModuleNotFoundError: No module named 'nosuchmodule'"));
}

#[test]
fn a_test_that_takes_too_long_timed_out() {
    let report = pytest(fixture!("pytest/timeout.txt"), 1);
    assert_eq!((report.tests[0].outcome, report.counts.unwrap().timed_out), (Outcome::TimedOut, 1));
    assert_eq!(report.disagreements, Vec::<String>::new());
}

#[test]
fn coverage_is_read() {
    let coverage = pytest(fixture!("pytest/cover.txt"), 1).coverage.unwrap();
    assert_eq!((coverage.percent, coverage.parts[0].name.as_str()), (Some(100.0), "py/prices.py"));
}

#[test]
fn no_tests_are_no_failure_and_an_exit_code_without_one_is_told() {
    let report = pytest(fixture!("pytest/none.txt"), 5);
    assert_eq!(report.counts.unwrap().total, 0);
    assert_eq!(report.disagreements, ["exit code 5, and no failure was read"]);
}

#[test]
fn without_a_summary_the_blocks_tell() {
    let whole = String::from_utf8_lossy(fixture!("pytest/fail.txt"));
    let cut = whole.find("=== PASSES").unwrap();
    let report = pytest(&whole.as_bytes()[..cut], 1);
    assert!(matches!(report.parsed, Parsed::Partly { cut: true, .. }));
    assert_eq!(report.counts.map(|counts| (counts.failed, counts.errored)), Some((4, 1)));
    assert_eq!(spot(named(&report, "test_discount[50-100]")), "py/tests/test_prices.py:17");
    // As far as a block has a frame, it is the same failure as the summary names.
    let whole = pytest(whole.as_bytes(), 1);
    for name in ["test_discount[50-100]", "TestCart::test_deep", "TestCart::test_shop"] {
        assert_eq!(named(&report, name).id, named(&whole, name).id, "{name}");
    }
}

fn of_rule<'r>(report: &'r Report, rule: &str) -> &'r Diagnostic {
    report.diagnostics.iter().find(|found| found.rule.as_deref() == Some(rule)).unwrap()
}

#[test]
fn ruff_says_what_it_can_put_right_and_what_only_unsafely() {
    let report = out(Format::RuffJson, "", fixture!("ruff/fail.json"), 1);
    let unused = of_rule(&report, "F401");
    assert_eq!(
        (unused.file.as_deref(), unused.line, unused.column, unused.end_column, unused.fix),
        (Some("py/bad.py"), Some(1), Some(8), Some(10), true)
    );
    assert_eq!(unused.help.as_deref(), Some("Remove unused import: `os`"));
    let undefined = of_rule(&report, "F821");
    assert_eq!((undefined.line, undefined.fix), (Some(14), false));
    let unformatted = out(Format::RuffJson, "", fixture!("ruff/format.json"), 1);
    assert_eq!(of_rule(&unformatted, "unformatted").file.as_deref(), Some("py/bad.py"));
    let syntax = out(Format::RuffJson, "", fixture!("ruff/syntax.json"), 1);
    assert_eq!(syntax.diagnostics[0].rule.as_deref(), Some("invalid-syntax"));
}

#[test]
fn type_checkers_name_the_place_from_one_whichever_they_count_from() {
    let pyright = out(Format::PyrightJson, "", fixture!("pyright/fail.json"), 1);
    let wrong = of_rule(&pyright, "reportReturnType");
    assert_eq!((wrong.line, wrong.column, wrong.end_column), (Some(7), Some(12), Some(18)));
    let mypy = out(Format::Mypy, "py", fixture!("mypy/fail.txt"), 1);
    let same = of_rule(&mypy, "return-value");
    assert_eq!((same.file.as_deref(), same.line, same.column), (Some("py/bad.py"), Some(7), Some(12)));
}

#[test]
fn a_note_of_mypy_belongs_to_the_error_before_it() {
    let said = b"a.py:3:5: error: Missing return  [return]\na.py:3:5: note: see the docs\na.py:9: note: Revealed type is \"int\"\nFound 1 error in 1 file (checked 2 source files)\n";
    let report = out(Format::Mypy, "", said, 1);
    assert_eq!(report.parsed, Parsed::Fully);
    assert_eq!((report.levels.errors, report.levels.notes), (1, 1));
    assert_eq!(of_rule(&report, "return").help.as_deref(), Some("see the docs"));
}

#[test]
fn what_bandit_finds_has_the_weight_that_it_says_and_what_it_cannot_parse_is_told() {
    let report = out(Format::BanditJson, "", fixture!("bandit/fail.json"), 1);
    let shell = of_rule(&report, "B602");
    assert_eq!((shell.severity, shell.line, shell.column), (Level::Error, Some(6), Some(5)));
    assert!(shell.help.as_deref().unwrap().starts_with("CWE-78\nconfidence high\nhttps://"));
    assert_eq!(of_rule(&report, "B404").severity, Level::Note);
    let syntax = out(Format::BanditJson, "", fixture!("bandit/syntax.json"), 0);
    let unchecked = of_rule(&syntax, "not-checked");
    assert_eq!((unchecked.file.as_deref(), unchecked.severity), (Some("syn.py"), Level::Error));
}

#[test]
fn vermin_says_which_python_a_line_needs() {
    let report = out(Format::VerminParsable, "", fixture!("vermin/fail.txt"), 1);
    let found = &report.diagnostics[0];
    assert_eq!(
        (found.file.as_deref(), found.line, found.message.as_str()),
        (Some("py/bad.py"), Some(11), "pattern matching needs Python 3.10")
    );
    let syntax = b"/srv/shop/s.py:1:6:~2:~3:error: '(' was never closed: def f(\n:::~2:~3:\n";
    assert_eq!(out(Format::VerminParsable, "", syntax, 1).diagnostics[0].rule.as_deref(), Some("syntax"));
}

#[test]
fn figures_that_are_left_in_files_are_read_and_what_is_none_is_nothing() {
    let context = Context { root: "/srv/shop", dir: "py", modules: &[] };
    let coverage = coverage_py(fixture!("coverage/two.json"), &context).unwrap();
    assert!(coverage.percent.is_some_and(|percent| percent > 0.0 && percent < 100.0), "{coverage:?}");
    assert!(coverage.parts.iter().any(|part| part.name == "py/bad.py" && part.percent == 0.0));
    let rows = pytest_benchmark(fixture!("pytest-benchmark/two.json")).unwrap();
    assert_eq!((rows[0].name.as_str(), rows[0].suite.as_deref()), ("test_x", Some("test_b.py")));
    assert!(rows[0].ns_per_op.is_some_and(|ns| ns > 1.0) && rows[0].extra.contains_key("median ns"));
    for torn in [&b""[..], b"{", b"{\"benchmarks\": 1}", b"[]"] {
        assert!(coverage_py(torn, &context).is_none() && pytest_benchmark(torn).is_none());
    }
}
