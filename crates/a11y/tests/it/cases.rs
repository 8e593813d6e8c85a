//! Small documents, and what axe-core 4.14.1 said of them.

use gatewright_a11y::{Finding, check};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    html: String,
    whole: bool,
    rules: Vec<String>,
    expected: Vec<(String, String, String)>,
}

/// Where another answer than axe-core's in jsdom is right: the rule, a part of the document, and why.
const OTHERWISE: &[(&str, &str, &str)] = &[(
    "marquee",
    "<marquee>",
    "jsdom gives a marquee no size, and so it counts as clipped away; in browsers it is seen",
)];

/// Rules that markup does not decide.
const UNDECIDED: &[&str] = &["frame-tested"];

fn page(fragment: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Fixture</title></head><body><main><h1>Fixture</h1>{fragment}</main></body></html>"
    )
}

fn rows(list: &[Finding], kind: &str) -> Vec<(String, String, String)> {
    let row = |finding: &Finding, target: &str| (finding.rule.clone(), kind.to_owned(), target.to_owned());
    list.iter().flat_map(|f| f.nodes.iter().map(move |node| row(f, &node.target[0]))).collect()
}

#[test]
fn small_documents_are_judged_as_axe_core_judges_them() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../data/cases.json")).unwrap();
    let (mut wrong, mut total) = (Vec::new(), 0);
    for case in &cases {
        let html = if case.whole { case.html.clone() } else { page(&case.html) };
        for rule in &case.rules {
            if UNDECIDED.contains(&rule.as_str()) {
                continue;
            }
            total += 1;
            let found = check(&html, &|id, _, _| id == rule);
            let mut found: Vec<_> =
                [rows(&found.violations, "violation"), rows(&found.incomplete, "incomplete")].concat();
            let mut expected: Vec<_> =
                case.expected.iter().filter(|(r, kind, _)| r == rule && kind != "pass").cloned().collect();
            found.sort();
            expected.sort();
            let is_excused = OTHERWISE.iter().any(|(r, part, _)| r == rule && case.html.contains(part));
            if found != expected && !is_excused {
                wrong.push(format!("{rule}: {}\n   expected {expected:?}\n   found    {found:?}", case.html));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {total} judged otherwise:\n{}", wrong.len(), wrong.join("\n"));
}
