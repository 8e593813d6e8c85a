//! One failure keeps its identity where what surrounds it changes.

use std::collections::BTreeMap;

use gatewright_reports::{Context, FailureId, Format, Report, normal, read};
use proptest::prelude::*;
use regex::Regex;

use crate::samples::{SAMPLES, Sample};
use crate::{ROOT, context, out};

/// All identities with what they are of, sorted.
fn ids(report: &Report) -> Vec<(FailureId, String)> {
    let tests = report.tests.iter().map(|test| (test.id.clone(), test.name.clone()));
    let found = report
        .diagnostics
        .iter()
        .map(|found| (found.id.clone(), format!("{:?} {:?}", found.file, found.rule)));
    let mut ids: Vec<_> = tests.chain(found).collect();
    ids.sort();
    ids
}

fn changed(sample: &Sample, change: &dyn Fn(&str) -> String, context: &Context<'_>) -> Report {
    let text = |bytes| change(&String::from_utf8_lossy(bytes));
    let (stdout, stderr) = (text(sample.stdout), text(sample.stderr));
    read(sample.format, stdout.as_bytes(), stderr.as_bytes(), Some(sample.exit), context)
}

#[test]
fn another_root_gives_the_same_identities() {
    for sample in SAMPLES {
        let here = changed(sample, &str::to_owned, &context(""));
        let elsewhere = Context { root: "/home/dev/work", ..context("") };
        let there = changed(sample, &|text| text.replace(ROOT, "/home/dev/work"), &elsewhere);
        assert_eq!(ids(&here), ids(&there), "{}", sample.name);
    }
}

#[test]
fn other_durations_and_addresses_give_the_same_identities() {
    let seconds = Regex::new(r#"(time="|"Elapsed":|\(|in |"exec_time":|duration_ms: )\d+\.\d+"#).unwrap();
    let address = Regex::new(r"0x[0-9a-f]{6,}").unwrap();
    for sample in SAMPLES {
        let here = changed(sample, &str::to_owned, &context(""));
        let other = |text: &str| {
            let text = seconds.replace_all(text, "${1}7.25");
            address.replace_all(&text, "0x00c0ffee0000").into_owned()
        };
        assert_eq!(ids(&here), ids(&changed(sample, &other, &context(""))), "{}", sample.name);
    }
}

#[test]
fn shifted_lines_give_the_same_identities() {
    let place = Regex::new(
        r#"(\.(?:go|c|h|ts|md|yaml|rs|py|toml)[:(]|Error: [^\n(]*\(|"line": ?|"row": |"line_number": |"line_start":|"line_end":|"startLine": )(\d+)"#,
    )
    .unwrap();
    for sample in SAMPLES {
        let here = changed(sample, &str::to_owned, &context(""));
        let shift = |text: &str| {
            let moved = |found: &regex::Captures<'_>| {
                format!("{}{}", &found[1], found[2].parse::<u32>().unwrap() + 17)
            };
            place.replace_all(text, moved).into_owned()
        };
        let there = changed(sample, &shift, &context(""));
        assert_eq!(ids(&here), ids(&there), "{}", sample.name);
        let moved = |report: &Report| report.diagnostics.iter().filter_map(|found| found.line).sum::<u32>();
        let lines = here.diagnostics.iter().filter(|found| found.line.is_some()).count();
        // tsc's colours stand between a file and its line.
        let coloured = sample.name.contains("pretty");
        if lines > 0
            && !coloured
            && !matches!(
                sample.format,
                Format::ActionlintJson | Format::GolangciJson | Format::Markdownlint | Format::Make
            )
        {
            assert!(moved(&there) > moved(&here), "{}: the lines have not moved", sample.name);
        }
    }
}

#[test]
fn identities_within_a_report_are_of_one_thing_each() {
    for sample in SAMPLES {
        let mut seen: BTreeMap<FailureId, String> = BTreeMap::new();
        for (id, what) in ids(&changed(sample, &str::to_owned, &context(""))) {
            assert_eq!(seen.insert(id, what), None, "{}", sample.name);
        }
    }
}

