//! Reading is linear, and what is held is bounded: counted in bytes that are looked at, not in time.

use crate::text::work;
use crate::{Context, Format, MAX_DIAGNOSTICS, MAX_FAILED, MAX_PASSED, Report, read};

fn context() -> Context<'static> {
    Context { root: "/srv/shop", dir: "", modules: &[("example.com/shop", "go")] }
}

/// Many different findings or tests in a format.
#[expect(clippy::too_many_lines, reason = "one arm for each format")]
fn many(format: Format, count: usize) -> (Vec<u8>, Vec<u8>) {
    let list = |item: &dyn Fn(usize) -> String, separator: &str| {
        (0..count).map(item).collect::<Vec<_>>().join(separator)
    };
    let gcc = |n: usize| format!("a{n}.c:{n}:1: error: no {n} [-Wx]\n  {n} | x\n    | ^\n");
    let stdout = match format {
        Format::GoTestJson => list(
            &|n| {
                let event = |rest: &str| format!("{{\"Package\":\"p\",\"Test\":\"T{n}\",{rest}}}\n");
                let said = event("\"Action\":\"output\",\"Output\":\"    a_test.go:7: no\\n\"");
                let end = if n.is_multiple_of(2) { "fail" } else { "pass" };
                format!(
                    "{}{said}{}",
                    event("\"Action\":\"run\""),
                    event(&format!("\"Action\":\"{end}\",\"Elapsed\":0.1"))
                )
            },
            "",
        ),
        Format::GoBuild => list(&|n| format!("a{n}.go:{n}:1: no\n\tmore\n"), ""),
        Format::Junit | Format::Nextest => format!(
            "<testsuites>{}</testsuites>",
            list(&|n| format!("<testcase name=\"t{n}\"><failure>no {n}\nat x</failure></testcase>"), "\n")
        ),
        Format::Tap => format!(
            "{}1..{count}\n",
            list(&|n| format!("not ok {n} - t{n}\n  ---\n  error: no\n  ...\n"), "")
        ),
        Format::Pytest => format!(
            "=== FAILURES ===\n{}=== short test summary info ===\n{}=== {count} failed in 0.1s ===\n",
            list(&|n| format!("____ t{n} ____\na.py:{n}: in t\nE   no\n"), ""),
            list(&|n| format!("FAILED a.py::t{n} - no\n"), "")
        ),
        Format::JestJson | Format::VitestJson => {
            let test =
                |n| format!("{{\"title\":\"t{n}\",\"status\":\"failed\",\"failureMessages\":[\"no\"]}}");
            format!("{{\"testResults\":[{{\"name\":\"a.js\",\"assertionResults\":[{}]}}]}}", list(&test, ","))
        }
        Format::MochaJson => {
            let test = |n| format!("{{\"fullTitle\":\"t{n}\",\"err\":{{\"message\":\"no\"}}}}");
            format!("{{\"stats\":{{}},\"failures\":[{}]}}", list(&test, ","))
        }
        Format::Libtest => format!(
            "running {count} tests\n{}\nfailures:\n\n{}",
            list(&|n| format!("test t{n} ... FAILED"), "\n"),
            list(&|n| format!("---- t{n} stdout ----\nno\n"), "\n")
        ),
        Format::CargoJson => list(
            &|n| {
                let span = format!(
                    "{{\"file_name\":\"a{n}.rs\",\"line_start\":1,\"line_end\":1,\"column_start\":1,\"column_end\":2,\"is_primary\":true}}"
                );
                let said =
                    format!("{{\"message\":\"no\",\"level\":\"error\",\"spans\":[{span}],\"children\":[]}}");
                format!("{{\"reason\":\"compiler-message\",\"message\":{said}}}\n")
            },
            "",
        ),
        Format::Gcc | Format::Make => list(&gcc, ""),
        Format::GccJson => list(
            &|n| {
                format!(
                    "[{{\"kind\":\"error\",\"message\":\"no\",\"locations\":[{{\"caret\":{{\"file\":\"a{n}.c\",\"line\":1}}}}]}}]\n"
                )
            },
            "",
        ),
        Format::Tsc => list(&|n| format!("a{n}.ts({n},1): error TS1: no\n  more\n"), ""),
        Format::EslintJson => {
            let message =
                |n| format!("{{\"ruleId\":\"r\",\"severity\":2,\"message\":\"no {n}\",\"line\":{n}}}");
            format!("[{{\"filePath\":\"a.js\",\"messages\":[{}]}}]", list(&message, ","))
        }
        Format::Markdownlint => list(&|n| format!("a{n}.md:{n} error MD001/x No\n"), ""),
        Format::YamllintParsable => list(&|n| format!("a{n}.yaml:{n}:1: [error] no (x)\n"), ""),
        Format::Commitlint => list(&|n| format!("✖   no {n}x [r]\n"), ""),
        Format::ActionlintJson => {
            format!(
                "[{}]",
                list(&|n| format!("{{\"message\":\"no\",\"filepath\":\"a{n}.yml\",\"line\":1}}"), ",")
            )
        }
        Format::GolangciJson => {
            let issue = |n| {
                format!(
                    "{{\"FromLinter\":\"x\",\"Text\":\"no\",\"Pos\":{{\"Filename\":\"a{n}.go\",\"Line\":1}}}}"
                )
            };
            format!("{{\"Issues\":[{}]}}", list(&issue, ","))
        }
        Format::StaticcheckJson => list(
            &|n| {
                format!(
                    "{{\"code\":\"S1\",\"message\":\"no\",\"location\":{{\"file\":\"a{n}.go\",\"line\":1,\"column\":1}}}}\n"
                )
            },
            "",
        ),
        Format::GovulncheckJson => list(
            &|n| {
                format!(
                    "{{\"finding\":{{\"osv\":\"GO-{n}\",\"trace\":[{{\"module\":\"m\",\"function\":\"f\"}}]}}}}\n"
                )
            },
            "",
        ),
        Format::RuffJson => format!(
            "[{}]",
            list(
                &|n| format!(
                    "{{\"code\":\"F1\",\"message\":\"no\",\"filename\":\"a{n}.py\",\"location\":{{\"row\":1}}}}"
                ),
                ","
            )
        ),
        Format::PyrightJson => format!(
            "{{\"generalDiagnostics\":[{}]}}",
            list(&|n| format!("{{\"file\":\"a{n}.py\",\"severity\":\"error\",\"message\":\"no\"}}"), ",")
        ),
        Format::Mypy => list(&|n| format!("a{n}.py:{n}:1: error: no  [x]\n"), ""),
        Format::BanditJson => format!(
            "{{\"results\":[{}]}}",
            list(
                &|n| format!(
                    "{{\"filename\":\"a{n}.py\",\"issue_text\":\"no\",\"issue_severity\":\"HIGH\",\"line_number\":1}}"
                ),
                ","
            )
        ),
        Format::VerminParsable => list(&|n| format!("a{n}.py:{n}::!2:3.10:pattern matching\n"), ""),
        Format::Sarif => {
            let result =
                |n| format!("{{\"ruleId\":\"r{n}\",\"level\":\"error\",\"message\":{{\"text\":\"no\"}}}}");
            let rule = |n| format!("{{\"id\":\"r{n}\"}}");
            let driver = format!("{{\"name\":\"x\",\"rules\":[{}]}}", list(&rule, ","));
            format!(
                "{{\"runs\":[{{\"tool\":{{\"driver\":{driver}}},\"results\":[{}]}}]}}",
                list(&result, ",")
            )
        }
    };
    (stdout.into_bytes(), Vec::new())
}

