//! What holds in every format and for any output.

use std::collections::BTreeSet;

use gatewright_reports::{Failure, FailureId, Format, Parsed, Report, read};
use proptest::prelude::*;

use crate::context;
use crate::samples::{SAMPLES, Sample};

fn run(sample: &Sample) -> Report {
    read(sample.format, sample.stdout, sample.stderr, Some(sample.exit), &context(""))
}

fn bad_ids(report: &Report) -> BTreeSet<FailureId> {
    let tests = report.failures().map(|test| test.id.clone());
    tests.chain(report.diagnostics.iter().map(|diagnostic| diagnostic.id.clone())).collect()
}

#[test]
fn every_format_has_a_run_without_and_one_with_failures() {
    for format in Format::ALL {
        let mut failed = SAMPLES
            .iter()
            .filter(|sample| sample.format == format)
            .map(run)
            .map(|report| report.first.is_some());
        let failed: BTreeSet<bool> = failed.by_ref().collect();
        assert_eq!(failed, BTreeSet::from([false, true]), "{format}");
    }
}

#[test]
fn captured_output_is_read_fully_and_does_not_contradict_itself() {
    for sample in SAMPLES {
        let report = run(sample);
        // Of make, lines of the programs that it runs stay unread: `in sub` and the command itself.
        if !sample.name.contains("make/sub") {
            assert_eq!(report.parsed, Parsed::Fully, "{} {}", sample.format, sample.name);
        }
        assert_eq!(report.disagreements, Vec::<String>::new(), "{} {}", sample.format, sample.name);
        assert_eq!(
            report.first.is_some(),
            sample.exit != 0
                || sample.name.contains("staticcheck.sarif")
                || sample.name.contains("vitest-bench/fail"),
            "{}",
            sample.name
        );
        assert_eq!(report.left_out(), 0, "{} {}", sample.format, sample.name);
    }
}

#[test]
fn silence_is_all_well_only_where_a_program_is_silent_when_all_is_well() {
    for format in Format::ALL {
        let silent = |exit| read(format, b"", b"", exit, &context(""));
        let lines = matches!(
            format,
            Format::GoBuild
                | Format::CargoJson
                | Format::Gcc
                | Format::GccJson
                | Format::Tsc
                | Format::PrettierList
                | Format::RustfmtList
                | Format::Markdownlint
                | Format::YamllintParsable
                | Format::Commitlint
                | Format::StaticcheckJson
                | Format::Mypy
                | Format::VerminParsable
                | Format::Make
        );
        assert_eq!(silent(Some(0)).parsed == Parsed::Fully, lines, "{format}");
        for exit in [Some(1), None] {
            let report = silent(exit);
            assert!(matches!(report.parsed, Parsed::Not { .. }), "{format}: {report:?}");
            assert_eq!(report.counts, None, "{format}");
        }
    }
}

#[test]
fn garbage_is_said_to_be_unread() {
    for format in Format::ALL {
        for garbage in [
            "Lorem ipsum dolor sit amet\nconsectetur\n",
            "%PDF-1.7\n\u{0}\u{1}\n",
            "<html>\n<p>502</p>\n</html>\n",
        ] {
            let report = read(format, garbage.as_bytes(), b"", Some(1), &context(""));
            assert!(matches!(report.parsed, Parsed::Not { .. }), "{format} of {garbage:?}: {report:?}");
            assert!(report.first.is_none() && report.counts.is_none(), "{format}");
        }
    }
}

#[test]
fn output_that_breaks_off_gives_what_is_there_and_says_so() {
    for sample in SAMPLES.iter().filter(|sample| sample.exit != 0) {
        let whole = bad_ids(&run(sample));
        let on_out = sample.stdout.len() >= sample.stderr.len();
        let long = if on_out { sample.stdout } else { sample.stderr };
        for part in 1..24 {
            let cut = &long[..long.len() * part / 24];
            let (stdout, stderr) = if on_out { (cut, sample.stderr) } else { (sample.stdout, cut) };
            let report = read(sample.format, stdout, stderr, None, &context(""));
            // A cut at the end of a line is not seen in formats of lines alone.
            if !cut.ends_with(b"\n") {
                let told = format!("{} {} cut at {part}/24: {:?}", sample.format, sample.name, report.parsed);
                assert_ne!(report.parsed, Parsed::Fully, "{told}");
            }
            // What was half said may be told differently; no failure is made up.
            let found = bad_ids(&report);
            assert!(found.len() <= whole.len(), "{} {}: {found:?} of {whole:?}", sample.format, sample.name);
        }
        let nearly = &long[..long.len() - long.len() / 24];
        let (stdout, stderr) = if on_out { (nearly, sample.stderr) } else { (sample.stdout, nearly) };
        let report = read(sample.format, stdout, stderr, None, &context(""));
        let known = bad_ids(&report).intersection(&whole).count();
        // One line that is cut leaves none.
        assert!(
            known > 0 || whole.len() == 1,
            "{} {}: nothing is left of {whole:?}",
            sample.format,
            sample.name
        );
    }
}

