use gatewright_failures::{Language, analyze_source};

use crate::fixture::folder;

/// `match-NAME.EXT` holds one finding for each line that says `FINDS`, `near-NAME.EXT` none.
#[test]
fn sources_are_read_as_their_fixtures_say() {
    let mut seen = 0;
    for id in ["sec-hardcoded-secrets", "sec-sql-injection", "perf-nested-loops"] {
        for entry in std::fs::read_dir(folder().join("sources").join(id)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let found: Vec<usize> = analyze_source(&text, Language::of_path(&name))
                .matches
                .iter()
                .filter(|found| found.pattern == id)
                .map(|found| found.line)
                .collect();
            let expected: Vec<usize> = text
                .lines()
                .enumerate()
                .filter(|(_, line)| line.contains("FINDS"))
                .map(|(n, _)| n + 1)
                .collect();
            assert_eq!(found, expected, "{id}/{name}");
            assert_eq!(name.starts_with("match-"), !expected.is_empty(), "{id}/{name}");
            seen += 1;
        }
    }
    assert!(seen >= 12);
}

#[test]
fn a_secret_is_found_and_never_shown() {
    let text =
        "let client = connect(\"ghp_0123456789abcdefghijABCDEFGHIJ012345\");\n// sk_live_0123456789abcdef\n";
    let analysis = analyze_source(text, Some(Language::Rust));
    assert_eq!(analysis.matches.iter().map(|found| found.line).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(analysis.matches[0].excerpt, "let client = connect(\"[secret]\");");
    assert_eq!(analysis.matches[1].excerpt, "// [secret]");
}

#[test]
fn settings_files_are_read_without_a_language() {
    let text = "# settings\nDB_PASSWORD=correct-horse-battery\nTOKEN_URL=https://shop.example/token1\nAPI_KEY=${FROM_ENV}\n";
    let analysis = analyze_source(text, None);
    assert_eq!(analysis.matches.iter().map(|found| found.line).collect::<Vec<_>>(), [2]);
    assert!(!analysis.matches[0].excerpt.contains("horse"), "{:?}", analysis.matches);
}