#[test]
fn identities_are_the_same_as_ever() {
    // A change here makes every remembered failure a new one.
    let test = FailureId::test("go test", Some("example.com/shop/cart"), "TestTotal");
    assert_eq!(test.as_str(), "54bbd012bb374b5f");
    let found =
        FailureId::diagnostic("tsc", Some("TS2322"), Some("a.ts"), "Type 'number' is not assignable.", 0);
    assert_eq!(found.as_str(), "7ec8233fa1337b59");
}

#[test]
fn equal_findings_are_told_apart_by_their_order() {
    let report = out(
        Format::Tsc,
        "",
        b"a.ts(1,1): error TS1: No.\na.ts(2,1): error TS1: No.\na.ts(2,1): error TS1: No.\n",
        1,
    );
    // The third is the second over again: same place, same words.
    assert_eq!(report.levels.errors, 2);
    assert_ne!(report.diagnostics[0].id, report.diagnostics[1].id);
    let later = out(Format::Tsc, "", b"a.ts(8,1): error TS1: No.\na.ts(9,1): error TS1: No.\n", 1);
    assert_eq!(ids(&report), ids(&later));
}

#[test]
fn a_file_outside_the_root_is_identified_by_its_name() {
    let at = |dir: &str| format!("{dir}/stdio.h:3:1: error: no\n");
    let report = |dir: &str| read(Format::Gcc, at(dir).as_bytes(), b"", Some(1), &context(""));
    let (here, there) = (report("/usr/include"), report("/opt/sdk/include"));
    assert_eq!(here.diagnostics[0].id, there.diagnostics[0].id);
    assert!(here.diagnostics[0].outside);
    assert_eq!(here.diagnostics[0].file.as_deref(), Some("/usr/include/stdio.h"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn another_test_has_another_identity(
        (source, suite, name) in ("[a-z ]{1,8}", prop::option::of("[a-z/.]{1,12}"), "[A-Za-z0-9_/ ]{1,16}"),
        (source2, suite2, name2) in ("[a-z ]{1,8}", prop::option::of("[a-z/.]{1,12}"), "[A-Za-z0-9_/ ]{1,16}"),
    ) {
        let one = FailureId::test(&source, suite.as_deref(), &name);
        let other = FailureId::test(&source2, suite2.as_deref(), &name2);
        prop_assert_eq!(one == other, (source, suite, name) == (source2, suite2, name2));
    }

    #[test]
    fn numbers_addresses_paths_and_durations_do_not_enter(
        (a, b) in (0_u64..1_000_000, 0_u64..1_000_000), (dir, dir2) in ("(/[a-z]{1,6}){2,4}", "(/[a-z]{1,6}){2,4}"),
    ) {
        let message = |n: u64, dir: &str| format!("got {n}, want {}.5 at 0x{n:08x} in {dir} after {n}.25s", n + 1);
        prop_assert_eq!(normal(&message(a, &dir)), normal(&message(b, &dir2)));
    }

    #[test]
    fn a_normal_message_is_normal(text in "\\PC{0,60}") {
        // Taking out again takes out nothing more, so that a stored message identifies as a fresh one.
        let once = normal(&text);
        prop_assert!(normal(&once).len() <= once.len() + 8);
    }

    #[test]
    fn findings_keep_their_identity_when_lines_are_put_above(
        found in prop::collection::vec((0..4_u32, "[a-z]{1,6}", "[a-z]{1,6}( [0-9]{1,3})?"), 1..12), shift in 1..500_u32,
    ) {
        let text = |shift: u32| -> String {
            let line = |(nth, (file, rule, message)): (usize, &(u32, String, String))| {
                format!("f{file}.c:{}:1: error: {message} [-W{rule}]\n", u32::try_from(nth).unwrap() + shift)
            };
            found.iter().enumerate().map(line).collect()
        };
        let of = |shift| ids(&out(Format::Gcc, "", text(shift).as_bytes(), 1));
        prop_assert_eq!(of(1), of(1 + shift));
        prop_assert_eq!(of(1).len(), found.len());
    }
}