fn run(format: Format, stdout: &[u8], stderr: &[u8]) -> (Report, usize) {
    work::take();
    let report = read(format, stdout, stderr, Some(1), &context());
    (report, work::take())
}

#[test]
fn twice_the_output_is_twice_the_work_in_every_format() {
    for format in Format::ALL {
        let (small, large) = (many(format, 2_000), many(format, 4_000));
        let (_, first) = run(format, &small.0, &small.1);
        let (_, second) = run(format, &large.0, &large.1);
        assert!(first >= small.0.len() / 2, "{format}: {first} bytes of {} are counted", small.0.len());
        // The names are a digit longer here and there.
        assert!(second * 10 <= first * 23, "{format}: {first} bytes, then {second}");
        // Each byte is looked at by a bounded number of patterns.
        assert!(second <= large.0.len() * 40, "{format}: {second} for {}", large.0.len());
    }
}

#[test]
fn lists_are_bounded_and_counts_are_whole_in_every_format() {
    let count = 5_000;
    for format in Format::ALL {
        let (stdout, stderr) = many(format, count);
        let (report, _) = run(format, &stdout, &stderr);
        let counted =
            report.counts.map_or(0, |counts| counts.total) + report.levels.errors + report.levels.warnings;
        assert_eq!(counted, count as u64, "{format}: {:?}", report.parsed);
        assert!(report.tests.len() <= MAX_FAILED + MAX_PASSED, "{format}");
        assert!(report.diagnostics.len() <= 3 * MAX_DIAGNOSTICS, "{format}");
        let kept = (report.tests.len() + report.diagnostics.len()) as u64;
        assert_eq!(report.left_out(), counted - kept, "{format}");
        assert!(report.left_out() > 0, "{format}");
    }
}

#[test]
fn output_that_is_made_to_be_slow_is_read_in_linear_work() {
    // Brackets that never close, documents that break at their end, texts that begin like many patterns.
    let texts = [
        "{\n",
        "[\n",
        "{\"a\":[\n{\"b\":1},\n",
        "<a>",
        "a:1:1: ",
        "____ a ____\n",
        "    ",
        "not ok 1 - # ",
        "1,",
        "\u{1b}[",
    ];
    for format in Format::ALL {
        for text in texts {
            let of = |times: usize| run(format, text.repeat(times).as_bytes(), b"").1;
            let (first, second) = (of(2_000), of(4_000));
            assert!(second <= first * 23 / 10 + 1_000, "{format} of {text:?}: {first}, then {second}");
        }
    }
}

#[test]
fn one_endless_test_is_kept_within_bounds() {
    let said =
        "{\"Package\":\"p\",\"Test\":\"T\",\"Action\":\"output\",\"Output\":\"0123456789 and so on\\n\"}\n"
            .repeat(50_000);
    let all = format!(
        "{said}{{\"Package\":\"p\",\"Test\":\"T\",\"Action\":\"fail\"}}\n{{\"Package\":\"p\",\"Action\":\"fail\"}}\n"
    );
    let (report, _) = run(Format::GoTestJson, all.as_bytes(), b"");
    let detail = report.tests[0].detail.as_deref().unwrap();
    assert!(detail.len() < crate::MAX_DETAIL + 100 && detail.contains("bytes left out"), "{}", detail.len());
}
