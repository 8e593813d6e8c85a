//! `go test -json`, go build, go vet, gofmt.

use gatewright_reports::{Failure, Format, Outcome, Parsed, Report, read};

use crate::{at, context, err, fixture, named, out, ruled, spot};

fn test(stdout: &[u8], exit: i32) -> Report {
    out(Format::GoTestJson, "go", stdout, exit)
}

#[test]
fn failing_assertions_have_their_place_and_words() {
    let report = test(fixture!("go-test/fail.json"), 1);
    let counts = report.counts.unwrap();
    assert_eq!((counts.total, counts.passed, counts.failed, counts.skipped), (9, 4, 4, 1));
    let half = named(&report, "TestDiscount/half");
    assert_eq!(spot(half), "go/cart/cart_test.go:22");
    assert_eq!(half.suite.as_deref(), Some("example.com/shop/cart"));
    assert_eq!(half.message.as_deref(), Some("Discount(200, 50) = -800, want 100"));
    assert_eq!(named(&report, "ExampleTotal").message.as_deref(), Some("got:\n3\nwant:\n4"));
    let later = named(&report, "TestLater");
    assert_eq!((later.outcome, later.message.as_deref()), (Outcome::Skipped, Some("not before the summer")));
    // The subtest failed before its parent did.
    assert_eq!(report.first_failure().map(|failure| failure.id().clone()), Some(half.id.clone()));
    assert_eq!(report.tests[0].id, half.id);
}

#[test]
fn without_its_module_a_file_stays_a_bare_name() {
    let context = gatewright_reports::Context { modules: &[], ..context("go") };
    let report = read(Format::GoTestJson, fixture!("go-test/fail.json"), b"", Some(1), &context);
    assert_eq!(spot(named(&report, "TestDiscount/half")), "cart_test.go:22");
}

#[test]
fn a_package_that_does_not_build_is_told_by_diagnostics() {
    for (stdout, stderr) in [
        (fixture!("go-test/build-fail.json"), b"".as_slice()),
        (fixture!("go-test/old-build-fail.json"), fixture!("go-test/old-build-fail.json.stderr")),
    ] {
        let report = read(Format::GoTestJson, stdout, stderr, Some(1), &context("go"));
        assert_eq!(
            report.diagnostics.iter().map(at).collect::<Vec<_>>(),
            ["go/broken/broken.go:4:6", "go/broken/broken.go:5:9"]
        );
        assert_eq!(report.counts.map(|counts| (counts.total, counts.passed)), Some((1, 1)));
        assert!(
            matches!(report.first_failure(), Some(Failure::Diagnostic(first)) if first.message.contains("not used"))
        );
        assert_eq!((report.parsed, report.disagreements.len()), (Parsed::Fully, 0));
    }
    let missing = test(fixture!("go-test/missing.json"), 1);
    assert_eq!(missing.diagnostics[0].message, "stat go/nosuch: directory not found");
    let vet = test(fixture!("go-test/vet-fail.json"), 1);
    assert_eq!(at(&vet.diagnostics[0]), "go/vet/vet.go:6:14");
}

#[test]
fn a_panic_is_at_the_frame_of_the_test() {
    let report = test(fixture!("go-test/panic.json"), 1);
    let panicked = named(&report, "TestNil");
    assert_eq!(spot(panicked), "go/panics/panics_test.go:9");
    assert_eq!(
        panicked.message.as_deref(),
        Some("panic: assignment to entry in nil map [recovered, repanicked]")
    );
    assert!(panicked.detail.as_deref().unwrap().contains("goroutine 19 [running]"));
    assert_eq!(report.counts.map(|counts| (counts.passed, counts.failed)), Some((1, 1)));
}

#[test]
fn a_race_is_a_diagnostic_and_the_test_fails() {
    let report = test(fixture!("go-test/race.json"), 1);
    let race = ruled(&report, "data-race");
    assert_eq!(at(race), "go/race/race_test.go:15");
    let function = "example.com/shop/race.TestCounter.func1()";
    assert_eq!(race.message, format!("data race: read in {function}, previous write in {function}"));
    let failed = named(&report, "TestCounter");
    assert_eq!((failed.outcome, spot(failed).as_str()), (Outcome::Failed, "-"));
    assert_eq!(failed.message.as_deref(), Some("race detected during execution of test"));
}

#[test]
fn tests_that_run_when_the_time_is_up_timed_out() {
    let report = test(fixture!("go-test/timeout.json"), 1);
    let counts = report.counts.unwrap();
    assert_eq!((counts.passed, counts.timed_out, counts.total), (1, 2, 3));
    assert_eq!(report.tests[0].name, "TestSleeps/deep");
    assert_eq!(spot(&report.tests[0]), "go/slow/slow_test.go:11");
    assert_eq!(report.tests[0].message.as_deref(), Some("panic: test timed out after 1s"));
    assert_eq!(named(&report, "TestSleeps").outcome, Outcome::TimedOut);
}

#[test]
fn coverage_is_by_package_and_never_made_into_one_figure() {
    let report = test(fixture!("go-test/cover.json"), 1);
    let coverage = report.coverage.unwrap();
    let parts: Vec<_> = coverage.parts.iter().map(|part| (part.name.as_str(), part.percent)).collect();
    assert_eq!(parts, [("example.com/shop/price", 50.0), ("example.com/shop/cart", 100.0)]);
    assert_eq!(coverage.percent, None);
}

