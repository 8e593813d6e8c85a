//! cargo test, nextest, cargo's messages.

use gatewright_reports::{Format, Level, Outcome, Parsed, read};

use crate::{at, context, err, fixture, named, out, ruled, spot};

#[test]
fn cargo_tests_are_of_the_binaries_that_standard_error_names() {
    let (stdout, stderr) = (fixture!("libtest/fail.txt"), fixture!("libtest/fail.txt.stderr"));
    let report = read(Format::Libtest, stdout, stderr, Some(101), &context("rs"));
    assert_eq!(report.parsed, Parsed::Fully);
    let counts = report.counts.unwrap();
    assert_eq!((counts.total, counts.passed, counts.failed, counts.skipped), (7, 2, 4, 1));
    let half = named(&report, "tests::takes_off_half");
    assert_eq!((spot(half).as_str(), half.suite.as_deref()), ("rs/src/lib.rs:34", Some("shop (src/lib.rs)")));
    assert_eq!(half.message.as_deref(), Some("assertion `left == right` failed\nleft: -800\nright: 100"));
    assert!(half.detail.as_deref().unwrap().starts_with("loud\n"));
    assert!(named(&report, "tests::panics").message.as_deref().unwrap().starts_with("panic did not contain"));
    assert_eq!(named(&report, "tests::fails").message.as_deref(), Some("Error: \"no stock\""));
    assert_eq!(named(&report, "one").suite.as_deref(), Some("shop (tests/shop.rs)"));
    assert_eq!(named(&report, "src/lib.rs - total (line 4)").suite.as_deref(), Some("shop doc-tests"));
    assert_eq!(named(&report, "tests::later").message.as_deref(), Some("not before the summer"));
    // The compiler's warning is among the diagnostics.
    assert_eq!(
        (at(&report.diagnostics[0]).as_str(), report.diagnostics[0].severity),
        ("rs/src/lib.rs:12:9", Level::Warning)
    );
}

#[test]
fn what_tests_print_between_is_unread_and_hides_no_failure() {
    let (stdout, stderr) = (fixture!("libtest/colour.txt"), fixture!("libtest/colour.txt.stderr"));
    let report = read(Format::Libtest, stdout, stderr, Some(101), &context("rs"));
    assert!(matches!(report.parsed, Parsed::Partly { .. }));
    assert_eq!(report.counts.map(|counts| (counts.passed, counts.failed, counts.skipped)), Some((1, 3, 1)));
}

#[test]
fn a_crate_that_does_not_build_is_told_by_diagnostics() {
    let report =
        read(Format::Libtest, b"", fixture!("libtest/build-fail.txt.stderr"), Some(101), &context("rs"));
    let mismatched = ruled(&report, "E0308");
    assert_eq!(
        (at(mismatched).as_str(), mismatched.message.as_str()),
        ("rs/src/lib.rs:18:24", "mismatched types")
    );
    assert_eq!((report.levels.errors, report.levels.warnings), (2, 1));
    assert_eq!(report.first_failure().map(|first| first.id().clone()), Some(mismatched.id.clone()));
}

#[test]
fn benchmarks_and_binaries_that_die_are_told() {
    let stdout = b"\nrunning 2 tests\ntest a ... bench:       1,250 ns/iter (+/- 30)\ntest b ... ok <0.250s>\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 1 measured; 0 filtered out\n";
    let report = out(Format::Libtest, "", stdout, 0);
    assert_eq!((report.benchmarks[0].ns_per_op, report.tests[0].duration_ms), (Some(1250.0), Some(250)));
    assert_eq!(report.parsed, Parsed::Fully);
    let report = out(Format::Libtest, "", b"running 2 tests\ntest a ... FAILED\ntest b ... loud\nok\n", 101);
    assert_eq!(report.parsed, Parsed::Partly { unread_lines: 0, cut: true });
    assert_eq!(
        (named(&report, "a").outcome, named(&report, "b").outcome),
        (Outcome::Failed, Outcome::Passed)
    );
}

#[test]
fn nextest_is_read_in_both_of_its_forms() {
    let json = out(Format::Nextest, "rs", fixture!("nextest/fail.json"), 100);
    let xml = out(Format::Nextest, "rs", fixture!("nextest/fail.xml"), 100);
    for report in [&json, &xml] {
        let half = named(report, "tests::takes_off_half");
        assert_eq!(spot(half), "rs/src/lib.rs:34");
        assert_eq!(half.message.as_deref(), Some("assertion `left == right` failed\nleft: -800\nright: 100"));
        assert_eq!(report.source, "cargo nextest");
    }
    // Its file leaves out what is ignored.
    assert_eq!(json.counts.map(|counts| (counts.total, counts.skipped)), Some((6, 1)));
    assert_eq!(xml.counts.map(|counts| (counts.total, counts.skipped)), Some((5, 0)));
    assert_eq!(named(&json, "tests::takes_off_half").suite.as_deref(), Some("shop::shop"));
}

#[test]
fn cargo_messages_have_codes_ranges_and_fixes() {
    let report = out(Format::CargoJson, "rs", fixture!("cargo/fail.json"), 101);
    let mismatched = ruled(&report, "E0308");
    assert_eq!((at(mismatched).as_str(), mismatched.end_column), ("rs/src/lib.rs:18:24", Some(25)));
    assert_eq!(mismatched.message, "mismatched types: expected `String`, found integer");
    assert_eq!(mismatched.help.as_deref(), Some("help: try using a conversion method: `.to_string()`"));
    assert_eq!((mismatched.source.as_str(), mismatched.fix), ("rustc", false));
    let unused = ruled(&report, "unused_variables");
    assert_eq!((unused.severity, unused.fix), (Level::Warning, true));
    assert_eq!(out(Format::CargoJson, "rs", fixture!("cargo/clippy.json"), 0).levels.warnings, 1);
}

#[test]
fn cargo_that_cannot_begin_is_an_error() {
    let said = b"error: could not find `Cargo.toml` in `/srv/shop` or any parent directory\n";
    let report = read(Format::CargoJson, b"", said, Some(101), &context(""));
    assert_eq!((report.levels.errors, report.parsed.clone()), (1, Parsed::Fully));
    let begun = fixture!("cargo/fail.json");
    let report = out(Format::CargoJson, "rs", &begun[..begun.len() / 2], 101);
    assert!(matches!(report.parsed, Parsed::Partly { cut: true, .. }));
}

#[test]
fn rustfmt_names_what_is_not_formatted_and_says_what_does_not_parse() {
    let names = out(Format::RustfmtList, "rust", b"/srv/shop/rust/src/lib.rs\n", 1);
    let first = &names.diagnostics[0];
    assert_eq!((at(first).as_str(), first.fix, names.first.is_some()), ("rust/src/lib.rs", true, false));
    assert_eq!(names.parsed, Parsed::Fully);
    let torn = err(Format::RustfmtList, "rust", fixture!("rustfmt/fail.txt.stderr"), 1);
    assert_eq!(at(&torn.diagnostics[0]), "rust/src/b.rs:1:13");
    let manifest = err(Format::RustfmtList, "rust", fixture!("rustfmt/manifest.txt.stderr"), 1);
    assert_eq!(at(&manifest.diagnostics[0]), "rust/Cargo.toml:1:3");
    let unstable = b"Warning: can't set `group_imports = One`, unstable features are only available in nightly channel.\n";
    let warned = err(Format::RustfmtList, "rust", unstable, 0);
    assert_eq!((warned.levels.warnings, warned.parsed), (1, Parsed::Fully));
}
