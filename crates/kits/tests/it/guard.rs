//! Guarded examples as a parser reads them: the policy is first, and all else is as it was.

use proptest::prelude::*;

use crate::tree::{self, Handle};

/// Takes the policy out of a guarded document, if it is where it must be.
fn without_policy(page: &Handle) -> Result<(), String> {
    let heads = page.named("head");
    let [head] = heads.as_slice() else { return Err("there is not one head".into()) };
    let first = head.children().into_iter().next().ok_or("the head is empty")?;
    let is_policy = first.tag() == Some("meta")
        && first.attribute("http-equiv").as_deref() == Some("Content-Security-Policy")
        && first
            .attribute("content")
            .is_some_and(|c| kits::example_policy().starts_with(&c) && c.contains("connect-src 'none'"));
    if !is_policy {
        return Err(format!("first in the head is {}", first.outline()));
    }
    head.remove_first_child();
    Ok(())
}

#[test]
fn documents_are_what_they_were_but_for_the_policy() {
    for html in [
        "<!doctype html><html lang=en class=x><head data-x><meta charset=utf-8><title>t</title></head><body class=b><p>x",
        "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd\"><html><head><title>t",
        "<!-- saved --><!doctype html>\n<!-- a --><html>\n<!-- b --><head>\n<script>1</script>",
        "<p>fragment<p>of two",
        "text alone",
        "",
        "<html><body><p>no head",
        "<head><title>no html",
        "<!doctype html><title>neither</title><p>x",
        "<?xml version='1.0'?><html><head></head><body>x",
        "<html><frameset><frame></frameset></html>",
        "<!doctype html><svg><title>s</title></svg>",
        "<!doctype html><script>document.write('x')</script>",
    ] {
        let guarded = tree::parse(&kits::guard_example(html.as_bytes()));
        without_policy(&guarded).unwrap_or_else(|why| panic!("{html}: {why}"));
        assert_eq!(guarded.outline(), tree::parse(html.as_bytes()).outline(), "{html}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn nothing_comes_before_the_policy(
        parts in prop::collection::vec(
            prop_oneof![
                prop::sample::select(&[
                    "<!doctype html>", "<!DOCTYPE", "<html>", "<html a='>' b=\">\" c=d>", "<html", "<head>", "<HEAD x=1/>", "<header>",
                    "<!-- c -->", "<!-->", "<!--->", "<!--", "-->", "--!>", "--->", "<!", "<?x", ">", "</", "</x>", "</head>", "</html>",
                    "<body>", "<script>x</script>", "<meta charset=utf-8>", "<base href=x>", "<title>", "<template>", "<svg>", "<noscript>",
                    "<frameset>", " ", "\n", "\r\n", "\u{c}", "\u{0}", "x", "'", "\"", "=", "/", "<![CDATA[", "]]>", "\u{feff}", "é",
                ][..]).prop_map(str::to_owned),
                "\\PC{0,4}",
            ],
            0..12,
        ),
    ) {
        let html = parts.concat();
        let guarded = kits::guard_example(html.as_bytes());
        let page = tree::parse(&guarded);
        without_policy(&page).map_err(|why| TestCaseError::fail(format!("{html:?}: {why}")))?;
        prop_assert_eq!(kits::guard_example(&guarded), guarded, "guarded twice");
    }
}