#[test]
fn benchmarks_are_a_list_of_their_own() {
    let report = test(fixture!("go-test/bench.json"), 0);
    assert_eq!(report.counts.map(|counts| counts.total), Some(0));
    let [net, small] = report.benchmarks.as_slice() else { panic!("{report:#?}") };
    assert_eq!((net.name.as_str(), net.processors, net.iterations), ("BenchmarkNet", Some(2), 20));
    assert_eq!((net.ns_per_op, net.bytes_per_op, net.allocs_per_op), (Some(47.05), Some(0.0), Some(0.0)));
    assert_eq!(
        (small.name.as_str(), small.extra["MB/s"], small.extra["widgets/op"]),
        ("BenchmarkGross/small", 72.96, 3.5)
    );
    // Before Go 1.20 the name and the figures come as two events.
    let event = |output: &str| {
        format!(
            "{{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"BenchmarkA\",\"Output\":\"{output}\"}}\n"
        )
    };
    let split = format!("{}{}", event("BenchmarkA-8 \\t"), event("     100\\t        12.5 ns/op\\n"));
    let report = test(format!("{split}{{\"Action\":\"pass\",\"Package\":\"p\"}}\n").as_bytes(), 0);
    assert_eq!((report.benchmarks[0].iterations, report.benchmarks[0].ns_per_op), (100, Some(12.5)));
}

#[test]
fn cached_packages_and_packages_without_tests_pass() {
    let report = test(fixture!("go-test/cached.json"), 0);
    assert_eq!(
        (report.parsed, report.counts.unwrap().passed, report.disagreements.len()),
        (Parsed::Fully, 1, 0)
    );
    let report = test(fixture!("go-test/vet-fail.json"), 1);
    assert_eq!(report.counts.unwrap().total, 0);
}

#[test]
fn a_package_that_fails_outside_of_its_tests_is_an_error() {
    let event = |rest: &str| format!("{{\"Package\":\"example.com/shop/cart\",{rest}}}\n");
    let stdout = [
        event("\"Action\":\"start\""),
        event("\"Action\":\"output\",\"Output\":\"no database\\n\""),
        event("\"Action\":\"output\",\"Output\":\"FAIL\\texample.com/shop/cart\\t0.1s\\n\""),
        event("\"Action\":\"fail\",\"Elapsed\":0.1"),
    ];
    let report = test(stdout.concat().as_bytes(), 1);
    let package = named(&report, "(package)");
    assert_eq!((package.outcome, package.message.as_deref()), (Outcome::Errored, Some("no database")));
    assert_eq!((package.duration_ms, report.counts.unwrap().errored), (Some(100), 1));
}

#[test]
fn the_place_that_testify_names_is_taken() {
    let said = [
        "        cart_test.go:3: ",
        "            \\tError Trace:\\t/srv/shop/go/cart/cart_test.go:9",
        "            \\tError:      \\tNot equal: ",
    ];
    let event = |rest: &str| format!("{{\"Package\":\"example.com/shop/cart\",\"Test\":\"TestA\",{rest}}}\n");
    let mut stdout: String =
        said.iter().map(|line| event(&format!("\"Action\":\"output\",\"Output\":\"{line}\\n\""))).collect();
    stdout.push_str(&event("\"Action\":\"fail\",\"Elapsed\":0"));
    stdout.push_str("{\"Package\":\"example.com/shop/cart\",\"Action\":\"fail\"}\n");
    let report = test(stdout.as_bytes(), 1);
    assert_eq!(spot(named(&report, "TestA")), "go/cart/cart_test.go:9");
    assert!(named(&report, "TestA").message.as_deref().unwrap().contains("Not equal:"));
}

#[test]
fn a_run_that_is_cut_off_counts_only_what_ended() {
    let whole = fixture!("go-test/fail.json");
    let report = read(Format::GoTestJson, &whole[..whole.len() / 3], b"", None, &context("go"));
    assert_eq!(report.parsed, Parsed::Partly { unread_lines: 0, cut: true });
    assert_eq!(report.counts.map(|counts| (counts.total, counts.passed)), Some((2, 2)));
}

#[test]
fn builds_vets_and_formats_are_read() {
    let build = err(Format::GoBuild, "go", fixture!("go-build/build.txt.stderr"), 1);
    assert_eq!(at(&build.diagnostics[1]), "go/broken/broken.go:5:9");
    let vet = err(Format::GoBuild, "go", fixture!("go-build/vet.txt.stderr"), 1);
    assert_eq!((vet.levels.errors, vet.diagnostics[1].message.as_str()), (3, "unreachable code"));
    let gofmt = out(Format::GoBuild, "go", fixture!("go-build/gofmt.txt"), 0);
    assert_eq!(
        gofmt.diagnostics.iter().map(at).collect::<Vec<_>>(),
        ["go/cart/cart_test.go", "go/vet/ugly.go"]
    );
    assert!(gofmt.diagnostics.iter().all(|found| found.fix && found.rule.as_deref() == Some("gofmt")));
}

#[test]
fn what_go_says_of_modules_is_an_error_and_progress_is_not() {
    let said = b"go: downloading example.com/x v1.0.0\ncart.go:3:8: no required module provides package example.com/y; to add it:\n\tgo get example.com/y\n";
    let report = err(Format::GoBuild, "go", said, 1);
    assert_eq!(at(&report.diagnostics[0]), "go/cart.go:3:8");
    assert!(report.diagnostics[0].message.ends_with("to add it:; go get example.com/y"));
    assert_eq!((report.levels.errors, report.parsed), (1, Parsed::Fully));
    let report = err(Format::GoBuild, "go", b"go: go.mod file not found in current directory\n", 1);
    assert_eq!(report.diagnostics[0].message, "go: go.mod file not found in current directory");
}
