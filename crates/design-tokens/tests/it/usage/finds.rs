//! Which values are found, and which are left alone.

use design_tokens::usage::{Coverage, Kept};

use super::{css, found, index, shown, usages, with_modes};

#[test]
fn colours_are_found_however_they_are_written() {
    for written in
        ["#f00", "#FF0000", "#ff0000ff", "red", "rgb(255, 0, 0)", "rgb(100% 0 0)", "hsl(0 100% 50%)"]
    {
        assert_eq!(
            css(&format!("color: {written}")),
            [format!("{written} -> var(--text-danger)")],
            "{written}"
        );
    }
    assert_eq!(css("color: rgb(0 0 0 / 50%)"), ["rgb(0 0 0 / 50%) -> var(--color-haze)"]);
    assert_eq!(css("fill: oklch(0.8 0.1 160)"), ["oklch(0.8 0.1 160) -> var(--color-mint)"]);
    assert_eq!(
        css("color: #fe0000; color: rgb(0 0 0 / 51%); color: transparent; color: currentColor"),
        [""; 0]
    );
}

#[test]
fn the_property_says_which_token_is_meant() {
    assert_eq!(css("border-color: #f00"), ["#f00 -> var(--border-danger)"]);
    assert_eq!(css("background: #f00"), ["#f00 -> var(--color-red)"], "neither the text's nor the border's");
    assert_eq!(
        css("border-left: 1px solid red"),
        ["1px -> var(--border-width-thin)", "red -> var(--border-danger)"]
    );
    assert_eq!(css("padding: 4px"), ["4px -> var(--space-s)"]);
    assert_eq!(css("border-top-left-radius: 4px"), ["4px -> var(--radius-s)"]);
    assert_eq!(css("width: 4px; width: 18px; font-size: 4px; max-width: 1rem"), [""; 0]);
    assert_eq!(css("font-size: 18px"), ["18px -> var(--font-size-m)"]);
    assert_eq!(css("height: 40px; margin-top: 40px"), ["40px -> var(--size-100)", "40px -> var(--size-100)"]);
    assert_eq!(
        css("line-height: 1.2; opacity: .5"),
        ["1.2 -> var(--font-line-height-tight)", ".5 -> var(--opacity-half)"]
    );
    assert_eq!(css("flex-grow: 0.5; z-index: 1; flex: 1.2; scale: 0.5; grid-row: 4"), [""; 0]);
    assert_eq!(
        css("font-weight: bold; font-weight: 700"),
        ["bold -> var(--font-weight-bold)", "700 -> var(--font-weight-bold)"]
    );
    assert_eq!(
        css("transition: color .2s cubic-bezier(0, 0, .2, 1)"),
        [".2s -> var(--motion-fast)", "cubic-bezier(0, 0, .2, 1) -> var(--motion-out)"]
    );
    assert_eq!(
        css("font-family: inter, \"Helvetica Neue\", sans-serif"),
        ["inter, \"Helvetica Neue\", sans-serif -> var(--font-family-body)"]
    );
    assert_eq!(
        css("font-family: Inter, sans-serif; font-family: Inter, Helvetica Neue, \"sans-serif\""),
        [""; 0]
    );
    assert_eq!(
        css("box-shadow: 0 2px 4px rgb(0 0 0 / 50.196%)"),
        ["0 2px 4px rgb(0 0 0 / 50.196%) -> var(--shadow-card)"]
    );
    assert_eq!(css("box-shadow: 0 2px 4px red, inset 0 0 #000"), ["red -> var(--color-red)"]);
}

#[test]
fn zeros_and_what_is_deprecated_are_no_findings() {
    assert_eq!(css("margin: 0 0px; padding: 24px"), [""; 0]);
}

#[test]
fn several_tokens_with_the_value_are_ambiguous_and_left() {
    let usages = usages(&index(), &[("a.css", "a { color: #ff0000; fill: #f00 }")], 0.0);
    let fill = usages[0].iter().find(|usage| usage.property == "fill").unwrap();
    assert_eq!((fill.token.as_str(), fill.kept), ("text.danger", None), "an icon's colour may be the text's");
    let text =
        r#"{ "space": { "$type": "dimension", "a": { "$value": "4px" }, "b": { "$value": "{space.a}" } } }"#;
    let options = design_tokens::Options::default();
    let index = design_tokens::usage::Index::new(&super::compiled(&[("t.json", text)], &options), &options);
    let usages = super::usages(&index, &[("a.css", "a { gap: 4px }")], 0.0);
    assert_eq!(shown(&usages[0]), ["4px -> var(--space-a) (Ambiguous)"]);
    assert_eq!(usages[0][0].ambiguous, ["space.b"]);
}

