use std::time::{Duration, Instant};

use gatewright_failures::{
    ANALYSED_BYTES, Analysis, EXCERPT_CHARS, FailedRun, Language, MATCHES, SUGGESTIONS, analyze_diff,
    analyze_source,
};
use proptest::prelude::*;

use crate::fixture::{all, analyzer};

fn holds(analysis: &Analysis) {
    assert!((0.0..=1.0).contains(&analysis.confidence));
    assert!(((analysis.confidence * 100.0).round() / 100.0 - analysis.confidence).abs() < f64::EPSILON);
    assert!(analysis.matches.len() <= MATCHES && analysis.suggestions.len() <= SUGGESTIONS);
    assert!(analysis.affected_files.len() <= 50);
    assert_eq!(analysis.explained, !analysis.findings.is_empty());
    for found in &analysis.matches {
        assert!(found.excerpt.chars().count() <= EXCERPT_CHARS + 1, "{}", found.excerpt);
        assert!(found.line > 0);
        assert!(found.captures.values().all(|value| value.chars().count() <= 200));
    }
    assert!(analysis.suggestions.iter().all(|s| (0.0..=1.0).contains(&s.confidence)));
}

/// Every line of every captured run: what comes nearest to what patterns look for.
fn lines() -> Vec<String> {
    analyzer()
        .knowledge(None)
        .patterns
        .iter()
        .filter(|known| known.id != "perf-nested-loops")
        .flat_map(|known| all(&known.id))
        .flat_map(|run| {
            format!("{}{}", run.stdout, run.stderr).lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_output_gives_an_analysis_within_its_bounds(
        stdout in any::<String>(), stderr in "(\\PC|\n|\u{1b}){0,400}", exit_code in any::<Option<i32>>(), root in any::<Option<String>>(),
    ) {
        let run = FailedRun { stdout: &stdout, stderr: &stderr, exit_code, root: root.as_deref(), run: Some("r"), ..FailedRun::default() };
        holds(&analyzer().analyze(&run));
    }

    #[test]
    fn any_mixture_of_real_lines_gives_an_analysis_within_its_bounds(
        picked in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..400, any::<bool>()), 0..200),
    ) {
        static LINES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
        let lines = LINES.get_or_init(lines);
        let text = picked.iter().map(|(index, cut, whole)| {
            let line = index.get(lines);
            let end = if *whole { line.len() } else { line.floor_char_boundary(*cut) };
            &line[..end]
        }).collect::<Vec<_>>().join("\n");
        holds(&analyzer().analyze(&FailedRun { stdout: &text, stderr: &text, ..FailedRun::default() }));
    }

    #[test]
    fn any_source_and_any_diff_is_read(text in any::<String>(), code in "[a-z{}()\\[\\];:='\"`#/* \\\\\n+$%-]{0,300}", pick in 0..8_usize) {
        for text in [&text, &code] {
            let language = Language::ALL.get(pick).copied();
            let lines = text.lines().count();
            prop_assert!(analyze_source(text, language).matches.iter().all(|found| found.line <= lines.max(1)));
            let diff = analyze_diff(&format!("+++ b/x.py\n@@ -1,9 +1,9 @@\n{text}"));
            prop_assert!(diff.matches.iter().all(|found| found.line <= 9));
            prop_assert!(analyze_diff(text).total < 1_000);
        }
    }
}

#[test]
fn beyond_its_limit_an_output_is_read_at_both_ends_and_that_is_said() {
    let filler = "nothing to see here\n".repeat(ANALYSED_BYTES / 10);
    let said = format!(
        "ModuleNotFoundError: No module named 'first'\n{filler}ModuleNotFoundError: No module named 'last'\n"
    );
    let analysis = analyzer().analyze(&FailedRun { stderr: &said, ..FailedRun::default() });
    let cut = analysis.cut.unwrap();
    assert_eq!(cut.total_bytes, said.len());
    assert!(cut.analysed_bytes <= ANALYSED_BYTES);
    let places: Vec<_> = analysis.matches.iter().map(|m| (m.line, m.captures["package"].as_str())).collect();
    assert_eq!(places, [(1, "first"), (said.lines().count(), "last")]);
    assert_eq!(analyzer().analyze(&FailedRun { stderr: "x", ..FailedRun::default() }).cut, None);
}

/// The time for 1 MiB, after expressions are compiled; bounds are generous, for debug builds on a busy machine.
#[test]
fn hostile_megabytes_take_time_in_proportion() {
    let time = |text: &str| {
        let run = FailedRun { stdout: text, ..FailedRun::default() };
        holds(&analyzer().analyze(&run));
        let begun = Instant::now();
        holds(&analyzer().analyze(&run));
        begun.elapsed()
    };
    let every_line: String = lines().join("\n");
    let fill = |text: &str| text.repeat(ANALYSED_BYTES / text.len());
    for (what, text) in [
        ("every fixture again and again", fill(&every_line)),
        ("every fixture on one line", fill(&every_line.replace('\n', " "))),
        ("short lines with a literal", fill("  error  x\n")),
        ("one line of literals", fill("--- FAIL: undefined reference to .go: ")),
        ("one line of keys", fill("password = \"")),
        ("nothing", fill("all is well, nothing happens here at all\n")),
    ] {
        let took = time(&text);
        println!("{what}: {took:?}");
        assert!(took < Duration::from_secs(20), "{what} took {took:?}");
    }
    let sources = ["for (", "'''", "\"SELECT a FROM \" + ", "{", "r#\"", "password = '", "`${"];
    for piece in sources {
        for language in Language::ALL {
            let text = fill(piece);
            let begun = Instant::now();
            let total = analyze_source(&text, Some(*language)).total;
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(20), "{piece} as {language:?} took {took:?}, {total} matches");
        }
    }
}
