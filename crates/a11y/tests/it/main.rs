//! What must hold of the static rules.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]

mod cases;

use gatewright_a11y::check;

#[test]
fn a_document_without_a_title_is_found_with_its_line_and_criterion() {
    let all = |_: &str, _: &[String], is_default: bool| is_default;
    let found = check("<!doctype html>\n<html lang=en><body><p>x", &all);
    let title = found.violations.iter().find(|f| f.rule == "document-title").unwrap();
    assert_eq!((title.criteria.as_slice(), title.nodes[0].line), (&["2.4.2".to_owned()][..], Some(2)));
    assert_eq!(title.nodes[0].target, ["html"]);
    let none = check("<title>t</title>", &|_, _, _| false);
    assert!(none.violations.is_empty());
}
