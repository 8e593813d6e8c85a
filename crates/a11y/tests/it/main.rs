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

#[test]
fn what_markup_does_not_decide_is_named() {
    let undecided = gatewright_a11y::undecided();
    assert_eq!(
        undecided,
        [
            "color-contrast",
            "frame-focusable-content",
            "frame-tested",
            "link-in-text-block",
            "scrollable-region-focusable"
        ]
    );
}

#[test]
fn a_document_that_nests_and_refers_to_itself_is_judged_in_bounded_time() {
    let deep = "<div role=list aria-owns=a><b id=a aria-labelledby=a aria-label=' '>".repeat(2_000);
    let spans = "<table>".to_owned() + &"<tr><td rowspan=65534 colspan=1000>x<th>y".repeat(2_000);
    let names = "<p id=p>".to_owned() + &"<button aria-labelledby='p p p p'>x</button>".repeat(5_000);
    let nested =
        "<a href=x aria-label=' '><span id=s>".to_owned() + &"<span aria-owns=s>".repeat(2_000) + "x";
    let misnested = "<a href=x><b><p>".repeat(1_000) + &"</b></p>x".repeat(1_000);
    let started = std::time::Instant::now();
    for html in [deep, spans, names, nested, misnested] {
        let _ = check(&html, &|_, _, _| true);
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

proptest::proptest! {
    #[test]
    fn any_text_is_judged(
        html in "(<(table|tr|td|th|ul|li|dl|dd|a|label|input|select|option|img|map|area|svg|title|h2|section|fieldset|details|summary)( (id|for|role|aria-[a-z]{4,10}|aria-labelledby|aria-owns|headers|scope|colspan|rowspan|alt|href|style|tabindex|lang|name|hidden)=\"(a|b|a b|row|list|group|none|combobox|2|-1|#a|display:none|\\PC{0,4})\"){0,3}>|</(table|a|ul|label|svg)>|\\PC{0,6}){0,60}"
    ) {
        let _ = check(&html, &|_, _, _| true);
    }

    #[test]
    fn text_that_is_no_markup_is_judged(text in "\\PC{0,200}") {
        let _ = check(&text, &|_, _, _| true);
    }
}
