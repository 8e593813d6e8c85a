//! What `docs/design/attacks.md` claims, checked: whatever is said to be tested is a test, whatever waits says for what,
//! and a test that names a case stands in the table.

use std::collections::{BTreeMap, BTreeSet};

use crate::sh::{Done, output, top};

const PAGE: &str = "docs/design/attacks.md";

/// One row of a table.
struct Row<'p> {
    id: &'p str,
    state: &'p str,
    /// By what, or what is missing.
    shown: &'p str,
}

pub(crate) fn check() -> Done<Vec<String>> {
    let page = std::fs::read_to_string(top().join(PAGE)).map_err(|e| format!("{PAGE}: {e}"))?;
    let mut tests = BTreeSet::new();
    for file in output("git", &["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"])?.lines() {
        let text = std::fs::read_to_string(top().join(file)).unwrap_or_default();
        tests.extend(tests_of(&text).map(str::to_owned));
    }
    Ok(wrong(&page, &tests))
}

/// The names of the test functions in `source`.
fn tests_of(source: &str) -> impl Iterator<Item = &str> {
    let mut marked = false;
    source.lines().filter_map(move |line| {
        let line = line.trim();
        if line == "#[test]" || line.starts_with("#[tokio::test") {
            marked = true;
            return None;
        }
        let name = line.trim_start_matches("async ").strip_prefix("fn ")?.split(['(', '<']).next()?;
        std::mem::take(&mut marked).then_some(name)
    })
}

/// The cases that a test's name begins with: `p04_p06_links_…`, `recipe_002_a_call_…`.
fn cases(test: &str) -> Vec<String> {
    let mut words = test.split('_').peekable();
    if words.peek() == Some(&"recipe") {
        let number = words.nth(1).filter(|n| n.len() == 3 && n.bytes().all(|b| b.is_ascii_digit()));
        return number.map(|n| format!("recipe-{n}")).into_iter().collect();
    }
    words
        .take_while(|w| {
            let bytes = w.as_bytes();
            bytes.len() == 3 && bytes[0].is_ascii_lowercase() && bytes[1..].iter().all(u8::is_ascii_digit)
        })
        .map(str::to_uppercase)
        .collect()
}

fn rows(page: &str) -> impl Iterator<Item = Row<'_>> {
    page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        match cells.as_slice() {
            [id, _, state, shown] if *id != "case" => Some(Row { id, state, shown }),
            _ => None,
        }
    })
}

/// The tests that a cell names: their names are sentences.
fn named(cell: &str) -> impl Iterator<Item = &str> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted.filter(|q| {
        q.matches('_').count() > 1
            && q.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    })
}

fn wrong(page: &str, tests: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut table: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Row { id, state, shown } in rows(page) {
        let names: BTreeSet<&str> = named(shown).collect();
        for name in names.iter().filter(|name| !tests.contains(**name)) {
            found.push(format!("{PAGE}: {id}: there is no test `{name}`"));
        }
        match state {
            "tested" | "partly" if names.is_empty() => {
                found.push(format!("{PAGE}: {id} is {state}, and no test is named"));
            }
            "partly" if !shown.contains("Missing: ") => {
                found.push(format!("{PAGE}: {id} is tested in part, and nothing is said to be missing"));
            }
            "waiting" if !shown.contains("issue ") => {
                found.push(format!("{PAGE}: {id} waits, and for no issue"));
            }
            "tested" | "partly" | "waiting" => {}
            other => found.push(format!("{PAGE}: {id}: {other} is no state")),
        }
        if table.insert(id, names).is_some() {
            found.push(format!("{PAGE}: {id} stands twice"));
        }
    }
    if table.is_empty() {
        found.push(format!("{PAGE} has no table"));
    }
    for test in tests {
        for case in cases(test) {
            if !table.get(case.as_str()).is_some_and(|names| names.contains(test.as_str())) {
                found.push(format!("{PAGE}: {case} does not name its test `{test}`"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong_with(row: &str) -> Vec<String> {
        let tests = ["p04_p06_links", "recipe_002_a_call", "the_other_test"].map(str::to_owned).into();
        let page = format!(
            "| case | what | state | shown by |\n|---|---|---|---|\n{row}\n\
             | P06 | x | partly | `p04_p06_links`. Missing: the rest |\n| recipe-002 | x | tested | `recipe_002_a_call` |\n"
        );
        wrong(&page, &tests)
    }

    #[test]
    fn a_claim_that_no_test_shows_is_found() {
        assert_eq!(
            wrong_with("| P04 | x | tested | `p04_p06_links`, `the_other_test` |"),
            Vec::<String>::new()
        );
        for (row, expected) in [
            ("| P04 | x | tested | `p04_p06_links`, `no_such_test` |", "there is no test"),
            ("| P04 | x | tested | `p04_p06_links` |\n| P05 | x | tested | the code |", "no test is named"),
            ("| P04 | x | partly | `p04_p06_links` |", "missing"),
            ("| P04 | x | tested | `p04_p06_links` |\n| P05 | x | waiting | later |", "no issue"),
            ("| P04 | x | done | `p04_p06_links` |", "no state"),
            ("| P04 | x | tested | `the_other_test` |", "does not name its test"),
            ("| P05 | x | tested | `the_other_test` |", "P04 does not name"),
            (
                "| P04 | x | tested | `p04_p06_links` |\n| P06 | x | tested | `p04_p06_links` |",
                "stands twice",
            ),
        ] {
            let found = wrong_with(row);
            assert!(found.iter().any(|f| f.contains(expected)), "{row}: {found:?}");
        }
    }

    #[test]
    fn tests_and_their_cases_are_read_from_the_source() {
        let source = "#[test]\nfn m16_m18_lines() {}\nfn helper() {}\n    #[tokio::test]\n    async fn a11y_scan() {}\n#[test]\n#[ignore]\nfn recipe_013_x() {}";
        let names: Vec<&str> = tests_of(source).collect();
        assert_eq!(names, ["m16_m18_lines", "a11y_scan", "recipe_013_x"]);
        let all: Vec<Vec<String>> = names.into_iter().map(cases).collect();
        assert_eq!(all, [vec!["M16".to_owned(), "M18".to_owned()], vec![], vec!["recipe-013".to_owned()]]);
    }
}
