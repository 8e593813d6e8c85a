//! pytest.

use gatewright_reports::{Format, Outcome, Parsed, Report};

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
