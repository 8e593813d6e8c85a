//! Replacing changes no computed value, and nothing beside.

use design_tokens::usage::{replaced, settle};
use design_tokens::{Compiled, Options, Platform};
use lightningcss::stylesheet::{ParserOptions, PrinterOptions, StyleSheet};
use proptest::prelude::*;

use super::{TOKENS, compiled, index};

/// A style sheet as somebody else reads it.
fn read(text: &str) -> String {
    let sheet = StyleSheet::parse(text, ParserOptions::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    sheet.to_css(PrinterOptions { minify: true, ..PrinterOptions::default() }).unwrap().code
}

/// `text` with the default's values for custom properties.
fn resolved(text: &str, tokens: &Compiled) -> String {
    let mut text = text.to_owned();
    for token in tokens.tokens.values() {
        text = text.replace(&format!("var(--{})", token.name), &design_tokens::css_value(&token.value));
    }
    text
}

/// The text after every replacement, and what was replaced.
fn modified(path: &str, text: &str) -> (String, usize) {
    let index = index();
    let scan = index.scan(path, text, 0.0).unwrap();
    let usages = settle(&index, &[&scan]).remove(0);
    let after = replaced(text, &usages);
    // What stands outside of the ranges stands there as before.
    let (mut before_at, mut after_at) = (0, 0);
    let open: Vec<_> = usages.iter().filter(|usage| usage.kept.is_none()).collect();
    for usage in &open {
        let between = &text[before_at..usage.range.start];
        assert_eq!(&after[after_at..after_at + between.len()], between);
        after_at += between.len();
        assert!(after[after_at..].starts_with(&usage.replacement));
        after_at += usage.replacement.len();
        before_at = usage.range.end;
    }
    assert_eq!(&after[after_at..], &text[before_at..]);
    (after, open.len())
}

/// Properties with values that they may have. What a property may not have is dropped by browsers, and nobody can tell what a
/// custom property does there.
const DECLARATIONS: [(&[&str], &[&str]); 16] = [
    (
        &["color", "background-color", "border-color", "fill", "outline-color", "caret-color"],
        &[
            "#f00",
            "#FF0000",
            "red",
            "rgb(255 0 0)",
            "#111",
            "rgba(0,0,0,.5)",
            "hsl(0 100% 50%)",
            "#abc",
            "white",
            "inherit",
            "currentColor",
            "transparent",
            "var(--x)",
            "var(--x, red)",
            "#ff0000 /* red */",
            "/* red */ #fafafa",
        ],
    ),
    (
        &["background"],
        &[
            "red",
            "#fafafa url(red.png)",
            "linear-gradient(red, #111 4px)",
            "none",
            "url('red') #111 0 4px / 40px",
        ],
    ),
    (
        &["border", "border-left", "outline"],
        &["1px solid #f00", "4px dashed red", "none", "0", "solid #111", "1px solid var(--x)"],
    ),
    (
        &["padding", "margin", "gap", "margin-inline-start", "top", "scroll-margin-top"],
        &[
            "4px",
            "1rem",
            "40px",
            "5px",
            "0",
            "16px",
            "-4px",
            "10%",
            "calc(100% - 4px)",
            "calc((4px + 2vw) * 2)",
        ],
    ),
    (&["padding", "margin"], &["4px 1rem", "0 4px 0 1rem", "4px 4px", "1rem 5px 4px"]),
    (
        &["width", "height", "max-width", "flex-basis"],
        &["40px", "4px", "1rem", "18px", "100%", "min(40px, 100%)", "clamp(1px, 40px, 50vw)"],
    ),
    (&["border-radius", "border-top-left-radius"], &["4px", "40px", "1rem", "50%", "4px 40px"]),
    (&["font-size", "letter-spacing"], &["18px", "4px", "1rem"]),
    (
        &["font-family"],
        &["Inter, 'Helvetica Neue', sans-serif", "Inter,Helvetica Neue,sans-serif", "Inter", "'red', serif"],
    ),
    (&["font-weight"], &["bold", "700", "400", "normal", "inherit"]),
    (&["line-height", "opacity", "z-index", "flex-grow", "content", "--own"], &["1.2", ".5", "1", "0"]),
    (&["transition"], &["color 200ms", "top .2s cubic-bezier(0,0,.2,1)", "top 0.2s ease 1s", "none"]),
    (&["transition-duration", "animation-duration"], &["200ms", "0.2s", "1s, 200ms"]),
    (
        &["transition-timing-function"],
        &["cubic-bezier(0,0,.2,1)", "ease", "ease, cubic-bezier(0, 0, 0.2, 1)"],
    ),
    (
        &["box-shadow"],
        &[
            "0 2px 4px #00000080",
            "0 2px 4px red, inset 0 0 4px #111",
            "0 2px 4px 0 rgba(0,0,0,.50196)",
            "none",
        ],
    ),
    (&["filter"], &["drop-shadow(0 0 4px red)", "none"]),
];

fn declaration() -> impl Strategy<Value = String> {
    let one = prop::sample::select(&DECLARATIONS[..]).prop_flat_map(|(properties, values)| {
        (prop::sample::select(properties), prop::sample::select(values))
    });
    let end = prop::sample::select(vec!["", "", "", " !important", " /* 4px */"]);
    (one, end).prop_map(|((property, value), end)| format!("{property}: {value}{end};"))
}

fn sheet() -> impl Strategy<Value = String> {
    let rule = (prop::collection::vec(declaration(), 1..6), 0_u8..6).prop_map(|(declarations, shape)| {
        let inside = declarations.join(" ");
        match shape {
            0 => format!("@media (min-width: 40px) {{ a {{ {inside} }} }}"),
            1 => format!("a {{ b & {{ {inside} }} color: red }}"),
            2 => format!("/* é color: red */ .x-{shape}::after {{ {inside} }}"),
            3 => format!("@supports (color: red) {{ a:is(b, c) {{ {inside} }} }}"),
            _ => format!("a > b {{ {inside} }}"),
        }
    });
    prop::collection::vec(rule, 1..4).prop_map(|rules| rules.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn replacing_leaves_every_computed_value_as_it_is(text in sheet()) {
        let tokens = compiled(&[("t.json", TOKENS)], &Options::default());
        let (after, _) = modified("a.css", &text);
        prop_assert_eq!(read(&resolved(&after, &tokens)), read(&text), "{}\n{}", text, after);
        prop_assert_eq!(modified("a.css", &after), (after.clone(), 0), "replacing twice changes nothing");
    }

    /// Of SCSS a compiler tells the values: with the tokens' own file in front.
    #[test]
    fn scss_compiles_to_the_same_with_the_variables(text in sheet()) {
        let options = Options::default();
        let tokens = compiled(&[("t.json", TOKENS)], &options).emit(Platform::Scss, &options).unwrap().remove(0).text;
        let compile = |text: &str| {
            grass::from_string(format!("{tokens}\n{text}"), &grass::Options::default().fs(&grass::NullFs)).ok()
        };
        let text = format!("// don't: 'color: red'\n.x {{ gap: $space-s }}\n{text}");
        let (after, _) = modified("a.scss", &text);
        if let Some(before) = compile(&text) {
            let now = compile(&after);
            prop_assert_eq!(now.as_deref().map(read), Some(read(&before)), "{}\n{}", text, after);
        }
    }

    #[test]
    fn no_text_makes_a_scan_panic(
        text in "\\PC{0,200}|[a-z0-9#(){}\\[\\];:,.'\"`/*$@<>=! \n\\\\-]{0,200}",
        ending in prop::sample::select(vec!["css", "scss", "less", "html", "vue", "tsx"]),
    ) {
        let _ = modified(&format!("a.{ending}"), &text);
    }
}

#[test]
fn the_generated_sheets_have_something_to_replace() {
    let text = "a { color: #f00; padding: 4px 1rem; box-shadow: 0 2px 4px #00000080; transition: top .2s cubic-bezier(0,0,.2,1) }";
    let (after, count) = modified("a.css", text);
    assert_eq!(count, 6);
    assert_eq!(
        after,
        "a { color: var(--text-danger); padding: var(--space-s) var(--space-m); box-shadow: var(--shadow-card); transition: top var(--motion-fast) var(--motion-out) }"
    );
}