#[test]
fn the_first_failure_is_one_of_those_that_are_listed() {
    for report in SAMPLES.iter().map(run) {
        if let Some(id) = &report.first {
            assert_eq!(report.first_failure().map(|failure| failure.id().clone()).as_ref(), Some(id));
        }
    }
}

#[test]
fn a_report_fits_its_schema_and_is_read_back() {
    let schema = serde_json::to_value(schemars::schema_for!(Report)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for sample in SAMPLES {
        let report = run(sample);
        let json = serde_json::to_value(&report).unwrap();
        assert!(validator.is_valid(&json), "{}: {json}", sample.name);
        assert_eq!(serde_json::from_value::<Report>(json).unwrap(), report);
    }
}

#[test]
fn every_field_is_described_in_at_most_eight_words() {
    fn walk(value: &serde_json::Value, at: &str) {
        let Some(object) = value.as_object() else { return };
        for (name, property) in object.get("properties").and_then(|all| all.as_object()).into_iter().flatten()
        {
            let constant = property.get("const").is_some();
            let words = property.get("description").and_then(|text| text.as_str()).unwrap_or_default();
            let words = words.split_whitespace().count();
            assert!(constant || (1..=8).contains(&words), "{at}/{name}: {property}");
        }
        object.iter().for_each(|(name, value)| walk(value, &format!("{at}/{name}")));
        object.values().filter_map(|value| value.as_array()).flatten().for_each(|value| walk(value, at));
    }
    walk(&serde_json::to_value(schemars::schema_for!(Report)).unwrap(), "");
}

/// What must hold of a report, whatever was read.
fn holds(report: &Report) {
    if let Some(counts) = report.counts {
        let sum = counts.passed + counts.failed + counts.skipped + counts.errored + counts.timed_out;
        assert_eq!(counts.total, sum);
        assert!(
            report.failures().count() as u64 <= counts.total.max(counts.bad())
                || !report.disagreements.is_empty()
        );
    }
    let good = report.tests.iter().position(|test| !test.outcome.is_bad()).unwrap_or(report.tests.len());
    assert!(report.tests[good..].iter().all(|test| !test.outcome.is_bad()), "failures come first");
    assert!(report.diagnostics.is_sorted_by_key(|diagnostic| diagnostic.severity), "errors come first");
    for diagnostic in &report.diagnostics {
        assert!([diagnostic.line, diagnostic.column].iter().flatten().all(|at| *at > 0), "places begin at 1");
        assert!(diagnostic.message.len() <= gatewright_reports::MAX_MESSAGE + 3);
        assert!(!diagnostic.message.contains('\u{1b}'));
    }
    let test = |failure| matches!(failure, Failure::Test(test) if test.outcome.is_bad());
    let error = |failure| matches!(failure, Failure::Diagnostic(_));
    assert!(
        report.first.is_none()
            || report.first_failure().is_some_and(|failure| test(failure) || error(failure))
    );
    serde_json::to_string(report).unwrap();
}

/// A captured output with pieces cut out, doubled, swapped or overwritten.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        0..5_u8,
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        "\\PC{0,12}|[{}\\[\\]<>\"\\\\:,0-9]{1,6}|\\n|\\x1b\\[3",
    );
    (0..SAMPLES.len(), prop::collection::vec(edit, 0..6)).prop_map(|(nth, edits)| {
        let sample = &SAMPLES[nth];
        let mut bytes =
            if sample.stdout.len() >= sample.stderr.len() { sample.stdout } else { sample.stderr }.to_vec();
        for (kind, from, to, text) in edits {
            let ends = [from.index(bytes.len() + 1), to.index(bytes.len() + 1)];
            let (start, end) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            match kind {
                0 => drop(bytes.drain(start..end)),
                1 => {
                    let piece = bytes[start..end].to_vec();
                    bytes.splice(end..end, piece);
                }
                2 => bytes.truncate(end),
                3 => drop(bytes.splice(start..start, text.into_bytes())),
                _ => drop(bytes.splice(start..(start + text.len()).min(bytes.len()), text.into_bytes())),
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_output_of_any_format_reads(stdout in mutated(), stderr in mutated(), exit in prop::option::of(-1..3)) {
        for format in Format::ALL {
            holds(&read(format, &stdout, b"", exit, &context("")));
            holds(&read(format, b"", &stderr, exit, &context("..")));
        }
    }

    #[test]
    fn any_text_of_any_format_reads(text in "(?s).{0,400}", bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in Format::ALL {
            holds(&read(format, text.as_bytes(), &bytes, Some(0), &context("")));
        }
    }

    #[test]
    fn any_lines_of_the_formats_words_read(lines in prop::collection::vec(
        "(make|a\\.go|<testcase|=== |____ |not ok 1|ok 2|test a \\.\\.\\. |---- a stdout ----|FAILED a::b|1\\.\\.3|\\{\"|error(\\[E1\\])?:|  ---|  \\.\\.\\.|running 1 test|# Subtest: )[a-z:0-9 ()\\[\\]>=_\"]{0,12}",
        0..12,
    )) {
        let text = lines.join("\n");
        for format in Format::ALL {
            holds(&read(format, text.as_bytes(), b"", Some(1), &context("")));
        }
    }
}
