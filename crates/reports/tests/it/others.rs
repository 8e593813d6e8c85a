//! JUnit and TAP, of several writers.

use gatewright_reports::{Format, Outcome, Parsed};

use crate::{fixture, named, out, spot};

#[test]
fn junit_of_pytest_tells_failures_from_errors() {
    let report = out(Format::Junit, "py", fixture!("junit/pytest.xml"), 1);
    let counts = report.counts.unwrap();
    assert_eq!(
        (counts.total, counts.passed, counts.failed, counts.errored, counts.skipped),
        (10, 2, 4, 2, 2)
    );
    let half = named(&report, "test_discount[50-100]");
    assert_eq!(
        (spot(half).as_str(), half.suite.as_deref()),
        ("py/tests/test_prices.py:17", Some("tests.test_prices"))
    );
    assert_eq!(half.message.as_deref(), Some("assert -800 == 100\n+  where -800 = discount(200, 50)"));
    assert_eq!(named(&report, "test_shop").outcome, Outcome::Errored);
    let broken = named(&report, "tests.test_broken");
    assert_eq!(broken.message.as_deref(), Some("E   ModuleNotFoundError: No module named 'nosuchmodule'"));
}

#[test]
fn junit_of_node_programs_is_read() {
    let report = out(Format::Junit, "js", fixture!("junit/vitest.xml"), 1);
    assert_eq!(named(&report, "discount > sleeps").outcome, Outcome::TimedOut);
    assert_eq!(spot(named(&report, "discount > half")), "js/vitest/cart.test.js:4");
    let report = out(Format::Junit, "js", fixture!("junit/node.xml"), 1);
    assert_eq!(named(&report, "known").outcome, Outcome::Skipped, "a test that is to do does not count");
    assert_eq!(named(&report, "half # price").suite.as_deref(), Some("discount"));
}

#[test]
fn figures_that_contradict_the_list_are_told() {
    // jest-junit lists a test that is to do, and does not count it.
    let report = out(Format::Junit, "js", fixture!("junit/jest-junit.xml"), 1);
    assert_eq!(report.disagreements, ["it says 6 tests, and 7 were read"]);
    assert_eq!(report.counts.unwrap().total, 7);
    let report = out(Format::Tap, "", b"TAP version 13\nok 1 - a\n1..3\n", 0);
    assert_eq!(report.disagreements, ["it says 3 tests at the top, and 1 were read"]);
    let report = out(Format::Tap, "", b"1..1\nnot ok 1 - a\n", 0);
    assert_eq!(report.disagreements, ["exit code 0, and 1 tests did not hold"]);
}

#[test]
fn xml_that_breaks_off_gives_the_cases_before() {
    let whole = fixture!("junit/pytest.xml");
    let at = String::from_utf8_lossy(whole).find("test_discount[25-150]").unwrap();
    let report = out(Format::Junit, "py", &whole[..at], 1);
    assert_eq!(report.parsed, Parsed::Partly { unread_lines: 0, cut: true });
    assert_eq!(report.counts.map(|counts| (counts.passed, counts.failed, counts.errored)), Some((2, 1, 1)));
}

#[test]
fn entities_and_character_data_are_text() {
    let xml = b"<testsuite><testcase name='a &lt; &quot;b&quot;'><failure><![CDATA[x < y]]> &amp; &#65;&unknown;</failure></testcase></testsuite>";
    let report = out(Format::Junit, "", xml, 1);
    assert_eq!(report.tests[0].name, "a < \"b\"");
    assert_eq!(report.tests[0].message.as_deref(), Some("x < y & A&unknown;"));
}

#[test]
fn tap_of_node_has_its_subtests_as_suites() {
    let report = out(Format::Tap, "js", fixture!("tap/node.tap"), 1);
    let counts = report.counts.unwrap();
    assert_eq!(
        (counts.total, counts.passed, counts.failed, counts.timed_out, counts.skipped),
        (5, 1, 1, 1, 2)
    );
    let half = named(&report, "half # price");
    assert_eq!((spot(half).as_str(), half.suite.as_deref()), ("js/tap/cart.test.mjs:5", Some("discount")));
    assert_eq!(half.message.as_deref(), Some("Expected values to be strictly equal:\n-800 !== 100"));
    assert_eq!(half.duration_ms, Some(1));
    assert_eq!(named(&report, "later").message.as_deref(), Some("not before the summer"));
    assert_eq!(named(&report, "known").outcome, Outcome::Skipped);
    assert_eq!(named(&report, "sleeps").outcome, Outcome::TimedOut);
}

#[test]
fn tap_of_tap_and_of_mocha_is_read() {
    let report = out(Format::Tap, "js", fixture!("tap/tap.tap"), 1);
    assert_eq!(spot(named(&report, "half")), "js/tap/t.test.cjs:2");
    assert!(named(&report, "half").message.as_deref().unwrap().ends_with("-100\n+-800"));
    assert_eq!(report.counts.map(|counts| (counts.total, counts.failed)), Some((4, 2)));
    let report = out(Format::Tap, "js", fixture!("tap/mocha.tap"), 3);
    assert_eq!(spot(named(&report, "cart takes off half")), "js/mocha/cart.js:4");
    assert_eq!(named(&report, "cart later").outcome, Outcome::Skipped);
    assert_eq!(report.parsed, Parsed::Fully);
}

#[test]
fn tap_that_bails_out_or_sums_up_a_failing_subtest_is_told() {
    let report = out(Format::Tap, "", b"1..2\nok 1 - a\nBail out! no database\n", 1);
    assert_eq!(report.diagnostics[0].message, "Bail out! no database");
    assert_eq!(report.parsed, Parsed::Partly { unread_lines: 0, cut: true });
    // A subtest fails by itself, by its plan for instance, though all in it hold.
    let report = out(Format::Tap, "", b"# Subtest: s\n    ok 1 - a\n    1..2\nnot ok 1 - s\n1..1\n", 1);
    assert_eq!(
        (named(&report, "s").outcome, named(&report, "a").suite.as_deref()),
        (Outcome::Failed, Some("s"))
    );
    let report =
        out(Format::Tap, "", b"    # Subtest: s\n    ok 1 - a # time=1.5ms\n    1..1\nok 1 - s\n1..1\n", 0);
    assert_eq!((report.tests[0].suite.as_deref(), report.tests[0].duration_ms), (Some("s"), Some(2)));
}