#[test]
fn only_functions_that_take_custom_properties_are_looked_into() {
    assert_eq!(css("width: calc(100% - (2 * 40px))"), ["40px -> var(--size-100)"]);
    assert_eq!(
        css("background: linear-gradient(90deg, #f00 4px, color-mix(in srgb, #0088ff 20%, white))"),
        ["#f00 -> var(--color-red)", "#0088ff -> var(--color-sky)"]
    );
    assert_eq!(
        css(
            "color: var(--x, #f00); color: rgb(from #f00 r g b); background: image-set(#f00 1x); color: light-dark(#f00, #111)"
        ),
        [""; 0]
    );
    assert_eq!(css("padding: env(safe-area-inset-top, 4px) -4px"), [""; 0]);
}

#[test]
fn comments_strings_urls_and_definitions_are_left_alone() {
    let text = "/* color: #f00 */ a { --local: #f00; --m: { color: #f00 }; content: \"#f00\"; background: url(#f00) url('red') }
        @font-face { font-family: Inter, Helvetica Neue, sans-serif; font-weight: 700 }
        @media (min-width: 40px) { a { color: /* #f00 */ blue } }\n#f00 { top: 0 }";
    assert_eq!(found("a.css", text), [""; 0]);
}

#[test]
fn places_are_lines_and_characters_from_one() {
    let text = "\u{feff}/* é */ a { color: #f00; }\r\n\r\n.ö { gap: 4px; color: red }";
    let usages = usages(&index(), &[("a.css", text)], 0.0);
    let places: Vec<_> = usages[0].iter().map(|usage| (usage.line, usage.column)).collect();
    assert_eq!(places, [(1, 21), (3, 11), (3, 23)]);
    assert_eq!(&text[usages[0][0].range.clone()], "#f00");
}

#[test]
fn where_a_mode_may_be_in_force_only_what_is_the_same_in_all_is_found() {
    let index = with_modes();
    let found = |text: &str| shown(&usages(&index, &[("a.css", text)], 0.0)[0]);
    assert_eq!(found("a { color: #111 }"), ["#111 -> var(--color-ink)"]);
    for condition in [
        "[data-theme='dark'] a",
        "@media (prefers-color-scheme: dark)",
        "@media  print",
        "a { [data-theme=dark] &",
    ] {
        let text = format!("{condition} {{ b {{ color: #111; gap: 4px }} }}");
        assert_eq!(found(&text), ["4px -> var(--space-s)"], "{condition}");
    }
}

#[test]
fn what_is_near_is_found_within_the_tolerance_and_left() {
    let text = "a { color: #fe0101; padding: 5px 17px 0.9rem; margin: 4px; background: #fbfbfb }";
    let near = usages(&index(), &[("a.css", text)], 2.0);
    assert_eq!(
        shown(&near[0]),
        [
            "#fe0101 -> var(--text-danger) (Inexact)",
            "5px -> var(--space-s) (Inexact)",
            "0.9rem -> var(--space-m) (Inexact)",
            "4px -> var(--space-s)",
            "#fbfbfb -> var(--surface-page) (Inexact)"
        ]
    );
    let distances: Vec<f64> = near[0].iter().map(|usage| usage.distance).collect();
    assert!(distances[0] > 0.0 && distances[0] < 1.0, "{distances:?}");
    assert_eq!(&distances[1..4], [1.0, 1.6, 0.0]);
    assert_eq!(shown(&usages(&index(), &[("a.css", text)], 0.0)[0]), ["4px -> var(--space-s)"]);
}

#[test]
fn coverage_counts_declarations_that_tokens_are_for() {
    let text = "a { color: var(--color-ink); padding: var(--space-s) 3px; margin: var(--own); width: 41px; gap: 4px 8px;
        background: #123456; display: block; color: inherit; font-size: 1.5em; z-index: 3; width: 100% }";
    let scan = index().scan("a.css", text, 0.0).unwrap();
    // `3px`, `41px`, `#123456` and `1.5em` have no token; z-index has none at all.
    assert_eq!(scan.coverage, Coverage { tokens: 1, hardcoded: 1, unknown: 4 });
}

#[test]
fn the_builds_own_files_and_other_kinds_are_not_looked_at() {
    let index = index();
    assert!(
        index
            .scan("a.css", "/* Generated by gatewright from design tokens. */ a { color: #f00 }", 0.0)
            .is_none()
    );
    assert!(index.scan("a.md", "color: #f00", 0.0).is_none());
}

#[test]
fn a_token_whose_name_means_something_else_is_left() {
    let copy = ":root { --text-danger: var(--color-red); --space-s: 4px }";
    let local = ".x { --space-s: 8px }";
    let text = "a { color: #f00; gap: 4px }";
    let with = |other: &str| usages(&index(), &[("a.css", text), ("b.css", other)], 0.0).remove(0);
    assert_eq!(with(copy).iter().map(|usage| usage.kept).collect::<Vec<_>>(), [None, None]);
    assert_eq!(with(local).iter().map(|usage| usage.kept).collect::<Vec<_>>(), [None, Some(Kept::Redefined)]);
}
